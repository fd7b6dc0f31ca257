//! Makes text from outside harmless to show: to a terminal, in a prompt, in a document.
//!
//! Invariant: the result holds no control character but the newline, and no character that changes direction or
//! has no width. So a terminal escape has no effect, and a reader sees the text as it is. `clean` is idempotent.

use crate::model::is_hidden;
use regex::Regex;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

/// The treatment of line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// They are kept, each as one `\n`.
    Keep,
    /// The text becomes one line: every run of white space becomes one blank, with none at the ends.
    Fold,
}

/// The text without terminal escape sequences. A control sequence ends with a byte from `@` to `~`; a title or
/// another text for the terminal ends with a bell, with `ESC \`, or with its line.
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\x1b(?:\[[ -?]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\?)?)?")
            .unwrap_or_else(|error| panic!("{error}"))
    });
    match text.contains('\u{1b}') {
        true => ESCAPE.replace_all(text, ""),
        false => Cow::Borrowed(text),
    }
}

/// The text without control, direction and zero-width characters, and without terminal escape
/// sequences. A tab becomes a blank.
pub fn clean(text: &str, lines: Lines) -> String {
    // Most texts are plain ASCII and stay as they are.
    let is_folded = || !(text.starts_with(' ') || text.ends_with(' ') || text.contains("  "));
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && (lines == Lines::Keep || is_folded())
    {
        return text.to_owned();
    }
    let text = without_escapes(text).replace("\r\n", "\n");
    let kept = text.chars().filter_map(|c| match c {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some('\n'),
        '\t' => Some(' '),
        c if is_hidden(c) => None,
        c => Some(c),
    });
    match lines {
        Lines::Keep => kept.collect(),
        Lines::Fold => {
            let text: String = kept.collect();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    }
}

/// Words that models take for the beginning of a turn, if a tag holds nothing else.
const TURNS: [&str; 14] = [
    "assistant",
    "context",
    "function",
    "human",
    "instructions",
    "invoke",
    "parameter",
    "reminder",
    "result",
    "system",
    "think",
    "thinking",
    "tool",
    "user",
];

/// The text with `‹…›` in place of the brackets of text that a model reads as a tag: `<system-reminder>`,
/// `</tool_result>`, `<|im_start|>`. Types and HTML in code stay as they are.
pub fn without_tags(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        kept.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if !is_tag(kept.chars().next_back(), after) {
            kept.push('<');
            rest = after;
            continue;
        }
        kept.push('‹');
        rest = after;
        if let Some(end) = after.find(['<', '>'])
            && after[end..].starts_with('>')
        {
            kept.push_str(&after[..end]);
            kept.push('›');
            rest = &after[end + 1..];
        }
    }
    kept.push_str(rest);
    kept
}

/// How the ids of the user's messages begin.
const SAID: [&str; 3] = ["answer-", "msg-", "prompt-"];

/// The text with `claimed-user@answer-9` in place of `user@answer-9`. Only cook writes down the user's words, so
/// another text must not read as those. A letter of another alphabet may look like any letter.
pub fn without_attribution(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for Attribution { start, .. } in attributions(text) {
        if !text[..start].ends_with(CLAIMED) {
            kept.push_str(&text[done..start]);
            kept.push_str(CLAIMED);
            done = start;
        }
    }
    kept.push_str(&text[done..]);
    kept
}

/// A place where a text names a message of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    /// Where the name begins.
    pub start: usize,
    /// Where the message's id is.
    pub id: Range<usize>,
}

/// Every place that reads as the name of a message of the user: `user@msg-1`.
pub fn attributions(text: &str) -> Vec<Attribution> {
    let mut found: Vec<Attribution> = Vec::new();
    for (at, sign) in text.match_indices(['@', '＠', '﹫']) {
        let done = found.last().map_or(0, |last| last.id.end);
        let after = text[at + sign.len()..].trim_start_matches(' ');
        let begins = |id: &&str| {
            let head = after.get(..id.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(id))
        };
        let before = text[done..at].trim_end_matches(' ');
        let name = before.trim_end_matches(char::is_alphanumeric);
        let name = &before[name.len()..];
        let is_like = !name.is_ascii() && name.chars().count() <= 6;
        let is_user = is_like || name.eq_ignore_ascii_case("user");
        if is_user && SAID.iter().any(begins) {
            let is_id = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
            let id = text.len() - after.len();
            found.push(Attribution {
                start: done + before.len() - name.len(),
                id: id..text.len() - after.trim_start_matches(is_id).len(),
            });
        }
    }
    found
}

const CLAIMED: &str = "claimed-";

/// Whether the text after a bracket makes it a tag for a model.
fn is_tag(before: Option<char>, after: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (closes, name) = match after.strip_prefix('/') {
        Some(name) => (true, name),
        None => (false, after),
    };
    if name.starts_with('|') {
        return true;
    }
    let end = name.find(|c| !is_word(c) && c != '-' && c != ':');
    let end = end.unwrap_or(name.len());
    // After a tag's name the tag ends, or attributes follow.
    let follows = name[end..].chars().next();
    if follows.is_some_and(|c| !c.is_whitespace() && !matches!(c, '>' | '/')) {
        return false;
    }
    let name = name[..end].trim_end_matches(':');
    let name = name.to_lowercase();
    if !name.starts_with(char::is_alphabetic) || name.contains("::") {
        return false;
    }
    // The parameter of a type follows its name: `Vec<user>`, `Vec<my_type>`.
    let stands_alone = closes || !before.is_some_and(is_word);
    let begins_turn =
        |word: &str| TURNS.contains(&word) || TURNS.contains(&word.trim_end_matches('s'));
    let parts: Vec<&str> = name.split(['-', ':', '_']).collect();
    match parts.as_slice() {
        [word] => stands_alone && begins_turn(word),
        parts => {
            name.contains(['-', ':']) || stands_alone || parts.iter().any(|part| begins_turn(part))
        }
    }
}

/// The same JSON with escapes in place of each hidden character, and of the bracket of text that a model reads as
/// a tag. These occur only within strings, apart from line ends between values.
pub fn harmless_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut before = None;
    for (at, c) in json.char_indices() {
        match c {
            '\n' => text.push(c),
            '<' if is_tag(before, &json[at + 1..]) => text.push_str("\\u003c"),
            c if is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}') => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => text.push(c),
        }
        before = Some(c);
    }
    text
}

/// The last line of an output that is not empty.
pub fn last_line(text: &str) -> Option<&str> {
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
}

/// The text, or its beginning and `…` if it has more than `longest` characters.
pub fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The longest beginning of a text that has at most `bytes` bytes.
pub fn begin(text: &str, bytes: usize) -> &str {
    let mut ends = (0..=bytes.min(text.len())).rev();
    &text[..ends.find(|at| text.is_char_boundary(*at)).unwrap_or(0)]
}

/// The beginning of an id, for a reader.
pub fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// The words after the first of many: ` and 2 more`, or nothing.
pub fn and_more(left: usize) -> String {
    match left {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// A count with its noun: `1 commit`, `2 commits`.
pub fn count_noun(count: impl TryInto<u64>, noun: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// Names with their verb: `a is`, `a, b are`.
pub fn list_with_verb<T: AsRef<str>>(names: &[T]) -> String {
    let list = names.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    let verb = if list.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", list.join(", "))
}

/// The text on one line with the quotes, dashes and ellipses of a keyboard, so that typographic variants of an
/// editor or a model compare equal.
pub fn with_plain_marks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '″' => plain.push('"'),
            '‘' | '’' | '‚' | '‛' | '‹' | '›' | '＇' | '′' => plain.push('\''),
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '-' if plain.ends_with('-') => {}
            '\u{2010}'..='\u{2015}' | '\u{2212}' => plain.push('-'),
            '…' => plain.push_str("..."),
            '\u{ad}' => {}
            other => plain.push(other),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

// The texts within a text, as a reader of its JSON gets them, without escapes.

/// Maximum depth to which JSON in a text of JSON is followed.
const DEPTH: usize = 8;

/// Calls `each` with every text of a document, or of lines that are one each, and with the remaining text. Known
/// texts are skipped.
pub fn each_text(text: &str, known: &dyn Fn(&str) -> bool, each: &mut dyn FnMut(&str)) {
    follow(text, DEPTH, (known, each));
}

/// The test for known texts, and the action for the others.
type Reader<'a> = (&'a dyn Fn(&str) -> bool, &'a mut dyn FnMut(&str));

fn follow(text: &str, depth: usize, (known, each): Reader) {
    if known(text) || depth > 0 && follow_json(text, depth, (known, each)) {
        return;
    }
    if depth == 0 || !may_hold_json(text) {
        each(text);
        return;
    }
    let lines = text.split_inclusive('\n');
    let plain: String = lines
        .filter(|line| !follow_json(line, depth, (known, each)))
        .collect();
    each(&plain);
}

/// Whether the whole text is one document. If so, its texts are followed.
fn follow_json(text: &str, depth: usize, (known, each): Reader) -> bool {
    if !begins_json(text) {
        return false;
    }
    let mut texts = Texts::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = texts.deserialize(&mut reader);
    if read.and_then(|()| reader.end()).is_err() {
        return false;
    }
    let mut begin = 0;
    for end in texts.ends {
        follow(&texts.joined[begin..end], depth - 1, (known, each));
        begin = end;
    }
    true
}

/// Whether a line may be a document. A text without such a line holds no other texts, at any depth.
pub fn may_hold_json(text: &str) -> bool {
    text.lines().any(begins_json)
}

fn begins_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
}

/// All keys and texts of a document, also those of a repeated key: joined, with the end of each.
#[derive(Default)]
struct Texts {
    joined: String,
    ends: Vec<usize>,
}

impl<'de> DeserializeSeed<'de> for &mut Texts {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Texts {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.joined.push_str(text);
        self.ends.push(self.joined.len());
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_key_seed(&mut *self)?.is_some() {
            fields.next_value_seed(&mut *self)?;
        }
        Ok(())
    }
}

// Secrets in text that is kept: removed if they have a usual shape. Pure. Secrets of an unknown shape stay, so
// this must not be relied on for more.

/// Replaces a secret.
pub const REDACTED: &str = "[redacted]";

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("{error}"))
}

/// Private keys in armour, up to the end of the armour or of the text.
static KEY: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?s)-----BEGIN [^\n]*?PRIVATE KEY.*?(?:-----END .*?-----|\z)"));

/// Tokens by their prefixes, each with a minimum number of characters after it. Names in code begin with `hf_` and
/// `npm_` too.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?x)
        (?: (?i:bearer)\x20 (?<value> [0-9A-Za-z_\-./+=~]{16,} )
        | (?: (?: sk- | [rs]k_live_ | glpat- | A[KS]IA ) [0-9A-Za-z_\-.+~]{16}
            | (?: gh[pousr]_ | github_pat_ ) [0-9A-Za-z_\-.+~]{20}
            | xox[abp]- [0-9A-Za-z_\-.+~]{10}
            | AIza [0-9A-Za-z_\-.+~]{30}
            | eyJ [0-9A-Za-z_\-.+~]{40}
            | (?: npm | hf )_ [0-9A-Za-z]{20}
          ) [0-9A-Za-z_\-./+=~]* )",
    )
});

/// A password in a URL. It may hold every character, and blanks if no `@` precedes them. A port is not a password.
static PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?x) (?<user> :// [^\s:@/?\#\[]* : )
        (?: [0-9]* [^\s0-9@/?\#] \S* @ | [0-9]+ @ | [0-9]* [^\s0-9@/?\#] [^\r\n@]* @ )",
    )
});

/// In an HTTP URL, a user name without a password is a token.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| compile(r"(?<scheme>https?://)[^\s:@/?#]+@"));

/// The value after a name that says what it is.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?xi) (?<name> (?: password | passwd | secret | token | api[_-]?key | access_key | private_key )
        [^\s0-9a-z=:]* [=:]+ \s* ) (?: [^\s/=:] | / [^\s/] ) \S*",
    )
});

/// The text without secrets of the usual shapes.
pub fn redact(text: &str) -> String {
    let text = without_tokens(text);
    let text = PASSWORD.replace_all(&text, format!("${{user}}{REDACTED}@"));
    let text = LOGIN.replace_all(&text, format!("${{scheme}}{REDACTED}@"));
    let text = NAMED.replace_all(&text, format!("${{name}}{REDACTED}"));
    without_tokens(&text)
}

/// The text without anything that can only be a secret: tokens and private keys. A value after a name may be code
/// or JSON, and stays.
pub fn without_tokens(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for secret in find_secrets(text) {
        kept.push_str(&text[done..secret.start]);
        kept.push_str(REDACTED);
        done = secret.end;
    }
    kept.push_str(&text[done..]);
    kept
}

/// Everything in the literal text that can only be a secret.
pub fn find_tokens(text: &str) -> impl Iterator<Item = &str> {
    let places = find_secrets(text).into_iter();
    places.map(move |place| &text[place])
}

/// The places of private keys and tokens, in order.
fn find_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = KEY.find_iter(text).map(|key| key.range()).collect();
    let mut at = 0;
    // Asking whether there is a match costs less than allocating its groups.
    while TOKEN.is_match_at(text, at)
        && let Some(named) = TOKEN.captures_at(text, at)
    {
        let whole = named.get_match();
        let secret = named.name("value").unwrap_or(whole).range();
        let is_in_key = found.iter().any(|key| key.contains(&secret.start));
        at = match !is_in_key && begins_word(text, whole.start()) {
            true => secret.end,
            false => whole.start() + 1,
        };
        if at == secret.end {
            found.push(secret);
        }
    }
    found.sort_by_key(|place| place.start);
    found
}

/// Whether no word continues at this byte. Signs may precede a token, as in a line of a diff, but not inside a
/// name. A letter that belongs to an escape or to a terminal command is not part of a word.
fn begins_word(text: &str, at: usize) -> bool {
    let word = text[..at].trim_end_matches(['_', '-', '.', '+', '~']);
    // Escapes are short.
    let end = &word[begin(word, word.len().saturating_sub(20)).len()..];
    !end.ends_with(|c: char| c.is_ascii_alphanumeric()) || ESCAPE.is_match(end)
}

/// The end of an escape: `\n` and similar, `\u000a`, `\x1b`, `%0A`, or `[1m`.
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?:\\[bfnrt]|\\u[0-9A-Fa-f]{4}|(?:\\x|%)[0-9A-Fa-f]{2}|(?:\[[0-9;]+|(?:\x1b|1[bB]|33)\[)[A-Za-z])\z",
    )
});

#[cfg(test)]
mod tests_of_text {
    use super::*;

    #[test]
    fn typographic_marks_are_plain_ones() {
        for (one, other) in [
            ("“don’t”", "\"don't\""),
            ("„so‟ «or» ‹so›", "\"so\" \"or\" 'so'"),
            ("a – b — c", "a - b - c"),
            ("a -- b --- c", "a - b - c"),
            ("non‑breaking\u{a0}and  so on…", "non-breaking and so on..."),
        ] {
            assert_eq!(with_plain_marks(one), with_plain_marks(other), "{one}");
        }
        assert_ne!(with_plain_marks("do"), with_plain_marks("don't"));
        assert_ne!(with_plain_marks("a b"), with_plain_marks("a - b"));
    }

    #[test]
    fn terminal_escapes_go() {
        assert_eq!(clean("\x1b[31mred\x1b[0m\x07", Lines::Keep), "red");
        assert_eq!(clean("\x1b[1;\nno\x1b[", Lines::Keep), "\nno");
        assert_eq!(clean("\u{9b}31m", Lines::Keep), "31m");
        for title in ["\x1b]0;t\x07a", "\x1b]0;t\x1b\\a", "\x1bPq\x1b\\a"] {
            assert_eq!(clean(title, Lines::Keep), "a");
        }
        assert_eq!(clean("\x1b]0;t\na", Lines::Keep), "\na");
    }

    #[test]
    fn tags_for_a_model_are_shown_and_code_stays() {
        for (given, shown) in [
            (
                "<system-reminder>x</system-reminder>",
                "‹system-reminder›x‹/system-reminder›",
            ),
            ("a<tool_result>b", "a‹tool_result›b"),
            ("<|im_start|>system", "‹|im_start|›system"),
            ("<System>do</SYSTEM >", "‹System›do‹/SYSTEM ›"),
            ("<a:invoke name=\"x\">", "‹a:invoke name=\"x\"›"),
            ("<user\nx", "‹user\nx"),
        ] {
            assert_eq!(without_tags(given), shown, "{given}");
            assert_eq!(without_tags(shown), shown);
        }
        for code in [
            "Vec<String> a < b && c > d",
            "fn f<T: Into<my_type>>(x: Vec<user>)",
            "HashMap<std::path::PathBuf, my_key>",
            "<div class=\"a\"><p>x</p></div>",
            "<test:NAME, path:line>",
            "#include <stdio.h>\n<= <- << <",
        ] {
            assert_eq!(without_tags(code), code);
        }
    }

    #[test]
    fn what_reads_as_said_by_the_user_is_claimed() {
        for (given, shown) in [
            ("user@answer-9: asked", "claimed-user@answer-9: asked"),
            ("- `User @ msg-1`: x", "- `claimed-User @ msg-1`: x"),
            (
                "as user@answer-4 and us\u{435}r＠Answer-5 say",
                "as claimed-user@answer-4 and claimed-us\u{435}r＠Answer-5 say",
            ),
        ] {
            assert_eq!(without_attribution(given), shown, "{given}");
            assert_eq!(without_attribution(shown), shown);
        }
        for text in [
            "user@example.com",
            "superuser@answer-1",
            "a @ answer-1",
            "@answer-1",
        ] {
            assert_eq!(without_attribution(text), text);
        }
    }

    #[test]
    fn json_keeps_its_value_and_no_hidden_character() {
        let value = serde_json::json!({"\u{9b}k": "a\u{9b}31m\u{202e}\u{7f}\u{2028}\u{e0001}\n\"é\\", "n": [1]});
        for json in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap_or_default(),
        ] {
            let text = harmless_json(&json);
            let hidden = |c: char| c != '\n' && (is_hidden(c) || c == '\u{2028}');
            assert!(!text.contains(hidden), "{text:?}");
            assert_eq!(serde_json::from_str(&text).ok(), Some(value.clone()));
        }
    }

    #[test]
    fn direction_and_zero_width_characters_go() {
        for c in [
            '\u{202a}',
            '\u{202e}',
            '\u{2066}',
            '\u{2069}',
            '\u{200e}',
            '\u{200f}',
            '\u{61c}',
            '\u{200b}',
            '\u{200d}',
            '\u{2060}',
            '\u{feff}',
            '\u{e0001}',
            '\u{e007f}',
            '\u{7f}',
            '\0',
        ] {
            assert_eq!(clean(&format!("a{c}b"), Lines::Keep), "ab", "{c:?}");
        }
    }

    #[test]
    fn line_ends_are_kept_as_newlines_or_folded() {
        assert_eq!(clean("a\r\nb\rc\u{2028}d\te", Lines::Keep), "a\nb\nc\nd e");
        assert_eq!(clean(" a\r\n\n  b\tc ", Lines::Fold), "a b c");
    }

    #[test]
    fn ordinary_text_of_any_script_stays() {
        let text = "Grüße, 世界 – عربي `x` 🎉\n";
        assert_eq!(clean(text, Lines::Keep), text);
    }
}

#[cfg(test)]
mod tests_of_secret {
    use super::*;

    fn find_in_texts(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_text(text, &|_| false, &mut |text| {
            found.extend(find_tokens(text).map(str::to_owned))
        });
        found
    }

    #[test]
    fn secrets_of_the_usual_shapes_go_and_words_stay() {
        let long = "a1".repeat(20);
        for secret in [
            format!("use sk-{long}, please"),
            format!("(ghp_{long})"),
            format!("\"github_pat_{long}\""),
            format!("Authorization: Bearer {long}"),
            format!("PASSWORD={long}"),
            format!("db_password: {long}"),
            format!("my token:{long} is"),
            format!("https://me:{long}@example.org/x"),
            format!("https://{long}@example.org/x"),
            format!("https://me:p@{long}@example.org/x"),
            format!("'https://me:p {long}@example.org/x': no"),
            format!("https://me:p/{long}@example.org/x"),
            format!("https://me:p@ss#{long}@example.org/x"),
            format!("https://example.org/x?a=b&private_token={long}#c"),
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{long}\n-----END RSA PRIVATE KEY-----\nafter"
            ),
            format!("-----BEGIN PRIVATE KEY-----\n{long}"),
            format!("eyJ{long}.{long}.{long}"),
        ] {
            let text = redact(&secret);
            assert!(
                !text.contains(&long) && text.contains(REDACTED),
                "{secret}: {text}"
            );
        }
        assert!(
            redact("-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\nafter")
                .ends_with("\nafter")
        );
        for plain in [
            "make the token count smaller\n\tand keep  blanks ",
            "see https://example.org:8080/a?b=c",
            "https://example.org:8080/@scope/b and http://[::1]:80/a mail me@example.org",
            "ssh://git@example.org/a and https://example.org/@scope/b",
            "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
            "sk-learn and npm_config stay; eyJ too",
            "a=b c:d ü € \u{1f600}",
            "",
        ] {
            assert_eq!(redact(plain), plain);
        }
    }

    #[test]
    fn a_token_is_found_wherever_it_begins() {
        let token = format!("ghp_{}", "a1".repeat(18));
        for before in [
            "",
            " ",
            "\n",
            "+",
            "-",
            "--",
            "> ",
            "_",
            "**",
            "\t",
            "\u{1b}[1m",
            "\u{1b}[38;5;9m",
            "x=",
            "/",
            "ü",
            "\\n",
            "\\\\n",
            "\\t",
            "\\u001b[1m",
            "\\u000a",
            "\\x1b[0m",
            "\\033[0m",
            "%3D",
            "x:+",
        ] {
            let text = format!("a line {before}{token}\n");
            assert_eq!(find_in_texts(&text), [token.as_str()], "{text:?}");
            let json = serde_json::json!({ "a": [text.clone()] }).to_string();
            assert_eq!(find_in_texts(&json), [token.as_str()], "{json}");
            let twice = serde_json::json!({ "b": json }).to_string();
            assert_eq!(find_in_texts(&twice), [token.as_str()], "{twice}");
            let lines = format!("{twice}\nplain\n{{}}\n");
            assert_eq!(find_in_texts(&lines), [token.as_str()], "{lines}");
            for raw in [
                &text,
                &json,
                &twice,
                &lines,
                &json[..json.len() - 1].to_owned(),
            ] {
                assert!(!redact(raw).contains(&token), "{raw:?}");
                assert!(!without_tokens(raw).contains(&token), "{raw:?}");
            }
        }
        let twice = format!(r#"{{"a":"\n{token}","a":"b"}}"#);
        assert_eq!(find_in_texts(&twice), [token.as_str()]);
        let bearer = serde_json::json!(["x\nBearer abcdef0123456789XYZ"]).to_string();
        assert_eq!(find_in_texts(&bearer), ["abcdef0123456789XYZ"]);
        let key = "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----";
        let kept = serde_json::json!({ "k": key }).to_string();
        assert_eq!(find_in_texts(&kept), [key]);
    }

    #[test]
    fn words_that_hold_the_beginning_of_a_token_are_none() {
        for plain in [
            "the task-runner-of-the-whole-machine and risk-averse-but-not-too-much",
            "desk-and-chair-and-table-and-more, model_hf_transformer_model_loader",
            "run_npm_install_everything_again, x.hf_hub_download_with_retries [ask-for-the-whole-thing], high_ghp_abcdefghijklmnopqrstuvwx",
            "4f3a9eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9abcdefghijk",
        ] {
            assert_eq!(find_in_texts(plain), [""; 0], "{plain}");
            assert_eq!(redact(plain), plain);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_read_again(text: String) {
            let once = redact(&text);
            proptest::prop_assert_eq!(redact(&once), once);
        }
    }
}
