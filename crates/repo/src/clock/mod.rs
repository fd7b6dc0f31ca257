//! The time in the format of the documents: RFC 3339 in UTC, whole seconds.
//!
//! All timestamps that are written come from a [`Clock`] that the caller passes in; nothing else asks the system.
//! Timestamps within one workflow never run backwards, even if the machine's clock does: see
//! [`Clock::read_not_before`].

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Fixes the time for tests, in RFC 3339. It is ignored unless `COOK_TEST=1` is set too, so that a leftover variable
/// cannot give real records a wrong date.
pub const NOW_VARIABLE: &str = "COOK_NOW";
/// Must be `1`, otherwise [`NOW_VARIABLE`] is ignored.
pub const TEST_VARIABLE: &str = "COOK_TEST";

/// The value of a variable that is meant for tests; `None` unless [`TEST_VARIABLE`] is `1`.
pub(crate) fn value_for_tests(name: &str) -> Option<String> {
    let is_test = std::env::var(TEST_VARIABLE).is_ok_and(|value| value == "1");
    std::env::var(name).ok().filter(|_| is_test)
}

/// The source of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// A fixed moment, which never advances.
    Fixed(OffsetDateTime),
}

/// The value of [`NOW_VARIABLE`] is not a valid moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{NOW_VARIABLE}` is `{0}`, which is not an RFC 3339 moment")]
pub struct ClockError(String);

impl Clock {
    /// The machine's clock, or the moment that a test fixed.
    ///
    /// # Errors
    /// When the test override is active and not valid RFC 3339.
    pub fn from_environment() -> Result<Self, ClockError> {
        if std::env::var(TEST_VARIABLE).as_deref() != Ok("1") {
            return Ok(Self::System);
        }
        match std::env::var(NOW_VARIABLE) {
            Ok(text) => Self::with_moment(&text),
            Err(std::env::VarError::NotPresent) => Ok(Self::System),
            Err(std::env::VarError::NotUnicode(text)) => {
                Err(ClockError(text.to_string_lossy().into_owned()))
            }
        }
    }

    /// A clock that always returns this moment.
    ///
    /// # Errors
    /// When the text is not an RFC 3339 moment.
    pub fn with_moment(text: &str) -> Result<Self, ClockError> {
        parse(text)
            .map(Self::Fixed)
            .ok_or_else(|| ClockError(text.to_owned()))
    }

    /// The current time in RFC 3339.
    pub fn now(&self) -> String {
        format(match self {
            Self::System => OffsetDateTime::now_utc(),
            Self::Fixed(moment) => *moment,
        })
    }

    /// Milliseconds since 1970, for durations below a second.
    pub fn epoch_millis(&self) -> i64 {
        let now = match self {
            Self::System => OffsetDateTime::now_utc(),
            Self::Fixed(moment) => *moment,
        };
        i64::try_from(now.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
    }

    /// Converts an RFC 3339 moment to seconds since 1970.
    pub fn parse_seconds(moment: &str) -> Option<i64> {
        parse(moment).map(OffsetDateTime::unix_timestamp)
    }

    /// Converts seconds since 1970, as git stores times, to RFC 3339.
    pub fn of_epoch(seconds: i64) -> String {
        OffsetDateTime::from_unix_timestamp(seconds)
            .map(format)
            .unwrap_or_default()
    }

    /// The current time, or `previous` if that is later, so that a record is never dated before the one it follows. A
    /// `previous` that is not RFC 3339 is ignored.
    pub fn read_not_before(&self, previous: &str) -> String {
        let now = self.now();
        match (parse(&now), parse(previous)) {
            (Some(at), Some(before)) if before > at => format(before),
            _ => now,
        }
    }
}

fn parse(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

fn format(moment: OffsetDateTime) -> String {
    let utc = moment.to_offset(time::UtcOffset::UTC);
    utc.replace_nanosecond(0)
        .unwrap_or(utc)
        .format(&Rfc3339)
        .unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_utc_in_whole_seconds() {
        let clock = Clock::with_moment("2026-03-01T10:00:00.75+02:00").unwrap();
        assert_eq!(clock.now(), "2026-03-01T08:00:00Z");
        assert!(Clock::with_moment("yesterday").is_err());
        assert_eq!(Clock::System.now().len(), "2026-03-01T08:00:00Z".len());
    }

    #[test]
    fn a_clock_that_goes_back_does_not_matter() {
        let clock = Clock::with_moment("2026-03-01T08:00:00Z").unwrap();
        assert_eq!(
            clock.read_not_before("2026-03-01T09:30:00Z"),
            "2026-03-01T09:30:00Z"
        );
        assert_eq!(
            clock.read_not_before("2026-03-01T09:30:00+02:00"),
            clock.now()
        );
        assert_eq!(clock.read_not_before("no moment"), clock.now());
    }
}
