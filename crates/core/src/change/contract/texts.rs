//! Files of a contract that are text: the mission, the list of signers.

use super::difference::{Difference, Strength, show};
use std::collections::BTreeSet;

/// Lines of the mission that differ: what is to hold stands in them, so each that is gone, reworded or
/// new makes it another mission.
pub(super) fn compare_missions(file: &str, was: &str, is: &str) -> Vec<Difference> {
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (was, is) = (lines(was), lines(is));
    let mut found = Vec::new();
    for line in was.iter().filter(|line| !is.contains(line)) {
        let what = format!("does not say any more: {}", show(line));
        found.push(Difference::new(file, "", Strength::NotComparable, what));
    }
    for line in is.iter().filter(|line| !was.contains(line)) {
        let what = format!("says, and did not: {}", show(line));
        found.push(Difference::new(file, "", Strength::NotComparable, what));
    }
    if found.is_empty() && was != is {
        let what = "says the same lines in another order".to_owned();
        found.push(Difference::new(file, "", Strength::NotComparable, what));
    }
    found
}

/// Who may sign: more of them means that more people's word counts; a changed line is another signer.
pub(super) fn compare_signers(file: &str, was: &str, is: &str) -> Vec<Difference> {
    let lines = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    };
    let (was, is) = (lines(was), lines(is));
    let gone: Vec<&String> = was.difference(&is).collect();
    let new: Vec<&String> = is.difference(&was).collect();
    // An empty list lets nobody sign, a list that is gone lets everybody.
    let is_replaced = !gone.is_empty() && !new.is_empty();
    let name = |line: &String| {
        line.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let mut found = Vec::new();
    for line in gone {
        let (strength, what) = match is_replaced {
            true => (
                Strength::NotComparable,
                format!("was {}, and is replaced", show(line)),
            ),
            false => (
                Strength::Stronger,
                format!("was {}, and may not sign any more", show(line)),
            ),
        };
        found.push(Difference::new(file, &name(line), strength, what));
    }
    for line in new {
        let (strength, what) = match is_replaced {
            true => (
                Strength::NotComparable,
                format!("is {}, in another's place", show(line)),
            ),
            false => (
                Strength::Weaker,
                format!("is {}, and may sign too", show(line)),
            ),
        };
        found.push(Difference::new(file, &name(line), strength, what));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(found: &[Difference]) -> Vec<Strength> {
        found.iter().map(|one| one.strength).collect()
    }

    #[test]
    fn each_line_of_a_mission_counts() {
        let of = |is: &str| compare_missions("m", "# Do it\n\n- a\n- b\n", is);
        assert!(of("# Do it\n- a\n- b\n\n").is_empty());
        for is in [
            "# Do it\n- a\n",
            "# Do it\n- a\n- b\n- c\n",
            "# Do it\n- b\n- a\n",
        ] {
            assert_eq!(weights(&of(is)), [Strength::NotComparable], "{is}");
        }
        let reworded = of("# Do it\n- a\n- b, mostly\n");
        assert_eq!(reworded.len(), 2);
        assert!(
            reworded[0]
                .describe()
                .contains("does not say any more: `- b`")
        );
    }

    #[test]
    fn a_signer_more_is_weaker_and_a_replaced_one_another() {
        use Strength::{NotComparable, Stronger, Weaker};
        let of = |is: &str| weights(&compare_signers("s", "# who\na KEY1\nb KEY2\n", is));
        assert_eq!(of("b KEY2\na KEY1\n"), []);
        assert_eq!(of("a KEY1\n"), [Stronger]);
        assert_eq!(of("a KEY1\nb KEY2\nc KEY3\n"), [Weaker]);
        assert_eq!(of("a KEY1\nb KEY9\n"), [NotComparable, NotComparable]);
        assert_eq!(
            of("a valid-before=\"20300101\" KEY1\nb KEY2\n"),
            [NotComparable, NotComparable]
        );
    }
}
