//! Everything that a ref of the log leads to: whether it is there, whether it is what its name
//! says, whose it is, and what still works without it.

use super::Store;
use super::error::StoreError;
use super::log::{self, Commit, Log, TreeEntry};
use super::objects::{self, Stand};
use super::place::{self, Place};
use super::tree::{Document, FORMAT_FILE, HISTORIES};
use cook_core::diagnostic::{Code, Finding};
use cook_os::disk::{self, Links};
use git2::{ObjectType, Oid};
use std::collections::{BTreeMap, HashSet};

/// How often damage is looked at again: packing may have moved what could not be read.
const RETRIES: usize = 3;

/// Beginnings of refs that lead to transitions without being a worktree's.
const CHAINS: [&str; 5] = ["allowed/", "cook/", "remotes/", "taken/", "withheld/"];

/// Largest file of `.agent/` that may stand in for a lost object.
const MAX_DOCUMENT: u64 = 64 << 20;

/// What the refs of the log lead to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReachReport {
    /// Objects that were read and hashed.
    pub objects: u64,
    /// Their size, before compression.
    pub bytes: u64,
    /// What is missing or damaged, one finding for each object and each ref it is missed by.
    pub findings: Vec<Finding>,
    /// Where this worktree's work stands can be read, and gone on from.
    pub stands: bool,
    /// So can everything that led there.
    pub is_whole: bool,
}

impl Store {
    /// Reads everything that the log's refs lead to.
    ///
    /// # Errors
    /// A log that cannot be opened. What cannot be read in it is a finding.
    pub fn reach(&self) -> Result<ReachReport, StoreError> {
        Ok(self.walk(&place::open_known_log(&self.place)?)?.report)
    }

    /// The same of an opened log, with the objects that were seen.
    pub(super) fn walk(&self, log: &Log) -> Result<Walk<'_>, StoreError> {
        let mut walk = Walk::of(&self.place, &self.id, log)?;
        for _ in 1..RETRIES {
            if walk.report.findings.is_empty() {
                break;
            }
            let fresh = place::open_known_log(&self.place)?;
            walk = Walk::of(&self.place, &self.id, &fresh)?;
        }
        Ok(walk)
    }
}

/// A walk from the refs.
pub(super) struct Walk<'p> {
    place: &'p Place,
    own: String,
    pub(super) report: ReachReport,
    /// Objects that are what their names say, with all that they lead to.
    pub(super) sound: HashSet<Oid>,
    /// Objects that are not, and how that shows.
    pub(super) lost: BTreeMap<Oid, String>,
}

/// An object that is missed, and where.
struct Missed {
    id: Oid,
    /// What it is there: a file, `its commit`, `its tree`.
    what: String,
}

impl<'p> Walk<'p> {
    fn of(place: &'p Place, own: &str, log: &Log) -> Result<Self, StoreError> {
        let mut walk = Self {
            place,
            own: own.to_owned(),
            report: ReachReport {
                stands: true,
                is_whole: true,
                ..ReachReport::default()
            },
            sound: HashSet::new(),
            lost: BTreeMap::new(),
        };
        let (chains, others): (Vec<_>, Vec<_>) = log
            .list_refs_under("refs/")?
            .into_iter()
            .partition(|(name, _)| CHAINS.iter().any(|chains| name.starts_with(chains)));
        for (name, tip) in others {
            if let Some(id) = name.strip_prefix("heads/") {
                walk.workflow(log, id, tip);
            } else if name.starts_with("sessions/") {
                walk.sessions(log, &name, tip);
            } else {
                walk.reach_kept(log, &name, tip)?;
            }
        }
        for (name, tip) in chains {
            walk.branch_off(log, &name, tip);
        }
        Ok(walk)
    }

    fn read(&mut self, log: &Log, id: Oid, wanted: ObjectType) -> Option<Vec<u8>> {
        if self.lost.contains_key(&id) {
            return None;
        }
        let why = match log.read(id) {
            Ok((kind, bytes)) if kind == wanted => {
                if self.sound.contains(&id) {
                    return Some(bytes);
                }
                self.report.objects += 1;
                self.report.bytes += bytes.len() as u64;
                return Some(bytes);
            }
            Ok((kind, _)) => format!("is a {}, not a {}", kind.str(), wanted.str()),
            Err(_) if !log.holds(id) => "is missing".to_owned(),
            Err(error) => format!("is damaged ({})", cause(&error)),
        };
        self.lost.insert(id, why);
        None
    }

    fn commit(&mut self, log: &Log, id: Oid) -> Option<Commit> {
        let bytes = self.read(log, id, ObjectType::Commit)?;
        let commit = log.decode_commit(id, &bytes);
        match commit {
            Ok(commit) => {
                self.sound.insert(id);
                Some(commit)
            }
            Err(_) => {
                self.lost.insert(id, "is malformed".to_owned());
                None
            }
        }
    }

    fn entries(&mut self, log: &Log, id: Oid) -> Option<Vec<TreeEntry>> {
        let bytes = self.read(log, id, ObjectType::Tree)?;
        let entries = log.decode_tree(id, &bytes);
        if entries.is_err() {
            self.lost.insert(id, "is malformed".to_owned());
        }
        entries.ok()
    }

    /// What is missed below a tree, the tree itself included.
    fn tree(&mut self, log: &Log, id: Oid, path: &str, missed: &mut Vec<Missed>) {
        if self.sound.contains(&id) {
            return;
        }
        let Some(entries) = self.entries(log, id) else {
            let what = match path {
                "" => "its tree".to_owned(),
                path => format!("`{path}`"),
            };
            missed.push(Missed { id, what });
            return;
        };
        let before = missed.len();
        for entry in entries {
            let path = match path {
                "" => entry.name,
                path => format!("{path}/{}", entry.name),
            };
            match entry.mode {
                log::FOLDER => self.tree(log, entry.id, &path, missed),
                log::SUBMODULE => {}
                _ if self.sound.contains(&entry.id) => {}
                _ => match self.read(log, entry.id, ObjectType::Blob) {
                    Some(_) => {
                        self.sound.insert(entry.id);
                    }
                    None => missed.push(Missed {
                        id: entry.id,
                        what: format!("`{}`", path.escape_debug()),
                    }),
                },
            }
        }
        if missed.len() == before {
            self.sound.insert(id);
        }
    }

    /// The chain of a worktree, newest first.
    fn workflow(&mut self, log: &Log, id: &str, tip: Oid) {
        let mut newest: Option<u64> = None;
        // By object: what it is, and the first and the last transition that miss it.
        let mut gaps: BTreeMap<(Oid, String), (u64, u64)> = BTreeMap::new();
        let mut stands = true;
        let mut cut = None;
        let mut at = Some(tip);
        let mut seq = None;
        while let Some(commit) = at {
            let number = seq.map_or(u64::MAX, |seq: u64| seq.saturating_sub(1));
            let Some(found) = self.commit(log, commit) else {
                stands &= newest.is_some();
                cut = Some((commit, number));
                break;
            };
            let number = match objects::read_meta(commit, &found) {
                Some(meta) => meta.seq,
                None => number,
            };
            let mut missed = Vec::new();
            self.tree(log, found.tree, "", &mut missed);
            for one in missed {
                stands &= newest.is_some() || !is_vital(&one.what);
                let gap = gaps.entry((one.id, one.what)).or_insert((number, number));
                gap.0 = number;
            }
            newest = newest.or(Some(number));
            seq = Some(number);
            at = found.parents.first().copied();
        }
        if id == self.own {
            self.report.stands &= stands;
            self.report.is_whole &= stands && gaps.is_empty() && cut.is_none();
        }
        let of = match id == self.own {
            true => String::new(),
            false => format!(" of the worktree `{id}`"),
        };
        for ((object, what), (first, last)) in gaps {
            let vital = Some(last) == newest && is_vital(&what);
            let text = format!(
                "{what} of {}{of}: object {object} {}; {}",
                span(first, last),
                self.lost.get(&object).map_or("is missing", String::as_str),
                match vital {
                    true => "the work cannot go on without it".to_owned(),
                    false => works_without(first, last),
                }
            );
            let text = text + &self.stand_in(log, &what, object, vital && of.is_empty());
            self.find(text, format!("transition {last}{of}"));
        }
        if let Some((commit, number)) = cut {
            let why = self.lost.get(&commit).map_or("is missing", String::as_str);
            let (text, at) = match newest {
                None => (
                    format!(
                        "the newest transition{of}: its commit {commit} {why}; the work cannot go on without it"
                    ),
                    "the newest transition".to_owned(),
                ),
                Some(newest) => {
                    let vital = newest.saturating_sub(number) <= set_aside(log, tip);
                    let still = match vital {
                        true => "the work cannot go on without it".to_owned(),
                        false => works_without(1, number),
                    };
                    (
                        format!("transition {number}{of}: its commit {commit} {why}; {still}"),
                        format!("transition {number}"),
                    )
                }
            };
            self.find(text, at + &of);
        }
    }

    /// A chain that leads back to one that was walked, as a rule at once.
    fn branch_off(&mut self, log: &Log, name: &str, tip: Oid) {
        let works = "the work goes on without it";
        let mut at = Some(tip).filter(|id| !self.sound.contains(id));
        while let Some(id) = at {
            let mut missed = Vec::new();
            let found = self.commit(log, id);
            match &found {
                Some(found) => self.tree(log, found.tree, "", &mut missed),
                None => missed.push(Missed {
                    id,
                    what: "its commit".to_owned(),
                }),
            }
            for Missed { id: object, what } in missed {
                let why = self.lost.get(&object).map_or("is missing", String::as_str);
                self.find(
                    format!(
                        "{what} of {id}, which `{name}` leads to: object {object} {why}; {works}"
                    ),
                    format!("refs/{name}"),
                );
            }
            let parent = found.and_then(|found| found.parents.first().copied());
            at = parent.filter(|id| !self.sound.contains(id) && !self.lost.contains_key(id));
        }
    }

    /// The record of what was said to agents, newest first.
    fn sessions(&mut self, log: &Log, name: &str, tip: Oid) {
        let mut at = Some(tip);
        let mut after: Option<String> = None;
        let works = "the work goes on without it; `cook session gc` lets the record go on with all that can be read";
        while let Some(id) = at {
            let Some(found) = self.commit(log, id) else {
                let call = match &after {
                    None => "the newest session call".to_owned(),
                    Some(after) => format!("the session call before `{after}`"),
                };
                let why = self.lost.get(&id).map_or("is missing", String::as_str);
                self.find(
                    format!("{call}: its commit {id} {why}; {works}"),
                    format!("refs/{name}"),
                );
                return;
            };
            let call = found.message.lines().next().unwrap_or_default().to_owned();
            let mut missed = Vec::new();
            self.tree(log, found.tree, "", &mut missed);
            for Missed { id, what } in missed {
                let why = self.lost.get(&id).map_or("is missing", String::as_str);
                self.find(
                    format!("{what} of the session call `{call}`: object {id} {why}; {works}"),
                    format!("refs/{name}"),
                );
            }
            after = Some(call);
            at = found.parents.first().copied();
        }
    }

    /// Copies that were set aside, which may share objects with the user's repository.
    fn reach_kept(&mut self, log: &Log, name: &str, tip: Oid) -> Result<(), StoreError> {
        let shared;
        let log = match log.holds(tip) {
            true => log,
            false => {
                shared = place::open_known_log(self.place)?
                    .with_objects(&self.place.common_dir.join("objects"))?;
                &shared
            }
        };
        let mut missed = Vec::new();
        match self.commit(log, tip) {
            Some(found) => self.tree(log, found.tree, "", &mut missed),
            None => missed.push(Missed {
                id: tip,
                what: "its commit".to_owned(),
            }),
        }
        for Missed { id, what } in missed {
            let why = self.lost.get(&id).map_or("is missing", String::as_str);
            let text = format!(
                "{what} of the copy that was set aside as `{name}`: object {id} {why}; the work goes on without it"
            );
            self.find(text, format!("refs/{name}"));
        }
        Ok(())
    }

    fn find(&mut self, text: String, place: String) {
        let finding = Finding::new(Code::LogDamaged, text).at(place);
        self.report.findings.push(finding);
    }

    /// The file of `.agent/` that holds exactly what is lost, and the command that puts it back.
    fn stand_in(&self, log: &Log, what: &str, object: Oid, wanted: bool) -> String {
        let name = what.trim_matches('`');
        let known = Document::ALL.iter().any(|document| document.file() == name);
        if !wanted || !known {
            return String::new();
        }
        let path = self.place.agent_dir().join(name);
        let bytes = match disk::read(&path, MAX_DOCUMENT, Links::Refuse) {
            Ok(Some(bytes)) => bytes,
            _ => return String::new(),
        };
        match objects::blob_id(log, &bytes) {
            Ok(id) if id == object => format!(
                "; `.agent/{name}` holds exactly it: `rm -f {} && git --git-dir={} hash-object --no-filters -w .agent/{name}`",
                quote_path(&log.loose_file(object)),
                quote_path(&self.place.log_dir()),
            ),
            _ => String::new(),
        }
    }
}

/// How many transitions a look at where the work stands goes back, over those that did not move
/// it.
fn set_aside(log: &Log, tip: Oid) -> u64 {
    let snapshot = Stand::at(log, tip).and_then(|stand| stand.snapshot());
    snapshot.map_or(0, |snapshot| snapshot.ledger.aside.0)
}

/// Without it the newest transition cannot be read or gone on from.
fn is_vital(what: &str) -> bool {
    let name = what.trim_matches('`');
    let of_documents = Document::ALL.iter().any(|document| document.file() == name);
    of_documents || [FORMAT_FILE, HISTORIES, "its tree"].contains(&name)
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

fn quote_path(path: &std::path::Path) -> String {
    cook_core::machine::quote_word(&path.display().to_string())
}

/// The innermost reason.
fn cause(error: &StoreError) -> String {
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| {
        error.source()
    });
    causes.last().map_or_else(String::new, ToString::to_string)
}
