//! Small values that have more than one JSON form, or that are checked when they are read.

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Number;
use strum::VariantArray;

/// Returns every variant of an enum, in declaration order.
pub(crate) const fn all<T: VariantArray + Copy, const N: usize>() -> [T; N] {
    match T::VARIANTS.split_first_chunk() {
        Some((all, [])) => *all,
        _ => panic!("the list is as long as the enum"),
    }
}

/// `schema_version`: always 1. Another value is refused on reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SchemaVersion;

impl Serialize for SchemaVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

impl<'de> Deserialize<'de> for SchemaVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Count(found) = Count::deserialize(deserializer)?;
        if found == 1 {
            Ok(Self)
        } else {
            Err(de::Error::custom(format!(
                "schema_version is {found}, not 1"
            )))
        }
    }
}

/// An integer from 0 to 2^53 - 1. `3.0` is read as 3, because JSON Schema calls it an integer; it is written as `3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Count(pub u64);

/// The largest whole number that every JSON reader holds exactly (2^53 - 1).
pub(super) const MAX_COUNT: u64 = 9_007_199_254_740_991;

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Number::deserialize(deserializer)?;
        whole(&number)
            .and_then(|value| u64::try_from(value).ok())
            .map(Self)
            .ok_or_else(|| de::Error::custom("not a whole number from 0 to 9007199254740991"))
    }
}

/// Converts the number to an integer that every JSON reader holds exactly.
fn whole(number: &Number) -> Option<i64> {
    let exact = number.as_f64().filter(|value| value.fract() == 0.0);
    let value = number.as_i64().or(exact.map(|value| value as i64));
    value.filter(|value| value.unsigned_abs() <= MAX_COUNT)
}

/// A slice's place in the order of work: any number, where 1 comes first. It keeps the form in which it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(pub Number);

impl Priority {
    /// The number to sort by.
    pub fn rank(&self) -> f64 {
        self.0.as_f64().unwrap_or(f64::MAX)
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::from(1)
    }
}

impl From<u64> for Priority {
    fn from(value: u64) -> Self {
        Self(value.into())
    }
}

/// A point in time. cook writes RFC 3339 in UTC; older writers left any non-empty string or a number (epoch
/// seconds or milliseconds).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged, expecting = "neither a moment as RFC 3339 text nor a number")]
pub enum Timestamp {
    /// RFC 3339, or any text of an older writer.
    Text(#[serde(with = "Text")] String),
    /// Epoch seconds or milliseconds.
    Number(Number),
}

impl Timestamp {
    /// Returns the text to show.
    pub fn display(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl From<&str> for Timestamp {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Defines types for serde's `with` attribute: a value is serialized as it is, and deserialized only if it
/// meets the condition.
macro_rules! checked {
    ($($(#[$doc:meta])* $shape:ident($of:ty): $holds:expr, $why:literal;)*) => {$(
        $(#[$doc])*
        pub(super) struct $shape;

        impl $shape {
            pub(super) fn serialize<S: Serializer>(value: &$of, to: S) -> Result<S::Ok, S::Error> {
                value.serialize(to)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$of, D::Error> {
                let value = <$of>::deserialize(from)?;
                let holds: fn(&$of) -> bool = $holds;
                if holds(&value) { Ok(value) } else { Err(de::Error::custom($why)) }
            }
        }
    )*};
}

checked! {
    /// Non-empty text.
    Text(String): |text| !text.is_empty(), "an empty text";
    /// A list of non-empty texts.
    Texts(Vec<String>): |texts| !texts.iter().any(String::is_empty), "an empty text in a list";
    /// A non-empty text or null.
    MaybeText(Option<String>): |text| text.as_deref() != Some(""), "an empty text";
    /// A list of non-empty texts or null.
    MaybeTexts(Option<Vec<String>>): |texts| !texts.iter().flatten().any(String::is_empty),
        "an empty text in a list";
}

/// A non-empty text, or a list of them that is joined by line breaks.
pub(super) struct Lines;

impl Lines {
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "neither a text nor a list of texts")]
        enum Given {
            One(String),
            Many(Vec<String>),
        }
        let texts = match Given::deserialize(from)? {
            Given::One(text) => vec![text],
            Given::Many(texts) => texts,
        };
        if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
            return Err(de::Error::custom("an empty text"));
        }
        Ok(texts.join("\n"))
    }
}

/// A 32-bit integer or null; `3.0` is read as 3, as in [`Count`].
pub(super) struct OptionalI32;

impl OptionalI32 {
    pub(super) fn serialize<S: Serializer>(value: &Option<i32>, to: S) -> Result<S::Ok, S::Error> {
        value.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i32>, D::Error> {
        let Some(number) = Option::<Number>::deserialize(from)? else {
            return Ok(None);
        };
        whole(&number)
            .and_then(|value| i32::try_from(value).ok())
            .map(Some)
            .ok_or_else(|| de::Error::custom("not a whole number of 32 bits"))
    }
}
