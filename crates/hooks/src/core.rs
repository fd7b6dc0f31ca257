//! What cook does with an event. Pure: session state and measured facts in,
//! session state, effects and trail entries out.
//!
//! Invariants: an event that was handled already changes nothing but may be
//! refused again, and a stop was handled already only when it was while this delivery of it waited;
//! nothing is said that the event cannot carry, it waits; a
//! sub-agent gets the guard and nothing else; a session that does not own the
//! workflow gets the recovery message and nothing else.

use super::agent::Agent;
use super::event::Event;
use super::facts::Situation;
use super::state::SessionState;
use super::step::{Outcome, Step};
use cook_core::model::hooks::Kind;

/// Handles one event.
pub fn step(agent: Agent, state: SessionState, event: &Event, facts: &Situation) -> Outcome {
    let Some(row) = agent.row(event.native) else {
        return Step::new(agent, state, event, facts).finish();
    };
    let mut step = Step::new(agent, state, event, facts);
    step.state.seen_ms = facts.now_ms;
    step.state.called_ms = facts.now_ms;
    let twin = match event.kind {
        // The same words are said at each stop, and no agent numbers its stops.
        Kind::Stop => facts.again,
        _ => {
            let (key, has_id) = delivery(event);
            step.state.is_twin(&key, has_id, facts.now_ms)
        }
    };
    step.guard();
    if twin {
        step.repeat(row);
        return step.finish();
    }
    step.follow_item();
    step.link_commits();
    step.read_trail();
    step.tool_effects();
    step.count_turn();
    if facts.child.is_some() {
        return step.finish();
    }
    step.keep_ownership();
    step.lifecycle(row);
    if !event.subagent {
        step.stop_gate(row);
        step.say(row);
    }
    step.finish()
}

/// What makes two deliveries one, and whether the agent itself says so.
fn delivery(event: &Event) -> (String, bool) {
    match event.tool.as_ref().and_then(|tool| tool.id.as_ref()) {
        Some(id) => (format!("{:?}:{}:{id}", event.kind, event.subagent), true),
        None => (format!("{}:{}", event.native, event.digest), false),
    }
}
