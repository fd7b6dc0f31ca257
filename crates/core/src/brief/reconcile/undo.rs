//! The brief when transitions are taken back.

use super::next::{Author, Incoming, Next};
use crate::model::{BriefDocument, BriefEntry, BriefRecord, Cause};
use std::collections::BTreeSet;

/// What `cook undo` does to the brief: it is as it was, and every entry that goes or
/// comes back says so in the history.
pub fn undo(
    current: Option<&BriefDocument>,
    then: Option<&BriefDocument>,
    author: &Author,
) -> (Option<BriefDocument>, Vec<BriefRecord>) {
    let Some(current) = current else {
        return (then.cloned(), Vec::new());
    };
    let then = then.cloned().unwrap_or_default();
    let mut next = Next {
        prior: current,
        incoming: &Incoming::default(),
        author,
        live: Vec::new(),
        matched: BTreeSet::new(),
        records: Vec::new(),
        findings: Vec::new(),
    };
    let why = |entry: &BriefEntry| Some(format!("#{} was taken back", entry.seq.0));
    for entry in current
        .entries
        .iter()
        .filter(|entry| !then.entries.contains(entry))
    {
        next.record(Cause::Retired, entry, Some("undo".to_owned()), why(entry));
    }
    for entry in then
        .entries
        .iter()
        .filter(|entry| !current.entries.contains(entry))
    {
        next.record(Cause::Restored, entry, Some("undo".to_owned()), None);
    }
    (Some(then), next.records)
}
