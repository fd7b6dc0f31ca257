//! Whether an output in the form of the Test Anything Protocol came to its end. Pure.

use std::collections::BTreeMap;

/// What stands in kept output where its middle was let go.
const GAP: &str = "[cook: ";

/// What lines of one depth say; those of subtests are indented.
#[derive(Default)]
struct Depth {
    versions: u64,
    plans: u64,
    planned: u64,
    told: u64,
}

/// Whether it ended before its end: `Bail out!`, fewer tests than planned, or no plan at all where
/// its version says that there is one. No harness takes what it says of tests then.
pub fn is_cut_off(output: &str) -> bool {
    let mut depths: BTreeMap<usize, Depth> = BTreeMap::new();
    let (mut gives_up, mut has_gap) = (false, false);
    for line in output.lines() {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        let depth = depths.entry(indent).or_default();
        if let Some(planned) = read_plan(text) {
            depth.plans += 1;
            depth.planned = depth.planned.saturating_add(planned);
        } else if is_test(text) {
            depth.told += 1;
        } else if text.starts_with("TAP version ") {
            depth.versions += 1;
        }
        gives_up |= text.starts_with("Bail out!");
        has_gap |= text.starts_with(GAP);
    }
    let is_tap = depths
        .values()
        .any(|depth| depth.told > 0 || depth.versions > 0);
    // Several outputs may stand one behind the other, so the sums are compared.
    let is_short = depths
        .values()
        .any(|depth| depth.told < depth.planned || depth.plans < depth.versions);
    is_tap && (gives_up || is_short && !has_gap)
}

/// `1..7`, `1..0 # SKIP why`
fn read_plan(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("1..")?;
    let number = rest.split(['#', ' ']).next()?;
    let behind = rest[number.len()..].trim_start();
    let is_plan = behind.is_empty() || behind.starts_with('#');
    is_plan.then(|| number.parse().ok())?
}

fn is_test(text: &str) -> bool {
    let rest = text.strip_prefix("not ").unwrap_or(text).strip_prefix("ok");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::is_cut_off;

    #[test]
    fn an_end_that_does_not_come_is_told() {
        for output in [
            "1..7\nok 1 - a\nok 2 - b\n",
            "1..2\nok 1 - a\nBail out!  the database is gone\n",
            "TAP version 13\nok 1 - a\n# the process ended\n",
            "ok 1 - a\n    1..3\n    ok 1 - inner\nok 2 - outer\n1..2\n",
            "1..1\nok 1\n1..2\nok 1\n",
        ] {
            assert!(is_cut_off(output), "{output}");
        }
        for output in [
            "1..2\nok 1 - a\nok 2 - b # SKIP why\n",
            "TAP version 14\nok 1 - a\nnot ok 2 - b # TODO\n1..2\n",
            "1..0 # SKIP nothing here\n",
            "1..1\nok 1\n1..2\nok 1\nnot ok 2\n",
            // The middle was let go, and with it lines of tests.
            "1..7\nok 1 - a\n\n[cook: 900 bytes left out]\nok 7 - g\n",
            // No tests in this form.
            "1..7\ntest a::b ... ok\n",
            "Bail out! is what it says\ntest a::b ... ok\n",
            "1..x\nok 1 - a\n",
            "",
        ] {
            assert!(!is_cut_off(output), "{output}");
        }
    }
}
