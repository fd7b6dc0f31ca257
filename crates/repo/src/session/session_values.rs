//! What was said and answered, as immutable values, the names that refs give them, and how they lie in a store.
//!
//! Exchange = one request and its response; episode = one context window of exchanges; series = a chain of
//! episodes bridged by compaction. Names are `ex_…`, `ep_…`, `sr_…`, each with a ULID of its own, because two calls that
//! answer the same are still two. A store keeps an exchange once, an episode as its parent and its newest exchange, a series
//! as its sealed part and its current episode: what a call adds is proportional to what was said in it.
//!
//! Invariants: every field is private and has a getter only; each operation makes a new value
//! and leaves the old one as it was; a hash is always that of the content, also after reading
//! one from JSON. `exid` is a supplier's own name for a call and stays outside the hash.
//!
//! ```compile_fail
//! let mut exchange = crate::session::Exchange::new(crate::session::Kind::Say, "a", "b", None);
//! exchange.hash = exchange.hash.clone(); // private
//! ```
//! ```compile_fail
//! let episode = crate::session::Episode::of(Vec::new(), None);
//! episode.exchanges().push(todo!()); // a slice, not a vector
//! ```
//! ```compile_fail
//! let mut series = crate::session::Series::of(Vec::new());
//! series.episodes = Vec::new(); // private
//! ```
//!
//! What a conversation asks of whoever answers: the seam between sessions and agents.

use cook_protocol::diagnostic::PriorRefs;
use cook_protocol::digest::hex;
pub use cook_protocol::model::{Capability, Continuation};
use cook_protocol::model::{CitedExchange, Event};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use strum::IntoStaticStr;
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

/// The refs a caller still holds when a call fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// The newest context window that is kept.
    pub episode: Option<Ref>,
    /// The newest chain that is kept; none for an atom.
    pub series: Option<Ref>,
}

impl From<Prior> for Box<PriorRefs> {
    fn from(prior: Prior) -> Self {
        Self::new(PriorRefs {
            episode: prior.episode.map(|name| name.to_string()),
            series: prior.series.map(|name| name.to_string()),
        })
    }
}

/// What a name of a hash begins with.
const PREFIX: &str = "sha256:";

/// The fingerprint of a value, SHA-256 over a tag and length-prefixed parts, so that no two different splits of the same
/// bytes meet: `sha256:` and 64 lowercase hexadecimal digits. Published with vectors in `protocol/session-vectors.json`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash(String);

impl ContentHash {
    /// SHA-256 over `tag`, then for each part its length as u64 little-endian and its bytes.
    pub(super) fn of(tag: &str, parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        digest.update(tag.as_bytes());
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self(format!("{PREFIX}{}", hex(&digest.finalize())))
    }

    /// The whole name, with its prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digits alone, as in file names.
    pub fn digits(&self) -> &str {
        &self.0[PREFIX.len()..]
    }
}

impl TryFrom<String> for ContentHash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix(PREFIX).unwrap_or_default();
        let fits = digits.len() == 64
            && digits
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if fits {
            Ok(Self(text))
        } else {
            Err(format!("`{}` is not a hash", text.escape_debug()))
        }
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.0
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an exchange was for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something was asked.
    Say,
    /// Something was ordered to be done.
    Act,
    /// What a new context window begins with: a summary of the one before.
    Recap,
    /// An answer was asked for again, because it did not fit its schema.
    Repair,
}

impl Kind {
    fn id(self) -> &'static str {
        self.into()
    }
}

/// One request and its response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawExchange")]
pub struct Exchange {
    kind: Kind,
    input: String,
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exid: Option<String>,
    hash: ContentHash,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExchange {
    kind: Kind,
    input: String,
    output: String,
    #[serde(default)]
    exid: Option<String>,
    hash: ContentHash,
}

impl Exchange {
    /// `input` exactly as it was sent, `output` the final text or data.
    pub fn new(
        kind: Kind,
        input: impl Into<String>,
        output: impl Into<String>,
        exid: Option<String>,
    ) -> Self {
        let (input, output) = (input.into(), output.into());
        let parts = [kind.id().as_bytes(), input.as_bytes(), output.as_bytes()];
        let hash = ContentHash::of("cook/exchange/1", &parts);
        Self {
            kind,
            input,
            output,
            exid,
            hash,
        }
    }

    /// What it was for.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The request.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// The response.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// The supplier's own name for the call.
    pub fn exid(&self) -> Option<&str> {
        self.exid.as_deref()
    }

    /// Fingerprint of kind, input and output.
    pub fn hash(&self) -> &ContentHash {
        &self.hash
    }
}

impl TryFrom<RawExchange> for Exchange {
    type Error = String;

    fn try_from(raw: RawExchange) -> Result<Self, String> {
        let made = Self::new(raw.kind, raw.input, raw.output, raw.exid);
        matching("exchange", &made.hash, &raw.hash)?;
        Ok(made)
    }
}

fn matching(what: &str, content: &ContentHash, named: &ContentHash) -> Result<(), String> {
    if content == named {
        return Ok(());
    }
    Err(format!("the {what} hashes to {content}, and names {named}"))
}

/// One context window: the exchanges a supplier had before it at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawEpisode")]
pub struct Episode {
    exchanges: Vec<Exchange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exid: Option<String>,
    hash: ContentHash,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEpisode {
    exchanges: Vec<Exchange>,
    #[serde(default)]
    exid: Option<String>,
    hash: ContentHash,
}

const EPISODE: &str = "cook/episode/1";
const SERIES: &str = "cook/series/1";

/// The hash of an episode that goes on by one exchange; nothing = it is the first.
pub(super) fn episode_hash(parent: Option<&ContentHash>, exchange: &ContentHash) -> ContentHash {
    link_hash(EPISODE, parent, exchange)
}

/// The hash of a series that goes on by one episode; nothing = it is the first.
pub(super) fn series_hash(parent: Option<&ContentHash>, episode: &ContentHash) -> ContentHash {
    link_hash(SERIES, parent, episode)
}

fn link_hash(tag: &str, parent: Option<&ContentHash>, link: &ContentHash) -> ContentHash {
    let parent = parent.map_or("", ContentHash::as_str);
    ContentHash::of(tag, &[parent.as_bytes(), link.as_str().as_bytes()])
}

/// The hash of a whole chain.
fn chain_hash<'a>(tag: &str, links: impl Iterator<Item = &'a ContentHash>) -> ContentHash {
    let newest = links.fold(None, |parent, link| {
        Some(link_hash(tag, parent.as_ref(), link))
    });
    newest.unwrap_or_else(|| ContentHash::of(tag, &[]))
}

impl Episode {
    /// All at once, oldest first, under the supplier's name for the window.
    pub fn of(exchanges: Vec<Exchange>, exid: Option<String>) -> Self {
        Self {
            hash: chain_hash(EPISODE, exchanges.iter().map(Exchange::hash)),
            exchanges,
            exid,
        }
    }

    /// In the order in which they were said.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// The supplier's own name for the window.
    pub fn exid(&self) -> Option<&str> {
        self.exid.as_deref()
    }

    /// Fingerprint of the exchanges in their order.
    pub fn hash(&self) -> &ContentHash {
        &self.hash
    }
}

impl TryFrom<RawEpisode> for Episode {
    type Error = String;

    fn try_from(raw: RawEpisode) -> Result<Self, String> {
        let made = Self::of(raw.exchanges, raw.exid);
        matching("episode", &made.hash, &raw.hash)?;
        Ok(made)
    }
}

/// A chain of context windows, bridged by recaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawSeries")]
pub struct Series {
    episodes: Vec<Episode>,
    hash: ContentHash,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSeries {
    episodes: Vec<Episode>,
    hash: ContentHash,
}

impl Series {
    /// All at once, oldest first.
    pub fn of(episodes: Vec<Episode>) -> Self {
        Self {
            hash: chain_hash(SERIES, episodes.iter().map(Episode::hash)),
            episodes,
        }
    }

    /// Oldest first.
    pub fn episodes(&self) -> &[Episode] {
        &self.episodes
    }

    /// Fingerprint of the episodes in their order.
    pub fn hash(&self) -> &ContentHash {
        &self.hash
    }
}

impl TryFrom<RawSeries> for Series {
    type Error = String;

    fn try_from(raw: RawSeries) -> Result<Self, String> {
        let made = Self::of(raw.episodes);
        matching("series", &made.hash, &raw.hash)?;
        Ok(made)
    }
}

/// An object under its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "snake_case", deny_unknown_fields)]
pub enum Object {
    /// One request and its response.
    Exchange {
        /// What it was for.
        kind: Kind,
        /// The request.
        input: String,
        /// The response.
        output: String,
    },
    /// A context window, from the one it goes on from.
    Episode {
        /// The window one exchange earlier; none = this is its first.
        parent: Option<ContentHash>,
        /// The newest exchange.
        exchange: ContentHash,
        /// Number of exchanges.
        length: u64,
    },
    /// A chain of windows, from the chain of sealed ones before the current.
    Series {
        /// The chain without its current window; none = there is one window only.
        parent: Option<ContentHash>,
        /// The current window.
        episode: ContentHash,
        /// Number of windows.
        length: u64,
    },
}

impl Object {
    /// An exchange as it is stored: without the supplier's own name, which its ref keeps.
    pub fn of_exchange(exchange: &Exchange) -> Self {
        Self::Exchange {
            kind: exchange.kind(),
            input: exchange.input().to_owned(),
            output: exchange.output().to_owned(),
        }
    }

    /// What the content hashes to.
    pub fn hash(&self) -> ContentHash {
        match self {
            Self::Exchange {
                kind,
                input,
                output,
            } => Exchange::new(*kind, input.as_str(), output.as_str(), None)
                .hash()
                .clone(),
            Self::Episode {
                parent, exchange, ..
            } => episode_hash(parent.as_ref(), exchange),
            Self::Series {
                parent, episode, ..
            } => series_hash(parent.as_ref(), episode),
        }
    }

    /// What it stands on: the chain it goes on from, and its newest part.
    pub(super) fn stands_on(&self) -> [Option<&ContentHash>; 2] {
        match self {
            Self::Exchange { .. } => [None, None],
            Self::Episode {
                parent,
                exchange: part,
                ..
            }
            | Self::Series {
                parent,
                episode: part,
                ..
            } => [parent.as_ref(), Some(part)],
        }
    }

    /// Its place in its chain, from 1.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Exchange { .. } => 1,
            Self::Episode { length, .. } | Self::Series { length, .. } => *length,
        }
    }

    /// Whether it is an exchange: the only one that holds what was said.
    pub(super) fn is_exchange(&self) -> bool {
        matches!(self, Self::Exchange { .. })
    }

    /// What kind of value it is.
    pub fn kind(&self) -> RefKind {
        match self {
            Self::Exchange { .. } => RefKind::Exchange,
            Self::Episode { .. } => RefKind::Episode,
            Self::Series { .. } => RefKind::Series,
        }
    }
}

/// A supplier's own record of a conversation, for going on natively by a fork of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// The supplier's name for it.
    pub session: String,
    /// SHA-256 of its transcript file right after the call, where the preset names one.
    pub transcript_sha256: Option<String>,
    /// What the supplier counted in this thread so far, where its counts go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<serde_json::Value>,
}

/// What a ref says of the value it names. Written once, never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Always 1.
    pub schema_version: u32,
    /// The name.
    pub name: Ref,
    /// The object it names.
    pub hash: ContentHash,
    /// The supplier's own name for the exchange or the window.
    pub exid: Option<String>,
    /// Who answered last.
    pub supplier: String,
    /// An episode's or exchange's chain; none for an atom's.
    pub series: Option<Ref>,
    /// A series' current window; an exchange's window.
    pub episode: Option<Ref>,
    /// Number of exchanges or windows.
    pub length: u64,
    /// UTF-8 bytes of all that was said in the window, for the estimate of tokens.
    pub bytes: u64,
    /// How the supplier itself can go on.
    pub native: Option<Native>,
    /// HEAD after the call; none outside a repository or before its first commit.
    pub head: Option<String>,
    /// A digest of what the worktree held beside HEAD after the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// When, RFC 3339.
    pub at: String,
}

impl Entry {
    /// What is said of a name by itself.
    pub(super) fn of(name: Ref, hash: ContentHash, at: &str) -> Self {
        Self {
            schema_version: 1,
            name,
            hash,
            exid: None,
            supplier: String::new(),
            series: None,
            episode: None,
            length: 1,
            bytes: 0,
            native: None,
            head: None,
            tree: None,
            at: at.to_owned(),
        }
    }
}

/// What is wrong with a citation, if anything: not looked at is what its report says.
pub fn wrong_citation(event: &Event, cited: &CitedExchange) -> Option<String> {
    for said in &cited.said {
        let kind = serde_json::from_value::<Kind>(said.kind.clone().into()).ok();
        let hash = kind.map(|kind| {
            Exchange::new(kind, said.input.as_str(), said.output.as_str(), None)
                .hash()
                .to_string()
        });
        if hash.as_ref() != Some(&said.hash) {
            return Some(format!("the exchange {} is another one", said.hash));
        }
    }
    let (Some(_), Some(submission)) = (event.role(), event.submission()) else {
        return Some("it cites a session and no report came with it".to_owned());
    };
    if submission.session.as_deref() != Some(cited.exchange.as_str()) {
        return Some(format!(
            "it cites {}, which it did not come out of",
            cited.exchange
        ));
    }
    cited
        .said
        .is_empty()
        .then(|| format!("{} says nothing", cited.exchange))
}

/// Tokens that a supplier can have before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// All of them.
    pub tokens: u64,
    /// Kept free for the answer.
    pub reserve: u64,
}

impl Window {
    /// Tokens that a prompt may take.
    pub fn room(self) -> u64 {
        self.tokens.saturating_sub(self.reserve)
    }
}

/// Tokens of a text, estimated: a third of its UTF-8 bytes, rounded up.
pub fn estimate(bytes: u64) -> u64 {
    bytes.div_ceil(3)
}

/// How deep a report of tokens may be nested.
const MAX_DEPTH: usize = 8;

/// Two reports of tokens number by number; what is no number is the first's.
pub fn combine(one: &Value, two: &Value, with: fn(f64, f64) -> f64) -> Value {
    combine_at(one, two, 0, with)
}

fn combine_at(one: &Value, two: &Value, depth: usize, with: fn(f64, f64) -> f64) -> Value {
    match (one, two) {
        (Value::Number(a), Value::Number(b)) => number(with(
            a.as_f64().unwrap_or_default(),
            b.as_f64().unwrap_or_default(),
        )),
        (Value::Object(a), Value::Object(b)) if depth < MAX_DEPTH => {
            let mut sum: Map<String, Value> = a.clone();
            for (key, two) in b {
                let zero = Value::from(0);
                let one = match (a.get(key), two) {
                    (Some(one), _) => one,
                    (None, Value::Number(_)) => &zero,
                    (None, _) => two,
                };
                sum.insert(key.clone(), combine_at(one, two, depth + 1, with));
            }
            Value::Object(sum)
        }
        _ => one.clone(),
    }
}

/// A whole number where it is one.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

/// Whether something is asked or ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing may change.
    Ask,
    /// The worktree may change.
    Act,
}

/// How what came before reached the supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Nothing came before.
    Fresh,
    /// Its own record, forked.
    Fork,
    /// It was told.
    Replay,
}

/// One call of a supplier.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The name that the exchange will have; unique to the call.
    pub name: Ref,
    /// All that is sent.
    pub prompt: &'a str,
    /// Whether it may change anything.
    pub action: Action,
    /// The supplier's own record to fork; none = a fresh session.
    pub fork: Option<&'a Native>,
    /// The shape the answer must have, as a hint to the supplier.
    pub schema: Option<&'a Value>,
}

/// What came back. All but what was said is written into the record of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// The final text.
    #[serde(skip)]
    pub output: String,
    /// Structured data, where the supplier reports it beside the text.
    #[serde(skip)]
    pub data: Option<Value>,
    /// The supplier's own name for the call.
    pub exid: Option<String>,
    /// How it can be forked.
    #[serde(skip)]
    pub native: Option<Native>,
    /// A summary, when the supplier compacted on its own during the call.
    #[serde(skip)]
    pub compaction: Option<String>,
    /// Tokens, as the supplier reports them.
    pub usage: Option<Value>,
    /// Cost in millionths of a US dollar; none = unknown, which is not 0.
    pub cost_micro_usd: Option<u64>,
    /// How long it took.
    pub duration_ms: u64,
    /// What changed in the repository during the call.
    pub changed: Vec<String>,
    /// HEAD before.
    pub head_before: Option<String>,
    /// HEAD after.
    pub head_after: Option<String>,
    /// Commits that came on HEAD, oldest first.
    pub commits: Vec<String>,
    /// A digest of what the worktree held beside HEAD after.
    #[serde(skip)]
    pub tree_after: Option<String>,
    /// Exit code of a program.
    pub exit: Option<i32>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The role that was played.
    pub role: Option<String>,
    /// The workflow that it was played in: its log's id.
    pub workflow: Option<String>,
}

/// Why a supplier gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SupplierErrorKind {
    /// It ended with an error.
    Failed(String),
    /// It could not be started.
    Absent(String),
    /// A clock ran out.
    TimedOut(String),
    /// What it printed could not be read.
    Unparseable(String),
}

/// A failure, and what is known beside it: time and money are spent, and a tree is
/// changed, without an answer too.
#[derive(Debug, Clone)]
pub struct SupplierError {
    /// Why there is no answer.
    pub failure: SupplierErrorKind,
    /// Whose fault it was, where the supplier can tell.
    pub class: Option<&'static str>,
    /// When a limit ends, RFC 3339.
    pub reset_at: Option<String>,
    /// Everything but the answer.
    pub known: Box<Answer>,
}

impl From<SupplierErrorKind> for SupplierError {
    fn from(failure: SupplierErrorKind) -> Self {
        Self {
            failure,
            class: None,
            reset_at: None,
            known: Box::default(),
        }
    }
}

/// Whoever answers.
pub trait Supplier {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// What it is.
    fn capability(&self) -> Capability;

    /// How it goes on.
    fn continuation(&self) -> Continuation;

    /// What fits before it, by what is known of it and what it said of itself `before`; none =
    /// unknown, and nothing is compacted by estimate.
    fn window(&self, before: Option<&Native>) -> Option<Window>;

    /// Whether its own record is still what it was after the call that made it.
    fn can_fork(&self, native: &Native) -> bool;

    /// Sends one turn and waits for the answer.
    ///
    /// # Errors
    /// What the supplier did instead of answering.
    fn call(&self, turn: &Turn) -> Result<Answer, SupplierError>;
}
