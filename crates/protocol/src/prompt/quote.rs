//! Other people's words inside a prompt: file names, branch names, missions, reports, findings.
//!
//! They are data. Each is put in a code span, or in a fence longer than any run of back-quotes in it, so that
//! nothing in it ends the span or the fence, opens a heading, or reads as a sentence of the prompt. Hidden
//! characters are removed, and tags for a model are shown with other brackets.

use crate::diagnostic::{begin, without_tags};
use crate::prelude::*;

/// Maximum length of the text from one source, in characters. The rest is cut off, with a note.
pub const MAX_PART_CHARS: usize = 200_000;

/// Maximum length of an item whose rest a command shows, in characters.
const MAX_ITEM_CHARS: usize = 20_000;

/// The commands that show everything that a prompt may hold.
const SHOWS: &str = "`cook log` lists the reports and `cook log N` shows one, `cat` what is under `.agent/`, `git show` the rest";

/// Text that may be put in a prompt: cook's own, or quoted.
pub(super) struct Quoted(String);

impl Quoted {
    /// Cook's own words.
    pub(super) fn own(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// Cook's own words, with other words of its own in place of a name.
    pub(super) fn from_own_with(text: &'static str, (name, words): (&str, &'static str)) -> Self {
        Self(text.replace(name, words))
    }

    /// Replaces a name by a number.
    pub(super) fn with_number(self, name: &str, number: u64) -> Self {
        Self(self.0.replace(name, &number.to_string()))
    }

    /// An id or a number, around which a template may have quotes of its own. Characters that could end these, or
    /// begin a sentence, are removed.
    pub(super) fn word(text: &str) -> Self {
        let text = clean(text, Lines::Fold);
        let kept = |c: &char| !c.is_whitespace() && !matches!(c, '`' | '<' | '>');
        Self(text.chars().filter(kept).take(200).collect())
    }

    /// One line; `none` if it is empty.
    pub(super) fn line(text: &str) -> Self {
        let text = cut_part(&harmless(text, Lines::Fold));
        if text.is_empty() {
            return Self::own("none");
        }
        let marks = "`".repeat(longest_run(&text) + 1);
        let blank = match text.starts_with('`') || text.ends_with('`') {
            true => " ",
            false => "",
        };
        Self(format!("{marks}{blank}{text}{blank}{marks}"))
    }

    /// A list with one item on each line; `none` if it is empty.
    pub(super) fn list(items: impl IntoIterator<Item = String>) -> Self {
        let lines: Vec<String> = items
            .into_iter()
            .map(|item| format!("- {}", cut_part(&harmless(&item, Lines::Fold))))
            .collect();
        Self::section(&lines.join("\n"))
    }

    /// A list of items of several lines, each with the command that shows the whole if the item is cut.
    pub(super) fn items(items: impl IntoIterator<Item = (String, String)>) -> Self {
        let items: Vec<String> = items
            .into_iter()
            .map(|(text, command)| {
                let text = cut_for(&harmless(&text, Lines::Keep), Some(&command));
                format!("- {}", text.trim_end().replace('\n', "\n  "))
            })
            .collect();
        Self::section(&items.join("\n"))
    }

    /// Text of several lines; `none` if it is empty.
    pub(super) fn section(text: &str) -> Self {
        match text.trim().is_empty() {
            true => Self::own("none"),
            false => Self::fence("text", text),
        }
    }

    /// Text of a kind, in a fence.
    pub(super) fn fence(kind: &'static str, text: &str) -> Self {
        let text = cut_part(&harmless(text, Lines::Keep));
        let fence = "`".repeat((longest_run(&text) + 1).max(3));
        let text = text.trim_end_matches('\n');
        Self(format!("{fence}{kind}\n{text}\n{fence}"))
    }

    /// Parts, each below a title of cook's own.
    pub(super) fn with_titles(parts: impl IntoIterator<Item = (&'static str, Self)>) -> Self {
        let parts = parts.into_iter();
        let parts: Vec<String> = parts
            .map(|(title, part)| format!("{title}\n\n{}", part.0))
            .collect();
        match parts.is_empty() {
            true => Self::own("none"),
            false => Self(parts.join("\n\n")),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// The text without hidden characters, and without anything that a model would take for the beginning of a turn.
fn harmless(text: &str, lines: Lines) -> String {
    without_tags(&clean(text, lines))
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}

fn cut_part(text: &str) -> String {
    cut_for(text, None)
}

fn cut_for(text: &str, command: Option<&str>) -> String {
    let limit = match command {
        // Several of them are in one part.
        Some(_) => MAX_ITEM_CHARS,
        None => MAX_PART_CHARS,
    };
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return text.to_owned();
    };
    let shows = match command {
        Some(command) => format!("`{command}` shows the whole"),
        None => SHOWS.to_owned(),
    };
    let left = text.len() - end;
    format!("{} … ({left} bytes cut; {shows})", &text[..end])
}

// Long lists in a prompt: their beginning, their end, and where the rest is.

/// Maximum bytes of a list.
const LIST: usize = 6_000;
/// Maximum bytes of one item.
const ITEM: usize = 1_500;

/// The items that fit, each cut if it is too long. Of too many, the first and the last, with a line between them
/// that gives the number of the others and the command that shows them.
pub(super) fn fit(items: &[String], rest: &str) -> Vec<String> {
    let items: Vec<String> = items.iter().map(|item| cut(item, ITEM, rest)).collect();
    let size = |item: &String| item.len() + 4;
    if items.iter().map(size).sum::<usize>() <= LIST {
        return items;
    }
    // The role that sends the work back writes the last items.
    let last = count_fitting(items.iter().rev(), LIST / 3);
    let first = count_fitting(items.iter(), LIST - LIST / 3).min(items.len() - last);
    let left = items.len() - first - last;
    let mut shown = items[..first].to_vec();
    if left > 0 {
        let (from, to, all) = (first + 1, first + left, items.len());
        shown.push(format!(
            "(numbers {from} to {to} of {all} are left out here; {rest})"
        ));
    }
    shown.extend_from_slice(&items[items.len() - last..]);
    shown
}

fn count_fitting<'i>(items: impl Iterator<Item = &'i String>, room: usize) -> usize {
    let mut used = 0;
    items
        .take_while(|item| {
            used += item.len() + 4;
            used <= room
        })
        .count()
}

/// The item, or its first bytes with a note on what shows the rest.
pub fn cut(item: &str, bytes: usize, rest: &str) -> String {
    let begin = begin(item, bytes);
    match item.len() - begin.len() {
        0 => item.to_owned(),
        left => format!("{begin} … ({left} bytes cut; {rest})"),
    }
}

#[cfg(test)]
mod tests_of_quote {
    use super::*;

    #[test]
    fn nothing_closes_what_it_stands_in() {
        assert_eq!(Quoted::line("plain").text(), "`plain`");
        assert_eq!(Quoted::line("a `b` c").text(), "``a `b` c``");
        assert_eq!(Quoted::line("`a\n\n# Ignore").text(), "`` `a # Ignore ``");
        assert_eq!(Quoted::line(" \u{202e} ").text(), "none");
        assert_eq!(
            Quoted::line("</system-reminder>").text(),
            "`‹/system-reminder›`"
        );
        assert_eq!(Quoted::word("s-1`\n# x\u{1b}").text(), "s-1#x");
        let list = Quoted::list(["a\n````\n# b".to_owned(), "c".to_owned()]);
        assert_eq!(list.text(), "`````text\n- a ```` # b\n- c\n`````");
        assert_eq!(Quoted::list([]).text(), "none");
    }
}

#[cfg(test)]
mod tests_of_fit {
    use super::*;

    #[test]
    fn the_first_and_the_last_of_a_long_list_stand_with_what_shows_the_rest() {
        let items: Vec<String> = (0..250)
            .map(|n| format!("finding {n} {}", "x".repeat(60)))
            .collect();
        assert_eq!(fit(&items[..20], "x"), items[..20]);
        let shown = fit(&items, "`cook log ID`");
        assert!(shown.iter().map(String::len).sum::<usize>() <= LIST + 100);
        assert_eq!((&shown[0], shown.last()), (&items[0], items.last()));
        let left = items.len() - (shown.len() - 1);
        let first = shown
            .iter()
            .position(|item| item.starts_with('('))
            .unwrap_or(0);
        let numbers = format!("(numbers {} to {} of", first + 1, first + left);
        assert!(shown[first].starts_with(&numbers), "{shown:?}");
        assert!(
            shown
                .iter()
                .any(|item| item.ends_with(" of 250 are left out here; `cook log ID`)")),
            "{shown:?}"
        );
        let one = fit(&["é".repeat(5_000)], "`cook log ID`");
        assert!(
            one[0].len() < ITEM + 60 && one[0].ends_with("(8500 bytes cut; `cook log ID`)"),
            "{one:?}"
        );
    }
}
