//! `dispatch`: names the one role that must act next. The rules are asked in order and the first that fires
//! answers; each asks for the facts that it reads.

use super::active::{follow_facts, follow_to};
use super::assurance::audit_is_due;
use super::drift::{Drift, new_answer};
use super::facts::{Facts, MAX_COMMITS, Range, stale_stop_verifier, take_in_command};
use super::rule::{Dispatch, Rule, Trace, VERIFY_STOP};
use super::{drift, slices, wave};
use crate::diagnostic::list_with_verb;
use crate::model::{GoalLedger, surface_names};
use crate::prelude::*;
use crate::question::Question;

/// Returns the role that must act next.
///
/// # Errors
/// Only `fact_missing`, with the question, until everything is measured.
pub fn dispatch(snapshot: Option<&Snapshot>, facts: &Facts) -> Result<Dispatch, Refusal> {
    explain(snapshot, facts).map(|(dispatch, _)| dispatch)
}

/// Like [`dispatch`], within a transition: advice uses only facts that are measured already.
pub(super) fn find_due(snapshot: &Snapshot, facts: &Facts) -> Result<Dispatch, Refusal> {
    walk(Some(snapshot), facts, false).map(|(dispatch, _)| dispatch)
}

/// Like [`dispatch`], with what each rule saw (`cook next --why`).
///
/// # Errors
/// As [`dispatch`].
pub fn explain(
    snapshot: Option<&Snapshot>,
    facts: &Facts,
) -> Result<(Dispatch, Vec<Trace>), Refusal> {
    walk(snapshot, facts, true)
}

fn walk(
    snapshot: Option<&Snapshot>,
    facts: &Facts,
    advises: bool,
) -> Result<(Dispatch, Vec<Trace>), Refusal> {
    let mut walk = Walk {
        facts,
        advises,
        traces: Vec::new(),
        findings: Vec::new(),
    };
    facts.ask(Question::Head)?;
    let (dispatch, mut traces) = match snapshot {
        None => (walk.without_log()?, walk.traces),
        Some(snapshot) => match follow_to(snapshot, facts)? {
            None => (walk.with_log(snapshot)?, walk.traces),
            Some((next, finding)) => {
                let facts = &follow_facts(facts, snapshot, &next);
                let mut walk = Walk { facts, ..walk };
                walk.findings.push(finding);
                (walk.with_log(&next)?, walk.traces)
            }
        },
    };
    for rule in Rule::ALL.into_iter().skip(traces.len()) {
        traces.push(Trace {
            rule,
            fired: None,
            saw: "not reached".to_owned(),
        });
    }
    Ok((dispatch, traces))
}

// The rules, asked in order: the first that fires answers.

struct Walk<'a> {
    pub facts: &'a Facts,
    /// Whether facts are measured only to advise the next role.
    pub advises: bool,
    pub traces: Vec<Trace>,
    pub findings: Vec<Finding>,
}

impl Walk<'_> {
    /// Records that a rule was asked and did not fire.
    fn pass(&mut self, rule: Rule, saw: impl Into<String>) {
        self.traces.push(Trace {
            rule,
            fired: Some(false),
            saw: saw.into(),
        });
    }

    /// Records that a rule fired, and returns its answer.
    fn fire(&mut self, rule: Rule, policy: Policy, answer: Answer) -> Dispatch {
        self.traces.push(Trace {
            rule,
            fired: Some(true),
            saw: answer.reason.clone(),
        });
        Dispatch {
            rule,
            role: rule.role(),
            phase: rule.phase(policy),
            policy,
            action: answer.action,
            reason: answer.reason,
            blocking_command: answer.command,
            findings: std::mem::take(&mut self.findings),
        }
    }

    fn without_log(&mut self) -> Result<Dispatch, Refusal> {
        self.pass(Rule::Stopped, "there is no log, so nothing is stopped");
        let missing = self.facts.contract_missing()?;
        if !missing.is_empty() {
            let answer = Answer::new(
                "set up the repository contract",
                format!("{} not in the worktree", list_with_verb(missing)),
            )
            .command("cook init");
            return Ok(self.fire(Rule::Bootstrap, Policy::Continue, answer));
        }
        self.pass(Rule::Bootstrap, "all contract files are in the worktree");
        self.findings
            .push(Finding::new(Code::LogMissing, "no log for this worktree"));
        let answer = Answer::new(
            "start the log from the tracked contract, then re-ground",
            "the contract is here, the execution state is not",
        )
        .command("cook init");
        Ok(self.fire(Rule::Recover, Policy::Continue, answer))
    }

    fn with_log(&mut self, snapshot: &Snapshot) -> Result<Dispatch, Refusal> {
        if let Some(dispatch) = self.decide_stopped(snapshot)? {
            return Ok(dispatch);
        }
        if let Some(pursued) = &snapshot.ledger.goal {
            return Ok(self.pursue(pursued));
        }
        let missing = self.facts.contract_missing()?;
        if !missing.is_empty() {
            let answer = Answer::new(
                "repair the repository contract",
                format!("{} not in the worktree", list_with_verb(missing)),
            )
            .command("cook init");
            return Ok(self.fire(Rule::Bootstrap, Policy::Continue, answer));
        }
        self.pass(Rule::Bootstrap, "all contract files are in the worktree");

        let drift = drift::measure(snapshot, self.facts)?;
        self.findings.extend(drift.findings.iter().cloned());
        if let Some(dispatch) = self.recover(snapshot, &drift)? {
            return Ok(dispatch);
        }
        match snapshot.active.status {
            ActiveStatus::Idle | ActiveStatus::Done => self.between_slices(snapshot),
            ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed => {
                self.in_slice(snapshot, &drift)
            }
        }
    }

    /// The dispatch of a goal, whose only role is the implementer.
    fn pursue(&mut self, pursued: &GoalLedger) -> Dispatch {
        for rule in [Rule::Bootstrap, Rule::Recover, Rule::Select] {
            self.pass(
                rule,
                "a goal has one slice and does not need a contract in the worktree",
            );
        }
        let (action, reason) = describe(pursued);
        self.fire(
            Rule::Implement,
            Policy::Continue,
            Answer::new(action, reason),
        )
    }

    fn recover(&mut self, snapshot: &Snapshot, drift: &Drift) -> Result<Option<Dispatch>, Refusal> {
        if drift.causes.is_empty() {
            self.pass(
                Rule::Recover,
                "the state matches the log, and a re-ground is not due",
            );
            return Ok(None);
        }
        let mut reason = drift.causes.join("; ");
        if let Some(why) = &snapshot.ledger.returned {
            reason = format!("{reason}; the implementer came back: {why}");
        }
        let mut answer = Answer::new(
            "re-ground: check every slice against the repository and say what holds",
            reason,
        );
        answer.command = self.advise(snapshot)?;
        Ok(Some(self.fire(Rule::Recover, Policy::Continue, answer)))
    }

    /// Adds findings for the next role, as far as they were measured, and returns the command that the user should
    /// run. Decides nothing.
    fn advise(&mut self, snapshot: &Snapshot) -> Result<Option<String>, Refusal> {
        // A selection needs a committed contract; the decisions of re-grounds and judges need a clean worktree.
        let recovers = snapshot.state.requires_reground;
        if self.advises && (recovers || !snapshot.is_in_work() && selects(snapshot)) {
            self.facts.ask(Question::ContractCommitted)?;
        }
        if self.advises && (recovers || snapshot.ledger.regrounded) {
            self.facts.ask(Question::Worktree { ends: false })?;
        }
        if let Some(tree) = self.facts.worktree.as_ref().filter(|tree| !tree.is_clean()) {
            let mut named: Vec<String> = tree.dirty.iter().take(5).cloned().collect();
            let more = (tree.dirty.len() - named.len()) as u64 + tree.more;
            if more > 0 {
                named.push(format!("{more} more"));
            }
            let how = tree.contract_hint().map(|hint| format!("; {hint}"));
            self.findings.push(finding!(Code::DirtyWorktree, "the worktree is not clean: {}; a slice can be selected or accepted only after the user commits or removes these changes{}",
                    named.join(", "),
                    how.unwrap_or_default()));
        }
        if self.facts.stop_verifier_stale {
            self.findings.push(stale_stop_verifier());
        }
        let uncommitted = self
            .facts
            .contract_uncommitted
            .as_deref()
            .unwrap_or_default();
        if uncommitted.is_empty() {
            return Ok(None);
        }
        self.findings.push(finding!(
            Code::ContractUntracked,
            "a slice can be selected only after the user commits these files with `cook init --commit`: {}",
            uncommitted.join(", ")
        ));
        Ok(Some("cook init --commit".to_owned()))
    }

    fn between_slices(&mut self, snapshot: &Snapshot) -> Result<Dispatch, Refusal> {
        let command = self.advise(snapshot)?;
        let open = snapshot.plan.open_slices().count();
        if !snapshot.ledger.regrounded || open > 0 {
            let mut answer = if snapshot.ledger.regrounded {
                self.select_answer(snapshot, open)
            } else {
                Answer::new(
                    "plan the mission as slices and select the first",
                    "no re-ground of this mission is recorded",
                )
            };
            answer.command = command;
            return Ok(self.fire(Rule::Select, Policy::Continue, answer));
        }
        self.pass(Rule::Select, "a re-ground is recorded and no slice is open");
        for rule in [Rule::Implement, Rule::Review, Rule::Audit, Rule::Reconcile] {
            self.pass(rule, "no slice is active");
        }
        let head = self.facts.head()?;
        let required = snapshot.count_required_judges();
        let have = wave::list_votes(snapshot, head).count() as u64;
        let lacks_room = head.commit.is_some() && wave::find_room(snapshot, head).is_none();
        let lacks_votes = have < required;
        if lacks_room && (lacks_votes || required == 0) {
            let action = match required {
                0 => "run the gates at HEAD in a clean room; the project can end after that",
                _ => "run the gates at HEAD in a clean room; judges are asked after that",
            };
            let answer = Answer::new(
                action,
                "no slice is open, and no gate has run at this HEAD in a clean room",
            )
            .command(VERIFY_STOP);
            return Ok(self.fire(Rule::Judge, Policy::Continue, answer));
        }
        if lacks_votes {
            let mut answer = Answer::new(
                format!(
                    "judge whether the project can stop (vote {} of {required})",
                    have + 1
                ),
                format!(
                    "no slice is open and {have} of {required} votes are in for this HEAD and wave"
                ),
            );
            if head.commit.is_none() {
                self.findings.push(Finding::new(
                    Code::UnbornHead,
                    "the repository has no commit yet",
                ));
                answer = answer.command("cook init --commit");
            }
            return Ok(self.fire(Rule::Judge, Policy::Continue, answer));
        }
        self.pass(Rule::Judge, format!("{have} of {required} votes are in"));
        let rejections = wave::list_votes(snapshot, head)
            .filter(|vote| !vote.can_stop)
            .count();
        let because = match required {
            0 => "every slice is accepted, and the profile asks for no judge".to_owned(),
            _ => format!("all {required} votes are in, {rejections} of them no"),
        };
        let answer = match wave::unanimous(snapshot, head.commit.as_deref()) {
            true => Answer::new(
                "conclude the wave; cook runs the stop verifier when the report says stop",
                because,
            )
            .command(VERIFY_STOP),
            false => Answer::new(
                "conclude the wave with `go_on`, and with slices that take up what the judges named",
                because,
            ),
        };
        Ok(self.fire(Rule::Conclude, Policy::Continue, answer))
    }

    fn select_answer(&self, snapshot: &Snapshot, open: usize) -> Answer {
        let ready = slices::ready(&snapshot.plan);
        // Later commits may have removed done work; only a check of the work itself can tell.
        let since = self.facts.since.as_ref();
        let is_known = since.is_none_or(|since| drift::is_accounted_for(snapshot, since));
        match ready.first() {
            Some(_) if !is_known => Answer::new(
                "re-ground and select a slice; `cook status --ready` checks done slices at HEAD and lists ready ones",
                format!(
                    "no slice is selected, {} open, and the history moved since the last re-ground",
                    count_noun(open as u64, "slice")
                ),
            ),
            Some(first) => Answer::new(
                format!("re-ground and select a slice; `{first}` is first in order of work"),
                format!(
                    "no slice is selected, {} open",
                    count_noun(open as u64, "slice")
                ),
            ),
            None => Answer::new(
                "re-ground: no open slice can be selected; change the plan, ask the user, or name a blocker",
                match open {
                    1 => "the one open slice waits, or has no criteria".to_owned(),
                    _ => format!("{open} slices are open, and each waits or has no criteria"),
                },
            ),
        }
    }

    fn in_slice(&mut self, snapshot: &Snapshot, drift: &Drift) -> Result<Dispatch, Refusal> {
        let id = snapshot.active.slice_id.as_deref().unwrap_or_default();
        self.pass(Rule::Select, format!("slice `{id}` is active"));
        let committed = snapshot.active.status == ActiveStatus::Committed;
        if !committed || !drift.unreported.is_empty() {
            let answer = implement_answer(snapshot, drift, id);
            return Ok(self.fire(Rule::Implement, Policy::Continue, answer));
        }
        self.pass(
            Rule::Implement,
            "the slice is committed, and all of its commits are reported",
        );
        let ledger = snapshot.find_ledger(id);
        let head = ledger
            .and_then(|slice| slice.head.clone())
            .unwrap_or_default();
        if slices::current_review(snapshot).is_none() {
            let answer = Answer::new(
                format!("review slice `{id}` at {}", short(&head)),
                "the committed slice has no review of this commit and these criteria",
            );
            return Ok(self.fire(Rule::Review, Policy::Continue, answer));
        }
        self.pass(
            Rule::Review,
            "a review of this commit and these criteria is in",
        );
        let is_audited = slices::current_audit(snapshot).is_some();
        let is_due = audit_is_due(snapshot, self.facts.config.as_ref());
        if !is_audited && is_due {
            let answer = Answer::new(
                format!("audit the project after slice `{id}` at {}", short(&head)),
                "the committed slice has no audit of this commit and these criteria",
            );
            return Ok(self.fire(Rule::Audit, Policy::Continue, answer));
        }
        let saw = match is_audited {
            true => "an audit of this commit and these criteria is in".to_owned(),
            false => format!("no audit is due here under `{}`", snapshot.assurance()),
        };
        self.pass(Rule::Audit, saw);
        let read = match is_audited {
            true => "review and audit are in",
            false => "the review is in, and no audit is due",
        };
        self.advise(snapshot)?;
        let acceptable = slices::current_review(snapshot).is_some_and(|review| !review.rejects());
        let answer = if acceptable {
            Answer::new(
                format!(
                    "reconcile slice `{id}`: accept it with evidence for each criterion, or reopen it"
                ),
                format!("{read}; the review accepts it"),
            )
        } else {
            Answer::new(
                format!("reconcile slice `{id}`: reopen it with what must be fixed"),
                format!("{read}; the review does not accept it"),
            )
        };
        Ok(self.fire(Rule::Reconcile, Policy::Continue, answer))
    }

    /// Asks rule S; `None` if it does not fire.
    fn decide_stopped(&mut self, snapshot: &Snapshot) -> Result<Option<Dispatch>, Refusal> {
        let head = self.facts.head()?;
        let policy = snapshot.state.continuation_policy;
        if policy != Policy::Continue {
            let (action, reason, exit) = describe_stop(snapshot);
            let mut answer = Answer::new(action, reason);
            answer.command = exit;
            let seen = snapshot.ledger.head_seen.as_ref();
            if let Some(seen) =
                seen.filter(|seen| policy == Policy::Done && head.commit.as_ref() != Some(seen))
            {
                let moved = describe_moved(self.facts.since(seen)?);
                answer.reason = format!("{}; {moved}", answer.reason);
                answer.command = Some("cook resume".to_owned());
                self.findings
                    .push(Finding::new(Code::HeadMovedSinceDone, moved));
            }
            return Ok(Some(self.fire(Rule::Stopped, policy, answer)));
        }
        if head.branch != snapshot.ledger.branch {
            let name = |branch: &Option<String>| {
                branch
                    .as_ref()
                    .map_or("a detached HEAD".to_owned(), |name| format!("`{name}`"))
            };
            self.findings.push(finding!(
                Code::OtherBranchNow,
                "{} is checked out, but the log belongs to {}",
                name(&head.branch),
                name(&snapshot.ledger.branch)
            ));
            let back = match &snapshot.ledger.branch {
                Some(branch) => format!("git switch {}", shell_words::quote(branch)),
                None => "cook plan adopt --branch".to_owned(),
            };
            let answer = Answer::new(
                "go back to the workflow's branch, or adopt this one",
                format!(
                    "the workflow runs on {}, and {} is checked out; `cook plan adopt --branch` moves it here",
                    name(&snapshot.ledger.branch),
                    name(&head.branch)
                ),
            )
            .command(back);
            return Ok(Some(self.fire(
                Rule::Stopped,
                Policy::AwaitUserInput,
                answer,
            )));
        }
        if snapshot.ledger.goal.is_some() {
            self.pass(
                Rule::Stopped,
                "the goal is open, and its branch is checked out",
            );
            return Ok(None);
        }
        let changed = settings_changed(snapshot, self.facts)?;
        if !changed.is_empty() {
            for path in &changed {
                self.findings.push(
                    finding!(Code::ContractEdited, "`{path}` is not the user's version")
                        .at(path.clone()),
                );
            }
            let answer = Answer::new(
                "say whether the change is yours, or put the file back with git",
                format!(
                    "{} not as you left {}: what runs and what must pass at the end is yours to decide",
                    list_with_verb(&changed),
                    if changed.len() == 1 { "it" } else { "them" },
                ),
            )
            // Without `--as-user`, a script's call does not say whose change it is.
            .command("cook init --as-user");
            return Ok(Some(self.fire(
                Rule::Stopped,
                Policy::AwaitUserInput,
                answer,
            )));
        }
        if let Some(path) = self.contract_differs() {
            let take_in = take_in_command(&path);
            if self.advises {
                self.facts.ask(Question::ContractCommitted)?;
            }
            let uncommitted = self.facts.contract_uncommitted.iter().flatten();
            let back = match uncommitted.clone().any(|other| *other == path) {
                // No commit has a version to restore.
                true => String::new(),
                false => {
                    let since = snapshot.ledger.head_seen.as_deref().map_or("HEAD", short);
                    format!(", `git checkout {since} -- {path}` puts it back")
                }
            };
            let answer = Answer::new(
                format!("take `{path}` in, or put it back"),
                format!("`{path}` says something else than the log: `{take_in}` takes it in{back}"),
            )
            .command(take_in);
            return Ok(Some(self.fire(
                Rule::Stopped,
                Policy::AwaitUserInput,
                answer,
            )));
        }
        self.pass(
            Rule::Stopped,
            "the policy is continue, the workflow's branch is checked out, and contract and settings are the user's",
        );
        Ok(None)
    }

    /// The first contract text that differs from the log. Adds a finding for each.
    fn contract_differs(&mut self) -> Option<String> {
        for path in &self.facts.contract_differs {
            self.findings.push(
                finding!(Code::ContractEdited, "`{path}` differs from the log's").at(path.clone()),
            );
        }
        self.facts.contract_differs.first().cloned()
    }
}

/// Whether rule 3 is the one that answers between slices.
fn selects(snapshot: &Snapshot) -> bool {
    !snapshot.ledger.regrounded || snapshot.plan.open_slices().next().is_some()
}

// Rule S: the work is stopped, or branch, settings or contract are not as the user left them.

/// Settings files that are not as the user left them, except those that the slice in work names as its surfaces.
/// Empty if contract files are missing, because rule 1 comes first.
fn settings_changed(snapshot: &Snapshot, facts: &Facts) -> Result<Vec<String>, Refusal> {
    let found = facts.settings()?;
    if !facts.contract_missing()?.is_empty() {
        return Ok(Vec::new());
    }
    let surfaces = match &snapshot.active.handoff {
        Some(handoff) if snapshot.is_in_work() => handoff.implementation_surfaces.as_deref(),
        _ => None,
    }
    .unwrap_or_default();
    let changed = snapshot
        .ledger
        .settings
        .iter()
        .filter(|(path, digest)| found.get(*path) != Some(digest))
        .filter(|(path, _)| !surfaces.iter().any(|surface| surface_names(surface, path)));
    Ok(changed.map(|(path, _)| path.clone()).collect())
}

// The rules' answers in words.

/// The answer of a rule that fires.
struct Answer {
    pub action: String,
    pub reason: String,
    pub command: Option<String>,
}

impl Answer {
    fn new(action: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            action: action.into(),
            reason: reason.into(),
            command: None,
        }
    }

    fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }
}

/// What to do about the slice, and any answer of the user since then.
fn implement_answer(snapshot: &Snapshot, drift: &Drift, id: &str) -> Answer {
    let mut answer = work_answer(snapshot, drift, id);
    if let Some(said) = new_answer(&snapshot.ledger) {
        let what = format!("; the user answered ({said}): hold the work to that before the report");
        answer.reason.push_str(&what);
    }
    answer
}

fn work_answer(snapshot: &Snapshot, drift: &Drift, id: &str) -> Answer {
    if let Some(newest) = drift.unreported.last() {
        return Answer::new(
            format!(
                "report slice `{id}`: its commits up to {} are not reported",
                short(newest)
            ),
            format!(
                "{} of the slice in no report yet; the work is there, only the report is missing",
                count_noun(drift.unreported.len() as u64, "commit")
            ),
        );
    }
    if let Some(at) = &drift.holds {
        return Answer::new(
            format!("report slice `{id}`: commit {} holds its work", short(at)),
            "the re-ground that reopened it names the commit; it is reviewed anew as it stands",
        );
    }
    let must_fix = snapshot
        .active
        .handoff
        .as_ref()
        .map_or(0, |h| h.must_fix_findings.len());
    if must_fix > 0 {
        return Answer::new(
            format!(
                "fix slice `{id}`: {} to fix",
                count_noun(must_fix as u64, "finding")
            ),
            "the slice was reopened, or its gates were red",
        );
    }
    let claimed = snapshot.find_ledger(id).map_or(0, |it| it.claimed.len());
    if claimed > 0 {
        return Answer::new(
            format!("implement slice `{id}`"),
            format!(
                "the slice is selected; {} of its own came before it was given back, and no report of them was taken",
                count_noun(claimed as u64, "commit")
            ),
        );
    }
    Answer::new(
        format!("implement slice `{id}`"),
        "the slice is selected and has no commit of its own yet",
    )
}

/// Returns the action, the reason, and the command that leaves a stored stopped policy.
fn describe_stop(snapshot: &Snapshot) -> (String, String, Option<String>) {
    let waiting = snapshot.ledger.waiting.as_ref();
    let what = waiting.map_or(String::new(), |waiting| waiting.what.clone());
    let exit = waiting.map(|waiting| waiting.exit.clone());
    let proofs = snapshot.plan.tally_proofs().describe();
    if let Some((action, reason)) = describe_end(snapshot) {
        return (action, reason, None);
    }
    match snapshot.state.continuation_policy {
        Policy::Done => (
            "nothing: the project is done".to_owned(),
            match snapshot.describe_assurance() {
                None => format!("the final reconciliation is recorded; {proofs}"),
                Some(_) => format!(
                    "the final reconciliation is recorded; {proofs}; slices or votes rest on assurance `{}`",
                    snapshot.lowest_assurance()
                ),
            },
            None,
        ),
        Policy::Blocked => {
            let exit = describe_way_on(exit.as_deref().unwrap_or_default());
            ("clear what blocks".to_owned(), what, Some(exit))
        }
        Policy::Paused if waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Cancel) => {
            ("nothing: the workflow was cancelled".to_owned(), what, exit)
        }
        Policy::Paused => ("nothing: the workflow is paused".to_owned(), what, exit),
        Policy::AwaitUserInput | Policy::Continue => {
            let action = match waiting.map(|waiting| waiting.kind) {
                Some(WaitingKind::Trust) => "trust the commands, or change the plan",
                Some(WaitingKind::Worktree) => "settle the files that are not the slice's",
                Some(WaitingKind::Outside) => "settle what was changed outside",
                _ => "answer",
            };
            (action.to_owned(), what, exit)
        }
    }
}

/// Appends the command that resumes the work, because a role's command only clears the obstacle.
fn describe_way_on(exit: &str) -> String {
    const RESUME: &str = "cook resume";
    const RESUMING: [&str; 2] = [RESUME, "cook trust"];
    match exit.trim() {
        "" => RESUME.to_owned(),
        exit if RESUMING.iter().any(|known| exit.contains(known)) => exit.to_owned(),
        exit => format!("{exit} && {RESUME}"),
    }
}

/// Describes how HEAD moved since the project was found done.
fn describe_moved(since: &Range) -> String {
    if !since.ancestor {
        return "HEAD no longer contains the commit that was found done".to_owned();
    }
    match since.commits.len() {
        MAX_COMMITS => format!("{MAX_COMMITS} commits or more came since"),
        count => format!("{} came since", count_noun(count as u64, "commit")),
    }
}

/// The refusal `not_your_turn`, which names the role that is due instead.
pub fn not_your_turn(role: Role, due: &Dispatch) -> Refusal {
    let message = match due.role {
        Some(due_role) => format!(
            "rule {} asks for the {due_role}, not the {role}: {}",
            due.rule, due.reason
        ),
        None => format!("the work is stopped ({}): {}", due.policy, due.reason),
    };
    let mut refusal = Refusal::new(Code::NotYourTurn, message);
    if let Some(command) = &due.blocking_command {
        refusal = refusal.hint(format!("run `{command}`"));
    }
    refusal
}

// What remains to be done about a goal, in words.

/// Returns what the role is to do, and why.
fn describe(pursued: &GoalLedger) -> (String, String) {
    let all = count_noun(pursued.goal.checks.len() as u64, "check");
    let words = pursued.goal.words.lines().next().unwrap_or_default();
    let reason = match &pursued.found {
        None => format!("{all} of it, none asked yet"),
        Some(found) => {
            let open = found.list_reasons(&pursued.goal);
            let first = open.first().map_or("", String::as_str);
            format!(
                "{} of {all} open at {}: {first}",
                open.len(),
                short(&found.commit)
            )
        }
    };
    (format!("bring the goal about: {words}"), reason)
}

/// For a goal that is over, returns the action and the reason.
fn describe_end(snapshot: &Snapshot) -> Option<(String, String)> {
    let pursued = snapshot.ledger.goal.as_ref()?;
    let waiting = snapshot.ledger.waiting.as_ref();
    match snapshot.state.continuation_policy {
        Policy::Done => {
            let at = pursued.found.as_ref().map_or("", |it| short(&it.commit));
            let count = count_noun(pursued.goal.checks.len() as u64, "check");
            Some((
                "nothing: the goal is reached".to_owned(),
                format!("{count} green at {at}, with the files of the goal as they were frozen"),
            ))
        }
        _ if waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Cancel) => Some((
            "nothing: the goal was dropped".to_owned(),
            waiting.map_or(String::new(), |waiting| waiting.what.clone()),
        )),
        _ => None,
    }
}
