//! `cook calibrate`: judges are given planted cases, each in a copy of a repository that is thrown away,
//! and what they say is counted.
//!
//! Invariants: the copy's log is another one, and nothing of a case reaches this repository but its
//! answer, which is kept beside the log; the prompt is put together as that of every session is; an
//! answer is kept before the next case begins.

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

// Makes cases, asks about them, counts: planted and clean ones by turns, so that what is cut in the
// middle holds as many of both.

/// The roles that judge.
pub(crate) const JUDGES: [Role; 3] = [Role::Reviewer, Role::Auditor, Role::StopJudge];
/// Sessions in a row without a verdict after which it ends.
const MOST_SILENT: usize = 3;
/// Faults that are tried for one that gates pass.
const TRIED_FOR_ONE: usize = 8;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub role: Role,
    /// None = by the settings.
    pub agent: Option<&'a str>,
    /// Planted cases, and as many clean ones.
    pub cases: usize,
    /// What is kept of this judge is forgotten first.
    pub again: bool,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Measured {
    pub kept: Kept,
    /// Cases that were asked about now.
    pub asked: usize,
    /// Faults that were tried now and that a gate noticed, or that the machine takes no report of.
    pub unusable: usize,
    /// There are no more faults, although more were asked for.
    pub is_short: bool,
    pub seconds: f64,
}

/// Whoever is told how far it is.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

/// Measures the judge of one role.
///
/// # Errors
/// Gates or agents that may not run, no case, an agent that gives no verdict, an interruption.
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

/// Gates run in copies, where nobody asks whether they may.
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
    /// Sessions in a row without a verdict.
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
            // Clean cases are of the same histories as planted ones.
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

    /// Makes a case and has the judge answer it, where that is not kept already. Whether it counts: a gate may
    /// notice it, or the role may not be due on it.
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

    /// Holds sessions until the judge gave its verdict: whether it refused, what that cost (none = unknown), and
    /// whether somebody asked for an end.
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

/// What the role concluded after that transition.
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

/// A reviewer and a judge say so. An auditor is asked what is open, and open slices are none of its
/// objections: it says no where it fails a dimension, or counts a blocker or a gap.
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

// One case: a copy of a repository in which a role is due on a done slice's work, as it was or with a
// fault in it.
//
// The work is committed and reported as it was, its gates run, and what was recorded after it is
// recorded again until the role is due. Whatever the machine refuses on the way makes no case.

/// Steps to a role, at most.
const MOST_STEPS: usize = 40;

/// A case that is ready to be asked about.
struct Case {
    pub root: PathBuf,
    /// The log's newest transition before the session.
    pub tip: String,
    _dir: TemporaryDir,
}

/// What became of making one.
enum Made {
    Ready(Box<Case>),
    /// Why the role is not due there: most often because a gate notices the fault.
    Unusable(String),
}

/// Makes a case.
///
/// # Errors
/// A copy that cannot be made, an interruption, unreadable state.
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

/// Opens a copy: its gates are those that were trusted where it comes from, nothing of it is pushed, and
/// nobody is told what happens in it.
fn open(root: &Path) -> Result<Workspace> {
    let mut workspace = Workspace::open(root)?;
    workspace.trust_everything = true;
    workspace.pushes_later = true;
    workspace.tells_nobody = true;
    Ok(workspace)
}

/// The log's newest transition where the role is due, or why it is not.
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
            // What only passes by, or is of a vote that comes after.
            _ => continue,
        }
        let event = of_copy(&event, &past.commit, &commit)?;
        service::transition(&workspace, &event, Actor::Role)?;
    }
    Ok(Err(format!("no {role} was due after it")))
}

/// The event as it is of the copy's commit; its session and its ticket are of another log.
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

/// Shortest beginning of a commit's name that counts as one.
const SHORTEST: usize = 7;

/// The text with each word that is a commit's name, or begins it, as the other's.
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

// The slices that a workflow has done, each with the transition before its work was reported.

/// Transitions of a log that are looked through, newest first.
const MOST_TRANSITIONS: usize = 5_000;
/// Slices that cases are made of, newest first.
const MOST_SLICES: usize = 50;

/// A done slice.
struct DoneSlice {
    pub id: String,
    /// The commit that was reported and accepted.
    pub commit: String,
    /// The transition before the report.
    pub before: String,
    /// The report and what came after it, oldest first, by their commits in the log.
    pub events: Vec<Meta>,
    /// What can be planted in its change.
    pub faults: VecDeque<Fault>,
}

/// Where cases are made of.
struct Source {
    pub workspace: Workspace,
    /// It is this repository's own.
    pub own: bool,
    pub slices: Vec<DoneSlice>,
    /// The slice whose fault is next.
    next: usize,
    /// Of the history that cook carries, for as long as cases are made of it.
    _dir: Option<TemporaryDir>,
}

impl Source {
    /// The done slices of a workflow, newest first; none where there is no log.
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
                // A history that was written anew may have lost it.
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

    /// The history that cook carries, for repositories that have none of their own: the job of `cook demo`, done
    /// by its scripted agents in the user's name.
    ///
    /// # Errors
    /// A directory that cannot be made, what keeps a demonstration from its end.
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

    /// The next fault of each slice in turn, with the slice's place; whether it is of this repository's own history.
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
