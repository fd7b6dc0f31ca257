//! The brief as text, byte for byte, and what is left out to fit a budget.

use super::field::{FieldError, normalise};
use crate::model::{BriefLine, Slot};

/// The seven slots, every field normalised.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Brief {
    /// What is being done.
    pub task: String,
    /// When it is done.
    pub done_when: String,
    /// The lists; within a slot the order is the order of this list.
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

/// The whole brief; no trailing newline. Empty fields, which only an extract has, are left out.
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

/// How much an entry matters when room is short; the first that goes has the least.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Learned, the newest last.
    Learned(u64),
    /// Established, by when it was last verified.
    Established(String),
    /// What comes after the first next step.
    Later,
    /// An open question.
    Open,
    /// A claim whose anchor changed or failed.
    Failed,
    /// Never left out.
    Kept,
}

/// A rendering that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgeted {
    /// The text; no trailing newline.
    pub text: String,
    /// Entries that were left out.
    pub left_out: usize,
    /// It is larger than asked for, because the rest may not be left out.
    pub over: bool,
}

/// Renders what fits `max_bytes`, the final newline counted in. `weights` stand
/// beside the lines.
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
    // Heaviest first; of equals the one that stands first.
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
        // What is lighter than the first that does not fit goes with it.
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

/// Bytes of a rendering while entries are added to it.
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

#[cfg(test)]
mod tests {
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
