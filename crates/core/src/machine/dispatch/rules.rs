//! The rules, asked in order: the first that fires answers.

use super::answer::{Answer, implement_answer, moved_since_done, stopped_words};
use crate::diagnostic::{Code, Finding, Refusal, counted, listed_are};
use crate::machine::drift::Drift;
use crate::machine::facts::{CONTRACT_TEXTS, Facts, stale_stop_verifier};
use crate::machine::rule::{Dispatch, Rule, Trace, VERIFY_STOP};
use crate::machine::text::short;
use crate::machine::{drift, slices, wave};
use crate::model::{ActiveStatus, Policy, Snapshot, surface_names};

pub(super) struct Walk<'a> {
    pub facts: &'a Facts,
    pub traces: Vec<Trace>,
    pub findings: Vec<Finding>,
}

impl Walk<'_> {
    /// Notes that a rule was asked and did not fire.
    fn pass(&mut self, rule: Rule, saw: impl Into<String>) {
        self.traces.push(Trace {
            rule,
            fired: Some(false),
            saw: saw.into(),
        });
    }

    /// Notes that a rule fired.
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

    pub(super) fn without_log(&mut self) -> Result<Dispatch, Refusal> {
        self.pass(Rule::Stopped, "there is no log, so nothing is stopped");
        let missing = self.facts.contract_missing()?;
        if !missing.is_empty() {
            let answer = Answer::new(
                "set up the repository contract",
                format!("{} not in the worktree", listed_are(missing)),
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
        if let Some(dispatch) = self.stopped(snapshot)? {
            return Ok(dispatch);
        }
        let missing = self.facts.contract_missing()?;
        if !missing.is_empty() {
            let answer = Answer::new(
                "repair the repository contract",
                format!("{} not in the worktree", listed_are(missing)),
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

    fn stopped(&mut self, snapshot: &Snapshot) -> Result<Option<Dispatch>, Refusal> {
        let head = self.facts.head()?;
        let policy = snapshot.state.continuation_policy;
        if policy != Policy::Continue {
            let (action, reason, exit) = stopped_words(snapshot);
            let mut answer = Answer::new(action, reason);
            answer.command = exit;
            if policy == Policy::Done && head.commit != snapshot.ledger.head_seen {
                let moved = moved_since_done(self.facts.since()?);
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
            self.findings.push(Finding::new(
                Code::OtherBranchNow,
                format!(
                    "on {}, the log is for {}",
                    name(&head.branch),
                    name(&snapshot.ledger.branch)
                ),
            ));
            let back = match &snapshot.ledger.branch {
                Some(branch) => format!("git switch {branch}"),
                None => "cook adopt --branch".to_owned(),
            };
            let answer = Answer::new(
                "go back to the workflow's branch, or adopt this one",
                format!(
                    "the workflow runs on {}, and {} is checked out; `cook adopt --branch` moves it here",
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
        let changed = settings_changed(snapshot, self.facts)?;
        if !changed.is_empty() {
            for path in &changed {
                self.findings.push(
                    Finding::new(
                        Code::ContractEdited,
                        format!("`{path}` is not as the user left it"),
                    )
                    .at(path.clone()),
                );
            }
            let answer = Answer::new(
                "say whether the change is yours, or put the file back with git",
                format!(
                    "{} not as you left {}: what runs and what must pass at the end is yours to decide",
                    listed_are(&changed),
                    if changed.len() == 1 { "it" } else { "them" },
                ),
            )
            .command("cook init");
            return Ok(Some(self.fire(
                Rule::Stopped,
                Policy::AwaitUserInput,
                answer,
            )));
        }
        if let Some(path) = self.contract_differs() {
            let take_in = match path == CONTRACT_TEXTS[0] {
                true => "cook refocus --mission-file .agent/mission.md",
                false => "cook init",
            };
            let since = snapshot.ledger.head_seen.as_deref().map_or("HEAD", short);
            let answer = Answer::new(
                format!("take `{path}` in, or put it back"),
                format!(
                    "`{path}` says something else than the log: `{take_in}` takes it in, `git checkout {since} -- {path}` puts it back"
                ),
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

    /// A text of the contract that is there and says something else than the log.
    fn contract_differs(&mut self) -> Option<String> {
        for path in &self.facts.contract_differs {
            self.findings.push(
                Finding::new(
                    Code::ContractEdited,
                    format!("`{path}` differs from the log's"),
                )
                .at(path.clone()),
            );
        }
        self.facts.contract_differs.first().cloned()
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
        Some(self.fire(
            Rule::Recover,
            Policy::Continue,
            Answer::new(
                "re-ground: check every slice against the repository and say what holds",
                reason,
            ),
        ))
    }

    /// What the role that comes should know, where it was measured. Decides nothing.
    fn advise(&mut self) -> Option<String> {
        if let Some(tree) = self.facts.worktree.as_ref().filter(|tree| !tree.is_clean()) {
            let mut named: Vec<String> = tree.dirty.iter().take(5).cloned().collect();
            let more = (tree.dirty.len() - named.len()) as u64 + tree.more;
            if more > 0 {
                named.push(format!("{more} more"));
            }
            self.findings.push(Finding::new(
                Code::DirtyWorktree,
                format!("the worktree is not clean: {}", named.join(", ")),
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
                "no slice can be selected before these are committed: {}",
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
        let have = wave::votes_at(snapshot, head).count() as u64;
        if have < required {
            if head.commit.is_some() && wave::room_at(snapshot, head).is_none() {
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
        let rejections = wave::votes_at(snapshot, head)
            .filter(|vote| !vote.can_stop)
            .count();
        let answer = Answer::new(
            "run the stop verifier and conclude the wave",
            format!("all {required} votes are in, {rejections} of them no"),
        )
        .command(VERIFY_STOP);
        Ok(self.fire(Rule::Conclude, Policy::Continue, answer))
    }

    fn select_answer(&self, snapshot: &Snapshot, open: usize) -> Answer {
        let ready = slices::ready(&snapshot.plan);
        match ready.first() {
            Some(first) => Answer::new(
                format!("re-ground and select a slice; `{first}` is first in order of work"),
                format!(
                    "no slice is selected, {} open",
                    counted(open as u64, "slice")
                ),
            ),
            None => Answer::new(
                "re-ground: every open slice waits; change the plan, ask the user, or name what blocks",
                match open {
                    1 => "the one open slice is blocked".to_owned(),
                    _ => format!("{open} slices are open and each of them is blocked"),
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
        if slices::current_audit(snapshot).is_none() {
            let answer = Answer::new(
                format!("audit the project after slice `{id}` at {}", short(&head)),
                "the committed slice has no audit of this commit and these criteria",
            );
            return Ok(self.fire(Rule::Audit, Policy::Continue, answer));
        }
        self.pass(
            Rule::Audit,
            "an audit of this commit and these criteria is in",
        );
        self.advise();
        let acceptable = slices::current_review(snapshot).is_some_and(|review| review.acceptable);
        let answer = if acceptable {
            Answer::new(
                format!(
                    "reconcile slice `{id}`: accept it with evidence for each criterion, or reopen it"
                ),
                "review and audit are in; the review accepts it",
            )
        } else {
            Answer::new(
                format!("reconcile slice `{id}`: reopen it with what must be fixed"),
                "review and audit are in; the review does not accept it",
            )
        };
        Ok(self.fire(Rule::Reconcile, Policy::Continue, answer))
    }
}

/// Rule 3 is the one to answer between slices.
pub(super) fn selects(snapshot: &Snapshot) -> bool {
    !snapshot.ledger.regrounded || snapshot.plan.open_slices().next().is_some()
}

/// Settings files that are not as the user left them, but for those that the slice in work
/// names as its own. Where contract files are missing, rule 1 comes first.
fn settings_changed(snapshot: &Snapshot, facts: &Facts) -> Result<Vec<String>, Refusal> {
    let found = facts.settings()?;
    if !facts.contract_missing()?.is_empty() {
        return Ok(Vec::new());
    }
    let surfaces = match &snapshot.active.handoff {
        Some(handoff) if drift::in_work(snapshot) => handoff.implementation_surfaces.as_deref(),
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
