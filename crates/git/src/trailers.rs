//! Trailers of a commit message, found as `git interpret-trailers` finds them
//! with its default configuration (a commit's message has no patch below it, so
//! a `---` line divides nothing). Pure.

/// Prefixes of lines that git writes itself; one of them makes a paragraph a
/// trailer block as long as a quarter of its lines are trailers.
const GIT_WRITES: [&str; 2] = ["Signed-off-by: ", "(cherry picked from commit "];
const SCISSORS: &str = "# ------------------------ >8 ------------------------";

/// `(token, value)` of each trailer in the final trailer block, in order;
/// continuation lines are joined with one space.
pub fn trailers(message: &str) -> Vec<(String, String)> {
    let lines = body_lines(message);
    let Some(block) = block_start(&lines) else {
        return Vec::new();
    };
    let mut found: Vec<(String, String)> = Vec::new();
    // A continuation belongs to the trailer right above it, and to nothing else.
    let mut open = false;
    for line in &lines[block..] {
        if line.starts_with('#') {
            continue;
        }
        if line.starts_with(is_space) {
            if let (true, Some((_, value))) = (open, found.last_mut()) {
                if !value.is_empty() {
                    value.push(' ');
                }
                value.push_str(trim(line));
            }
            continue;
        }
        open = match separator(line) {
            Some(at) if at > 0 => {
                let value = trim(&line[at + 1..]).to_owned();
                found.push((trim(&line[..at]).to_owned(), value));
                true
            }
            _ => false,
        };
    }
    for (_, value) in &mut found {
        *value = trim(value).to_owned();
    }
    found
}

/// The value of the last trailer of that name (in any case), if it has one.
pub fn last_trailer(message: &str, name: &str) -> Option<String> {
    trailers(message)
        .into_iter()
        .rev()
        .find(|(token, _)| token.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
        .filter(|value| !value.is_empty())
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

fn is_blank(line: &str) -> bool {
    line.chars().all(is_space)
}

/// The lines without what git ignores at the end: scissors and all below, a block
/// of conflicts, comments and blank lines.
fn body_lines(message: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = message.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    if let Some(cut) = lines.iter().position(|line| *line == SCISSORS) {
        lines.truncate(cut);
    }
    let mut ignored_from = None;
    let mut in_conflicts = false;
    for (number, line) in lines.iter().enumerate() {
        if line.starts_with('#') || line.is_empty() {
            ignored_from.get_or_insert(number);
        } else if *line == "Conflicts:" {
            in_conflicts = true;
            ignored_from.get_or_insert(number);
        } else if !(in_conflicts && line.starts_with('\t')) {
            ignored_from = None;
            in_conflicts = false;
        }
    }
    lines.truncate(ignored_from.unwrap_or(lines.len()));
    lines
}

/// Index of the first line of the trailer block: the last paragraph below the
/// title, when it is made of trailers.
fn block_start(lines: &[&str]) -> Option<usize> {
    let title_end = lines
        .iter()
        .position(|line| !line.starts_with('#') && is_blank(line))?;
    let (mut trailer, mut other, mut maybe_continued) = (0usize, 0usize, 0usize);
    let mut written_by_git = false;
    let mut only_spaces = true;
    for number in (title_end..lines.len()).rev() {
        let line = lines[number];
        if line.starts_with('#') {
            other += maybe_continued;
            maybe_continued = 0;
            continue;
        }
        if is_blank(line) {
            if only_spaces {
                continue;
            }
            other += maybe_continued;
            let is_block = (written_by_git && trailer * 3 >= other) || (trailer > 0 && other == 0);
            return is_block.then_some(number + 1);
        }
        only_spaces = false;
        if GIT_WRITES.iter().any(|prefix| line.starts_with(prefix)) {
            trailer += 1;
            maybe_continued = 0;
            written_by_git = true;
        } else if separator(line).is_some_and(|at| at > 0) && !line.starts_with(is_space) {
            trailer += 1;
            maybe_continued = 0;
        } else if line.starts_with(is_space) {
            maybe_continued += 1;
        } else {
            other += 1 + maybe_continued;
            maybe_continued = 0;
        }
    }
    None
}

/// Where the `:` stands, when only a token and blanks stand before it.
fn separator(line: &str) -> Option<usize> {
    let mut blank = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b':' => return Some(at),
            b'-' if !blank => {}
            _ if !blank && byte.is_ascii_alphanumeric() => {}
            b' ' | b'\t' if at > 0 => blank = true,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_of_the_final_block_counts() {
        let message = "title\n\nCook-Slice: not-this\n\nbody\n\nCook-Slice: a\ncook-slice: b\n";
        assert_eq!(last_trailer(message, "Cook-Slice").as_deref(), Some("b"));
        assert_eq!(last_trailer("Cook-Slice: title", "Cook-Slice"), None);
        assert_eq!(
            last_trailer("t\n\nprose\nCook-Slice: a\n", "Cook-Slice"),
            None
        );
        assert_eq!(
            last_trailer(
                "t\n\nCook-Slice: a\nSigned-off-by: x\nsome prose\n",
                "Cook-Slice"
            )
            .as_deref(),
            Some("a")
        );
        assert_eq!(
            last_trailer("t\r\n\r\nCook-Slice: a\r\n", "Cook-Slice").as_deref(),
            Some("a")
        );
    }
}
