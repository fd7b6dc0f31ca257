//! Outcomes of tests by name, from the best source there is.
//!
//! In this order: the records that a hook of ours appended while a runner ran, a report file that the
//! runner wrote, lines of a runner that is known. Where there is none of them the exit code alone
//! speaks. Times, counts and summaries are never part of a name.

use found::Found;

mod found;
mod gather;
mod junit;
mod lines;
mod record;
mod reports;
mod text;
mod types;

pub use text::names;
pub use types::{Material, Outcomes, Report, Source, Test, TestResult};

impl Outcomes {
    /// Reads what one run left.
    pub fn read(material: &Material) -> Self {
        let [mut hooked, mut reported, mut printed] = [(); 3].map(|()| Found::new(material.root));
        record::read(material.records, &mut hooked);
        reports::read(material, &mut reported);
        lines::read(material.stdout, material.stderr, &mut printed);
        gather::gather(hooked, reported, printed)
    }
}

/// A path of a report that a runner writes, relative to the tree.
pub fn is_report(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let within = |dirs: &[&str]| parts.clone().any(|part| dirs.contains(&part));
    name.ends_with(".xml")
        && (name.starts_with("TEST-")
            && within(&["surefire-reports", "failsafe-reports", "test-results"])
            || name == "junit.xml" && within(&["nextest"])
            || name.ends_with(".junit.xml") && within(&["meson-logs"]))
        || name.ends_with(".tap") && within(&["test-results"])
        || name == "LastTest.log" && within(&["Temporary"])
}
