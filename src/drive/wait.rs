//! Waits for what ends by itself: a supplier's limit, an overload, a network that is away.

use super::assignment::RoleAgent;
use super::driver::Driver;
use super::event::RunEvent;
use super::outcome::{Ended, Step};
use crate::service::Workspace;
use cook_core::diagnostic::Failure;
use cook_os::clock::Clock;
use std::time::{Duration, Instant};

/// How long the end of a supplier's limit is waited for at most.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The first wait where nobody says how long a limit lasts; each is twice as long as the last,
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// up to this,
const LONGEST_PAUSE: Duration = Duration::from_secs(30 * 60);

/// and so many in a row: about a day.
const MOST_WAITS: u32 = 50;

/// How often it is looked whether somebody asks for an end.
const GLANCE: Duration = Duration::from_millis(200);

impl Driver<'_> {
    /// Waits for what ends by itself, each time longer where nobody says for how long.
    pub(super) fn wait_out(
        &mut self,
        workspace: &Workspace,
        after: Option<Duration>,
        why: String,
    ) -> Result<Step, Failure> {
        let doubled = FIRST_WAIT.saturating_mul(1 << self.tally.waits.min(16));
        let pause = after.unwrap_or(doubled).min(LONGEST_PAUSE);
        self.tally.waits += 1;
        if self.tally.waits > MOST_WAITS {
            return Ok(Step::Ended(Ended::Agents(why)));
        }
        let seconds = workspace.clock.epoch_millis() / 1000;
        let until = seconds + 1 + i64::try_from(pause.as_secs()).unwrap_or(i64::MAX / 2);
        self.wait(workspace, &Clock::of_epoch(until), why)
    }

    /// Waits where the agent whose turn it is said that its limit holds still.
    pub(super) fn wait_for(
        &mut self,
        workspace: &Workspace,
        agent: Option<&RoleAgent>,
    ) -> Result<Option<Step>, Failure> {
        let Some(name) = agent.map(|agent| agent.preset.name()) else {
            return Ok(None);
        };
        let Some(until) = self.limited.get(name).cloned() else {
            return Ok(None);
        };
        if workspace.clock.now() >= until {
            self.limited.remove(name);
            return Ok(None);
        }
        let why = format!("{name}: its limit holds until {until}");
        self.wait(workspace, &until, why).map(Some)
    }

    /// Waits for the end of a supplier's limit; the attempt is not spent.
    pub(super) fn wait(
        &mut self,
        workspace: &Workspace,
        until: &str,
        why: String,
    ) -> Result<Step, Failure> {
        self.observer.observe(&RunEvent::Waits { until });
        self.board.waits(until);
        let begun = Instant::now();
        while workspace.clock.now().as_str() < until {
            if self.patience.is_over() {
                return Ok(Step::Ended(Ended::Asked));
            }
            if begun.elapsed() > LONGEST_WAIT {
                return Ok(Step::Ended(Ended::Agents(why)));
            }
            std::thread::sleep(GLANCE);
        }
        Ok(Step::Waited)
    }
}
