//! The time, as the documents write it: RFC 3339 in UTC, whole seconds.
//!
//! A [`Clock`] is handed in wherever a moment is written, so that nothing else
//! asks the system. Moments written by one workflow never run backwards, even
//! when the machine's clock does: see [`Clock::read_not_before`].

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Fixes the time for tests: RFC 3339. Honoured only while `COOK_TEST=1` is set too,
/// so that a variable left behind cannot date real records.
pub const NOW_VARIABLE: &str = "COOK_NOW";
/// Must be `1` for [`NOW_VARIABLE`] to count.
pub const TEST_VARIABLE: &str = "COOK_TEST";

/// What a variable says for tests; nothing unless [`TEST_VARIABLE`] is `1`.
pub(crate) fn value_for_tests(name: &str) -> Option<String> {
    let is_test = std::env::var(TEST_VARIABLE).is_ok_and(|value| value == "1");
    std::env::var(name).ok().filter(|_| is_test)
}

/// Where the time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The machine.
    System,
    /// One moment for ever.
    Fixed(OffsetDateTime),
}

/// The test override holds no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{NOW_VARIABLE}` is `{0}`, which is not an RFC 3339 moment")]
pub struct ClockError(String);

impl Clock {
    /// The machine's clock, or the moment that a test fixed.
    ///
    /// # Errors
    /// When the test override is in force and cannot be read.
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

    /// One moment for ever.
    ///
    /// # Errors
    /// When the text is not an RFC 3339 moment.
    pub fn with_moment(text: &str) -> Result<Self, ClockError> {
        parse(text)
            .map(Self::Fixed)
            .ok_or_else(|| ClockError(text.to_owned()))
    }

    /// Now.
    pub fn now(&self) -> String {
        format(match self {
            Self::System => OffsetDateTime::now_utc(),
            Self::Fixed(moment) => *moment,
        })
    }

    /// Milliseconds since 1970, for spans that are shorter than a second.
    pub fn epoch_millis(&self) -> i64 {
        let now = match self {
            Self::System => OffsetDateTime::now_utc(),
            Self::Fixed(moment) => *moment,
        };
        i64::try_from(now.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
    }

    /// Seconds since 1970 of an RFC 3339 moment.
    pub fn parse_seconds(moment: &str) -> Option<i64> {
        parse(moment).map(OffsetDateTime::unix_timestamp)
    }

    /// A moment that git keeps as seconds since 1970.
    pub fn of_epoch(seconds: i64) -> String {
        OffsetDateTime::from_unix_timestamp(seconds)
            .map(format)
            .unwrap_or_default()
    }

    /// Now, or `previous` when that is later: what follows something never carries
    /// an earlier moment. A `previous` that is not an RFC 3339 moment is passed over.
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
