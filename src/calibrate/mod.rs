//! `cook calibrate`: judges are given planted and clean cases, each in a temporary copy of a repository, and their
//! verdicts are counted.
//!
//! Invariants: the copy has its own log, and only the answer to a case reaches this repository, where it is kept next
//! to the log. The prompt is assembled as for every session. An answer is stored before the next case begins.

use crate::demo::Demo;
use crate::judges::{Answered, Identity, Kept};
use crate::measure::texts;
use crate::prelude::*;
use crate::run::{Keeping, Observer, RoleAgent, Unseen, first_agent, hold_once};
use crate::service::{self, ByCookOutcome};
use crate::workspace::{Workspace, find_place};
use cook_mutants::{Fault, FaultKind, faults};
use cook_repo::disk::TemporaryDir;
use std::collections::VecDeque;

// Creates cases, asks the judge, and counts. Planted and clean cases alternate, so that an interrupted calibration has
// as many of both.

/// The roles that judge.
pub(crate) const JUDGES: [Role; 3] = [Role::Reviewer, Role::Auditor, Role::StopJudge];
/// Number of sessions in a row without a verdict after which the calibration ends.
const MOST_SILENT: usize = 3;
/// Maximum number of faults that are tried for each case, until the gates pass one.
const TRIED_FOR_ONE: usize = 8;

/// The options of a calibration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub role: Role,
    /// The agent's name; if `None`, the one in the settings.
    pub agent: Option<&'a str>,
    /// Number of planted cases, and of clean ones.
    pub cases: usize,
    /// Whether earlier answers of this judge are discarded first.
    pub again: bool,
}

/// The result of a calibration.
#[derive(Debug)]
pub(crate) struct Measured {
    pub kept: Kept,
    /// Number of cases that were asked now.
    pub asked: usize,
    /// Number of faults tried now that a gate noticed, or whose report was refused.
    pub unusable: usize,
    /// Whether there were fewer faults than requested.
    pub is_short: bool,
    pub seconds: f64,
}

/// Reports progress.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

/// Measures the judge of one role.
///
/// # Errors
/// Gates or agents that may not run, no usable case, an agent that gives no verdict, or an interruption.
pub(crate) fn measure(
    workspace: &Workspace,
    asked: &Asked,
    observer: &mut dyn Observer,
    tell: Tell,
) -> Result<Measured> {
    let agent = first_agent(workspace, asked.role, asked.agent)?;
    require_trust(workspace)?;
    let keeping = Keeping::of(workspace)?;
    let _held = Kept::hold(workspace)?;
    let identity = Identity::now(asked.role, agent.preset.name(), agent.model.as_deref());
    let mut kept = Kept::of(workspace, identity)?;
    if asked.again {
        kept.forget(workspace)?;
    }
    let mut calibration = Calibration {
        workspace,
        role: asked.role,
        agent,
        keeping,
        measured: Measured {
            kept,
            asked: 0,
            unusable: 0,
            is_short: false,
            seconds: 0.0,
        },
        silent: 0,
        observer,
        tell,
    };
    let begun = Instant::now();
    let mut own = Workspace::open(workspace.repo.root())?;
    own.trust_everything = workspace.trust_everything;
    let ended = calibration.run(Source::of(own, true)?, asked.cases);
    calibration.measured.seconds = begun.elapsed().as_secs_f64();
    ended.map_err(|mut failure| {
        let hint = "the answers are kept: `cook calibrate` continues after them";
        failure.hints.push(hint.to_owned());
        failure
    })?;
    Ok(calibration.measured)
}

/// Checks that the gates are trusted: in the copies this is not asked again.
fn require_trust(workspace: &Workspace) -> Result<()> {
    let gates = workspace.config()?.gate_specs().into_iter();
    let mut commands: Vec<String> = gates.map(|gate| gate.run).collect();
    if let (_, Some(snapshot)) = workspace.current()? {
        let slices = snapshot.plan.candidate_slices.iter();
        commands
            .extend(slices.flat_map(|slice| slice.verification_commands.iter().flatten().cloned()));
    }
    workspace
        .require_trust("", &commands)
        .map_err(|mut failure| {
            let hint = "or give `--trust-repo` for this run, in which they run for each case";
            failure.hints.push(hint.to_owned());
            failure
        })
}

struct Calibration<'a> {
    workspace: &'a Workspace,
    role: Role,
    agent: RoleAgent,
    keeping: Keeping,
    measured: Measured,
    /// Number of sessions in a row without a verdict.
    silent: usize,
    observer: &'a mut dyn Observer,
    tell: Tell<'a>,
}

impl Calibration<'_> {
    fn run(&mut self, own: Source, cases: usize) -> Result<()> {
        let mut sources = vec![own];
        let (mut planted, mut clean) = (0, 0);
        while planted < cases {
            let mut found = false;
            let mut tries = 0..cases.saturating_mul(TRIED_FOR_ONE);
            while !found && tries.next().is_some() {
                let mut faults = sources.iter_mut();
                if let Some((at, fault, own)) = faults.find_map(Source::take_fault) {
                    let source = &sources[usize::from(!own)];
                    let past = &source.slices[at];
                    let name = format!("{}:{}", past.id, fault.id);
                    found = self.ask(source, past, Some(&fault), name)?;
                } else if sources.len() > 1 {
                    break;
                } else {
                    (self.tell)(
                        "this repository has no more faults to plant: the history that cook carries is made",
                    );
                    sources.push(Source::carry(self.workspace)?);
                }
            }
            if !found {
                self.measured.is_short = true;
                break;
            }
            planted += 1;
            // Clean cases come from the same histories as planted ones.
            let all = sources.iter();
            let all = all.flat_map(|source| source.slices.iter().map(move |past| (source, past)));
            let all: Vec<_> = all.collect();
            for _ in 0..all.len() {
                let (source, past) = all[clean % all.len()];
                let name = format!("{}:clean-{}", past.id, clean / all.len());
                clean += 1;
                if self.ask(source, past, None, name)? {
                    break;
                }
            }
        }
        if planted > 0 {
            return Ok(());
        }
        let role = self.role;
        let what =
            format!("no fault could be planted that the gates pass and on which the {role} is due");
        let hint = "`cook strength SLICE` says which defects the gates pass; run `cook calibrate` again when another slice is accepted";
        let refusal = Refusal::new(Code::DoesNotApply, what);
        Err(refusal.replace_hints([hint]).into())
    }

    /// Creates a case and has the judge answer it, unless its answer is kept already. Returns whether the case counts:
    /// a gate may notice the fault, or the role may not be due.
    fn ask(
        &mut self,
        source: &Source,
        past: &DoneSlice,
        fault: Option<&Fault>,
        name: String,
    ) -> Result<bool> {
        let name = match source.own {
            true => name,
            false => format!("carried/{name}"),
        };
        let mut known = self.measured.kept.answers.iter();
        if let Some(known) = known.find(|one| one.case == name) {
            return Ok(known.refused.is_some());
        }
        let mut answer = Answered {
            case: name,
            fault: fault.map(|fault| fault.kind),
            slice: past.id.clone(),
            own: source.own,
            refused: None,
            cost_micro_usd: None,
            milliseconds: 0,
            at: String::new(),
        };
        let case = match make(source, past, fault, self.role)? {
            Made::Ready(case) => case,
            Made::Unusable(why) => {
                self.measured.unusable += 1;
                (self.tell)(&format!("no case: {}: {why}", describe(past, answer.fault)));
                answer.at = self.workspace.clock.now();
                self.measured.kept.add(self.workspace, answer)?;
                return Ok(false);
            }
        };
        let begun = Instant::now();
        let (refused, cost, is_asked_to_end) = self.hear(&case)?;
        answer.refused = Some(refused);
        answer.cost_micro_usd = cost;
        answer.milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        answer.at = self.workspace.clock.now();
        let said = if refused { "no" } else { "yes" };
        (self.tell)(&format!("{}: {said}", describe(past, answer.fault)));
        self.measured.kept.add(self.workspace, answer)?;
        self.measured.asked += 1;
        match is_asked_to_end {
            true => Err(Failure::state(Code::Interrupted, "interrupted")),
            false => Ok(true),
        }
    }

    /// Runs sessions until the judge gives its verdict. Returns whether it refused, the cost (`None` if unknown), and
    /// whether an interruption was requested.
    fn hear(&mut self, case: &Case) -> Result<(bool, Option<u64>, bool)> {
        let mut cost = Some(0);
        loop {
            let (root, agent) = (&case.root, &self.agent);
            let held = hold_once(root, self.role, agent, &self.keeping, self.observer)?;
            cost = cost
                .zip(held.cost_micro_usd)
                .map(|(one, other)| one + other);
            if held.nothing.is_none()
                && let Some(verdicts) = verdict_since(&case.root, &case.tip, self.role)?
            {
                self.silent = 0;
                let refused = says_no(self.role, &verdicts);
                return Ok((refused, cost, held.is_asked_to_end));
            }
            if held.is_asked_to_end {
                return Err(Failure::state(Code::Interrupted, "interrupted"));
            }
            self.silent += 1;
            if self.silent >= MOST_SILENT {
                let why = held.nothing.as_deref().unwrap_or("it reported nothing");
                let what =
                    format!("{MOST_SILENT} sessions in a row gave no verdict; the last one: {why}");
                let failure = Failure::new(FailureKind::Supplier, Code::SupplierFailed, what);
                let hint =
                    "`cook calibrate -v` shows what it does, `cook ask` whether it answers at all";
                return Err(failure.replace_hints([hint]));
            }
        }
    }
}

fn describe(past: &DoneSlice, fault: Option<FaultKind>) -> String {
    let what = fault.map_or("clean work", FaultKind::words);
    format!("slice {}, {what}", past.id)
}

/// The role's verdict after that transition.
fn verdict_since(root: &Path, tip: &str, role: Role) -> Result<Option<Verdicts>> {
    let workspace = open(root)?;
    let store = workspace.store()?;
    for meta in store.entries()? {
        let meta = meta?;
        if meta.commit == tip {
            break;
        }
        let event = store.event(&meta.commit)?;
        if event.role() == Some(role)
            && let Event::Reviewed { verdicts, .. }
            | Event::Audited { verdicts, .. }
            | Event::Judged { verdicts, .. } = event
        {
            return Ok(Some(verdicts));
        }
    }
    Ok(None)
}

/// Whether the verdict is a no. A reviewer or a judge says so. An auditor is asked for open work, so open slices are
/// not an objection: its verdict is a no if it fails a dimension, or counts a blocker or a gap.
fn says_no(role: Role, verdicts: &Verdicts) -> bool {
    match role {
        Role::Auditor => {
            !verdicts.fails.is_empty()
                || verdicts.blocker_count.0 > 0
                || verdicts.high_value_gap_count.0 > 0
        }
        _ => !verdicts.positive,
    }
}

// One case: a copy of a repository in which a role is due for the work of a done slice, either as it was or with a
// fault in it.
//
// The original work is committed and reported again, its gates run, and the transitions after it are recorded again
// until the role is due. If one of them is refused, there is no case.

/// Maximum number of steps until a role is due.
const MOST_STEPS: usize = 40;

/// A case for which the role is due.
struct Case {
    pub root: PathBuf,
    /// The log's newest transition before the session.
    pub tip: String,
    _dir: TemporaryDir,
}

/// The result of creating a case.
enum Made {
    Ready(Box<Case>),
    /// Why the role is not due: most often because a gate notices the fault.
    Unusable(String),
}

/// Creates a case.
///
/// # Errors
/// A copy that cannot be made, an interruption, or unreadable state.
fn make(source: &Source, past: &DoneSlice, fault: Option<&Fault>, role: Role) -> Result<Made> {
    let dir =
        TemporaryDir::make().or_fail(Code::NotWritable, "no directory can be made for a case")?;
    let name = source.workspace.repo.root().file_name();
    let root = dir.path().join(name.unwrap_or("work".as_ref()));
    let made = replay(source, past, fault, role, &root);
    match made {
        Ok(Ok(tip)) => Ok(Made::Ready(Box::new(Case {
            root,
            tip,
            _dir: dir,
        }))),
        Ok(Err(why)) => Ok(Made::Unusable(why)),
        Err(failure) if failure.kind == FailureKind::Refused => Ok(Made::Unusable(failure.message)),
        Err(failure) => Err(failure),
    }
}

/// Opens a copy: all its commands are trusted, because they were trusted in the original; nothing is pushed; and the
/// notification command does not run.
fn open(root: &Path) -> Result<Workspace> {
    let mut workspace = Workspace::open(root)?;
    workspace.trust_everything = true;
    workspace.pushes_later = true;
    workspace.tells_nobody = true;
    Ok(workspace)
}

/// Returns the log's newest transition when the role is due, or why it is not due.
fn replay(
    source: &Source,
    past: &DoneSlice,
    fault: Option<&Fault>,
    role: Role,
    root: &Path,
) -> Result<Result<String, String>> {
    let store = source.workspace.store()?;
    let before = store.entry(&past.before)?.snapshot;
    let repo = &source.workspace.repo;
    let seen = match &before.ledger.head_seen {
        Some(seen) => repo.resolve(seen)?,
        None => None,
    };
    let Some(seen) = seen else {
        return Ok(Err("where its work began is not there any more".to_owned()));
    };
    if seen == past.commit || !repo.is_ancestor(&seen, &past.commit)? {
        return Ok(Err("its work does not follow where it began".to_owned()));
    }
    let copy = repo.copy_to(root, before.ledger.branch.as_deref(), &seen)?;
    store.copy_until(&past.before, find_place(&copy))?;
    let texts = fault.map(|fault| (fault.path.clone(), fault.text.clone()));
    let commit = copy.commit_like(&past.commit, texts.as_slice())?;
    let workspace = open(root)?;
    service::show_tip(&workspace)?;
    let mut events = past.events.iter();
    let mut is_reported = false;
    for _ in 0..MOST_STEPS {
        let workspace = open(root)?;
        let (tip, snapshot) = workspace.require()?;
        let (due, _) = service::dispatch_now(&workspace, Some(&snapshot))?;
        if due.waits_for_gates() {
            service::transition(&workspace, &Event::Verified, Actor::Runner)?;
            continue;
        }
        if is_reported && due.role == Some(role) {
            return Ok(Ok(tip.commit));
        }
        if is_reported && due.role == Some(Role::Implementer) {
            return Ok(Err("its gates notice it".to_owned()));
        }
        let Some(meta) = events.next() else {
            return Ok(Err(format!("no {role} was due after it")));
        };
        let event = store.event(&meta.commit)?;
        match &event {
            Event::Implemented { .. } if !is_reported => is_reported = true,
            Event::Implemented { .. } | Event::Returned { .. } | Event::Undone { .. } => {
                return Ok(Err(format!("no {role} was due after it")));
            }
            Event::RegroundedByCook { .. } => match service::reground_by_cook(&workspace, None)? {
                ByCookOutcome::Applied(_) => continue,
                ByCookOutcome::Model(why) => return Ok(Err(why)),
                ByCookOutcome::NotDue => return Ok(Err("another role is due".to_owned())),
            },
            Event::Reviewed { .. } | Event::Audited { .. } | Event::Regrounded { .. } => {}
            // Events beside the work, and events about later votes.
            _ => continue,
        }
        let event = of_copy(&event, &past.commit, &commit)?;
        service::transition(&workspace, &event, Actor::Role)?;
    }
    Ok(Err(format!("no {role} was due after it")))
}

/// The event with the commit of the copy; session and ticket are removed, because they belong to another log.
fn of_copy(event: &Event, from: &str, to: &str) -> Result<Event> {
    let fail = |error: serde_json::Error| {
        Failure::state(Code::LogDamaged, "an event of the log cannot be read").with_cause(&error)
    };
    let text = serde_json::to_string(event).map_err(fail)?;
    let mut event: Event = serde_json::from_str(&rename(&text, from, to)).map_err(fail)?;
    match &mut event {
        Event::Implemented { submission, .. }
        | Event::Reviewed { submission, .. }
        | Event::Audited { submission, .. }
        | Event::Regrounded { submission, .. } => {
            submission.session = None;
            submission.ticket = None;
            submission.began_at = None;
        }
        _ => {}
    }
    Ok(event)
}

/// Minimum length of an abbreviated commit id.
const SHORTEST: usize = 7;

/// Replaces each word that is the id of the commit `from`, or an abbreviation of it, by the id of `to`.
fn rename(text: &str, from: &str, to: &str) -> String {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_hex) {
        let joins = |c: char| c.is_alphanumeric() || c == '_';
        let is_begun = rest[..at].chars().next_back().is_some_and(joins)
            || (at == 0 && out.chars().next_back().is_some_and(joins));
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(|c| !joins(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        match !is_begun && word.len() >= SHORTEST && from.starts_with(word) {
            true => out.push_str(&to[..word.len().min(to.len())]),
            false => out.push_str(word),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

// The done slices of a workflow, each with the transition before its report.

/// Maximum number of transitions of a log that are searched, newest first.
const MOST_TRANSITIONS: usize = 5_000;
/// Maximum number of slices from which cases are made, newest first.
const MOST_SLICES: usize = 50;

/// A done slice.
struct DoneSlice {
    pub id: String,
    /// The commit that was reported and accepted.
    pub commit: String,
    /// The transition before the report.
    pub before: String,
    /// The report and the transitions after it, oldest first.
    pub events: Vec<Meta>,
    /// Faults that can be planted in its change.
    pub faults: VecDeque<Fault>,
}

/// A history from which cases are made.
struct Source {
    pub workspace: Workspace,
    /// Whether it is this repository's own.
    pub own: bool,
    pub slices: Vec<DoneSlice>,
    /// Index of the slice whose fault is taken next.
    next: usize,
    /// Keeps the directory of the built-in history alive.
    _dir: Option<TemporaryDir>,
}

impl Source {
    /// The done slices of a workflow, newest first; none if there is no log.
    ///
    /// # Errors
    /// A log or a repository that cannot be read.
    pub fn of(workspace: Workspace, own: bool) -> Result<Self> {
        let mut slices = Vec::new();
        if let (Some(store), (_, Some(snapshot))) = (&workspace.store, workspace.current()?) {
            let entries = store.entries()?.take(MOST_TRANSITIONS);
            let mut metas = entries.collect::<Result<Vec<Meta>, _>>()?;
            metas.reverse();
            let done = snapshot.plan.candidate_slices.iter();
            let done = done.filter(|slice| slice.status == SliceStatus::Done);
            let done: Vec<&str> = done.map(|slice| slice.slice_id.as_str()).collect();
            let mut seen = Vec::new();
            for (at, meta) in metas.iter().enumerate().rev() {
                let is_report = meta.event == "implemented" && done.contains(&&*meta.subject);
                if !is_report || seen.contains(&meta.subject) || slices.len() >= MOST_SLICES {
                    continue;
                }
                seen.push(meta.subject.clone());
                let Some(before) = at.checked_sub(1).map(|before| metas[before].commit.clone())
                else {
                    continue;
                };
                let Event::Implemented { commit, .. } = store.event(&meta.commit)? else {
                    continue;
                };
                // Rewritten history may not contain the commit any more.
                let Some(commit) = workspace.repo.resolve(&commit)? else {
                    continue;
                };
                let seed = if own { commit.as_str() } else { "carried" };
                let ledger = snapshot.ledger.slices.get(&meta.subject);
                let accepted = ledger.and_then(|ledger| ledger.accepted.as_ref());
                let basis = match accepted {
                    Some(accepted) => workspace.repo.resolve(&accepted.basis)?,
                    None => None,
                };
                let Some(basis) = basis else { continue };
                slices.push(DoneSlice {
                    id: meta.subject.clone(),
                    before,
                    events: metas[at..].to_vec(),
                    faults: find_faults(&workspace, &basis, &commit, seed)?,
                    commit,
                });
            }
        }
        Ok(Self {
            workspace,
            own,
            slices,
            next: 0,
            _dir: None,
        })
    }

    /// The built-in history, for repositories without enough of their own: the work of `cook demo`, done by its
    /// scripted agents in the user's name.
    ///
    /// # Errors
    /// A directory that cannot be made, or a failed demonstration.
    pub fn carry(workspace: &Workspace) -> Result<Self> {
        let dir = TemporaryDir::make()
            .or_fail(Code::NotWritable, "no directory can be made for cases")?;
        let root = dir.path().join("roman");
        let identity = workspace.repo.identity()?.unwrap_or_default();
        let find = |variable: &str| {
            let found = identity.iter().find(|(name, _)| *name == variable);
            found.map_or("", |(_, value)| value.as_str())
        };
        let (name, address) = (find("GIT_AUTHOR_NAME"), find("GIT_AUTHOR_EMAIL"));
        let author = (!name.is_empty()).then_some((name, address));
        Demo::prepare(Some(&root), None, author)?.run(&mut Unseen)?;
        Ok(Self {
            _dir: Some(dir),
            ..Self::of(Workspace::open(&root)?, false)?
        })
    }

    /// The next fault, from each slice in turn, with the index of the slice and whether the history is this
    /// repository's own.
    pub fn take_fault(&mut self) -> Option<(usize, Fault, bool)> {
        for _ in 0..self.slices.len() {
            let at = self.next;
            self.next = (at + 1) % self.slices.len();
            if let Some(fault) = self.slices[at].faults.pop_front() {
                return Some((at, fault, self.own));
            }
        }
        None
    }
}

fn find_faults(
    workspace: &Workspace,
    basis: &str,
    commit: &str,
    seed: &str,
) -> Result<VecDeque<Fault>> {
    let edits = workspace.repo.edits(basis, commit)?;
    let gates = workspace.config()?.gate_specs().into_iter();
    let commands: Vec<String> = gates.map(|gate| gate.run).collect();
    Ok(faults(&texts(&edits, &commands), seed).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_and_their_beginnings_become_others() {
        let (from, to) = ("abcdef0123456789", "1111111111111111");
        for (text, expected) in [
            ("commit abcdef0123456789.", "commit 1111111111111111."),
            ("git:abcdef012:a.rs", "git:111111111:a.rs"),
            ("abcdef", "abcdef"),
            ("xabcdef0123", "xabcdef0123"),
            ("abcdef01234567890", "abcdef01234567890"),
            ("a_abcdef0 é abcdef0", "a_abcdef0 é 1111111"),
            ("", ""),
        ] {
            assert_eq!(rename(text, from, to), expected, "{text}");
        }
    }
}
