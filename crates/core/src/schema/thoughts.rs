//! The thoughts in what a model says.

/// How models call the tags around their thoughts.
const THOUGHTS: [&str; 9] = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reason",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis",
];

/// Longest tag, in bytes.
const MAX_TAG: usize = 200;

/// What an answer says besides a model's thoughts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// The words that are no thoughts.
    pub text: String,
    /// The tag of thoughts that never end, with the number of its line.
    pub unended: Option<(String, usize)>,
    /// The tag that ends thoughts which the program began, with the number of its line.
    pub ended: Option<(String, usize)>,
}

/// Thoughts are no part of an answer, wherever they stand: between their tags, behind a tag that
/// none ends, before an end that none begins. A tag in a code span or in quotes is a word.
pub fn without_thoughts(text: &str) -> Spoken {
    let mut spoken = Spoken::default();
    let mut rest = 0;
    let mut spoken_of: Option<usize> = None;
    let mut last_end: Option<Tag> = None;
    let mut tags = Tags::of(text);
    while let Some(tag) = tags.next() {
        // Words about thoughts, in a sentence of a field, are none.
        let is_spoken_of = match tag.closes {
            true => tag.in_sentence && (tag.goes_on || spoken_of == Some(tag.line)),
            false => tag.in_sentence,
        };
        if is_spoken_of {
            spoken_of = Some(tag.line);
            continue;
        }
        if tag.closes {
            // The program has begun the thoughts itself.
            spoken.text.clear();
            rest = tag.end;
            last_end = Some(tag);
            continue;
        }
        spoken.text.push_str(&text[rest..tag.start]);
        let Some(end) = tags.find(|other| other.closes && other.name == tag.name) else {
            spoken.ended = last_end.map(|tag| tag.find_name(text));
            spoken.unended = Some(tag.find_name(text));
            return spoken;
        };
        if !spoken.text.is_empty() && !spoken.text.ends_with('\n') {
            spoken.text.push('\n');
        }
        rest = end.end;
    }
    spoken.text.push_str(&text[rest..]);
    spoken.ended = last_end.map(|tag| tag.find_name(text));
    spoken
}

struct Tag {
    start: usize,
    end: usize,
    name: String,
    closes: bool,
    /// Where its line begins.
    line: usize,
    /// Words of a list item or of a labelled line stand before it.
    in_sentence: bool,
    /// Words stand behind it on its line.
    goes_on: bool,
}

impl Tag {
    /// As it stands, and its line.
    fn find_name(&self, text: &str) -> (String, usize) {
        let line = text[..self.start].matches('\n').count() + 1;
        (text[self.start..self.end].to_owned(), line)
    }
}

/// Where the first word of a list item or behind a label stands in a line: what comes after it is
/// part of a sentence.
fn find_sentence(line: &str) -> Option<usize> {
    const LABEL: usize = 120;
    let said = line.trim_start();
    let digits = said.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = digits.len() < said.len() && digits.starts_with(['.', ')']);
    let item = match is_numbered {
        true => Some(&digits[1..]),
        false => said.strip_prefix(['-', '*', '+']),
    };
    let item = item.filter(|item| item.starts_with(' '));
    let begins = said.starts_with(|c: char| c.is_alphanumeric() || c == '*');
    let mut pairs = said.as_bytes().windows(2).take(LABEL + 1);
    let label = pairs.position(|pair| pair == b": ").filter(|_| begins);
    let words = item.or_else(|| label.map(|at| &said[at + 1..]))?;
    let word = words.find(char::is_alphanumeric)?;
    Some(line.len() - words.len() + word)
}

/// The tags of thoughts in a text, in order: `<think>`, `</Reasoning >`, `[THINK]`, `◁think▷`. One
/// in a code span or in a text of JSON is none.
struct Tags<'a> {
    text: &'a str,
    at: usize,
    /// Up to where marks were counted: back-quotes and quotes of the line, whether they are odd.
    counted: usize,
    in_code: bool,
    in_quotes: bool,
    /// Where the line begins up to which was counted.
    line: usize,
    /// Where the line of the last tag begins, and where a sentence does in it.
    sentence: Option<(usize, Option<usize>)>,
}

impl<'a> Tags<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            counted: 0,
            in_code: false,
            in_quotes: false,
            line: 0,
            sentence: None,
        }
    }

    /// Whether a sentence of its line has begun before `start`.
    fn is_in_sentence(&mut self, start: usize) -> bool {
        let begins = match self.sentence {
            Some((line, begins)) if line == self.line => begins,
            _ => {
                let line = &self.text[self.line..];
                let line = line.split('\n').next().unwrap_or(line);
                find_sentence(line).map(|word| self.line + word)
            }
        };
        self.sentence = Some((self.line, begins));
        begins.is_some_and(|begins| begins < start)
    }

    fn count_to(&mut self, end: usize) {
        for (at, byte) in self.text[self.counted..end].bytes().enumerate() {
            match byte {
                b'\n' => {
                    (self.in_code, self.in_quotes) = (false, false);
                    self.line = self.counted + at + 1;
                }
                b'`' => self.in_code = !self.in_code,
                b'"' => self.in_quotes = !self.in_quotes,
                _ => {}
            }
        }
        self.counted = end;
    }
}

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        loop {
            let start = self.at + self.text[self.at..].find(['<', '[', '◁'])?;
            let opener = self.text[start..].chars().next()?;
            self.at = start + opener.len_utf8();
            let Some(mut tag) = read_tag(self.text, start) else {
                continue;
            };
            self.count_to(start);
            if !self.in_code && !self.in_quotes {
                self.at = tag.end;
                tag.line = self.line;
                tag.in_sentence = self.is_in_sentence(start);
                let behind = self.text[tag.end..].trim_start_matches(' ');
                tag.goes_on = !behind.is_empty() && !behind.starts_with(['\n', '\r']);
                return Some(tag);
            }
        }
    }
}

/// What follows a bracket begins with the name of thoughts: no farther than the next bracket, so
/// that brackets without end are looked through once.
fn names_thoughts(inside: &str) -> bool {
    let is_blank = |c: char| c.is_whitespace() && c != '\n';
    let inside = inside.trim_start_matches(|c: char| c == '|' || is_blank(c));
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let inside = inside.trim_start_matches(is_blank);
    let ends = |c: char| c.is_whitespace() || matches!(c, '|' | '<' | '>' | '[' | ']' | '◁' | '▷');
    let name = &inside[..inside.find(ends).unwrap_or(inside.len())];
    let name = name.rsplit(':').next().unwrap_or(name);
    THOUGHTS
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

fn read_tag(text: &str, start: usize) -> Option<Tag> {
    let mut chars = text[start..].chars();
    let opener = chars.next()?;
    let closer = match opener {
        '<' => '>',
        '[' => ']',
        _ => '▷',
    };
    let inside = chars.as_str();
    if !names_thoughts(inside) {
        return None;
    }
    let length = inside.find([closer, '\n', opener])?;
    if length > MAX_TAG || !inside[length..].starts_with(closer) {
        return None;
    }
    let words = inside[..length].trim_matches(|c: char| c == '|' || c.is_whitespace());
    let (closes, words) = match words.strip_prefix('/') {
        Some(words) => (true, words),
        None => (false, words),
    };
    let name = words.split_whitespace().next()?;
    // `<seed:think>` is one too.
    let name = name.rsplit(':').next().unwrap_or(name);
    let is_shouted = name.chars().all(|c| c.is_ascii_uppercase());
    let name = name.to_lowercase();
    let is_known = THOUGHTS.contains(&name.as_str()) && (opener != '[' || is_shouted);
    is_known.then(|| Tag {
        start,
        end: start + opener.len_utf8() + length + closer.len_utf8(),
        name,
        closes,
        line: 0,
        in_sentence: false,
        goes_on: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        for (text, wanted) in [
            ("<think>{}</think>[1]", "[1]"),
            ("\n<thinking>\na\n</thinking>\nb", "\n\nb"),
            ("so {} or\n</think>\n[1]", "\n[1]"),
            ("a\n<think>never ends", "a\n"),
            ("a `</think>` in words", "a `</think>` in words"),
            ("{\"a\": \"<think>\"}", "{\"a\": \"<think>\"}"),
            ("OK. <THINK a=b>x</Think >y", "OK. \ny"),
            ("<reasoning>\n<think>\n</reasoning>a", "a"),
            ("<seed:think>x</seed:think>a", "a"),
            ("[THINK]x[/THINK]a [think] b", "a [think] b"),
            ("◁think▷x◁/think▷a", "a"),
            ("Vec<Thing> a < b </p>", "Vec<Thing> a < b </p>"),
            ("<think>a</think>b<think>c</think>d", "b\nd"),
            ("plain", "plain"),
            (
                "- between <think> and </think>\n- a",
                "- between <think> and </think>\n- a",
            ),
            ("- p.py:5 passes </think> on", "- p.py:5 passes </think> on"),
            (
                "1. it does not end at <think>\na",
                "1. it does not end at <think>\na",
            ),
            (
                "Follow-up: keep <reasoning>x</reasoning>",
                "Follow-up: keep <reasoning>x</reasoning>",
            ),
            ("- draft\n- more </think>\na", "\na"),
            ("- <think>a</think>b", "- \nb"),
            ("- so <think>\na\n</think>\nb", "\nb"),
            ("<think>\n- a </think> b", " b"),
        ] {
            assert_eq!(without_thoughts(text).text, wanted, "{text:?}");
        }
        let unended = without_thoughts("a\n<Think>b").unended;
        assert_eq!(unended, Some(("<Think>".to_owned(), 2)));
        let ended = without_thoughts("a\nb</think>c").ended;
        assert_eq!(ended, Some(("</think>".to_owned(), 2)));
    }

    #[test]
    fn thoughts_without_end_are_searched_in_bounded_time() {
        const BYTES: usize = 1 << 20;
        let start = std::time::Instant::now();
        for piece in [
            "<",
            "<think>",
            "</think>",
            "`<think>",
            "<think></think>",
            "[",
            "◁think",
            "<think ",
            "< ",
            "</think>\n",
            "a: <think></think>",
        ] {
            without_thoughts(&piece.repeat(BYTES / piece.len()));
            without_thoughts(&format!("- {}", piece.repeat(BYTES / piece.len())));
        }
        assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    }
}
