//! What tracked files of attributes (`.gitattributes`) say of a path, as git reads them. Settings of
//! the machine and of the repository (`info/attributes`) say nothing here. Pure.

use std::collections::BTreeMap;

/// Lines of one file that are read, and bytes of a pattern.
const MAX_LINES: usize = 5_000;
const MAX_PATTERN: usize = 256;

/// Whether an attribute is set for a path. `files` are the texts of attributes from the root down to
/// the path's own directory, each with that directory; the last line that fits decides.
pub fn is_set<'a>(
    name: &str,
    path: &str,
    files: impl IntoIterator<Item = (&'a str, &'a [String])>,
) -> bool {
    let mut macros: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut state = false;
    for (dir, lines) in files {
        let Some(below) = path.strip_prefix(dir) else {
            continue;
        };
        let below = below.trim_start_matches('/');
        for line in lines.iter().take(MAX_LINES) {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (pattern, rest) = split_pattern(line);
            let words = rest.split_ascii_whitespace().map(str::to_owned);
            if let Some(named) = pattern.strip_prefix("[attr]") {
                if dir.is_empty() {
                    macros.insert(named.to_owned(), words.collect());
                }
                continue;
            }
            if !fits(&pattern, below) {
                continue;
            }
            for word in words {
                let of_macro = macros.get(&word).cloned().unwrap_or_default();
                let said = of_macro.iter().chain([&word]);
                state = said.fold(state, |state, word| says(word, name).unwrap_or(state));
            }
        }
    }
    state
}

/// What a word says of the attribute; none where it is about another.
fn says(word: &str, name: &str) -> Option<bool> {
    let (bare, is_off) = match word.strip_prefix(['-', '!']) {
        Some(bare) => (bare, true),
        None => (word, false),
    };
    match bare.split_once('=') {
        Some((key, value)) => (key == name).then_some(!is_off && value != "false"),
        None => (bare == name).then_some(!is_off),
    }
}

/// A line's pattern, which may stand in quotes, and what is behind it.
fn split_pattern(line: &str) -> (String, &str) {
    let Some(quoted) = line.strip_prefix('"') else {
        let (pattern, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        return (pattern.to_owned(), rest);
    };
    let mut pattern = String::new();
    let mut is_escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if is_escaped => pattern.push(c),
            '"' => return (pattern, &quoted[at + 1..]),
            '\\' => {}
            _ => pattern.push(c),
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    (pattern, "")
}

/// The pattern names the file: by its last name where it has no slash, else from its directory on.
fn fits(pattern: &str, path: &str) -> bool {
    // One that ends so names directories alone; a negative one is forbidden.
    if pattern.len() > MAX_PATTERN || pattern.ends_with('/') || pattern.starts_with('!') {
        return false;
    }
    match pattern.contains('/') {
        true => is_match(pattern.trim_start_matches('/'), path),
        false => is_match(pattern, path.rsplit('/').next().unwrap_or(path)),
    }
}

/// A part of a pattern.
enum Part {
    Byte(u8),
    /// `?`: one byte that is no slash.
    One,
    /// `*`: any that are no slash.
    Many,
    /// `**/`: directories, or none.
    Directories,
    /// `**` behind the last slash: anything.
    Anything,
    /// `[…]`, and whether it is negated.
    Of(Vec<(u8, u8)>, bool),
}

fn parts(pattern: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < pattern.len() {
        let begins = at == 0 || pattern[at - 1] == b'/';
        let rest = &pattern[at..];
        let (part, taken) = match rest {
            [b'*', b'*', b'/', ..] if begins => (Part::Directories, 3),
            [b'*', b'*'] if begins => (Part::Anything, 2),
            [b'*', ..] => (Part::Many, 1),
            [b'?', ..] => (Part::One, 1),
            [b'\\', byte, ..] => (Part::Byte(*byte), 2),
            [b'[', ..] => set(rest).unwrap_or((Part::Byte(b'['), 1)),
            [byte, ..] => (Part::Byte(*byte), 1),
            [] => break,
        };
        parts.push(part);
        at += taken;
    }
    parts
}

/// `[a-z]`, and how long it is; none where it has no end.
fn set(rest: &[u8]) -> Option<(Part, usize)> {
    let is_negated = matches!(rest.get(1), Some(b'!' | b'^'));
    let begin = 1 + usize::from(is_negated);
    // A bracket that comes first is one of them.
    let end = rest.iter().skip(begin + 1).position(|byte| *byte == b']')? + begin + 1;
    let (mut ranges, mut at) = (Vec::new(), begin);
    while at < end {
        if rest[at + 1] == b'-' && at + 2 < end {
            ranges.push((rest[at], rest[at + 2]));
            at += 3;
        } else {
            ranges.push((rest[at], rest[at]));
            at += 1;
        }
    }
    Some((Part::Of(ranges, is_negated), end + 1))
}

fn is_match(pattern: &str, path: &str) -> bool {
    let (parts, path) = (parts(pattern.as_bytes()), path.as_bytes());
    // rest[n]: the parts behind fit the path from its byte n on.
    let mut rest = vec![false; path.len() + 1];
    rest[path.len()] = true;
    for part in parts.iter().rev() {
        let mut here = vec![false; path.len() + 1];
        for at in (0..=path.len()).rev() {
            let next = path.get(at).copied();
            let goes_on = |fits: bool| fits && rest.get(at + 1) == Some(&true);
            let stays = |fits: bool| fits && here.get(at + 1) == Some(&true);
            here[at] = match part {
                Part::Byte(byte) => goes_on(next == Some(*byte)),
                Part::One => goes_on(next.is_some_and(|byte| byte != b'/')),
                Part::Of(ranges, is_negated) => goes_on(next.is_some_and(|byte| {
                    let is_in = ranges
                        .iter()
                        .any(|(low, high)| (*low..=*high).contains(&byte));
                    byte != b'/' && is_in != *is_negated
                })),
                Part::Many => rest[at] || stays(next.is_some_and(|byte| byte != b'/')),
                Part::Anything => rest[at] || stays(next.is_some()),
                Part::Directories => {
                    let begins = at == 0 || path[at - 1] == b'/';
                    begins && rest[at] || stays(next.is_some())
                }
            };
        }
        rest = here;
    }
    rest[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn is_said(path: &str, text: &str) -> bool {
        is_set("linguist-generated", path, [("", &*lines(text))])
    }

    #[test]
    fn patterns_fit_as_git_has_it() {
        for (pattern, path, fits) in [
            ("*.pb.go", "a/b/x.pb.go", true),
            ("*.pb.go", "a/b/x.go", false),
            ("gen/*.go", "gen/x.go", true),
            ("gen/*.go", "gen/a/x.go", false),
            ("/gen/*.go", "gen/x.go", true),
            ("gen", "gen/x.go", false),
            ("gen/", "gen/x.go", false),
            ("gen/**", "gen/a/x.go", true),
            ("**/gen/*.go", "gen/x.go", true),
            ("**/gen/*.go", "a/b/gen/x.go", true),
            ("**/gen/*.go", "a/bgen/x.go", false),
            ("a/**/x.go", "a/x.go", true),
            ("a/**/x.go", "a/b/c/x.go", true),
            ("x.[ch]", "a/x.c", true),
            ("x.[!ch]", "x.c", false),
            ("x?y", "x/y", false),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("\"a b\"", "a b", true),
            ("!x", "x", false),
        ] {
            let text = format!("{pattern} linguist-generated\n");
            assert_eq!(is_said(path, &text), fits, "{pattern} {path}");
        }
    }

    #[test]
    fn the_last_word_decides() {
        assert!(is_said("x", "# x\n  x linguist-generated=true\n"));
        assert!(!is_said("x", "x linguist-generated=false\n"));
        assert!(!is_said(
            "x",
            "* linguist-generated\nx -linguist-generated\n"
        ));
        assert!(!is_said(
            "x",
            "* linguist-generated\nx !linguist-generated\n"
        ));
        assert!(is_said(
            "x",
            "[attr]made linguist-generated -diff\nx made\n"
        ));
        assert!(!is_said("x", "x linguist-vendored\n"));
        let (root, deep) = (
            lines("* linguist-generated\n"),
            lines("x -linguist-generated\n"),
        );
        let both = |path| is_set("linguist-generated", path, [("", &*root), ("a", &*deep)]);
        assert!(!both("a/x") && both("a/y") && both("x"));
    }
}
