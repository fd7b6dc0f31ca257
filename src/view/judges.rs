//! Whose word a verdict is, and how many planted faults that judge caught.

use crate::judges::Judged;
use cook_core::model::Role;
use cook_strength::Share;
use serde::Serialize;

/// So many of so many, and where the true share lies in 95 of 100 cases.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ShareView {
    pub hits: u64,
    pub of: u64,
    /// From 0 to 1.
    low: f64,
    high: f64,
}

impl From<Share> for ShareView {
    fn from(share: Share) -> Self {
        let interval = share.interval();
        Self {
            hits: share.hits,
            of: share.of,
            low: interval.low,
            high: interval.high,
        }
    }
}

/// Verdicts of one role by one agent.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct JudgedView<'a> {
    role: Role,
    /// Those that said yes; of an audit those that found everything in order.
    yes: u64,
    of: u64,
    /// Who gave them; null where nobody was measured here, or no session of this clone is named.
    agent: Option<&'a str>,
    model: Option<&'a str>,
    /// Of planted faults, as `cook calibrate` measured it with the prompt of now; null = uncalibrated.
    caught: Option<ShareView>,
    /// Of clean work.
    alarms: Option<ShareView>,
}

impl<'a> From<&'a Judged> for JudgedView<'a> {
    fn from(judged: &'a Judged) -> Self {
        Self {
            role: judged.role,
            yes: judged.yes,
            of: judged.of,
            agent: judged.agent.as_deref(),
            model: judged.model.as_deref(),
            caught: judged.known.map(|known| known.record.caught.into()),
            alarms: judged.known.map(|known| known.record.alarms.into()),
        }
    }
}
