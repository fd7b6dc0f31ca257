//! Names of entries: the same claim about the same place has the same id,
//! whatever its line number is by now.

use super::render::line_text;
use crate::digest::hex;
use crate::model::{BriefLine, Slot, Stamp};
use sha2::{Digest, Sha256};

/// The path of a path anchor, else the whole anchor.
fn place(anchor: &str) -> String {
    use crate::model::Anchor;
    match Anchor::parse(anchor) {
        Ok(Anchor::Lines { path, .. } | Anchor::Symbol { path, .. }) => path,
        _ => fold(anchor),
    }
}

/// White space never tells two claims apart.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn digest(parts: &[&str], hex_digits: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())[..hex_digits].to_owned()
}

/// The id: `e` and 12 hexadecimal digits over slot, claim, and the anchor's target
/// (path and text; the anchor itself where no text is stamped).
pub fn entry_id(line: &BriefLine, stamp: Option<&Stamp>) -> String {
    let stamped = stamp.and_then(|stamp| stamp.text_sha256.as_deref());
    let target = match (line.slot, stamped) {
        (Slot::Established, Some(text)) => format!("{}\u{1f}{text}", place(&line.tail)),
        (Slot::Established, None) => fold(&line.tail),
        _ => String::new(),
    };
    let parts = [line.slot.id(), &fold(&line.head), &target];
    format!("e{}", digest(&parts, 12))
}

/// A short name for an entry that cook filled in itself and does not store.
pub fn line_digest(line: &BriefLine) -> String {
    format!("c{}", digest(&[line.slot.id(), &line_text(line)], 12))
}
