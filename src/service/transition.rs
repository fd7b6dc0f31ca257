//! Turns an event into a recorded transition, or into a refusal that writes nothing.
//!
//! `apply` decides and asks for facts, which are measured without the lock. Then the lock is taken, and the transition
//! is committed if nothing moved. Gates run before the lock. If the tip, HEAD or the worktree moved meanwhile,
//! everything is repeated once; receipts of the same tree are reused.

use super::carriage;
use super::due_role::{dispatch_now, find_head};
use crate::measure::GateRuns;
use crate::measure::World;
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_protocol::machine::{MOST_BY_COOK, Rule, Step};
use cook_protocol::model::{Anchor, CitedExchange, Exchanges, Said, Sync};
use cook_protocol::prompt;
use cook_repo::remote::{Kept, Manner, Offer, Remote, Side};
use cook_repo::session::{Exchange, Ref, RefKind, load_episode};
use cook_repo::store::{Committed, Lease, Recovery, Sign, Staged, Transition};

/// How long a writer waits for the lock.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Measures, decides and records one event.
///
/// # Errors
/// A refusal (exit code 4), a held lock or lease (exit code 7), or unreadable state (exit code 3). In each case nothing
/// was written.
pub fn transition(workspace: &Workspace, event: &Event, actor: Actor) -> Result<Applied> {
    attempt_leased(workspace, event, actor, GateRuns::Allowed)
}

/// Like [`transition`], for callers that cannot wait for gates.
///
/// # Errors
/// As [`transition`]; `fact_missing` if gates would have to run.
pub fn apply_without_gates(workspace: &Workspace, event: &Event, actor: Actor) -> Result<Applied> {
    attempt_leased(workspace, event, actor, GateRuns::Refused)
}

fn attempt_leased(
    workspace: &Workspace,
    event: &Event,
    actor: Actor,
    runs: GateRuns,
) -> Result<Applied> {
    let _lease = match &workspace.store {
        Some(store) if needs_lease(event) => Some(store.lease(event.name())?),
        _ => None,
    };
    attempt_twice(workspace, event, actor, runs, None)
}

/// Records that the user signs the log, in a commit that carries the signature.
///
/// # Errors
/// As [`transition`], or a signature that cannot be made.
pub fn sign(workspace: &Workspace, actor: Actor, sign: &Sign<'_>) -> Result<Applied> {
    let runs = GateRuns::Allowed;
    attempt_twice(workspace, &Event::Signed, actor, runs, Some(sign))
}

/// Like [`transition`], for a driver, which already holds the lease.
///
/// # Errors
/// As [`transition`], except for the lease.
pub fn transition_holding(
    workspace: &Workspace,
    _lease: &Lease,
    event: &Event,
    actor: Actor,
) -> Result<Applied> {
    attempt_twice(workspace, event, actor, GateRuns::Allowed, None)
}

fn attempt_twice(
    workspace: &Workspace,
    event: &Event,
    actor: Actor,
    runs: GateRuns,
    sign: Option<&Sign<'_>>,
) -> Result<Applied> {
    if let Some(point) = CommitPoint::of(workspace)? {
        return until_taken(&point, || {
            attempt(workspace, event, actor, runs, sign, Some(&point))
        });
    }
    let mut outcome = attempt(workspace, event, actor, runs, sign, None);
    if matches!(&outcome, Err(failure) if failure.code == Code::StaleFacts) {
        outcome = attempt(workspace, event, actor, runs, sign, None);
    }
    if let Ok(applied) = &mut outcome {
        push_after(workspace, applied);
    }
    outcome
}

/// Whether only the holder of the lease may record the event: reports, re-grounds by cook, undo, adopt and restore.
fn needs_lease(event: &Event) -> bool {
    event.submission().is_some()
        || matches!(
            event,
            Event::RegroundedByCook { .. }
                | Event::Undone { .. }
                | Event::Adopted { .. }
                | Event::BranchAdopted
                | Event::Restored
        )
}

/// Computes the transition without writing it.
///
/// # Errors
/// As [`transition`].
pub fn dry_run(workspace: &Workspace, event: &Event, actor: Actor) -> Result<Applied> {
    let (_, snapshot) = workspace.current()?;
    let event = &in_own_words(event, snapshot.as_ref());
    let (snapshot, runs) = (snapshot.as_ref(), GateRuns::Allowed);
    let decided = decide(workspace, snapshot, event, actor, runs, false)?;
    Ok(Applied {
        tip: None,
        event: event.name(),
        findings: decided.step.findings.clone(),
        step: decided.step,
        head: decided.head,
    })
}

/// Replaces wording that the prompt changed for the role by the wording of the documents.
pub(super) fn in_own_words(event: &Event, snapshot: Option<&Snapshot>) -> Event {
    match snapshot {
        Some(snapshot) if event.submission().is_some() => prompt::in_own_words(event, snapshot),
        _ => event.clone(),
    }
}

/// A step with the facts that it was decided by.
struct Decided {
    step: Step,
    facts: Facts,
    head: machine::Head,
}

fn decide(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    event: &Event,
    actor: Actor,
    runs: GateRuns,
    in_room: bool,
) -> Result<Decided> {
    workspace.check_independent(event)?;
    let mut facts = Facts::default();
    let rules = |facts: &Facts| machine::apply(snapshot, facts, event, actor);
    let mut step = workspace.decide(snapshot, &mut facts, runs, rules)?;
    if step.next.waits_for_gates() && !event.is_aside() && runs == GateRuns::Allowed && in_room {
        facts.room = workspace.measure(snapshot, Question::Room, runs)?.room;
        facts.forget_surroundings();
        workspace.repo.forget_status();
        step = workspace.decide(snapshot, &mut facts, runs, rules)?;
    }
    let head = find_head(&facts)?;
    Ok(Decided { step, facts, head })
}

fn attempt(
    workspace: &Workspace,
    event: &Event,
    actor: Actor,
    runs: GateRuns,
    sign: Option<&Sign<'_>>,
    point: Option<&CommitPoint<'_>>,
) -> Result<Applied> {
    let (tip, snapshot) = workspace.current()?;
    let event = &in_own_words(event, snapshot.as_ref());
    let decided = decide(workspace, snapshot.as_ref(), event, actor, runs, true)?;
    let exchanges = cite(workspace, event)?;
    let created;
    let store = match &workspace.store {
        Some(store) => store,
        None => {
            created = Store::create(workspace.place())?;
            &created
        }
    };
    let recovered = store.lock(LOCK_WAIT)?.recover()?;
    if recovered.tip()? != tip {
        return Err(stale("another transition was recorded meanwhile"));
    }
    let mut findings = decided.step.findings.clone();
    let transition = Transition {
        parent: tip.clone(),
        event: event.clone(),
        facts: decided.facts.clone(),
        actor,
        rule: decided.step.rule.id().to_owned(),
        subject: subject(event, &decided.step.snapshot),
        snapshot: decided.step.snapshot.clone(),
        records: decided.step.records.clone(),
        receipts: decided.facts.receipts().into_iter().cloned().collect(),
        exchanges,
        tests: workspace.list_new_tests(snapshot.as_ref(), &decided.step.snapshot),
        lease_epoch: decided.step.snapshot.ledger.lease_epoch.0,
        displace: decided.step.displace,
    };
    let staged = recovered.stage(transition)?;
    still_the_same(workspace, &decided)?;
    let committed = match point {
        None => staged.commit(sign, |_| Ok(()))?,
        Some(point) => {
            let committed = point.commit(staged, sign, tip.as_ref(), &decided.step.snapshot)?;
            workspace.repo.forget_status();
            committed
        }
    };
    findings.extend(committed.findings);
    let mut applied = Applied {
        tip: Some(committed.tip),
        event: event.name(),
        step: decided.step,
        head: decided.head,
        findings,
    };
    // Committing has released the lock.
    notify(workspace, snapshot.as_ref(), &mut applied);
    Ok(applied)
}

/// Updates `.agent/` to the log's tip, if the process that wrote the tip ended before it did. Edits made outside cook
/// stay, unless the log has moved on since.
///
/// # Errors
/// A held lock, or a log or worktree that cannot be read or written.
pub fn show_tip(workspace: &Workspace) -> Result<Recovery> {
    let recovered = workspace.store()?.lock(LOCK_WAIT)?.recover()?;
    Ok(recovered.recovery().clone())
}

/// Detaches the workflow from the worktree, so that another one can begin. Returns the ref that keeps its transitions.
///
/// # Errors
/// A held lock or lease, a log that moved, or one that cannot be written.
pub fn leave_workflow(workspace: &Workspace, seen: &Tip) -> Result<String> {
    let store = workspace.store()?;
    let _lease = store.lease("bootstrapped")?;
    store.lock(LOCK_WAIT)?.recover()?.leave_workflow(seen)
}

fn stale(message: &str) -> Failure {
    Failure::from(Refusal::new(Code::StaleFacts, message))
}

/// Checks that HEAD and, if it was measured, the worktree are unchanged since they were measured.
fn still_the_same(workspace: &Workspace, decided: &Decided) -> Result<()> {
    if workspace.repo.head()? != decided.head {
        return Err(stale("HEAD moved meanwhile"));
    }
    if let Some(worktree) = &decided.facts.worktree
        && workspace.repo.status()?.worktree.digest != worktree.digest
    {
        return Err(stale("the worktree changed meanwhile"));
    }
    Ok(())
}

/// The slice, mission or other subject that the log message names.
fn subject(event: &Event, next: &Snapshot) -> String {
    let anchor = &next.state.mission_anchor;
    let named = match event {
        Event::Implemented { slice_id, .. }
        | Event::Returned { slice_id, .. }
        | Event::CriterionAmended { slice_id, .. }
        | Event::ProofRetired { slice_id, .. } => Some(slice_id),
        Event::Regrounded { block, .. } | Event::RegroundedByCook { block, .. } => {
            let reconciled = block.reconcile.as_ref().map(|made| &made.slice_id);
            block.select.as_ref().or(reconciled)
        }
        Event::Briefed { by, .. } => Some(by),
        Event::Said { .. } => return machine::message_id(next.ledger.seq.0),
        Event::Reviewed { .. } | Event::Audited { .. } => next.active.slice_id.as_ref(),
        _ => None,
    };
    named.unwrap_or(anchor).clone()
}

/// The result of an event.
#[derive(Debug)]
pub struct Applied {
    /// The log commit; `None` for a dry run.
    pub tip: Option<Tip>,
    /// The event's name.
    pub event: &'static str,
    /// The accepted step.
    pub step: Step,
    /// HEAD at which it was decided.
    pub head: machine::Head,
    /// Findings made on the way.
    pub findings: Vec<Finding>,
}

// The exchanges that an event's report was taken from, for the log.

/// Number of exchanges before the cited one that are kept with it if the settings ask for all.
const BEFORE: usize = 15;
/// Size limit of all of them in bytes; if they are larger, only the cited exchange is kept.
const LIMIT: usize = 4 * 1024 * 1024;

/// The exchanges of the session behind an event that the log is to keep. Empty if this repository does not know the
/// session, as for a report that was handed in by hand.
///
/// # Errors
/// A session store that cannot be read.
pub(super) fn cite(workspace: &Workspace, event: &Event) -> Result<Vec<CitedExchange>> {
    let name = event
        .submission()
        .and_then(|submission| submission.session.as_deref())
        .and_then(|text| text.parse::<Ref>().ok())
        .filter(|name| name.kind() == RefKind::Exchange);
    let Some(name) = name else {
        return Ok(Vec::new());
    };
    let before = match workspace.config()?.log.exchanges {
        Exchanges::None => return Ok(Vec::new()),
        Exchanges::Cited => 0,
        Exchanges::All => BEFORE,
    };
    let store = GitStore::open(workspace.place())?;
    let Some(entry) = store.entry(name)? else {
        return Ok(Vec::new());
    };
    let episode = match entry.episode {
        Some(episode) => store.entry(episode)?,
        None => None,
    };
    let Some(episode) = episode else {
        return Ok(Vec::new());
    };
    let window = load_episode(&store, &episode.hash, None)?;
    let all = window.exchanges();
    let mut said: Vec<Said> = all[all.len().saturating_sub(before + 1)..]
        .iter()
        .map(quote_exchange)
        .collect();
    let size = |one: &Said| one.input.len() + one.output.len();
    if said.iter().map(size).sum::<usize>() > LIMIT {
        said.drain(..said.len() - 1);
    }
    Ok(vec![CitedExchange {
        exchange: name.to_string(),
        said,
    }])
}

fn quote_exchange(exchange: &Exchange) -> Said {
    let kind = match serde_json::to_value(exchange.kind()) {
        Ok(Value::String(kind)) => kind,
        // A kind serializes as a string.
        _ => String::new(),
    };
    Said {
        hash: exchange.hash().to_string(),
        kind,
        input: exchange.input().to_owned(),
        output: exchange.output().to_owned(),
    }
}

// `[notify] run`: a command of the user that is told each change of the policy, once.
//
// It decides nothing: if it fails, the transition stands, with a finding.

/// Time limit of the command.
const DEADLINE: Duration = Duration::from_secs(10);
/// Maximum number of bytes of its output that are read; the output is not used.
const OUTPUT: usize = 64 * 1024;

/// Notifies the user's command if the transition changed the policy.
pub(super) fn notify(workspace: &Workspace, before: Option<&Snapshot>, applied: &mut Applied) {
    let Ok(config) = workspace.config() else {
        // Unreadable settings are reported as a separate finding.
        return;
    };
    let Some(run) = config
        .notify
        .run
        .as_ref()
        .filter(|_| !workspace.tells_nobody)
    else {
        return;
    };
    let state = &applied.step.snapshot.state;
    let from = before.map(|before| before.state.continuation_policy);
    if from == Some(state.continuation_policy) || before.is_none() {
        return;
    }
    let message = json!({
        "schema_version": 1,
        "from": from,
        "to": state.continuation_policy,
        "reason": state.continuation_reason,
        "mission_anchor": state.mission_anchor,
        "event": applied.event,
        "at": applied.step.snapshot.ledger.last_at,
        "worktree": workspace.repo.root(),
    });
    if let Err(why) = tell(workspace, run, &message.to_string()) {
        applied.findings.push(Finding::new(
            Code::NotifyFailed,
            format!(
                "`{run}` was not notified that the work is {}: {why}",
                state.continuation_policy
            ),
        ));
    }
}

fn tell(workspace: &Workspace, run: &str, message: &str) -> Result<(), String> {
    // The command may change the worktree.
    workspace.repo.forget_status();
    let trust = workspace.trust().map_err(|failure| failure.to_string())?;
    if !trust.is_trusted(run) {
        let how = shell_words::quote(run);
        return Err(format!(
            "it is not trusted on this machine: run `cook trust {how}`"
        ));
    }
    let argv = words(run).map_err(|error| error.message)?;
    let argv = argv.into_iter().map(Into::into).collect();
    let captured = capture(&Short {
        stdin: format!("{message}\n").into_bytes(),
        ..Short::new(argv, workspace.repo.root(), DEADLINE, OUTPUT)
    })
    .map_err(describe_error)?;
    match captured.code {
        Some(0) => Ok(()),
        Some(code) => Err(format!("it ended with exit code {code}")),
        None => Err("a signal ended it".to_owned()),
    }
}

fn describe_error(error: ProcessError) -> String {
    match error {
        ProcessError::Deadline { after, .. } => format!(
            "it did not end within {}, and was ended",
            humantime::format_duration(after)
        ),
        error => error.to_string(),
    }
}

// Pushing transitions to the remote automatically (`[log] sync`).

/// How often a transition is decided when other writers are first.
const TRIES: u32 = 8;
/// The wait before the second try, and the longest wait.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The remote that must accept a transition before it is recorded here.
pub(super) struct CommitPoint<'w> {
    workspace: &'w Workspace,
    remote: Remote<'w>,
    branch: String,
    head: Option<String>,
}

impl<'w> CommitPoint<'w> {
    /// `None` if transitions are recorded here first.
    pub(super) fn of(workspace: &'w Workspace) -> Result<Option<Self>> {
        let (Sync::Each, Some(_)) = (manner(workspace), &workspace.store) else {
            return Ok(None);
        };
        let (_, snapshot) = workspace.current()?;
        let here = workspace.repo.head()?;
        // The log belongs to its branch even while another branch is checked out.
        let branch = match snapshot.and_then(|snapshot| snapshot.ledger.branch) {
            Some(branch) => branch,
            None => carriage::branch(workspace, None)?,
        };
        let is_here = here.branch.as_deref() == Some(branch.as_str());
        let remote = carriage::remote(workspace, None, &branch, Side::Push, workspace.attended)?;
        remote.require_expected(&branch)?;
        Ok(Some(Self {
            workspace,
            remote,
            branch,
            head: here.commit.filter(|_| is_here),
        }))
    }

    /// Records a staged transition once the remote has accepted it.
    pub(super) fn commit(
        &self,
        staged: Staged<'_>,
        sign: Option<&Sign<'_>>,
        before: Option<&Tip>,
        after: &Snapshot,
    ) -> Result<Committed> {
        let Some(before) = before else {
            return staged.commit(sign, |_| Ok(()));
        };
        let store = self.workspace.store()?;
        let may_leave = |kept: &Kept| carriage::check_kept(self.workspace, kept);
        let mut left = Vec::new();
        let mut committed = staged.commit(sign, |tip| {
            carriage::check_new(self.workspace, &before.commit, &tip.commit)?;
            let offer = self.offer(store, before, tip, after);
            let taken = self.remote.offer(&offer, &may_leave)?;
            left = taken.ok_or_else(|| self.report_beaten())?;
            Ok(())
        })?;
        let settled = self.remote.settle(
            &self.offer(store, before, &committed.tip, after),
            &may_leave,
        );
        committed.findings.extend(left);
        committed.findings.extend(
            settled
                .unwrap_or_else(|failure| vec![Finding::new(Code::PushPending, failure.message)]),
        );
        Ok(committed)
    }

    fn offer<'a>(
        &'a self,
        store: &'a Store,
        before: &'a Tip,
        tip: &'a Tip,
        after: &'a Snapshot,
    ) -> Offer<'a> {
        Offer {
            store,
            branch: &self.branch,
            from: &before.commit,
            to: &tip.commit,
            head: self.head.as_deref(),
            snapshot: after,
        }
    }

    fn report_beaten(&self) -> Failure {
        let what = format!("`{}` is ahead of this clone", self.remote.show());
        Refusal::new(Code::RemoteAhead, what).into()
    }

    /// Explains why the remote refuses the push although its log is an ancestor of this one.
    fn explain(&self) -> Result<Failure> {
        let store = self.workspace.store()?;
        self.remote
            .explain(store, &self.branch, self.head.as_deref())
    }

    /// Takes in transitions that others recorded. Returns false if there were none, so that the refusal is due to the
    /// branch and not to its log.
    fn catch_up(&self) -> Result<bool> {
        let store = self.workspace.store()?;
        Ok(self
            .remote
            .pull(Some(store), &self.branch, Manner::Usual)?
            .transitions
            > 0)
    }
}

/// Checks that a transition could be recorded: if the remote must accept it, the remote is known and expected.
///
/// # Errors
/// `push_unconfirmed`, or an unknown remote.
pub(crate) fn check_commit_point(workspace: &Workspace) -> Result<()> {
    CommitPoint::of(workspace).map(drop)
}

/// Repeats an attempt as long as other writers are first, up to [`TRIES`] times.
pub(super) fn until_taken(
    point: &CommitPoint<'_>,
    mut attempt: impl FnMut() -> Result<Applied>,
) -> Result<Applied> {
    let mut wait = FIRST_WAIT;
    for _ in 1..TRIES {
        match attempt() {
            Err(failure) if failure.code == Code::RemoteAhead => {
                if !point.catch_up()? {
                    return Err(point.explain()?);
                }
                std::thread::sleep(jitter(wait));
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            Err(failure) if failure.code == Code::StaleFacts => {}
            outcome => return outcome,
        }
    }
    attempt().map_err(|failure| match failure.code {
        Code::RemoteAhead => Refusal::new(
            Code::StaleFacts,
            format!(
                "other writers were first at `{}` {TRIES} times; nothing was recorded",
                point.remote.show()
            ),
        )
        .into(),
        _ => failure,
    })
}

/// A random part between half of the wait and all of it, so that clones that collided do not collide again.
fn jitter(wait: Duration) -> Duration {
    let nanos = std::time::SystemTime::now()
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    let part = nanos
        .wrapping_mul(2_654_435_761)
        .wrapping_add(std::process::id())
        % 1_000;
    wait / 2 + wait * part / 2_000
}

/// When transitions reach the remote. Unreadable settings count as manual here; they stop the commands that decide by
/// them.
fn manner(workspace: &Workspace) -> Sync {
    match workspace.config() {
        Ok(config) if !workspace.pushes_later => config.log.sync,
        _ => Sync::Manual,
    }
}

/// Pushes to the remote after a recorded transition; if that fails, adds a finding.
pub(super) fn push_after(workspace: &Workspace, applied: &mut Applied) {
    // The first transition creates the log, so there is none to push yet.
    if manner(workspace) != Sync::Push || workspace.store.is_none() {
        return;
    }
    workspace.repo.forget_status();
    if let Err(failure) = carriage::push_known(workspace, None) {
        let what = format!("{} ({})", failure.message, failure.code);
        applied.findings.push(Finding::new(Code::PushPending, what));
    }
}

// Re-grounds that cook makes itself if the profile allows it (`docs/assurance.md`).

/// The outcome of such a re-ground.
#[derive(Debug)]
pub enum ByCookOutcome {
    /// It is recorded.
    Applied(Box<Applied>),
    /// A model must be asked; the reason.
    Model(String),
    /// The regrounder is not due, or the profile in force is `strict`.
    NotDue,
}

/// Re-grounds without a model if the regrounder is due and no decision is open.
///
/// # Errors
/// Unreadable state, or a lock or lease that another process holds.
pub fn reground_by_cook(workspace: &Workspace, lease: Option<&Lease>) -> Result<ByCookOutcome> {
    let (_, snapshot) = workspace.require()?;
    if snapshot.assurance().is_strict() {
        return Ok(ByCookOutcome::NotDue);
    }
    let (due, facts) = dispatch_now(workspace, Some(&snapshot))?;
    if due.role != Some(Role::Regrounder) {
        return Ok(ByCookOutcome::NotDue);
    }
    let head = find_head(&facts)?;
    let followed = machine::follow(&snapshot, &facts);
    let (kind, block) = match machine::derive(&followed, &due, &head) {
        Ok(derived) => derived,
        Err(why) => return Ok(ByCookOutcome::Model(why)),
    };
    let event = Event::RegroundedByCook { kind, block };
    let applied = match lease {
        Some(lease) => transition_holding(workspace, lease, &event, Actor::Cook),
        None => transition(workspace, &event, Actor::Cook),
    };
    match applied {
        Ok(applied) => Ok(ByCookOutcome::Applied(Box::new(applied))),
        Err(failure) if failure.kind == FailureKind::Refused => {
            Ok(ByCookOutcome::Model(failure.message))
        }
        Err(failure) => Err(failure),
    }
}

/// Whether `cook run` would make the due re-ground itself, as far as the log shows, or why an agent has to make it.
/// `None` if cook makes none of this kind.
pub fn explain_by_cook(
    snapshot: &Snapshot,
    due: &Dispatch,
    facts: &Facts,
) -> Option<Result<(), String>> {
    let is_one = matches!(due.rule, Rule::Select | Rule::Reconcile | Rule::Conclude);
    if due.role != Some(Role::Regrounder) || !is_one || snapshot.assurance().is_strict() {
        return None;
    }
    let followed = machine::follow(snapshot, facts);
    Some(machine::derive(&followed, due, facts.head.as_ref()?).map(|_| ()))
}

/// Makes every re-ground that cook can make itself now. Also returns the failure that ended this, if it was not a
/// refusal.
pub fn reground_all_by_cook(workspace: &Workspace) -> (Vec<Applied>, Option<Failure>) {
    let mut done = Vec::new();
    for _ in 0..MOST_BY_COOK {
        match reground_by_cook(workspace, None) {
            Ok(ByCookOutcome::Applied(applied)) => done.push(*applied),
            Ok(ByCookOutcome::Model(_) | ByCookOutcome::NotDue) => break,
            Err(failure) => return (done, Some(failure)),
        }
    }
    (done, None)
}

// Predicts what would refuse a report in this repository, without running commands and without writing.

/// The result of checking a report against the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foresight {
    /// The state that it was checked against, or why it was not checked.
    pub against: Result<String, String>,
    /// Findings that would refuse it.
    pub refusals: Vec<Finding>,
    /// Runs that were assumed to be green because they were not made.
    pub assumed: Vec<String>,
}

/// Checks a report against the log and the repository if its role is due.
///
/// # Errors
/// Unreadable state, or a failing git.
pub fn foresee(workspace: &Workspace, role: Role, event: &Event) -> Result<Foresight> {
    let (_, snapshot) = workspace.current()?;
    let Some(snapshot) = snapshot else {
        return Ok(not_held("nothing is recorded here yet".to_owned()));
    };
    let (dispatch, _) = dispatch_now(workspace, Some(&snapshot))?;
    if dispatch.role != Some(role) {
        let rule = dispatch.rule.id();
        let due = dispatch.role.map_or("user", |role| role.short());
        return Ok(not_held(format!("rule {rule} waits for the {due}")));
    }
    let event = &in_own_words(event, Some(&snapshot));
    let mut facts = Facts::default();
    let (refusals, assumed) = foresee_refusals(workspace, &snapshot, event, &mut facts)?;
    let head = facts.head.as_ref().and_then(|head| head.commit.as_deref());
    let head = head.map_or("no commit", |commit| commit.get(..12).unwrap_or(commit));
    Ok(Foresight {
        against: Ok(format!("transition {} at {head}", snapshot.ledger.seq.0)),
        refusals,
        assumed,
    })
}

fn not_held(why: String) -> Foresight {
    Foresight {
        against: Err(why),
        refusals: Vec::new(),
        assumed: Vec::new(),
    }
}

/// Findings that would refuse a report if every gate that would run is green, and the list of those gates.
fn foresee_refusals(
    workspace: &Workspace,
    snapshot: &Snapshot,
    event: &Event,
    facts: &mut Facts,
) -> Result<(Vec<Finding>, Vec<String>)> {
    let assumed = RefCell::new(BTreeSet::new());
    let assume = |what: &str| assumed.borrow_mut().insert(what.to_owned());
    let gates = workspace.list_gate_commands(snapshot)?;
    let would_run = |anchor: &str| match Anchor::parse(anchor) {
        Ok(Anchor::Test(_)) => !gates.is_empty(),
        Ok(Anchor::Command { command, .. }) => gates.contains(&command),
        _ => false,
    };
    let measure = |world: &World, question: &Question, facts: &mut Facts| {
        match question {
            Question::Gates(_) => {
                facts.gates = Some(Vec::new());
                assume("the gates at the commit");
                return Ok(());
            }
            // The verifier's answer cannot be assumed; the rules stop here.
            Question::StopVerifier(_) => {
                assume("the stop verifier");
                return Ok(());
            }
            _ => world.measure(question, facts)?,
        }
        if let Question::Anchors { asked, ends } = question {
            // At the end of a job, runs that used files of earlier runs are repeated without them.
            let runs_anew = |verdict: Verdict| {
                verdict == Verdict::Unverifiable || *ends && verdict == Verdict::Stale
            };
            for asked in asked.iter().filter(|asked| would_run(&asked.anchor)) {
                if let Some(answer) = facts.anchors.get_mut(&asked.key())
                    && runs_anew(answer.verdict)
                {
                    answer.verdict = Verdict::Verified;
                    assume(&asked.anchor);
                }
            }
        }
        Ok(())
    };
    let rules = |facts: &Facts| machine::apply(Some(snapshot), facts, event, Actor::Role);
    let refusals = match workspace.decide_by(Some(snapshot), facts, GateRuns::Kept, measure, rules)
    {
        Ok(_) => Vec::new(),
        Err(failure) if failure.code == Code::FactMissing => Vec::new(),
        Err(failure) if failure.kind == FailureKind::Refused => list_findings(failure),
        Err(failure) => return Err(failure),
    };
    Ok((refusals, assumed.into_inner().into_iter().collect()))
}

/// The findings that a refusal lists, or the refusal itself.
fn list_findings(failure: Failure) -> Vec<Finding> {
    match failure.findings.is_empty() {
        true => vec![Finding::new(failure.code, failure.message)],
        false => failure.findings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_said_not_to_have_ended_in_time() {
        let argv = vec!["sleep".into(), "60".into()];
        let (dir, deadline) = (std::env::temp_dir(), Duration::from_millis(50));
        let error = capture(&Short::new(argv, &dir, deadline, OUTPUT));
        let why = error.map_err(describe_error);
        let expected = "it did not end within 50ms, and was ended".to_owned();
        assert_eq!(why.map(|_| ()), Err(expected));
    }
}
