//! One event while it is handled: what is known, and what has come of it so far. Pure.

use super::agent::Agent;
use super::event::{Effects, Event};
use super::facts::Situation;
use super::state::SessionState;
use cook_core::model::{Checkpoint, CheckpointKind, SchemaVersion, Timestamp};

/// What came of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The session now.
    pub state: SessionState,
    /// What to say.
    pub effects: Effects,
    /// What to append to the trail.
    pub entries: Vec<Checkpoint>,
    /// The session becomes the workflow's owner.
    pub takes: bool,
    /// It stops being it.
    pub leaves: bool,
}

/// An event, the facts, and what has come of them so far.
pub(super) struct Step<'a> {
    pub(super) agent: Agent,
    pub(super) state: SessionState,
    pub(super) event: &'a Event,
    pub(super) facts: &'a Situation,
    pub(super) effects: Effects,
    pub(super) entries: Vec<Checkpoint>,
    pub(super) takes: bool,
    pub(super) leaves: bool,
}

impl<'a> Step<'a> {
    pub(super) fn new(
        agent: Agent,
        state: SessionState,
        event: &'a Event,
        facts: &'a Situation,
    ) -> Self {
        let mut state = state;
        state.agent = agent.name().to_owned();
        state.session.clone_from(&event.session);
        Self {
            agent,
            state,
            event,
            facts,
            effects: Effects::default(),
            entries: Vec::new(),
            takes: false,
            leaves: false,
        }
    }

    pub(super) fn finish(self) -> Outcome {
        Outcome {
            state: self.state,
            effects: self.effects,
            entries: self.entries,
            takes: self.takes,
            leaves: self.leaves,
        }
    }

    /// The session works for the workflow, or without one for an issue it claimed.
    pub(super) fn owns(&self) -> bool {
        match &self.facts.workflow {
            Some(_) => (self.facts.owner || self.takes) && !self.facts.driven,
            None => self.state.claimed || self.state.found,
        }
    }

    /// Tells this event from one that says the same at another time.
    pub(super) fn key(&self) -> String {
        let digest: String = self.event.digest.chars().take(16).collect();
        format!("{digest}-{}", self.facts.now_ms)
    }

    pub(super) fn entry(
        &mut self,
        kind: CheckpointKind,
        id: String,
        text: String,
        commit: Option<String>,
    ) {
        self.entries.push(Checkpoint {
            id,
            schema_version: SchemaVersion,
            at: Timestamp::from(self.facts.now.as_str()),
            kind,
            text,
            item: self.state.item.clone(),
            session: Some(self.event.session.clone()),
            agent: Some(self.agent.name().to_owned()),
            commit,
        });
    }
}
