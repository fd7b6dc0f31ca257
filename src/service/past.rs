//! What the log holds of the whole job where its documents do not: another mission and `cook undo` clear
//! those, and no commit that was made.

use super::report_context::{BY_GIT, Context, Foreign, NAMED};
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_protocol::diagnostic::without_attribution;
use cook_protocol::machine::{CommitSeen, list_other_ratings};
use cook_protocol::model::Conclude;
use cook_protocol::prompt::cut;
use cook_protocol::report::{list_items, return_reason};
use std::fmt::Write;

/// Events that are read whole.
const READ: &str = "\
    regrounded regrounded_by_cook implemented returned asked reviewed audited refocused \
    undone";

/// The job since it began, or since the project was last found done: who found that judged what was there.
pub(super) struct Past {
    /// HEAD there; none where the log has seen no commit.
    pub base: Option<String>,
    /// The project was found done there.
    pub begins_at_end: bool,
    /// The transitions since that say something of work, oldest first.
    pub events: Vec<Passed>,
    /// What implementers reported, oldest first.
    reports: Vec<Reported>,
    /// Acceptances: number and slice.
    accepted: Vec<(u64, String)>,
    undone: Vec<u64>,
}

/// A transition.
pub(super) struct Passed {
    pub seq: u64,
    /// The slice that it is about, of a report on one.
    pub subject: String,
    pub event: Event,
}

/// Commits that a report named for a slice.
struct Reported {
    seq: u64,
    slice: String,
    commits: Vec<String>,
}

/// Whose a commit is that no slice of the plan accounts for.
pub(super) struct Whose {
    pub slice: String,
    /// Number of the first report that names it; none = the plan alone knows.
    pub report: Option<u64>,
    pub is_of_earlier_mission: bool,
    /// The slice was accepted with it, and in which transition.
    pub accepted: Option<u64>,
}

impl Past {
    /// Reads back to where the job began.
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

    /// The user took that transition back.
    pub fn is_undone(&self, seq: u64) -> bool {
        self.undone.contains(&seq)
    }

    /// The mission that a transition was made under, counted from the first that is looked at.
    fn mission_of(&self, seq: u64) -> usize {
        let before = self.events.iter().filter(|passed| passed.seq < seq);
        before
            .filter(|passed| matches!(passed.event, Event::Refocused { .. }))
            .count()
    }

    /// A transition of a mission that is no more.
    pub fn is_of_earlier_mission(&self, seq: u64) -> bool {
        self.mission_of(seq) != self.mission_of(u64::MAX)
    }

    /// Whose the commit is: of the report that names it last, or of the slice of the plan that claims it.
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

    /// The last review of the commit and the last audit after it, each with its number.
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

/// A re-ground that calls the project done.
fn is_end(event: &Event) -> bool {
    let concluded = event.block().and_then(|block| block.conclude.as_ref());
    matches!(concluded, Some(Conclude::Stop))
}

impl Context<'_> {
    /// What the log holds of the job beside the documents, for whoever weighs more than a slice.
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

    /// The HEAD that was found done, where the HEAD of now goes on from it.
    fn end_on_head(&self, transition: &str) -> Result<Option<String>> {
        let then = self.workspace.store()?.entry(transition)?.snapshot;
        let is_done = then.state.continuation_policy == Policy::Done;
        let Some(found) = then.ledger.head_seen.filter(|_| is_done) else {
            return Ok(None);
        };
        let is_on_head = self.workspace.repo.on_head(self.head, &found)?;
        Ok(is_on_head.then_some(found))
    }

    /// Adds what whoever judges the whole reads of it; a regrounder reads what was taken back, the rest
    /// stands in its own parts.
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

    /// By slice, newest first; the one in work stands in a part of its own.
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

    /// Newest first. What the last re-ground tells stands in an auditor's prompt as its advice; a regrounder
    /// is told those that stand in no report that counts.
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

    /// What was named and is not any more, newest first: by whom it was cleared, and why.
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
                // What was cleared again was named again.
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

    /// Commits since the job began that are no work of a slice that is done or in work. A re-ground notes a
    /// commit once, and another mission or `cook undo` clears the plan that it was made under; whoever judges
    /// the whole comes later, and is shown all of them.
    ///
    /// # Errors
    /// When the repository cannot be read.
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

    /// Whose it is, by reports or by its trailer, and what review and audit said of it.
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

    /// Where the job began: a plan that was taken in with its work began before its log did.
    fn find_base(&self, past: &Past) -> Result<Option<String>> {
        let bases = self.snapshot.plan.candidate_slices.iter();
        let bases = bases.filter_map(|slice| slice.basis_commit.clone());
        // A shallow clone lacks what is older than it.
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

/// The first HEAD that the log has seen; its transitions are given newest first.
fn first_head(store: &Store, transitions: &[String]) -> Result<Option<String>> {
    for transition in transitions.iter().rev() {
        let then = store.entry(transition)?.snapshot;
        if then.ledger.head_seen.is_some() {
            return Ok(then.ledger.head_seen);
        }
    }
    Ok(None)
}

// What reports told that no document holds any more: deviations and risks of slices that are closed,
// blockers that a later report cleared, what `cook undo` took back with a re-ground.

/// Bytes of what a role told.
const WHAT: usize = 400;

const DEVIATIONS: &str = "canonical_blockers_or_deviations";
const HANDOFF: &str = "exact_handoff_payload";

/// A role's words, and what shows the rest of them.
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

/// A blocker or a gap, by what it says.
type Names = BTreeMap<(&'static str, String), u64>;

const BLOCKER: &str = "release blocker";
const GAP: &str = "high-value gap";

/// A list that is given takes the place of the one before.
fn take(named: &mut Names, kind: &'static str, given: Option<&Vec<String>>, seq: u64) {
    let Some(given) = given else { return };
    named.retain(|(of, what), _| *of != kind || given.contains(what));
    for what in given {
        named.entry((kind, what.clone())).or_insert(seq);
    }
}

// What whoever judges the whole is shown beside the slices' work: commits since the job began that are
// no work of a slice that is done or in work, with what was said of them, and what HEAD lacks of the work
// of done slices.

/// Paths that are named of a commit.
const PATHS: usize = 5;
/// Characters of what a review said.
const SAID: usize = 160;

/// What `cook init` writes, and the user commits: nobody's work, and changes of settings are asked about.
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
