//! The handling of a stop by `cook check`. Pure.
//!
//! Invariant: after three refusals in a row without a new commit, the stop is allowed, however fast the stops follow
//! one another, and that is recorded.

use super::hook_event::{Agent, Event};
use super::recovery::data;
use super::session_state::{BLOCKS, SessionState, Situation, Stop};
use super::step::{Outcome, Step};
use cook_protocol::model::hook_table::Kind;

/// The maximum number of lines that are shown to an agent; the others are counted.
const SHOWN: usize = 20;

/// A finding of a check: a claim that is false or could not be verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct False {
    /// Its code and message.
    pub what: String,
    /// The command that shows details or fixes it.
    pub next: String,
    /// Who must act on it.
    pub owed: Owed,
}

/// Who is told about a finding, and its effect on the stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owed {
    /// The agent: the claim is false, and the stop is refused.
    Mending,
    /// The agent, once per commit: the claim could not be verified.
    Word,
    /// The person, once per commit: no action permitted to an agent resolves it, so the stop is allowed.
    Person,
}

/// Whether a stop is checked: not in a session that cook started, not for a sub-agent, and not if a stop was already
/// allowed at this commit.
pub fn is_checked(state: &SessionState, event: &Event, facts: &Situation) -> bool {
    let let_go = state.check.blocks > BLOCKS && state.check.progress == progress(facts);
    event.is_stop() && facts.child.is_none() && !event.subagent && !let_go
}

/// Handles a stop, given the findings of the check of this commit.
pub fn check_stop(
    agent: Agent,
    state: SessionState,
    event: &Event,
    facts: &Situation,
    found: &[False],
) -> Outcome {
    let mut step = Step::new(agent, state, event, facts);
    step.state.seen_ms = facts.now_ms;
    step.state.called_ms = facts.now_ms;
    let (of_person, found): (Vec<&False>, Vec<&False>) =
        found.iter().partition(|line| line.owed == Owed::Person);
    step.tell_person(&of_person);
    if found.is_empty() {
        step.state.check = Default::default();
        step.state.pending.notices.extend(facts.told.clone());
    } else if facts.goal || !step.steps_back() {
        let counted = step.state.check.count(&progress(facts));
        let is_told =
            step.state.check.blocks > 1 && found.iter().all(|line| line.owed == Owed::Word);
        match counted {
            _ if is_told => {}
            Stop::Refused => step.refuse(reason(&found, facts.goal)),
            Stop::Released => step.write_down(format!(
                "The session stopped although `{}: {BLOCKS} refused stops in a row brought {}. First of it: {}",
                match facts.goal {
                    true => "cook goal` is not reached",
                    false => "cook check` finds something false",
                },
                if facts.goal { "no change" } else { "no commit" },
                found.first().map_or(String::new(), |line| data(&line.what, 400))
            )),
            Stop::LetGo => {}
        }
    }
    // If the agent has no field for a notice, the caller prints it to stderr.
    if !step.state.pending.notices.is_empty() {
        let notices = std::mem::take(&mut step.state.pending.notices);
        step.effects.notice = Some(notices.join("\n"));
    }
    step.finish()
}

impl Step<'_> {
    fn refuse(&mut self, reason: String) {
        match self.event.kind {
            Kind::BeforeTool => self.effects.deny = Some(reason),
            _ => self.effects.block = Some(reason),
        }
    }

    /// Tells the person, once per commit, what only a person can resolve.
    fn tell_person(&mut self, found: &[&False]) {
        let at = progress(self.facts);
        if found.is_empty() || self.state.told_at.as_ref() == Some(&at) {
            return;
        }
        self.state.told_at = Some(at);
        let lines = found.iter().map(|line| {
            let (what, next) = (data(&line.what, 400), data(&line.next, 400));
            format!("cook: not known: {what}; yours to do: {next}")
        });
        self.state.pending.notices.extend(lines);
    }
}

fn progress(facts: &Situation) -> String {
    facts.head.clone().unwrap_or_else(|| "unborn".to_owned())
}

/// The findings, with only as many words as are needed to act on them.
fn reason(found: &[&False], goal: bool) -> String {
    let (command, mut text) = match goal {
        true => ("cook goal", "cook goal: not reached.".to_owned()),
        false => (
            "cook check",
            "cook check: not true of this commit.".to_owned(),
        ),
    };
    for line in found.iter().take(SHOWN) {
        text.push_str(&format!(
            "\n- {} {}\n  next: {}",
            match line.owed {
                Owed::Mending => "false",
                _ => "not known",
            },
            data(&line.what, 800),
            data(&line.next, 800)
        ));
    }
    if let Some(more) = found.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!("\n- {more} more: {command}"));
    }
    text.push_str("\nMend it and commit, or say plainly what is not done.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(state: SessionState, head: &str, found: &[False]) -> Outcome {
        let claude = Agent::parse("claude").unwrap();
        let input = br#"{"hook_event_name":"Stop","session_id":"s"}"#;
        let event = crate::hooks::read(claude, None, input).unwrap();
        let facts = Situation {
            head: Some(head.to_owned()),
            ..Situation::default()
        };
        check_stop(claude, state, &event, &facts, found)
    }

    #[test]
    fn each_stop_counts_however_fast_and_a_commit_or_a_true_check_begins_anew() {
        let found = [False {
            what: "[gate_red] `make test` is red <b>".to_owned(),
            next: "cook gate --clean test".to_owned(),
            owed: Owed::Mending,
        }];
        let mut state = SessionState::default();
        let mut refused = Vec::new();
        // Identical input at the same time: Claude Code does not name a turn.
        for _ in 0..20 {
            let outcome = stop(state, "a", &found);
            refused.extend(outcome.effects.block.clone());
            state = outcome.state;
        }
        assert_eq!(refused.len(), 3);
        assert!(
            refused[0].contains(
                "- false [gate_red] `make test` is red ‹b›\n  next: cook gate --clean test"
            )
        );
        let outcome = stop(state.clone(), "b", &found);
        assert!(outcome.effects.block.is_some(), "a commit is progress");
        let outcome = stop(outcome.state, "b", &[]);
        assert!(outcome.effects.is_empty() && outcome.entries.is_empty());
        let outcome = stop(outcome.state, "b", &found);
        assert!(outcome.effects.block.is_some(), "it was true in between");
    }

    #[test]
    fn what_is_not_known_is_told_once_a_commit() {
        let found = [False {
            what: "[red_before] x".to_owned(),
            next: "y".to_owned(),
            owed: Owed::Word,
        }];
        let mut state = SessionState::default();
        let mut refused = Vec::new();
        for head in ["a", "a", "a", "a", "a", "b", "b"] {
            let outcome = stop(state, head, &found);
            assert!(outcome.entries.is_empty());
            refused.push(outcome.effects.block.is_some());
            state = outcome.state;
        }
        assert_eq!(refused, [true, false, false, false, false, true, false]);
    }

    #[test]
    fn what_is_the_persons_is_told_once_a_commit_and_refuses_nothing() {
        let found = [False {
            what: "[gate_untrusted] `make test` was not run".to_owned(),
            next: "cook trust 'make test'".to_owned(),
            owed: Owed::Person,
        }];
        let mut state = SessionState::default();
        let mut told = Vec::new();
        for head in ["a", "a", "a", "a", "a", "b", "b"] {
            let outcome = stop(state, head, &found);
            assert_eq!(outcome.effects.block, None);
            assert!(outcome.entries.is_empty());
            told.push(outcome.effects.notice.is_some());
            state = outcome.state;
        }
        assert_eq!(told, [true, false, false, false, false, true, false]);
    }

    #[test]
    fn the_release_is_written_down_once() {
        let found = [False {
            what: "[gate_red] x".to_owned(),
            next: "y".to_owned(),
            owed: Owed::Mending,
        }];
        let mut state = SessionState::default();
        let mut kept = Vec::new();
        for _ in 0..9 {
            let outcome = stop(state, "a", &found);
            kept.extend(
                outcome
                    .entries
                    .into_iter()
                    .map(|entry| (entry.text, outcome.effects.notice.clone())),
            );
            state = outcome.state;
        }
        assert_eq!(kept.len(), 1);
        assert!(
            kept[0].0.contains("[gate_red] x") && kept[0].1.is_some(),
            "{kept:?}"
        );
    }
}
