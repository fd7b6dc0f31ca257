//! What another tool planted and tried, by its report.

use crate::measure::Survivor;
use cook_core::diagnostic::{Code, Failure, Refusal};
use cook_os::disk::{self, Links};
use cook_strength::{Outcome, Tally, Tried, Unread, read_cargo_mutants, read_elements};
use std::path::Path;

/// Bytes of a report that are read.
pub(crate) const MAX_REPORT: u64 = 64 << 20;
/// Bytes of a diff beside a report.
const MAX_DIFF: u64 = 256 << 10;
/// Diffs beside a report that are read.
const MOST_DIFFS: usize = 1_000;

/// What a report says.
#[derive(Debug)]
pub(crate) struct Reported {
    pub tally: Tally,
    pub survivors: Vec<Survivor>,
}

/// Reads a report; diffs that stand in files of their own are looked for in `beside`.
///
/// # Errors
/// `defect_report_unread`.
pub(crate) fn read_report(bytes: &[u8], beside: Option<&Path>) -> Result<Reported, Failure> {
    let tried = read_elements(bytes).or_else(|error| match error {
        // The two have no key in common.
        Unread::Shape { .. } => read_cargo_mutants(bytes),
        error => Err(error),
    });
    let tried = tried.map_err(|error| Refusal::new(Code::DefectReportUnread, error.to_string()))?;
    let tally = Tally::of(tried.iter().map(|one| one.outcome));
    let survivors = tried
        .into_iter()
        .filter(|one| one.outcome == Outcome::Survived);
    let survivors = survivors.enumerate().map(|(at, one)| {
        let diff = match at < MOST_DIFFS {
            true => diff(&one, beside),
            false => None,
        };
        Survivor {
            diff: one.diff.or(diff),
            id: one.id,
            path: one.path,
            line: one.line,
            what: one.what,
        }
    });
    Ok(Reported {
        tally,
        survivors: survivors.collect(),
    })
}

/// A diff that is not there is not shown; the report holds without it.
fn diff(one: &Tried, beside: Option<&Path>) -> Option<String> {
    let file = beside?.join(one.diff_file.as_ref()?);
    disk::read_text(&file, MAX_DIFF, Links::Refuse).ok()?
}
