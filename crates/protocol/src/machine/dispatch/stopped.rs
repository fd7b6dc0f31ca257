//! Rule S: the work is stopped, or the place is not the one it was left in.

use super::answer::{Answer, describe_moved, describe_stop};
use super::rules::Walk;
use crate::diagnostic::{Code, Finding, Refusal, list_with_verb};
use crate::machine::contract::take_in_command;
use crate::machine::drift;
use crate::machine::facts::Facts;
use crate::machine::rule::{Dispatch, Rule};
use crate::machine::text::short;
use crate::model::{Policy, Snapshot, surface_names};

impl Walk<'_> {
    /// Rule S.
    pub(super) fn decide_stopped(
        &mut self,
        snapshot: &Snapshot,
    ) -> Result<Option<Dispatch>, Refusal> {
        let head = self.facts.head()?;
        let policy = snapshot.state.continuation_policy;
        if policy != Policy::Continue {
            let (action, reason, exit) = describe_stop(snapshot);
            let mut answer = Answer::new(action, reason);
            answer.command = exit;
            if policy == Policy::Done && head.commit != snapshot.ledger.head_seen {
                let moved = describe_moved(self.facts.since()?);
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
                    list_with_verb(&changed),
                    if changed.len() == 1 { "it" } else { "them" },
                ),
            )
            // Without it a script's says nothing of whose the change is.
            .command("cook init --as-user");
            return Ok(Some(self.fire(
                Rule::Stopped,
                Policy::AwaitUserInput,
                answer,
            )));
        }
        if let Some(path) = self.contract_differs() {
            let take_in = take_in_command(&path);
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
