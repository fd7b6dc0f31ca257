//! What a writer commits, and what can be told of it by itself.

use super::error::StoreError;
use super::objects::Tip;
use cook_core::digest::sha256;
use cook_core::machine::Facts;
use cook_core::model::{Actor, CitedExchange, Event, Receipt, Records, Said, Snapshot};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// What one commit holds, as `apply` returned it.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The tip that `snapshot` follows; none for the first transition.
    pub parent: Option<Tip>,
    /// What happened.
    pub event: Event,
    /// What it was judged by; `facts.now` is the commit's time.
    pub facts: Facts,
    /// Who caused it.
    pub actor: Actor,
    /// The rule it was taken under: one short word.
    pub rule: String,
    /// The slice or mission it is about, for the message.
    pub subject: String,
    /// The documents after it, sequence and revisions set.
    pub snapshot: Snapshot,
    /// What it appends to the histories.
    pub records: Records,
    /// The receipts it brings.
    pub receipts: Vec<Receipt>,
    /// What was said in the session that its report was taken from.
    pub exchanges: Vec<CitedExchange>,
    /// Tests that proofs show for the first time, by their digest.
    pub tests: Vec<(String, Vec<u8>)>,
    /// Epoch of the writer's lease.
    pub lease_epoch: u64,
    /// True: files edited outside cook are set aside and the log's version is
    /// put back (re-ground, adopt, restore, repair). False: they stay as they are.
    pub displace: bool,
}

/// What can be told of a transition by itself. Returns its time.
pub(super) fn check(transition: &Transition) -> Result<i64, StoreError> {
    let seq = transition.parent.as_ref().map_or(0, |tip| tip.seq) + 1;
    let snapshot = &transition.snapshot;
    let numbers = [
        ("ledger.seq", Some(snapshot.ledger.seq)),
        ("state.revision", snapshot.state.revision),
        ("active.revision", snapshot.active.revision),
    ];
    for (name, found) in numbers {
        if found.map(|count| count.0) != Some(seq) {
            return Err(StoreError::from_malformed(format!("`{name}` is not {seq}")));
        }
    }
    let word = &transition.rule;
    if word.is_empty() || word.len() > 40 || !word.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(StoreError::from_malformed("the rule is not one short word"));
    }
    for receipt in &transition.receipts {
        let plain = receipt.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if receipt.id.is_empty() || receipt.id.len() > 128 || !plain {
            return Err(StoreError::from_malformed("a receipt's id is not a digest"));
        }
    }
    for (id, bytes) in &transition.tests {
        if sha256(bytes) != *id {
            return Err(StoreError::from_malformed(
                "tests are not named by their digest",
            ));
        }
    }
    for cited in &transition.exchanges {
        let plain = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let digest = |said: &Said| said.hash.strip_prefix("sha256:").is_some_and(plain);
        if cited.exchange.is_empty() || !plain(&cited.exchange) || !cited.said.iter().all(digest) {
            return Err(StoreError::from_malformed(
                "an exchange is not named by a ref and a digest",
            ));
        }
    }
    OffsetDateTime::parse(&transition.facts.now, &Rfc3339)
        .map(OffsetDateTime::unix_timestamp)
        .map_err(|_| StoreError::from_malformed("`facts.now` is not an RFC 3339 time"))
}
