//! Other people's words on their way to a page: escaped by `maud`, cut to a length, and what a reader
//! would not see is written out.

use cook_core::diagnostic::without_tokens;
use cook_core::model::is_hidden;
use maud::{Markup, html};

/// Characters of a text that stands in a row.
const LINE: usize = 600;
/// Characters of a text that stands by itself.
const BLOCK: usize = 6000;

/// Words in a row.
pub(super) fn line(text: &str) -> Markup {
    html! { bdi { (show(text, LINE, false)) } }
}

/// Words in a row that are read sign by sign: anchors, commits, commands.
pub(super) fn sign(text: &str) -> Markup {
    html! { code { bdi { (show(text, LINE, false)) } } }
}

/// A text of several lines.
pub(super) fn block(text: &str) -> Markup {
    html! { div.words dir="auto" { (show(text, BLOCK, true)) } }
}

/// Several texts, one below the other.
pub(super) fn list<'a>(texts: impl Iterator<Item = &'a String>) -> Markup {
    let texts: Vec<&String> = texts.filter(|text| !text.trim().is_empty()).collect();
    html! {
        @match texts.as_slice() {
            [] => {}
            [only] => { (line(only)) }
            several => { ul { @for text in several.iter().take(MOST) { li { (line(text)) } } } }
        }
        @if texts.len() > MOST { p.more { (texts.len() - MOST) " more not shown here." } }
    }
}

/// Texts of one list.
const MOST: usize = 20;

/// The text with signs for what nobody would see, without what can only be a secret, and cut.
pub(super) fn show(text: &str, longest: usize, keeps_lines: bool) -> String {
    // What is cut off is never looked at: a word of a megabyte costs no more than a short one.
    let (text, more) = split(text, longest.saturating_mul(2));
    let text = without_tokens(text);
    let (text, cut) = split(&text, longest);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => {}
            '\n' | '\u{2028}' | '\u{2029}' if keeps_lines => shown.push('\n'),
            '\n' | '\t' | '\u{2028}' | '\u{2029}' => shown.push(' '),
            c if is_hidden(c) => shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            c => shown.push(c),
        }
    }
    match more + cut {
        0 => {}
        left => shown.push_str(&format!("… (cut here: {left} more bytes)")),
    }
    shown
}

/// So many characters of a label, and a sign that more stood there.
pub(super) fn split_off(text: &str, longest: usize) -> String {
    match split(text, longest) {
        (_, 0) => text.to_owned(),
        (beginning, _) => format!("{beginning}…"),
    }
}

/// So many characters, and how many bytes come after them.
fn split(text: &str, longest: usize) -> (&str, usize) {
    match text.char_indices().nth(longest) {
        None => (text, 0),
        Some((end, _)) => (&text[..end], text.len() - end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_would_see_is_written_out() {
        let text = "a\u{202e}b\u{1b}[2Jc\u{200b}d\r\ne";
        assert_eq!(show(text, 100, false), "a⟨U+202E⟩b⟨U+001B⟩[2Jc⟨U+200B⟩d e");
        assert_eq!(show("a\nb", 100, true), "a\nb");
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let long = "é".repeat(1 << 20);
        let cut = show(&long, 10, false);
        assert_eq!(
            cut,
            format!("{}… (cut here: 2097132 more bytes)", "é".repeat(10))
        );
        assert_eq!(show("0123456789", 10, false), "0123456789");
    }

    #[test]
    fn no_word_is_more_than_a_word() {
        let hostile = "</style><script>alert(1)</script>\"'&";
        let told = line(hostile).into_string();
        assert!(told.contains("&lt;/style&gt;&lt;script&gt;"), "{told}");
        assert!(!told.contains("<script"), "{told}");
    }
}
