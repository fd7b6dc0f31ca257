//! Facts about the whole job that the log holds but the documents no longer do: a new mission and `cook undo` clear the
//! documents, but not the commits that were made.

use super::report_context::{BY_GIT, Context, Foreign, NAMED};
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_protocol::diagnostic::without_attribution;
use cook_protocol::machine::{CommitSeen, list_other_ratings};
use cook_protocol::model::Conclude;
use cook_protocol::prompt::cut;
use cook_protocol::report::{list_items, return_reason};
use std::fmt::Write;

/// Events that are read in full.
const READ: &str = "\
    regrounded regrounded_by_cook implemented returned asked reviewed audited refocused \
    undone";

/// The job since it began, or since the project was last found done: that conclusion covered all earlier work.
pub(super) struct Past {
    /// HEAD at that point; `None` if the log has seen no commit.
    pub base: Option<String>,
    /// Whether the project was found done at that point.
    pub begins_at_end: bool,
    /// The relevant transitions since then, oldest first.
    pub events: Vec<Passed>,
    /// Reports of implementers, oldest first.
    reports: Vec<Reported>,
    /// Acceptances: sequence number and slice.
    accepted: Vec<(u64, String)>,
    undone: Vec<u64>,
}

/// A transition.
pub(super) struct Passed {
    pub seq: u64,
    /// The slice of a report about one slice.
    pub subject: String,
    pub event: Event,
}

/// Commits that a report named for a slice.
struct Reported {
    seq: u64,
    slice: String,
    commits: Vec<String>,
}

/// The owner of a commit that no slice of the plan accounts for.
pub(super) struct Whose {
    pub slice: String,
    /// Sequence number of the first report that names the commit; `None` if only the plan knows it.
    pub report: Option<u64>,
    pub is_of_earlier_mission: bool,
    /// Sequence number of the transition that accepted the slice with this commit.
    pub accepted: Option<u64>,
}

impl Past {
    /// Reads the log back to the beginning of the job.
    ///
    /// # Errors
    /// A log or a repository that cannot be read.
    fn read(context: &Context) -> Result<Self> {
        let Context {
            workspace,
            snapshot,
            ..
        } = context;
        let store = workspace.store()?;
        let mut past = Self {
            base: None,
            begins_at_end: false,
            events: Vec::new(),
            reports: Vec::new(),
            accepted: Vec::new(),
            undone: snapshot.undone.seqs.clone(),
        };
        let mut commits = Vec::new();
        for meta in store.entries()? {
            let meta = meta?;
            commits.push(meta.commit.clone());
            if !READ.split(' ').any(|event| event == meta.event) {
                continue;
            }
            let event = store.event(&meta.commit)?;
            if is_end(&event) && !past.is_undone(meta.seq) {
                past.base = context.end_on_head(&meta.commit)?;
            }
            if past.base.is_some() {
                past.begins_at_end = true;
                break;
            }
            past.events.push(Passed {
                seq: meta.seq,
                subject: meta.subject,
                event,
            });
        }
        past.events.reverse();
        if past.base.is_none() {
            past.base = first_head(store, &commits)?;
        }
        past.read_reports(workspace)?;
        Ok(past)
    }

    fn read_reports(&mut self, workspace: &Workspace) -> Result<()> {
        let is_wanted =
            |line: &str| line.contains("\"implemented\"") || line.contains("\"accepted\"");
        let mut claimed = BTreeMap::new();
        for record in workspace.slice_records(is_wanted)? {
            let seq = record.seq.map_or(0, |seq| seq.0);
            match record.kind {
                SliceRecordType::Implemented => {
                    claimed.insert(seq, record.claimed.unwrap_or_default());
                }
                SliceRecordType::Accepted => self.accepted.push((seq, record.slice_id)),
                _ => {}
            }
        }
        for passed in &self.events {
            let Event::Implemented {
                slice_id, commit, ..
            } = &passed.event
            else {
                continue;
            };
            let mut commits = claimed.remove(&passed.seq).unwrap_or_default();
            commits.extend(workspace.repo.resolve(commit)?);
            self.reports.push(Reported {
                seq: passed.seq,
                slice: slice_id.clone(),
                commits,
            });
        }
        Ok(())
    }

    /// Whether the user undid that transition.
    pub fn is_undone(&self, seq: u64) -> bool {
        self.undone.contains(&seq)
    }

    /// Number of the mission that a transition belongs to, counted from the first one that was read.
    fn mission_of(&self, seq: u64) -> usize {
        let before = self.events.iter().filter(|passed| passed.seq < seq);
        before
            .filter(|passed| matches!(passed.event, Event::Refocused { .. }))
            .count()
    }

    /// Whether a transition belongs to an earlier mission.
    pub fn is_of_earlier_mission(&self, seq: u64) -> bool {
        self.mission_of(seq) != self.mission_of(u64::MAX)
    }

    /// The owner of the commit: the slice of the last report that names it, else the slice of the plan that claims it.
    pub fn find_whose(&self, commit: &String, claimant: Option<&str>) -> Option<Whose> {
        let last = self.reports.iter().rev();
        let mut last = last.filter(|report| report.commits.contains(commit));
        let Some(last) = last.next() else {
            return claimant.map(|slice| Whose {
                slice: slice.to_owned(),
                report: None,
                is_of_earlier_mission: false,
                accepted: None,
            });
        };
        let mission = self.mission_of(last.seq);
        let is_same = |report: &&Reported| {
            report.slice == last.slice && self.mission_of(report.seq) == mission
        };
        let mut same = self.reports.iter().filter(is_same);
        let first = same.find(|report| report.commits.contains(commit));
        let mut accepted = self.accepted.iter().filter(|(seq, slice)| {
            *slice == last.slice
                && *seq > last.seq
                && self.mission_of(*seq) == mission
                && !self.is_undone(*seq)
        });
        Some(Whose {
            slice: last.slice.clone(),
            report: Some(first.map_or(last.seq, |first| first.seq)),
            is_of_earlier_mission: self.is_of_earlier_mission(last.seq),
            accepted: accepted.next().map(|(seq, _)| *seq),
        })
    }

    /// The last review of the commit and the last audit of it, each with its sequence number.
    pub fn find_looks(&self, whose: &Whose) -> [Option<(u64, &Verdicts)>; 2] {
        let since = whose.report.unwrap_or_default();
        let mission = whose.report.map(|seq| self.mission_of(seq));
        let mission = mission.unwrap_or_else(|| self.mission_of(u64::MAX));
        let mut looks = [None, None];
        for passed in &self.events {
            let of_slice = passed.subject == whose.slice && passed.seq > since;
            if !of_slice || self.mission_of(passed.seq) != mission {
                continue;
            }
            match &passed.event {
                Event::Reviewed { verdicts, .. } => looks[0] = Some((passed.seq, verdicts)),
                Event::Audited { verdicts, .. } => looks[1] = Some((passed.seq, verdicts)),
                _ => {}
            }
        }
        looks
    }
}

/// Whether the event is a re-ground that calls the project done.
fn is_end(event: &Event) -> bool {
    let concluded = event.block().and_then(|block| block.conclude.as_ref());
    matches!(concluded, Some(Conclude::Stop))
}

impl Context<'_> {
    /// Adds what the log holds of the job beyond the documents, for roles that judge more than one slice.
    ///
    /// # Errors
    /// A log or a repository that cannot be read.
    pub(super) fn list_past(&mut self, in_range: &Foreign) -> Result<()> {
        let judges_the_whole = matches!(self.role, Role::Auditor | Role::StopJudge);
        if judges_the_whole || self.role == Role::Regrounder {
            let past = Past::read(self)?;
            if judges_the_whole {
                self.list_unclaimed(&past, in_range)?;
            }
            self.list_told(&past);
        }
        Ok(())
    }

    /// The HEAD that was found done, if the present HEAD descends from it.
    fn end_on_head(&self, transition: &str) -> Result<Option<String>> {
        let then = self.workspace.store()?.entry(transition)?.snapshot;
        let is_done = then.state.continuation_policy == Policy::Done;
        let Some(found) = then.ledger.head_seen.filter(|_| is_done) else {
            return Ok(None);
        };
        let is_on_head = self.workspace.repo.on_head(self.head, &found)?;
        Ok(is_on_head.then_some(found))
    }

    /// Adds remarks, deviations and gaps of earlier reports. A regrounder is shown only undone ones; its prompt has the
    /// rest elsewhere.
    pub(super) fn list_told(&mut self, past: &Past) {
        let of_regrounds = self.list_deviations(past);
        if self.role != Role::Regrounder {
            let title =
                "remarks of implementers on the plan and on risks (judge whether each is settled):";
            self.add_told(title, &self.list_remarks(past));
        }
        let title =
            "blockers and deviations that re-grounds named (judge whether each is settled):";
        self.add_told(title, &of_regrounds);
        let title = "gaps that re-grounds named, and their outcome:";
        self.add_told(title, &self.list_cleared(past));
    }

    fn add_told(&mut self, title: &str, newest: &[String]) {
        let named = &newest[..newest.len().min(NAMED)];
        let how = "`cook log` lists the reports, `cook log N` shows one";
        self.add_lines(title, named, newest.len(), how);
    }

    /// Remarks by slice, newest first. Those of the slice in work are in their own part of the prompt.
    fn list_remarks(&self, past: &Past) -> Vec<String> {
        let mut lines = Vec::new();
        let mut seen = Vec::new();
        for passed in past.events.iter().rev() {
            let Some(submission) = passed.event.submission() else {
                continue;
            };
            let report = &submission.report;
            let (Role::Implementer, Some(said)) = (report.role, return_reason(report)) else {
                continue;
            };
            let id = report.fields.get("slice_id").cloned().unwrap_or_default();
            let is_earlier = past.is_of_earlier_mission(passed.seq);
            let is_in_work = self.logged.find_slice_in_work() == Some(id.as_str()) && !is_earlier;
            let key = (id, said);
            if is_in_work || seen.contains(&key) {
                continue;
            }
            let (id, said) = &key;
            let status = self.logged.plan.slice(id).map(|slice| slice.status.id());
            let status = match (is_earlier, status) {
                (true, _) => "of an earlier mission",
                (false, Some(status)) => status,
                (false, None) => "no longer in the plan",
            };
            lines.push(format!(
                "slice {} ({status}), in {}{}: {}",
                clean(id, Lines::Fold),
                passed.seq,
                mark_undone(past, passed.seq),
                words(said, passed.seq)
            ));
            seen.push(key);
        }
        lines
    }

    /// Deviations, newest first. Those of the last re-ground are already in an auditor's prompt, as its advice; a
    /// regrounder is shown only those of undone reports.
    fn list_deviations(&self, past: &Past) -> Vec<String> {
        let is_reground = |passed: &&Passed| {
            matches!(passed.event, Event::Regrounded { .. }) && !past.is_undone(passed.seq)
        };
        let last = past.events.iter().rev().find(is_reground);
        let last = last
            .map(|passed| passed.seq)
            .filter(|_| self.role == Role::Auditor);
        let mut lines = Vec::new();
        let mut seen = Vec::new();
        for passed in past.events.iter().rev() {
            let Event::Regrounded { submission, .. } = &passed.event else {
                continue;
            };
            for item in list_items(&submission.report, DEVIATIONS) {
                if seen.contains(&item) {
                    continue;
                }
                let is_wanted = self.role != Role::Regrounder || past.is_undone(passed.seq);
                if is_wanted && last != Some(passed.seq) {
                    lines.push(format!(
                        "in {}{}: {}",
                        passed.seq,
                        mark_undone(past, passed.seq),
                        words(&item, passed.seq)
                    ));
                }
                seen.push(item);
            }
        }
        lines
    }

    /// Blockers and gaps that were cleared, newest first, with who cleared them and why.
    fn list_cleared(&self, past: &Past) -> Vec<String> {
        let mut named = Names::new();
        let mut cleared: Vec<((&'static str, String), String)> = Vec::new();
        for passed in &past.events {
            let seq = passed.seq;
            let before = named.clone();
            let by = match &passed.event {
                Event::Regrounded { block, submission } => {
                    take(&mut named, BLOCKER, block.release_blocker_ids.as_ref(), seq);
                    take(&mut named, GAP, block.high_value_gaps.as_ref(), seq);
                    let why = list_items(&submission.report, HANDOFF).join("; ");
                    match why.is_empty() {
                        true => format!("the re-ground {seq}, without a reason"),
                        false => format!("the re-ground {seq}, which says: {}", words(&why, seq)),
                    }
                }
                Event::RegroundedByCook { block, .. } => {
                    take(&mut named, BLOCKER, block.release_blocker_ids.as_ref(), seq);
                    take(&mut named, GAP, block.high_value_gaps.as_ref(), seq);
                    format!("cook itself in {seq}")
                }
                Event::Refocused { .. } => {
                    named.clear();
                    format!("the user with `cook plan refocus` in {seq}")
                }
                Event::Undone { to, .. } => {
                    take(
                        &mut named,
                        BLOCKER,
                        Some(&to.state.release_blocker_ids),
                        seq,
                    );
                    take(&mut named, GAP, Some(&to.ledger.high_value_gaps), seq);
                    format!("the user with `cook undo` in {seq}")
                }
                _ => continue,
            };
            for (name, at) in before.iter().filter(|(name, _)| !named.contains_key(*name)) {
                let (kind, what) = name;
                let line = format!(
                    "{kind} `{}`, named in {at}, was cleared by {by}",
                    words(what, *at)
                );
                // An item that was cleared again had been named again.
                cleared.retain(|(before, _)| before != name);
                cleared.push((name.clone(), line));
            }
        }
        let stands = |(kind, what): &(&str, String)| match *kind {
            BLOCKER => self.logged.state.release_blocker_ids.contains(what),
            _ => self.logged.ledger.high_value_gaps.contains(what),
        };
        let gone = cleared.into_iter().rev().filter(|(name, _)| !stands(name));
        gone.map(|(_, line)| line).collect()
    }

    /// Lists commits since the job began that do not belong to a slice that is done or in work. A re-ground notes a
    /// commit only once, and a new mission or `cook undo` clears the plan that it was made under; the roles that judge
    /// the whole project come later, and are shown all of them.
    ///
    /// # Errors
    /// A repository that cannot be read.
    pub(super) fn list_unclaimed(&mut self, past: &Past, in_range: &Foreign) -> Result<()> {
        let Some(base) = self.find_base(past)? else {
            return Ok(());
        };
        let range = self.workspace.repo.range(self.head, &base, false)?;
        let mut lines = Vec::new();
        let (mut others, mut accepted) = (0, 0);
        for commit in range.commits.iter().rev() {
            let claimant = find_claimant(self.snapshot, &commit.id);
            let counts = claimant.is_some_and(|slice| {
                slice.status == SliceStatus::Done
                    || Some(slice.slice_id.as_str()) == self.snapshot.find_slice_in_work()
            });
            if counts || in_range.commits.contains(&commit.id) {
                continue;
            }
            let whose = past.find_whose(&commit.id, claimant.map(|slice| slice.slice_id.as_str()));
            let is_accepted =
                |whose: &Whose| whose.is_of_earlier_mission && whose.accepted.is_some();
            if whose.as_ref().is_some_and(is_accepted) {
                accepted += 1;
                continue;
            }
            if lines.len() == NAMED {
                others += 1;
                continue;
            }
            let paths = self.workspace.repo.list_written_paths(&commit.id)?;
            if whose.is_none() && is_contract(&paths) {
                continue;
            }
            others += 1;
            let mut line = self.name_commit(&commit.id)?;
            if let Some(about) = self.tell_whose(past, commit, whose.as_ref()) {
                let _ = write!(line, " ({about})");
            }
            let named: Vec<&str> = paths.iter().take(PATHS).map(String::as_str).collect();
            let _ = write!(line, ": {}", clean(&named.join(", "), Lines::Fold));
            line.push_str(&and_more(paths.len() - named.len()));
            lines.push(line);
        }
        let title = "commits since the job began that do not belong to a slice that is done or in work (`git show ID` shows one):";
        self.add_lines(title, &lines, others, BY_GIT);
        if accepted > 0 {
            self.add(format!("commits of slices that were accepted under an earlier mission: {accepted} (`cook log` lists the reports)"));
        }
        Ok(())
    }

    /// The owner of the commit, by reports or by its trailer, and the results of its review and audit.
    fn tell_whose(
        &self,
        past: &Past,
        commit: &CommitSeen,
        whose: Option<&Whose>,
    ) -> Option<String> {
        let Some(whose) = whose else {
            let id = clean(commit.slice.as_deref()?, Lines::Fold);
            return Some(format!(
                "its trailer names slice `{id}`, but the slice's reports do not name the commit"
            ));
        };
        let id = clean(&whose.slice, Lines::Fold);
        let slice = self.snapshot.plan.slice(&whose.slice);
        let status = slice.map(|slice| slice.status.id());
        let undone = whose.report.filter(|seq| past.is_undone(*seq));
        let of = match (whose.is_of_earlier_mission, undone, status) {
            (true, _, _) => format!("slice `{id}` of an earlier mission"),
            (false, Some(seq), _) => {
                format!("reported for slice `{id}` in {seq}, which was undone with `cook undo`")
            }
            (false, None, Some(status)) => format!("slice `{id}`, {status}"),
            (false, None, None) => format!("slice `{id}`, no longer in the plan"),
        };
        let [review, audit] = past.find_looks(whose);
        let reviewed = match review {
            None => "never reviewed".to_owned(),
            Some((seq, verdicts)) => tell_look("reviewed", ["yes", "no"], seq, verdicts),
        };
        let audited = audit.map(|(seq, verdicts)| {
            let says = ["nothing open", "something open"];
            format!("; {}", tell_look("audited", says, seq, verdicts))
        });
        let accepted = whose
            .accepted
            .map(|seq| format!("; accepted in {seq}, before it was reopened"));
        let more = [audited, accepted]
            .into_iter()
            .flatten()
            .collect::<String>();
        Some(format!("{of}: {reviewed}{more}"))
    }

    /// The commit where the job began. The work of a plan that was taken in began before its log did.
    fn find_base(&self, past: &Past) -> Result<Option<String>> {
        let bases = self.snapshot.plan.candidate_slices.iter();
        let bases = bases.filter_map(|slice| slice.basis_commit.clone());
        // A shallow clone may lack it.
        let mut first = match &past.base {
            Some(base) => self.workspace.repo.resolve(base)?,
            None => None,
        };
        for basis in bases.filter(|_| !past.begins_at_end) {
            let Some(basis) = self.workspace.repo.resolve(&basis)? else {
                continue;
            };
            let is_older = match &first {
                Some(first) => self.workspace.repo.is_ancestor(&basis, first)?,
                None => true,
            };
            if is_older {
                first = Some(basis);
            }
        }
        Ok(first)
    }
}

/// The first HEAD that the log has seen; the transitions are given newest first.
fn first_head(store: &Store, transitions: &[String]) -> Result<Option<String>> {
    for transition in transitions.iter().rev() {
        let then = store.entry(transition)?.snapshot;
        if then.ledger.head_seen.is_some() {
            return Ok(then.ledger.head_seen);
        }
    }
    Ok(None)
}

// Parts of earlier reports that no document holds any more: deviations and risks of closed slices, blockers that a
// later report cleared, and re-grounds that `cook undo` removed.

/// Maximum number of bytes of one item that are shown.
const WHAT: usize = 400;

const DEVIATIONS: &str = "canonical_blockers_or_deviations";
const HANDOFF: &str = "exact_handoff_payload";

/// A role's words, cut to [`WHAT`] bytes, with the command that shows the rest.
fn words(what: &str, seq: u64) -> String {
    let what = without_attribution(&clean(what, Lines::Fold));
    cut(&what, WHAT, &format!("`cook log {seq}` shows the whole"))
}

fn mark_undone(past: &Past, seq: u64) -> &'static str {
    match past.is_undone(seq) {
        true => " (undone with `cook undo`)",
        false => "",
    }
}

/// The blockers and gaps, by kind and text, with the sequence number where each was first named.
type Names = BTreeMap<(&'static str, String), u64>;

const BLOCKER: &str = "release blocker";
const GAP: &str = "high-value gap";

/// Applies a report's list, which replaces the previous list of that kind.
fn take(named: &mut Names, kind: &'static str, given: Option<&Vec<String>>, seq: u64) {
    let Some(given) = given else { return };
    named.retain(|(of, what), _| *of != kind || given.contains(what));
    for what in given {
        named.entry((kind, what.clone())).or_insert(seq);
    }
}

// Shown to the roles that judge the whole project in addition to the work of the slices: commits since the job began
// that do not belong to a slice that is done or in work, with what was said of them.

/// Maximum number of paths that are named for a commit.
const PATHS: usize = 5;
/// Maximum number of characters of a review that are shown.
const SAID: usize = 160;

/// Whether the commit only writes files of `cook init`, which the user commits: no slice owns them, and changes of the
/// settings are asked about elsewhere.
fn is_contract(paths: &BTreeSet<String>) -> bool {
    let is_own = |path: &String| path.starts_with(".agent/");
    let mut all = paths.iter();
    paths.iter().any(is_own) && all.all(|path| is_own(path) || path == ".gitignore")
}

fn tell_look(how: &str, says: [&str; 2], seq: u64, verdicts: &Verdicts) -> String {
    let is_yes = verdicts.positive && verdicts.fails.is_empty();
    let [yes, no] = says;
    if is_yes {
        return format!("{how} {yes}");
    }
    let rated = list_other_ratings(&verdicts.findings, &verdicts.concerns);
    let named = [&verdicts.findings[..], &rated].concat().join("; ");
    let named = without_attribution(&clean(&named, Lines::Fold));
    let short: String = named.chars().take(SAID).collect();
    let more = if short.len() < named.len() {
        " …"
    } else {
        ""
    };
    format!("{how} {no} (`cook log {seq}`): {short}{more}")
}

/// The slice whose reports named the commit.
fn find_claimant<'a>(snapshot: &'a Snapshot, commit: &String) -> Option<&'a Slice> {
    let mut slices = snapshot.ledger.slices.iter();
    let (id, _) = slices.find(|(_, ledger)| ledger.claimed.contains(commit))?;
    snapshot.plan.slice(id)
}
