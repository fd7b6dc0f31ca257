//! `cook doctor fsck`: whether everything reachable from the log's refs is there, every object matches its name, every
//! chain is complete, and the view shows the log. For a lost object it says who misses it and what still works.

use super::error::{During, in_one_line, unreadable, unsafe_path};
use super::log_format::{
    self, Document, EVENT, FORMAT_FILE, HISTORIES, Histories, History, Lines, Stand, TRAIL,
};
use super::log_place::{self, Place};
use super::odb::{self, Commit, Log, TreeEntry};
use super::{Store, checkpoints};
use crate::disk::{self, Links};
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::quote_word;
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, HashSet};

/// Attempts, if damage is found: packing may have moved an object that could not be read.
const RETRIES: usize = 3;
/// Most findings that are listed; a broken disk could cause millions.
const MAX_FINDINGS: usize = 100;
/// Largest file of `.agent/` that may replace a lost object.
const MAX_DOCUMENT: u64 = 64 << 20;
/// Note on an object without which the newest transition cannot be read or continued.
const VITAL: &str = "the work cannot go on without it";

/// The extent of the check and its findings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogReport {
    /// Number of objects that were read and hashed.
    pub objects: u64,
    /// Their total size before compression.
    pub bytes: u64,
    /// Number of workflows whose chain was walked.
    pub workflows: u64,
    /// Number of transitions in them.
    pub transitions: u64,
    /// All findings; for a missing or damaged object, one for each ref that needs it.
    pub findings: Vec<Finding>,
    /// Whether the current state of this worktree's work can be read and continued.
    pub stands: bool,
    /// Whether its whole history can be read, too.
    pub is_whole: bool,
}

impl Store {
    /// Reads everything that the log's refs lead to. The store caches small objects for later reads.
    ///
    /// # Errors
    /// If the log cannot be opened. Anything unreadable in it is a finding.
    pub fn reach(&self) -> Result<LogReport, Failure> {
        self.log.remember();
        self.log.list_files();
        Ok(self.walk(&self.log)?.report)
    }

    /// Walks from the refs of an opened log; repeats the walk on findings.
    fn walk(&self, log: &Log) -> Result<Walk<'_>, Failure> {
        let mut walk = Walk::of(&self.place, &self.id, log)?;
        for _ in 1..RETRIES {
            if walk.report.findings.is_empty() {
                break;
            }
            walk = Walk::of(
                &self.place,
                &self.id,
                &log_place::open_known_log(&self.place)?,
            )?;
        }
        Ok(walk)
    }

    /// Reads all objects, reachable or not, walks the chains of all worktrees, and compares the view.
    ///
    /// # Errors
    /// If the log cannot be opened. Anything unreadable in it is a finding.
    pub fn fsck(&self) -> Result<LogReport, Failure> {
        let log = log_place::open_known_log(&self.place)?;
        let Walk {
            mut report,
            sound,
            lost,
            ..
        } = self.walk(&log)?;
        let is_whole = report.findings.is_empty();
        for id in log.all()? {
            if sound.contains(&id) || lost.contains_key(&id) {
                continue;
            }
            // The object is unreachable. Reading it verifies its hash.
            match log.read(id) {
                Ok((_, bytes)) => {
                    report.objects += 1;
                    report.bytes += bytes.len() as u64;
                }
                Err(error) => report.find(
                    Code::LogDamaged,
                    format!(
                        "{}; no transition and no session call needs it",
                        in_one_line(&error)
                    ),
                    format!("object {id}"),
                ),
            }
        }
        for (id, tip) in log.list_refs_under("refs/heads/")? {
            if !log_place::is_id(&id) {
                let what = "holds a branch that cook did not make";
                return Err(unsafe_path(Code::LogUnsafe, &self.place.log_dir(), what));
            }
            report.workflows += 1;
            match check_chain(&log, tip, &mut report.transitions) {
                // Anything missing is reported already.
                Err(error) if is_whole => {
                    let code = match error.code {
                        // A log of another format is not damaged.
                        Code::LogTooOld | Code::LogTooNew => error.code,
                        _ => Code::LogDamaged,
                    };
                    report.find(code, in_one_line(&error), format!("refs/heads/{id}"));
                }
                _ => {}
            }
        }
        if report.stands {
            report.findings.extend(self.view_findings());
        }
        report.findings.truncate(MAX_FINDINGS);
        Ok(report)
    }

    /// Findings where the view differs from the log.
    fn view_findings(&self) -> Vec<Finding> {
        match self.find_differences_by_content() {
            Ok(differences) => differences.iter().map(|one| one.finding()).collect(),
            Err(error) if error.code == Code::LogUnreadable => {
                let what = format!("the view cannot be compared: {}", error.message);
                vec![Finding::new(Code::LogDamaged, what)]
            }
            Err(error) => vec![Finding::new(error.code, in_one_line(&error))],
        }
    }
}

impl LogReport {
    fn find(&mut self, code: Code, text: String, place: String) {
        self.findings.push(Finding::new(code, text).at(place));
    }
}

/// A walk from the refs of the log.
struct Walk<'p> {
    place: &'p Place,
    own: &'p str,
    report: LogReport,
    /// Objects that match their names, with everything they lead to.
    sound: HashSet<Oid>,
    /// Lost objects, and how each is lost.
    lost: BTreeMap<Oid, String>,
}

/// A lost object and its role: a file, `its commit` or `its tree`.
type Missed = (Oid, String);

impl<'p> Walk<'p> {
    fn of(place: &'p Place, own: &'p str, log: &Log) -> Result<Self, Failure> {
        let mut walk = Self {
            place,
            own,
            report: LogReport {
                stands: true,
                is_whole: true,
                ..LogReport::default()
            },
            sound: HashSet::new(),
            lost: BTreeMap::new(),
        };
        let refs = log.list_refs_under("refs/")?;
        let (workflows, others): (Vec<_>, Vec<_>) = refs
            .iter()
            .partition(|(name, _)| name.starts_with("heads/"));
        for (name, tip) in workflows {
            walk.workflow(log, name.trim_start_matches("heads/"), *tip);
        }
        for (name, tip) in others {
            walk.other(log, name, *tip)?;
        }
        Ok(walk)
    }

    fn read(&mut self, log: &Log, id: Oid, wanted: ObjectType) -> Option<Vec<u8>> {
        if self.lost.contains_key(&id) {
            return None;
        }
        let why = match log.read(id) {
            Ok((kind, bytes)) if kind == wanted => {
                if !self.sound.contains(&id) {
                    self.report.objects += 1;
                    self.report.bytes += bytes.len() as u64;
                }
                return Some(bytes);
            }
            Ok((kind, _)) => format!("is a {}, not a {}", kind.str(), wanted.str()),
            Err(_) if !log.holds(id) => "is missing".to_owned(),
            Err(error) => {
                let innermost = error.causes.last().unwrap_or(&error.message);
                format!("is damaged ({innermost})")
            }
        };
        self.lost.insert(id, why);
        None
    }

    /// Passes a decoded object on; marks it as lost if decoding failed.
    fn decode<T>(&mut self, id: Oid, decoded: Result<T, Failure>) -> Option<T> {
        if decoded.is_err() {
            self.lost.insert(id, "is malformed".to_owned());
        }
        decoded.ok()
    }

    fn commit(&mut self, log: &Log, id: Oid) -> Option<Commit> {
        let bytes = self.read(log, id, ObjectType::Commit)?;
        let commit = self.decode(id, log.decode_commit(id, &bytes))?;
        self.sound.insert(id);
        Some(commit)
    }

    fn entries(&mut self, log: &Log, id: Oid) -> Option<Vec<TreeEntry>> {
        let bytes = self.read(log, id, ObjectType::Tree)?;
        self.decode(id, log.decode_tree(id, &bytes))
    }

    /// Collects the lost objects of a tree, including the tree itself.
    fn tree(&mut self, log: &Log, id: Oid, path: &str, missed: &mut Vec<Missed>) {
        if self.sound.contains(&id) {
            return;
        }
        let named = |path: &str| format!("`{}`", path.escape_debug());
        let Some(entries) = self.entries(log, id) else {
            let what = match path {
                "" => "its tree".to_owned(),
                path => named(path),
            };
            missed.push((id, what));
            return;
        };
        let before = missed.len();
        for entry in entries {
            if entry.mode == odb::SUBMODULE || self.sound.contains(&entry.id) {
                continue;
            }
            let path = match path {
                "" => entry.name,
                path => format!("{path}/{}", entry.name),
            };
            match entry.mode {
                odb::FOLDER => self.tree(log, entry.id, &path, missed),
                _ if self.read(log, entry.id, ObjectType::Blob).is_some() => {
                    self.sound.insert(entry.id);
                }
                _ => missed.push((entry.id, named(&path))),
            }
        }
        if missed.len() == before {
            self.sound.insert(id);
        }
    }

    /// Describes how an object is lost.
    fn why(&self, id: Oid) -> &str {
        self.lost.get(&id).map_or("is missing", String::as_str)
    }

    /// Walks the chain of a worktree, newest first.
    fn workflow(&mut self, log: &Log, id: &str, tip: Oid) {
        let of = match id == self.own {
            true => String::new(),
            false => format!(" of the worktree `{id}`"),
        };
        // For each lost object and its role, the first and the last transition that need it.
        let mut gaps: BTreeMap<Missed, (u64, u64)> = BTreeMap::new();
        let mut newest = None;
        let mut number = u64::MAX;
        let mut cut = None;
        let mut at = Some(tip);
        while let Some(commit) = at {
            let Some(found) = self.commit(log, commit) else {
                cut = Some(commit);
                break;
            };
            let meta = log_format::read_meta(commit, &found);
            number = meta.map_or(number.saturating_sub(1), |meta| meta.seq);
            newest = newest.or(Some(number));
            let mut missed = Vec::new();
            self.tree(log, found.tree, "", &mut missed);
            for one in missed {
                gaps.entry(one).or_insert((number, number)).0 = number;
            }
            at = found.parents.first().copied();
        }
        let (mut stands, is_gapless) = (newest.is_some(), gaps.is_empty());
        for ((object, what), (first, last)) in gaps {
            let vital = Some(last) == newest && is_vital(&what);
            stands &= !vital;
            let still = match vital {
                true => VITAL.to_owned(),
                false => works_without(first, last),
            };
            let mended = match vital && of.is_empty() {
                true => self.find_stand_in(log, &what, object),
                false => String::new(),
            };
            let why = self.why(object);
            let span = span(first, last);
            self.find(
                format!("{what} of {span}{of}: object {object} {why}; {still}{mended}"),
                format!("transition {last}{of}"),
            );
        }
        if let Some(commit) = cut {
            let number = number.saturating_sub(1);
            let (what, still) = match newest {
                None => ("the newest transition".to_owned(), VITAL.to_owned()),
                // Finding the state of the work means walking back over transitions that did not change it.
                Some(newest) if newest.saturating_sub(number) <= count_aside(log, tip) => {
                    (format!("transition {number}"), VITAL.to_owned())
                }
                Some(_) => (format!("transition {number}"), works_without(1, number)),
            };
            let text = format!(
                "{what}{of}: its commit {commit} {}; {still}",
                self.why(commit)
            );
            self.find(text, what + &of);
        }
        if of.is_empty() {
            self.report.stands &= stands;
            self.report.is_whole &= stands && is_gapless && cut.is_none();
        }
    }

    /// Walks the chain of another ref, newest first: the record of conversations with agents, kept copies, which may
    /// share objects with the user's repository, or a chain that soon joins one already walked.
    fn other(&mut self, log: &Log, name: &str, tip: Oid) -> Result<(), Failure> {
        let shared;
        let log = match log.holds(tip) {
            true => log,
            false => {
                shared = log_place::open_known_log(self.place)?
                    .with_objects(&self.place.common_dir.join("objects"))?;
                &shared
            }
        };
        let is_record = name.starts_with("sessions/");
        let is_copy = ["displaced/", "rescue/"]
            .iter()
            .any(|of| name.starts_with(of));
        let works = match is_record {
            true => {
                "the work goes on without it; `cook session gc` lets the record go on with all that can be read"
            }
            false => "the work goes on without it",
        };
        let mut after: Option<String> = None;
        let mut at = Some(tip);
        while let Some(id) = at.filter(|id| !self.sound.contains(id)) {
            let found = self.commit(log, id);
            let call = found
                .as_ref()
                .and_then(|found| found.message.lines().next());
            let of = match (is_record, call, &after) {
                (false, ..) if is_copy => format!("the copy that was set aside as `{name}`"),
                (false, ..) => format!("{id}, which `{name}` leads to"),
                (true, Some(call), _) => format!("the session call `{call}`"),
                (true, None, None) => "the newest session call".to_owned(),
                (true, None, Some(after)) => format!("the session call before `{after}`"),
            };
            let mut missed = Vec::new();
            match &found {
                Some(found) => self.tree(log, found.tree, "", &mut missed),
                None => missed.push((id, "its commit".to_owned())),
            }
            for (object, what) in missed {
                let text = format!(
                    "{what} of {of}: object {object} {}; {works}",
                    self.why(object)
                );
                self.find(text, format!("refs/{name}"));
            }
            after = call.map(str::to_owned);
            at = found.and_then(|found| found.parents.first().copied());
        }
        Ok(())
    }

    fn find(&mut self, text: String, place: String) {
        self.report.find(Code::LogDamaged, text, place);
    }

    /// Names the file of `.agent/` that has exactly the content of a lost object, with the command that restores it.
    fn find_stand_in(&self, log: &Log, what: &str, object: Oid) -> String {
        let name = what.trim_matches('`');
        if !Document::is_file(name) {
            return String::new();
        }
        let path = self.place.agent_dir().join(name);
        let Ok(Some(bytes)) = disk::read(&path, MAX_DOCUMENT, Links::Refuse) else {
            return String::new();
        };
        let quote = |path: &std::path::Path| quote_word(&path.display().to_string());
        match log_format::blob_id(log, &bytes) {
            Ok(id) if id == object => format!(
                "; `.agent/{name}` holds exactly it: `rm -f {} && git --git-dir={} hash-object --no-filters -w .agent/{name}`",
                quote(&log.loose_file(object)),
                quote(&self.place.log_dir()),
            ),
            _ => String::new(),
        }
    }
}

fn count_aside(log: &Log, tip: Oid) -> u64 {
    let snapshot = Stand::at(log, tip).and_then(|stand| stand.snapshot());
    snapshot.map_or(0, |snapshot| snapshot.ledger.aside.0)
}

/// Whether the newest transition cannot be read or continued without it.
fn is_vital(what: &str) -> bool {
    let name = what.trim_matches('`');
    Document::is_file(name) || [FORMAT_FILE, HISTORIES, "its tree"].contains(&name)
}

fn span(first: u64, last: u64) -> String {
    match first == last {
        true => format!("transition {first}"),
        false => format!("transitions {first} to {last}"),
    }
}

fn works_without(first: u64, last: u64) -> String {
    format!(
        "`cook next` and `cook status` answer without it; {} cannot be replayed, nor told of in a brief or a prompt",
        span(first, last)
    )
}

/// Checks a chain from the tip back: one parent each, consecutive numbers, all files present, the digests of the
/// histories chained.
fn check_chain(log: &Log, tip: Oid, transitions: &mut u64) -> Result<(), Failure> {
    let mut at = Some(tip);
    let mut expected: Option<u64> = None;
    while let Some(id) = at {
        *transitions += 1;
        let broken = |what: &str| unreadable(format!("log commit {id}"), what);
        let commit = log.commit(id)?;
        let meta =
            log_format::read_meta(id, &commit).ok_or_else(|| broken("it has no trailers"))?;
        if expected.is_some_and(|expected| expected != meta.seq) {
            return Err(broken("its number does not follow"));
        }
        if commit.parents.len() != usize::from(meta.seq > 1) {
            return Err(broken("its parents do not go with its number"));
        }
        let stand = Stand::of(log, &commit)?;
        stand.check_format()?;
        let documents = Document::ALL.into_iter();
        let wanted = documents
            .filter(|document| !document.is_optional())
            .map(Document::file)
            .chain([EVENT, FORMAT_FILE, HISTORIES]);
        for name in wanted {
            if stand.blob(name).is_none() {
                return Err(broken(&format!("it lacks `{name}`")));
            }
        }
        at = commit.parents.first().copied();
        let before = match at {
            Some(parent) => Stand::at(log, parent)?.histories()?,
            None => Histories::default(),
        };
        check_digests(&stand, &before)?;
        expected = meta.seq.checked_sub(1);
    }
    Ok(())
}

fn check_digests(stand: &Stand<'_>, before: &Histories) -> Result<(), Failure> {
    let after = stand.histories()?;
    let added = History::each(|history| stand.lines_added(history.file()).map(Lines::from))?;
    let taken = Lines::from(stand.lines_added(TRAIL)?);
    let last = checkpoints::last_id(&taken.bytes);
    let expected = before.extend(&added, &taken, last.as_deref())?;
    if expected == after {
        return Ok(());
    }
    let broken = History::ALL
        .into_iter()
        .find(|history| expected.of(*history) != after.of(*history));
    Err("the chain of its digests is broken").reading(broken.map_or(TRAIL, History::file))
}
