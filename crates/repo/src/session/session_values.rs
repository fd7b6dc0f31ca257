//! Conversations as immutable values, their refs, and the form in which a store keeps them.
//!
//! Exchange = one request and its response; episode = the exchanges of one context window; series = a chain of episodes
//! bridged by compaction. Refs are `ex_…`, `ep_…`, `sr_…`, each with a ULID of its own, because two calls with the same
//! answer are still two calls. A store keeps each exchange once, an episode as its parent and its newest exchange, a
//! series as its sealed part and its current episode: what a call adds is proportional to the length of its own
//! exchange.
//!
//! Invariants: all fields are private, with getters only; each operation makes a new value and leaves the old one
//! unchanged; a hash always matches the content, also after deserialization. `exid` is the supplier's own name for a
//! call and is not part of the hash.
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
//! Also the interface between sessions and agents: what a conversation needs from a supplier.

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

/// The kind of value that a ref names.
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
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Exchange, Self::Episode, Self::Series];

    /// The prefix of its refs.
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
    /// A new, unique ref.
    pub fn new(kind: RefKind) -> Self {
        Self {
            kind,
            id: Ulid::generate(),
        }
    }

    /// The kind of value that it names.
    pub fn kind(self) -> RefKind {
        self.kind
    }

    /// Milliseconds between the epoch and its creation.
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

/// The value that a call continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// A branch from this checkpoint.
    Episode(Ref),
    /// The current window of this series.
    Series(Ref),
}

/// The refs that a caller still holds when a call fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// The newest stored episode.
    pub episode: Option<Ref>,
    /// The newest stored series; `None` for an atom.
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

/// Prefix of a hash in text form.
const PREFIX: &str = "sha256:";

/// SHA-256 of a value, over a tag and length-prefixed parts, so that different splits of the same bytes differ:
/// `sha256:` and 64 lower-case hexadecimal digits. Test vectors: `protocol/session-vectors.json`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash(String);

impl ContentHash {
    /// SHA-256 over `tag`, then for each part its length as little-endian u64 and its bytes.
    pub(super) fn of(tag: &str, parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        digest.update(tag.as_bytes());
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self(format!("{PREFIX}{}", hex(&digest.finalize())))
    }

    /// The text form, with its prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hexadecimal digits only, as in file names.
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

/// The purpose of an exchange.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A question.
    Say,
    /// An order to do something.
    Act,
    /// The beginning of a new context window: a summary of the previous one.
    Recap,
    /// A request to repeat an answer that did not satisfy its schema.
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
    /// `input` is exactly the text that was sent, `output` the final text or data.
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

    /// Its purpose.
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

    /// Hash of kind, input and output.
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

/// One context window: the exchanges that a supplier had in view at that moment.
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

/// The hash of an episode that extends `parent` by one exchange; `None` for the first.
pub(super) fn episode_hash(parent: Option<&ContentHash>, exchange: &ContentHash) -> ContentHash {
    link_hash(EPISODE, parent, exchange)
}

/// The hash of a series that extends `parent` by one episode; `None` for the first.
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
    /// An episode of these exchanges, oldest first, with the supplier's name for the window.
    pub fn of(exchanges: Vec<Exchange>, exid: Option<String>) -> Self {
        Self {
            hash: chain_hash(EPISODE, exchanges.iter().map(Exchange::hash)),
            exchanges,
            exid,
        }
    }

    /// The exchanges in their original order.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// The supplier's own name for the window.
    pub fn exid(&self) -> Option<&str> {
        self.exid.as_deref()
    }

    /// Hash of the exchanges in their order.
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
    /// A series of these episodes, oldest first.
    pub fn of(episodes: Vec<Episode>) -> Self {
        Self {
            hash: chain_hash(SERIES, episodes.iter().map(Episode::hash)),
            episodes,
        }
    }

    /// The episodes, oldest first.
    pub fn episodes(&self) -> &[Episode] {
        &self.episodes
    }

    /// Hash of the episodes in their order.
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

/// An object as it is stored under its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "snake_case", deny_unknown_fields)]
pub enum Object {
    /// One request and its response.
    Exchange {
        /// The purpose of the exchange.
        kind: Kind,
        /// The request.
        input: String,
        /// The response.
        output: String,
    },
    /// An episode, as an extension of its parent.
    Episode {
        /// The episode without its newest exchange; `None` if this one is its first.
        parent: Option<ContentHash>,
        /// The newest exchange.
        exchange: ContentHash,
        /// Number of exchanges.
        length: u64,
    },
    /// A series, as an extension of the series of its sealed episodes.
    Series {
        /// The series without its current episode; `None` if there is only one episode.
        parent: Option<ContentHash>,
        /// The current episode.
        episode: ContentHash,
        /// Number of episodes.
        length: u64,
    },
}

impl Object {
    /// An exchange as it is stored: without the supplier's name, which its ref keeps.
    pub fn of_exchange(exchange: &Exchange) -> Self {
        Self::Exchange {
            kind: exchange.kind(),
            input: exchange.input().to_owned(),
            output: exchange.output().to_owned(),
        }
    }

    /// The hash of the content.
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

    /// The objects it refers to: the parent chain, and its newest part.
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

    /// Its position in its chain, from 1.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Exchange { .. } => 1,
            Self::Episode { length, .. } | Self::Series { length, .. } => *length,
        }
    }

    /// Whether it is an exchange, the only kind that holds text.
    pub(super) fn is_exchange(&self) -> bool {
        matches!(self, Self::Exchange { .. })
    }

    /// The kind of the value.
    pub fn kind(&self) -> RefKind {
        match self {
            Self::Exchange { .. } => RefKind::Exchange,
            Self::Episode { .. } => RefKind::Episode,
            Self::Series { .. } => RefKind::Series,
        }
    }
}

/// A supplier's own record of a conversation, which can be forked to continue it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// The supplier's name for it.
    pub session: String,
    /// SHA-256 of its transcript file right after the call, if the preset names one.
    pub transcript_sha256: Option<String>,
    /// The supplier's usage counts for this thread so far, if they are cumulative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<serde_json::Value>,
}

/// The data that a ref records about its value. Written once, never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Always 1.
    pub schema_version: u32,
    /// The name.
    pub name: Ref,
    /// The object it names.
    pub hash: ContentHash,
    /// The supplier's own name for the exchange or the episode.
    pub exid: Option<String>,
    /// The supplier of the newest answer.
    pub supplier: String,
    /// The series of an episode or exchange; `None` for an atom's.
    pub series: Option<Ref>,
    /// The current episode of a series; the episode of an exchange.
    pub episode: Option<Ref>,
    /// Number of exchanges or episodes.
    pub length: u64,
    /// UTF-8 bytes of all text in the episode, for the estimate of tokens.
    pub bytes: u64,
    /// The supplier's own record, from which it can continue.
    pub native: Option<Native>,
    /// HEAD after the call; `None` outside a repository or before its first commit.
    pub head: Option<String>,
    /// A digest of the worktree's differences from HEAD after the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The time, RFC 3339.
    pub at: String,
}

impl Entry {
    /// An entry with only these values.
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

/// The problem with a citation, if any. The content of its report is not checked.
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

/// The size of a supplier's context window, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The whole window.
    pub tokens: u64,
    /// The part that is kept free for the answer.
    pub reserve: u64,
}

impl Window {
    /// The tokens that a prompt may take.
    pub fn room(self) -> u64 {
        self.tokens.saturating_sub(self.reserve)
    }
}

/// The estimated tokens of a text: a third of its UTF-8 bytes, rounded up.
pub fn estimate(bytes: u64) -> u64 {
    bytes.div_ceil(3)
}

/// Deepest nesting of a usage report.
const MAX_DEPTH: usize = 8;

/// Combines two usage reports number by number; other values come from the first.
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

/// Converts to an integer if the value is whole.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

/// Whether a call is a question or an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing may change.
    Ask,
    /// The worktree may change.
    Act,
}

/// How the earlier conversation reached the supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// There was none.
    Fresh,
    /// By a fork of the supplier's own record.
    Fork,
    /// By retelling it in the prompt.
    Replay,
}

/// One call of a supplier.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The ref that the exchange will have; unique to the call.
    pub name: Ref,
    /// The text that is sent.
    pub prompt: &'a str,
    /// Whether it may change anything.
    pub action: Action,
    /// The supplier's own record to fork; `None` for a new session.
    pub fork: Option<&'a Native>,
    /// The schema of the answer, as a hint to the supplier.
    pub schema: Option<&'a Value>,
}

/// The result of a call. Everything but the conversation itself goes into the record of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// The final text.
    #[serde(skip)]
    pub output: String,
    /// Structured data, if the supplier reports it beside the text.
    #[serde(skip)]
    pub data: Option<Value>,
    /// The supplier's own name for the call.
    pub exid: Option<String>,
    /// The supplier's own record, which can be forked.
    #[serde(skip)]
    pub native: Option<Native>,
    /// The summary, if the supplier compacted on its own during the call.
    #[serde(skip)]
    pub compaction: Option<String>,
    /// Tokens, as the supplier reports them.
    pub usage: Option<Value>,
    /// Cost in millionths of a US dollar; `None` if unknown, which is not 0.
    pub cost_micro_usd: Option<u64>,
    /// Duration of the call.
    pub duration_ms: u64,
    /// Changes in the repository during the call.
    pub changed: Vec<String>,
    /// HEAD before the call.
    pub head_before: Option<String>,
    /// HEAD after the call.
    pub head_after: Option<String>,
    /// New commits on HEAD, oldest first.
    pub commits: Vec<String>,
    /// A digest of the worktree's differences from HEAD after the call.
    #[serde(skip)]
    pub tree_after: Option<String>,
    /// Exit code of the program.
    pub exit: Option<i32>,
    /// The requested model.
    pub model: Option<String>,
    /// The role of the agent.
    pub role: Option<String>,
    /// The workflow of the role: its log's id.
    pub workflow: Option<String>,
}

/// Why a supplier gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SupplierErrorKind {
    /// It ended with an error.
    Failed(String),
    /// It could not be started.
    Absent(String),
    /// A timeout expired.
    TimedOut(String),
    /// Its output could not be read.
    Unparseable(String),
}

/// A failure and what is known nevertheless: a call without an answer also takes time and money, and may change the
/// worktree.
#[derive(Debug, Clone)]
pub struct SupplierError {
    /// Why there is no answer.
    pub failure: SupplierErrorKind,
    /// The class of the failure, if the supplier can tell.
    pub class: Option<&'static str>,
    /// When a rate limit ends, RFC 3339.
    pub reset_at: Option<String>,
    /// The answer's other fields, as far as they are known.
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

/// An agent or a model that answers calls.
pub trait Supplier {
    /// Its name in the settings.
    fn name(&self) -> &str;

    /// Whether it is a model that answers once or an agent with tools.
    fn capability(&self) -> Capability;

    /// How it can continue a conversation.
    fn continuation(&self) -> Continuation;

    /// Its context window, from its settings and its report in `before`; `None` if unknown, and then nothing is
    /// compacted by estimate.
    fn window(&self, before: Option<&Native>) -> Option<Window>;

    /// Whether its own record is unchanged since the call that made it.
    fn can_fork(&self, native: &Native) -> bool;

    /// Sends one turn and waits for the answer.
    ///
    /// # Errors
    /// Why the supplier gave no answer.
    fn call(&self, turn: &Turn) -> Result<Answer, SupplierError>;
}
