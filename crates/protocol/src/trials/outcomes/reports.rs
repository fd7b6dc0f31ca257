//! Files that runners write.

use super::found::Found;
use super::junit;
use super::lines::{Reader, Tap};
use super::types::Material;

/// What a file in the form of the Test Anything Protocol begins with.
const TAP: [&str; 5] = ["TAP version ", "1..", "ok 1", "not ok 1", "# Subtest: "];

/// Reads the files, and reports that stand among the lines of an output.
pub(super) fn read(material: &Material, found: &mut Found) {
    for report in material.reports {
        read_file(report.path, report.text, found);
    }
    // A runner that a hook watches says there once more what it says by the hook.
    let outputs = [material.stdout, material.stderr].into_iter();
    for output in outputs.filter(|_| material.records.is_empty()) {
        if let Some(text) = find_printed(output) {
            junit::read("", text, found);
        }
    }
}

fn read_file(path: &str, text: &str, found: &mut Found) {
    let start = text.trim_start();
    if start.starts_with('<') {
        if text.contains("<testsuite") {
            junit::read(path, text, found);
        }
    } else if path.ends_with("LastTest.log") {
        // ctest 3.25 writes `Test Passed.` there of tests that it could not start, skipped or were disabled.
    } else if path.ends_with(".tap") || TAP.iter().any(|mark| start.starts_with(mark)) {
        let from = found.told.len();
        let mut tap = Tap::default();
        for line in text.lines() {
            tap.read(line, found);
        }
        tap.end(found);
        let place = path
            .split_once("test-results/")
            .map_or(path, |(_, place)| place);
        let place = place.strip_suffix(".tap").unwrap_or(place);
        for runner in ["tap", "node"] {
            found.prefix(runner, from..usize::MAX, &format!("{place} > "));
        }
    }
}

/// The XML from the first suite to the end of the last one.
fn find_printed(output: &str) -> Option<&str> {
    let start = output.find("<testsuite")?;
    let is_line = output[..start]
        .trim_end_matches([' ', '\t'])
        .ends_with(['\n', '>'])
        || start == 0;
    let end = output.rfind("</testsuite")?;
    let close = output[end..].find('>')?;
    (is_line && start < end).then(|| &output[start..end + close + 1])
}
