//! Entries of the brief: their fields, authors and ids, and the brief as text.

use crate::digest::sha256_of_parts;
use crate::model::{Stamp, is_hidden};
use crate::prelude::*;

// A field of a brief is one line of text that cannot imitate a heading or a second bullet.

/// A rule that an artifact breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}`: {rule}")]
pub struct FieldError {
    /// The field, such as `brief.established[3].basis`; empty for the whole input.
    pub path: String,
    /// The rule: a lowercase fragment.
    pub rule: String,
}

impl FieldError {
    pub(super) fn new(path: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            rule: rule.into(),
        }
    }
}

/// Whether a character is white space: Unicode's `White_Space`, or the byte order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// The field as it is kept: its lines joined, one leading bullet removed from each, white space collapsed, hidden
/// characters removed last.
///
/// # Errors
/// A breach without a path: the field is empty or too long.
pub fn normalise(text: &str) -> Result<String, FieldError> {
    let lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .map(|line| without_bullet(line).trim_matches(is_blank))
        .filter(|line| !line.is_empty());
    let joined = lines.collect::<Vec<_>>().join(" ");
    let words = joined.split(is_blank).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    let kept: String = line.chars().filter(|c| !is_hidden(*c)).collect();
    // Hidden characters between blanks leave nothing.
    if kept.chars().all(is_blank) {
        return Err(FieldError::new("", "holds no text"));
    }
    if kept.chars().count() > MAX_FIELD_CHARS {
        let rule = format!("is longer than {MAX_FIELD_CHARS} characters");
        return Err(FieldError::new("", rule));
    }
    Ok(kept)
}

/// Normalises until nothing changes: stored text must come back the same however often it is written and read, and
/// one reading may remove another bullet or blank. A text that is not a field stays as it is, to be refused.
pub(super) fn settle(text: &str) -> String {
    let mut text = text.to_owned();
    while let Ok(next) = normalise(&text) {
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Removes white space and one `-` or `*` at the beginning, if white space follows.
fn without_bullet(line: &str) -> &str {
    let rest = line.trim_start_matches(is_blank);
    match rest.strip_prefix(['-', '*']) {
        Some(after) if after.starts_with(is_blank) => after,
        _ => line,
    }
}

// The author of an entry: the name beside it distinguishes the user's words from an agent's.

/// The name of a user who gives none.
const USER: &str = "user";

/// Names of cook and of the user, which nobody else may use.
const TAKEN: [&str; 5] = [USER, "script", "cook", "undo", "human"];

/// The name beside an entry of the user.
pub fn name_user(by: &str) -> String {
    match is_users(by) {
        true => by.to_owned(),
        false => format!("{USER} ({by})"),
    }
}

/// Whether the entry is the user's.
pub fn is_users(by: &str) -> bool {
    by == USER || by.starts_with("user (")
}

/// Returns the name, if it is not the user's.
///
/// # Errors
/// `user_only` if it reads as the user's or cook's own.
pub fn not_user(by: String) -> Result<String, Refusal> {
    let first = by
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| !word.is_empty());
    let first = first.unwrap_or_default().to_lowercase();
    match TAKEN.contains(&first.as_str()) {
        false => Ok(by),
        true => Err(refusal!(
            Code::UserOnly,
            "only the user, or a script with `--as-user`, may sign as `{by}`"
        )),
    }
}

// The brief as text, byte for byte, and what is left out to fit a budget.

/// The seven slots, every field normalised.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Brief {
    /// The task.
    pub task: String,
    /// The condition under which the task is done.
    pub done_when: String,
    /// The entries of all slots; within a slot, in this order.
    pub lines: Vec<BriefLine>,
}

impl Brief {
    /// The entries of one slot.
    pub fn of(&self, slot: Slot) -> impl Iterator<Item = &BriefLine> {
        self.lines.iter().filter(move |line| line.slot == slot)
    }

    /// The same brief with every field normalised.
    ///
    /// # Errors
    /// The first field that is empty or too long.
    pub fn normalise(mut self) -> Result<Self, FieldError> {
        let at = |path: String| move |breach: FieldError| FieldError { path, ..breach };
        self.task = normalise(&self.task).map_err(at("brief.task".to_owned()))?;
        self.done_when = normalise(&self.done_when).map_err(at("brief.done_when".to_owned()))?;
        let mut numbers = [0_usize; 5];
        for line in &mut self.lines {
            let slot = line.slot;
            let number = &mut numbers[slot as usize];
            for (key, text) in line.texts_mut() {
                *text =
                    normalise(text).map_err(at(format!("brief.{}[{number}].{key}", slot.id())))?;
            }
            *number += 1;
        }
        Ok(self)
    }
}

/// The heading of a slot.
fn heading(slot: Slot) -> &'static str {
    match slot {
        Slot::Forbid => "Forbid",
        Slot::Established => "Established",
        Slot::Learned => "Learned",
        Slot::Open => "Open",
        Slot::Next => "Next",
    }
}

/// One entry as a bullet, without its `- `.
pub fn line_text(line: &BriefLine) -> String {
    let BriefLine { head, tail, .. } = line;
    match (line.slot, &line.proof) {
        (Slot::Next, _) => format!("{head} → {tail}"),
        (_, Some((basis, reopen))) => format!(
            "{head} — evidence: {tail}; basis: {}; reopen: {reopen}",
            basis.id()
        ),
        (slot, None) => format!("{head} — {}: {tail}", slot.fields()[1]),
    }
}

/// Renders the whole brief, without a trailing newline. Empty fields, which only an extract has, are left out.
pub fn render(brief: &Brief) -> String {
    let fields = [("Task", &brief.task), ("Done When", &brief.done_when)];
    let fields = fields.into_iter().filter(|(_, text)| !text.is_empty());
    let mut sections: Vec<String> = fields
        .map(|(heading, text)| format!("## {heading}\n{text}"))
        .collect();
    for slot in Slot::ALL {
        let bullets: Vec<String> = brief
            .of(slot)
            .map(|line| format!("- {}", line_text(line)))
            .collect();
        if !bullets.is_empty() {
            sections.push(format!("## {}\n{}", heading(slot), bullets.join("\n")));
        }
    }
    sections.join("\n\n")
}

/// How much an entry matters if room is short. The lightest is left out first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// A lesson; the newest is the heaviest.
    Learned(u64),
    /// An established entry, by the time when it was last verified.
    Established(String),
    /// A next step after the first.
    Later,
    /// An open question.
    Open,
    /// A claim whose anchor changed or failed.
    Failed,
    /// Never left out.
    Kept,
}

/// A rendering within a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgeted {
    /// The text; no trailing newline.
    pub text: String,
    /// Number of entries that were left out.
    pub left_out: usize,
    /// Whether it is larger than the budget, because the rest may not be left out.
    pub over: bool,
}

/// Renders what fits into `max_bytes`, including a final newline. `weights` has one weight for each line.
pub fn within(brief: &Brief, weights: &[Weight], max_bytes: usize) -> Budgeted {
    let room = max_bytes.saturating_sub(1);
    let text = render(brief);
    if text.len() <= room {
        return Budgeted {
            text,
            left_out: 0,
            over: false,
        };
    }
    let mut order: Vec<usize> = (0..brief.lines.len()).collect();
    // Heaviest first; of equal ones, the earlier first.
    order.sort_by(|a, b| weights[*b].cmp(&weights[*a]).then(a.cmp(b)));
    let mut sizes = Sizes::of(brief);
    let mut kept = vec![false; order.len()];
    let mut left = order.len();
    for at in order {
        let line = &brief.lines[at];
        let note = match left - 1 {
            0 => 0,
            left => 2 + note_left_out(left).len(),
        };
        // Entries that are lighter than the first that does not fit are left out too.
        if weights[at] != Weight::Kept && sizes.with(line) + note > room {
            break;
        }
        sizes.add(line);
        kept[at] = true;
        left -= 1;
    }
    let mut shown = brief.clone();
    let mut kept = kept.into_iter();
    shown.lines.retain(|_| kept.next().unwrap_or_default());
    let mut text = render(&shown);
    if left > 0 {
        text.push_str("\n\n");
        text.push_str(&note_left_out(left));
    }
    Budgeted {
        over: text.len() > room,
        text,
        left_out: left,
    }
}

fn note_left_out(number: usize) -> String {
    format!("_{number} entries left out: cook brief --all_")
}

/// The size of a rendering in bytes, while entries are added to it.
struct Sizes {
    bytes: usize,
    opened: [bool; 5],
}

impl Sizes {
    fn of(brief: &Brief) -> Self {
        let empty = Brief {
            task: brief.task.clone(),
            done_when: brief.done_when.clone(),
            lines: Vec::new(),
        };
        Self {
            bytes: render(&empty).len(),
            opened: [false; 5],
        }
    }

    fn with(&self, line: &BriefLine) -> usize {
        let slot = line.slot;
        let opening = match self.opened[slot as usize] {
            true => 0,
            false => "\n\n## ".len() + heading(slot).len(),
        };
        self.bytes + opening + "\n- ".len() + line_text(line).len()
    }

    fn add(&mut self, line: &BriefLine) {
        self.bytes = self.with(line);
        self.opened[line.slot as usize] = true;
    }
}

// Ids of entries: the same claim about the same place has the same id, whatever its line number is now.

/// The path of a path anchor, otherwise the whole anchor.
fn place(anchor: &str) -> String {
    use crate::model::Anchor;
    match Anchor::parse(anchor) {
        Ok(Anchor::Lines { path, .. } | Anchor::Symbol { path, .. }) => path,
        _ => fold(anchor),
    }
}

/// Folds white space, which never distinguishes two claims.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn digest(parts: &[&str], hex_digits: usize) -> String {
    sha256_of_parts(parts)[..hex_digits].to_owned()
}

/// The id of an entry: `e` and 12 hex digits of a digest of slot, claim, and the anchor's target (path and text,
/// or the anchor itself if no text is stamped).
pub fn entry_id(line: &BriefLine, stamp: Option<&Stamp>) -> String {
    let stamped = stamp.and_then(|stamp| stamp.text_sha256.as_deref());
    let target = match (line.slot, stamped) {
        (Slot::Established, Some(text)) => format!("{}\u{1f}{text}", place(&line.tail)),
        (Slot::Established, None) => fold(&line.tail),
        _ => String::new(),
    };
    let parts = [line.slot.id(), &fold(&line.head), &target];
    format!("e{}", digest(&parts, 12))
}

/// A short id for an entry that cook fills in itself and does not store.
pub fn line_digest(line: &BriefLine) -> String {
    format!("c{}", digest(&[line.slot.id(), &line_text(line)], 12))
}

#[cfg(test)]
mod tests_of_field {
    use super::*;

    #[test]
    fn lines_become_one() {
        for (given, kept) in [
            ("a", "a"),
            ("  - a\r\n * b\n\n-c\n--d\n- - e", "a b -c --d - e"),
            ("a\u{a0}\u{2003}\u{feff}b\tc\u{2028}d\re", "a b c d e"),
            ("## Task\n## Next", "## Task ## Next"),
            (
                "a\u{1b}[31m\u{202e}b\u{200b}c\u{e0041}\u{7f}\u{9b}",
                "a[31mbc",
            ),
            ("a \u{200b} b", "a  b"),
            ("-\u{200b} a", "- a"),
            ("— source: x", "— source: x"),
        ] {
            assert_eq!(normalise(given).as_deref(), Ok(kept), "{given:?}");
        }
    }

    #[test]
    fn nothing_is_rejected() {
        for given in [
            "",
            " \n\t",
            "\u{feff}",
            "\u{200b}",
            "- \n* ",
            "\u{200b} \u{200b}",
        ] {
            assert_eq!(
                normalise(given).unwrap_err().rule,
                "holds no text",
                "{given:?}"
            );
        }
        assert!(normalise(&"é".repeat(MAX_FIELD_CHARS)).is_ok());
        assert!(normalise(&"é".repeat(MAX_FIELD_CHARS + 1)).is_err());
    }
}

#[cfg(test)]
mod tests_of_author {
    use super::*;

    #[test]
    fn nobody_else_signs_as_the_user() {
        for by in [
            "user",
            "User",
            " user",
            "user (me)",
            "the-user",
            "USER-1",
            "script",
            "cook",
        ] {
            assert_eq!(not_user(by.to_owned()).is_err(), by != "the-user", "{by}");
        }
        assert!(is_users(&name_user("ann")) && is_users(&name_user("user")));
        assert!(!is_users("username") && !is_users("ann"));
    }
}

#[cfg(test)]
mod tests_of_render {
    use super::*;

    fn make_learned(text: &str) -> BriefLine {
        BriefLine::new(Slot::Learned, text.to_owned(), "s")
    }

    fn brief(lines: Vec<BriefLine>) -> Brief {
        Brief {
            task: "t".to_owned(),
            done_when: "d".to_owned(),
            lines,
        }
    }

    #[test]
    fn empty_lists_have_no_section() {
        assert_eq!(render(&brief(Vec::new())), "## Task\nt\n\n## Done When\nd");
    }

    #[test]
    fn a_budget_is_kept_and_what_goes_is_counted() {
        let lines: Vec<BriefLine> = (0..10)
            .map(|n| make_learned(&format!("lesson é {n}")))
            .collect();
        let weights: Vec<Weight> = (0..10).map(Weight::Learned).collect();
        let brief = brief(lines);
        let whole = within(&brief, &weights, 10_000);
        assert_eq!((whole.left_out, whole.text.as_str()), (0, &*render(&brief)));
        let exact = render(&brief).len() + 1;
        assert_eq!(within(&brief, &weights, exact).left_out, 0);
        for max in 90..exact {
            let fitted = within(&brief, &weights, max);
            assert!(fitted.left_out > 0 && fitted.text.len() < max, "{max}");
            let note = format!(
                "\n\n_{} entries left out: cook brief --all_",
                fitted.left_out
            );
            assert!(fitted.text.ends_with(&note), "{max}");
            // The newest stay.
            for number in fitted.left_out..10 {
                assert!(fitted.text.contains(&format!("é {number} ")), "{max}");
            }
        }
        let tiny = within(&brief, &weights, 5);
        assert!(tiny.over && tiny.left_out == 10);
    }
}
