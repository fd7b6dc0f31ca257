//! What a conversation asks of whoever answers: the seam between sessions and agents.

use super::session_values::{Native, Ref};
pub use cook_protocol::model::{Capability, Continuation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

    /// What fits before it; none = unknown, and nothing is compacted by estimate.
    fn window(&self) -> Option<Window>;

    /// Whether its own record is still what it was after the call that made it.
    fn can_fork(&self, native: &Native) -> bool;

    /// Sends one turn and waits for the answer.
    ///
    /// # Errors
    /// What the supplier did instead of answering.
    fn call(&self, turn: &Turn) -> Result<Answer, SupplierError>;
}
