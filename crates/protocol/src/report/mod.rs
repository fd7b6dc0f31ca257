//! Role reports: their grammar, their consistency rules, and the event each one
//! amounts to (`protocol/completion.md#reports`).
//!
//! Pure. One table per role ([`fields`]) is the source of the parser, the format
//! in prompts, the JSON schema and the repair prompt. A [`Report`] exists only
//! when no rule is broken, and holds no control or direction character. Nothing
//! here panics, whatever the bytes.

mod answer;
mod block;
mod draft;
mod event;
mod grammar;
mod lines;
mod object;
mod render;
mod rules;
mod table;
mod value;

pub use block::{ACCEPT, DROP, OFFER_FORMAT, STOP};
pub use draft::MAX_FIELD_CHARS;
pub use event::{Provenance, Reported, event, find_contradiction};
pub use grammar::{MAX_BYTES, parse};
pub use render::{Checked, describe_check, format, render, render_format_without, repair_prompt};
pub use rules::{advice, counts, fixes, list_deviations, list_items, return_reason, untrue};
pub use table::{DIMENSIONS, Dimension, Field, Kind, MUST_FIX, fields, has_block, has_rubric};
pub(crate) use value::{is_named, write_ids};

use crate::diagnostic::Finding;
use crate::model::{Offer, Reground, ReportRecord, Role, Rubric};
use block::Block;

/// What came of reading a report. Valid exactly when nothing was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The report, when no rule is broken.
    pub report: Option<Report>,
    /// Every breach, in the order of the table.
    pub findings: Vec<Finding>,
    /// The fields as far as they could be read, broken ones included.
    pub read: ReportRecord,
}

impl Parsed {
    /// No rule is broken.
    pub fn is_valid(&self) -> bool {
        self.report.is_some()
    }
}

/// A report that keeps every rule of the grammar.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    record: ReportRecord,
    block: Option<Block>,
    sha256: String,
}

impl Report {
    /// Whose report it is.
    pub fn role(&self) -> Role {
        self.record.role
    }

    /// The fields and the rubric, as they are kept in histories.
    pub fn record(&self) -> ReportRecord {
        self.record.clone()
    }

    /// SHA-256 of the bytes that were handed in, hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// A field's text by key; empty when the role has no such field or left it out.
    pub fn field(&self, key: &str) -> &str {
        self.record.fields.get(key).map_or("", String::as_str)
    }

    /// A yes/no field.
    pub fn yes(&self, key: &str) -> Option<bool> {
        value::yes_no(self.field(key))
    }

    /// A count field.
    pub fn count(&self, key: &str) -> Option<u64> {
        value::count(self.field(key))
    }

    /// A list field: one text each; none is empty.
    pub fn items(&self, key: &str) -> Vec<String> {
        rules::list_items(&self.record, key)
    }

    /// A list field of ids.
    pub fn ids(&self, key: &str) -> Vec<String> {
        value::ids(self.field(key))
    }

    /// A commit field; none when it says none.
    pub fn commit(&self, key: &str) -> Option<String> {
        value::commit(self.field(key))
    }

    /// The header's mission anchor, on one line.
    pub fn mission_anchor(&self) -> &str {
        self.field(table::ANCHOR)
    }

    /// The header's remaining contract ids.
    pub fn remaining_contract_ids(&self) -> Vec<String> {
        self.ids(fields(self.role())[table::HEADER_FIELDS - 1].key)
    }

    /// The four dimensions, for the roles that rate them.
    pub fn rubric(&self) -> Option<&Rubric> {
        self.record.rubric.as_ref()
    }

    /// A regrounder's block.
    pub fn block(&self) -> Option<&Reground> {
        match &self.block {
            Some(Block::Reground(block)) => Some(block),
            _ => None,
        }
    }

    /// What an implementer says proves each criterion.
    pub fn offers(&self) -> &[Offer] {
        match &self.block {
            Some(Block::Offers(offered)) => offered,
            _ => &[],
        }
    }

    /// What the role needs from the user, when it asks.
    pub fn question(&self) -> Option<&str> {
        rules::question(&self.record)
    }
}
