//! What a step, and a run, came to.

use cook_core::machine::Dispatch;
use cook_core::model::{Policy, Role};

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The policy says so.
    Policy(Policy),
    /// As many sessions as were asked for.
    Steps,
    /// The time, or the money, of a run is used up.
    Budget(String),
    /// Nothing moves any more.
    Stalled(String),
    /// No agent could do the work.
    Agents(String),
    /// Somebody asked for it.
    Asked,
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ended: Ended,
    /// Sessions that were held.
    pub sessions: u64,
    /// Who would be next.
    pub next: Dispatch,
    /// Cost of those that said one.
    pub cost_micro_usd: u64,
    /// Calls whose cost is unknown.
    pub unpriced: u64,
    /// Whose session was ended before it reported, because somebody asked for it.
    pub cut: Option<Role>,
}

impl Outcome {
    /// No session was held.
    pub(super) fn without_session(ended: Ended, next: Dispatch) -> Self {
        Self {
            ended,
            sessions: 0,
            next,
            cost_micro_usd: 0,
            unpriced: 0,
            cut: None,
        }
    }
}

/// What a step came to.
pub(super) enum Step {
    Moved,
    /// The end of a limit, or the network, was waited for.
    Waited,
    /// Nothing was recorded, and another attempt may help.
    Nothing(String),
    Ended(Ended),
}

/// What came of one agent.
pub(super) enum RoleOutcome {
    Step(Step),
    /// It could not play; another one may.
    Another(String),
}
