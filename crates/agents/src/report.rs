//! What came of a run.

use super::failure::AgentFailure;
use cook_store::session::Native;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// What came of a run. Its raw output lies in [`Task::keep`](super::Task::keep), capped and redacted.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The final text; where there was data only, its JSON.
    pub text: String,
    /// Structured data that the program reported.
    pub data: Option<Value>,
    /// The program's name for the session.
    pub session: Option<String>,
    /// How it can be gone on from.
    pub native: Option<Native>,
    /// Tokens of this run, as the program counts them.
    pub usage: Option<Value>,
    /// Millionths of a dollar of this run; none = unknown.
    pub cost_micro_usd: Option<u64>,
    /// The summary, when the program compacted its context on its own.
    pub compaction: Option<String>,
    /// Why there is no result.
    pub failure: Option<AgentFailure>,
    /// Exit code; none when a signal ended it, or it was never started.
    pub exit: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// What its last event was.
    pub last_event: Option<String>,
    /// Wall time.
    pub duration: Duration,
    /// No process of it was left, as far as could be seen.
    pub swept: bool,
    /// Where `stdout` and `stderr` are kept: [`Task::keep`](super::Task::keep).
    pub kept: PathBuf,
}

impl Report {
    /// How it ended, in one line: after what time, how, with what event, and where what it said lies.
    pub fn describe_end(&self) -> String {
        if (self.signal, self.exit) == (None, None) {
            return "it was not started".to_owned();
        }
        let mut parts = vec![format!(
            "ended after {}",
            humantime::format_duration(Duration::from_millis(self.duration.as_millis() as u64))
        )];
        match (self.signal, self.exit) {
            (Some(signal), _) => parts.push(format!("by signal {signal}")),
            (None, code) => parts.extend(code.map(|code| format!("with exit code {code}"))),
        }
        parts.push(match &self.last_event {
            Some(event) => format!("last event `{event}`"),
            None => "no event".to_owned(),
        });
        parts.push(format!("its output lies in `{}`", self.kept.display()));
        parts.join(", ")
    }
}
