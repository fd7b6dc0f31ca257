//! The rules, asked in order: the first that fires answers.

use super::answer::{Answer, implement_answer};
use super::goal;
use crate::diagnostic::{Code, Finding, Refusal, count_noun, list_with_verb};
use crate::machine::assurance::audit_is_due;
use crate::machine::contract::stale_stop_verifier;
use crate::machine::drift::Drift;
use crate::machine::facts::Facts;
use crate::machine::rule::{Dispatch, Rule, Trace, VERIFY_STOP};
use crate::machine::text::short;
use crate::machine::{drift, slices, wave};
use crate::model::{ActiveStatus, GoalLedger, Policy, Snapshot};

pub(super) struct Walk<'a> {
    pub facts: &'a Facts,
    pub traces: Vec<Trace>,
    pub findings: Vec<Finding>,
}

impl Walk<'_> {
    /// Notes that a rule was asked and did not fire.
    pub(super) fn pass(&mut self, rule: Rule, saw: impl Into<String>) {
        self.traces.push(Trace {
            rule,
            fired: Some(false),
            saw: saw.into(),
        });
    }

    /// Notes that a rule fired.
    pub(super) fn fire(&mut self, rule: Rule, policy: Policy, answer: Answer) -> Dispatch {
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

    pub(super) fn without_log(&mut self) -> Result<Dispatch, Refusal> {
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

    pub(super) fn with_log(&mut self, snapshot: &Snapshot) -> Result<Dispatch, Refusal> {
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
        if let Some(dispatch) = self.recover(snapshot, &drift) {
            return Ok(dispatch);
        }
        match snapshot.active.status {
            ActiveStatus::Idle | ActiveStatus::Done => self.between_slices(snapshot),
            ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed => {
                self.in_slice(snapshot, &drift)
            }
        }
    }

    /// A goal knows one role: whoever brings it about.
    fn pursue(&mut self, pursued: &GoalLedger) -> Dispatch {
        for rule in [Rule::Bootstrap, Rule::Recover, Rule::Select] {
            self.pass(
                rule,
                "a goal has no contract in the worktree, and one slice",
            );
        }
        let (action, reason) = goal::describe(pursued);
        self.fire(
            Rule::Implement,
            Policy::Continue,
            Answer::new(action, reason),
        )
    }

    fn recover(&mut self, snapshot: &Snapshot, drift: &Drift) -> Option<Dispatch> {
        if drift.causes.is_empty() {
            self.pass(
                Rule::Recover,
                "the state is as the log has it, and nothing asks for a re-ground",
            );
            return None;
        }
        let mut reason = drift.causes.join("; ");
        if let Some(why) = &snapshot.ledger.returned {
            reason = format!("{reason}; the implementer came back: {why}");
        }
        let mut answer = Answer::new(
            "re-ground: check every slice against the repository and say what holds",
            reason,
        );
        answer.command = self.advise();
        Some(self.fire(Rule::Recover, Policy::Continue, answer))
    }

    /// What the role that comes should know, where it was measured. Decides nothing.
    fn advise(&mut self) -> Option<String> {
        if let Some(tree) = self.facts.worktree.as_ref().filter(|tree| !tree.is_clean()) {
            let mut named: Vec<String> = tree.dirty.iter().take(5).cloned().collect();
            let more = (tree.dirty.len() - named.len()) as u64 + tree.more;
            if more > 0 {
                named.push(format!("{more} more"));
            }
            let how = tree.contract_hint().map(|hint| format!("; {hint}"));
            self.findings.push(Finding::new(
                Code::DirtyWorktree,
                format!(
                    "the worktree is not clean: {}; before the user commits or removes that, no slice can be selected or accepted{}",
                    named.join(", "),
                    how.unwrap_or_default()
                ),
            ));
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
            return None;
        }
        self.findings.push(Finding::new(
            Code::ContractUntracked,
            format!(
                "no slice can be selected before the user commits these with `cook init --commit`: {}",
                uncommitted.join(", ")
            ),
        ));
        Some("cook init --commit".to_owned())
    }

    fn between_slices(&mut self, snapshot: &Snapshot) -> Result<Dispatch, Refusal> {
        let command = self.advise();
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
        let required = snapshot.profile.required_stop_judges.0;
        let have = wave::list_votes(snapshot, head).count() as u64;
        if have < required {
            if head.commit.is_some() && wave::find_room(snapshot, head).is_none() {
                let answer = Answer::new(
                    "run the gates at HEAD in a clean room; judges are asked after that",
                    "no slice is open, and no gate has run at this HEAD in a clean room",
                )
                .command(VERIFY_STOP);
                return Ok(self.fire(Rule::Judge, Policy::Continue, answer));
            }
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
        let because = format!("all {required} votes are in, {rejections} of them no");
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
        // What came since may have taken done work away; only a look at the work itself tells.
        let since = self.facts.since.as_ref();
        let is_known = since.is_none_or(|since| drift::is_accounted_for(snapshot, since));
        match ready.first() {
            Some(_) if !is_known => Answer::new(
                "re-ground and select a slice; `cook status --ready` holds what is done against HEAD and lists which",
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
                "re-ground: no open slice can be selected; change the plan, ask the user, or name what blocks",
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
            "the slice is committed and no newer commit of its own is unreported",
        );
        let ledger = snapshot.ledger.slices.get(id);
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
        self.advise();
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
}

/// Rule 3 is the one to answer between slices.
pub(super) fn selects(snapshot: &Snapshot) -> bool {
    !snapshot.ledger.regrounded || snapshot.plan.open_slices().next().is_some()
}
