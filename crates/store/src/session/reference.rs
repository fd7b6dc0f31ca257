//! Names of stored values: `ex_…`, `ep_…`, `sr_…`, each with a ULID of its own, because two
//! calls that answer the same are still two.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use ulid::Ulid;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefKind {
    /// One request and its response.
    Exchange,
    /// A context window.
    Episode,
    /// A chain of context windows.
    Series,
}

impl RefKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Exchange, Self::Episode, Self::Series];

    /// What its names begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Exchange => "ex_",
            Self::Episode => "ep_",
            Self::Series => "sr_",
        }
    }
}

impl fmt::Display for RefKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exchange => "exchange",
            Self::Episode => "episode",
            Self::Series => "series",
        })
    }
}

/// The name of one stored exchange, episode or series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ref {
    kind: RefKind,
    id: Ulid,
}

impl Ref {
    /// A name that was never given before.
    pub fn new(kind: RefKind) -> Self {
        Self {
            kind,
            id: Ulid::generate(),
        }
    }

    /// What it names.
    pub fn kind(self) -> RefKind {
        self.kind
    }

    /// Milliseconds since the epoch at which it was given.
    pub fn time_given_ms(self) -> u64 {
        self.id.timestamp_ms()
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.prefix(), self.id)
    }
}

impl FromStr for Ref {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        RefKind::ALL
            .into_iter()
            .find_map(|kind| {
                let id = Ulid::from_string(text.strip_prefix(kind.prefix())?).ok()?;
                Some(Self { kind, id })
            })
            .filter(|name| name.to_string() == text)
            .ok_or_else(|| format!("`{}` is not a ref", text.escape_debug()))
    }
}

impl TryFrom<String> for Ref {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Ref> for String {
    fn from(name: Ref) -> Self {
        name.to_string()
    }
}

/// What a call goes on from: exactly one of the two, or nothing at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// A branch from this checkpoint.
    Episode(Ref),
    /// The current window of this series.
    Series(Ref),
}
