//! A source file without its change and with its tests: tests often stand in the file that they
//! test, and are no part of what is taken back.

use super::marks;

/// What a source file is when its change is taken back; none = its tests cannot be told from the
/// rest, so taking it back would take them away too. Empty texts: the file was not there.
pub fn without_change(before: Option<&str>, after: Option<&str>) -> Option<Option<String>> {
    let tests_after = marks::tests(after.unwrap_or(""));
    let kept = |text: Option<&str>| {
        let tests = marks::tests(text.unwrap_or(""));
        tests_after.iter().all(|test| tests.contains(test))
    };
    if kept(before) && tests_after.is_empty() {
        return Some(before.map(str::to_owned));
    }
    let (own_before, _) = split(before?)?;
    let (_, tests) = split(after?)?;
    let joined = format!("{own_before}{tests}");
    let whole = kept(Some(&joined));
    whole.then_some(Some(joined))
}

/// The file's own text, and its module of tests to the end: `#[cfg(test)]` and what follows.
fn split(text: &str) -> Option<(&str, &str)> {
    let at = match text.starts_with("#[cfg(test)]\nmod ") {
        true => 0,
        false => text
            .rfind("\n#[cfg(test)]\nmod ")
            .map_or(text.len(), |at| at + 1),
    };
    let (own, tests) = text.split_at(at);
    marks::tests(own).is_empty().then_some((own, tests))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_stay_when_what_they_test_is_taken_back() {
        let old = "fn a() -> u8 { 1 }\n";
        let new =
            "fn a() -> u8 { 2 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a_is_2() {}\n}\n";
        let found = without_change(Some(old), Some(new)).unwrap().unwrap();
        assert!(
            found.starts_with(old) && found.contains("fn a_is_2"),
            "{found}"
        );
        assert_eq!(
            without_change(Some("x"), Some("y")),
            Some(Some("x".to_owned()))
        );
        assert_eq!(without_change(None, Some("y")), Some(None));
        assert_eq!(
            without_change(None, Some(new)),
            None,
            "its tests would go with it"
        );
        let between = "#[test]\nfn t() {}\nfn a() {}\n";
        assert_eq!(without_change(Some(old), Some(between)), None);
    }
}
