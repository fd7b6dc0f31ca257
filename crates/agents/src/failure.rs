//! Why a run gave no result, by whose fault: only an agent's own spends an attempt.

use cook_repo::clock::Clock;
use cook_repo::process::Ending;
use cook_repo::session::SupplierErrorKind;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use std::time::Duration;

/// Whose fault it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Not installed, no login, no network, a rate limit: waiting may help.
    Environment,
    /// The agent's: an error event, an empty result, a clock that ran out.
    Agent,
    /// A model or an option that does not exist.
    Config,
    /// Cook was asked to stop.
    Interrupted,
}

/// A run without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    /// Whose fault.
    pub class: FailureClass,
    /// What happened, as the conversation knows it.
    pub failure: SupplierErrorKind,
    /// When a limit ends, RFC 3339, where the program said so.
    pub reset_at: Option<String>,
}

/// What happened, in the program's words.
pub fn describe_error(error: &SupplierErrorKind) -> &str {
    let (SupplierErrorKind::Absent(why)
    | SupplierErrorKind::Failed(why)
    | SupplierErrorKind::TimedOut(why)
    | SupplierErrorKind::Unparseable(why)) = error;
    why
}

impl FailureClass {
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Agent => "agent",
            Self::Config => "config",
            Self::Interrupted => "interrupted",
        }
    }
}

impl AgentFailure {
    pub(super) fn new(class: FailureClass, failure: SupplierErrorKind) -> Self {
        Self {
            class,
            failure,
            reset_at: None,
        }
    }

    /// What happened, in the program's words.
    pub fn why(&self) -> &str {
        describe_error(&self.failure)
    }

    /// A limit or an overload, which ends by itself though nobody said when.
    pub fn passes(&self) -> bool {
        self.class == FailureClass::Environment && is_passing(self.why())
    }

    /// The network, or the supplier's end of it, is away.
    pub fn is_offline(&self) -> bool {
        let lower = self.why().to_lowercase();
        self.class == FailureClass::Environment && is_offline(&lower) && !is_lasting(&lower)
    }

    /// After how long the program said one may try again.
    pub fn read_retry_after(&self) -> Option<Duration> {
        read_retry_after(self.why())
    }

    /// What it means that cook ended a run before its work was done; none when it did not.
    pub(super) fn of_ending(ending: Ending) -> Option<Self> {
        let (class, failure) = match ending {
            Ending::Exited | Ending::Finished => return None,
            Ending::Interrupted | Ending::Stopped => (
                FailureClass::Interrupted,
                SupplierErrorKind::Failed("it was stopped".to_owned()),
            ),
            Ending::WallClock => (
                FailureClass::Agent,
                SupplierErrorKind::TimedOut("it took longer than it may in all".to_owned()),
            ),
            Ending::IdleClock => (
                FailureClass::Agent,
                SupplierErrorKind::TimedOut("it said nothing for longer than it may".to_owned()),
            ),
        };
        Some(Self::new(class, failure))
    }
}

/// Words of errors in lower case, and status codes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorWords {
    config: Vec<String>,
    lasting: Vec<String>,
    lasting_codes: Vec<String>,
    offline: Vec<String>,
    passing: Vec<String>,
    passing_codes: Vec<String>,
}

/// A test below sees to it that the file can be read.
static WORDS: LazyLock<ErrorWords> =
    LazyLock::new(|| toml::from_str(include_str!("failures.toml")).unwrap_or_default());

/// Whose fault an error text speaks of.
pub(super) fn classify(text: &str) -> FailureClass {
    let lower = text.to_lowercase();
    if holds(&lower, &WORDS.config) {
        return FailureClass::Config;
    }
    if is_lasting(&lower) || is_offline(&lower) || is_passing(text) {
        FailureClass::Environment
    } else {
        FailureClass::Agent
    }
}

fn holds(lower: &str, words: &[String]) -> bool {
    words.iter().any(|words| lower.contains(words.as_str()))
}

fn has_code(lower: &str, codes: &[String]) -> bool {
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| codes.iter().any(|code| code == word))
}

fn is_lasting(lower: &str) -> bool {
    has_code(lower, &WORDS.lasting_codes) || holds(lower, &WORDS.lasting)
}

fn is_offline(lower: &str) -> bool {
    holds(lower, &WORDS.offline)
}

fn is_passing(text: &str) -> bool {
    let lower = text.to_lowercase();
    has_code(&lower, &WORDS.passing_codes) || holds(&lower, &WORDS.passing)
}

/// What stands behind `try again in` or `retry after`: `8s`, `3 minutes`, `1h`.
fn read_retry_after(text: &str) -> Option<Duration> {
    let lower = text.to_lowercase();
    let rest = ["try again in ", "retry after ", "retry-after: "]
        .iter()
        .find_map(|words| lower.split_once(words))?
        .1;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = rest.get(..digits)?.parse().ok()?;
    let unit = match rest[digits..].trim_start().bytes().next() {
        Some(b'm') if !rest[digits..].trim_start().starts_with("ms") => 60,
        Some(b'h') => 3600,
        Some(b'd') => 86_400,
        _ => 1,
    };
    Some(Duration::from_secs(number.saturating_mul(unit)))
}

/// A moment as programs give it: RFC 3339, or seconds or milliseconds since 1970, the
/// latter also behind the last `|` of a message.
pub(super) fn moment(text: &str) -> Option<String> {
    let text = text.rsplit('|').next().unwrap_or(text).trim();
    if let Some(seconds) = Clock::parse_seconds(text) {
        return Some(Clock::of_epoch(seconds));
    }
    let number: i64 = text.parse().ok()?;
    match number {
        1_000_000_000..=9_999_999_999 => Some(Clock::of_epoch(number)),
        1_000_000_000_000..=9_999_999_999_999 => Some(Clock::of_epoch(number / 1000)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_by_whose_fault_they_are() {
        use FailureClass::{Agent, Config, Environment};
        for (text, class) in [
            ("API Error: 529 overloaded_error", Environment),
            ("HTTP 429", Environment),
            ("Claude usage limit reached|1735689600", Environment),
            ("Not logged in. Please run /login", Environment),
            ("connect ECONNREFUSED 127.0.0.1:1", Environment),
            ("model not found: gpt-9", Config),
            ("error: unknown option '--frob'", Config),
            ("tool call failed 4291 times", Agent),
            ("", Agent),
        ] {
            assert_eq!(classify(text), class, "{text}");
        }
    }

    #[test]
    fn limits_pass_and_a_missing_login_does_not() {
        for (text, passes, after) in [
            ("API Error: 529 overloaded_error", true, None),
            ("usage limit reached", true, None),
            ("Rate limited. Please try again in 8s", true, Some(8)),
            ("429: retry after 2 minutes", true, Some(120)),
            ("Not logged in. Please run /login", false, None),
            ("connection refused", false, None),
        ] {
            assert_eq!(is_passing(text), passes, "{text}");
            assert_eq!(
                read_retry_after(text),
                after.map(Duration::from_secs),
                "{text}"
            );
        }
    }

    #[test]
    fn a_network_that_is_away_is_told_from_a_missing_login() {
        for (text, is_away) in [
            ("connect ECONNREFUSED 127.0.0.1:1", true),
            ("TypeError: fetch failed", true),
            ("network error: 401 unauthorized", false),
            ("Not logged in. Please run /login", false),
            ("the network of tests is green", true),
            ("it took longer than it may in all", false),
        ] {
            let failure = SupplierErrorKind::Failed(text.to_owned());
            let failed = AgentFailure::new(classify(text), failure);
            assert_eq!(failed.is_offline(), is_away, "{text}");
        }
    }

    #[test]
    fn moments() {
        let wanted = Some("2025-01-01T00:00:00Z".to_owned());
        for text in [
            "limit reached|1735689600",
            "1735689600000",
            "2025-01-01T00:00:00Z",
        ] {
            assert_eq!(moment(text), wanted, "{text}");
        }
        assert_eq!(moment("in 3 hours"), None);
    }
}
