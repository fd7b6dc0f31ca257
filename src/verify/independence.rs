//! Whether those who review and judge are others than those who did the work, where the log names
//! the sessions.

use cook_core::model::{Event, Role};
use std::collections::BTreeMap;

/// The sessions that implemented, with the transition that first says so.
#[derive(Debug, Default)]
pub(super) struct Independence {
    built: BTreeMap<String, u64>,
}

impl Independence {
    /// What is wrong with the next transition, if anything.
    pub fn breach(&mut self, seq: u64, event: &Event) -> Option<String> {
        let role = event.role()?;
        let session = event.submission()?.session.as_ref()?;
        match role {
            Role::Implementer => {
                self.built.entry(session.clone()).or_insert(seq);
                None
            }
            role if role.is_independent() => {
                let built = self.built.get(session)?;
                Some(format!(
                    "the {role} is the session that did the work (transition {built})"
                ))
            }
            _ => None,
        }
    }
}
