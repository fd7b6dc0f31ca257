//! Takes the whole change back, then plants one defect after another.

use super::before::{find_class, read_files_before, sources};
use super::found::{Field, Green, Planted, Reverted, Survivor};
use super::tried::{Tried, limit_to_own, limit_to_usual, try_files};
use cook_mutants::{
    Class, Edited, Language, Outcome, Planting, Subject, Tally, plant, subject, with_comment,
};
use cook_protocol::diagnostic::{Failure, count_noun, list_with_verb};
use cook_repo::git::Edit;
use cook_repo::receipt::TakenBack;
use std::time::{Duration, Instant};

/// Tries defects in a change that is green, so many at most, and begins none after so many minutes.
///
/// # Errors
/// A gate that cannot be run, an interruption.
pub(crate) fn plant_defects(
    field: &Field,
    (most, minutes): (usize, u64),
) -> Result<Planted, Failure> {
    let started = Instant::now();
    let limit = Duration::from_secs(minutes.saturating_mul(60).min(MOST_SECONDS));
    let mut trial = Trial {
        field,
        greens: field.greens.to_vec(),
        deadline: started + limit,
    };
    let mut planted = Planted::default();
    let texts = texts(field.edits, field.commands);
    trial.leave_out_readers(&texts, &mut planted)?;
    if planted.problem.is_some() {
        return Ok(planted);
    }
    // The budget counts from the first defect on.
    trial.deadline = Instant::now() + limit;
    trial.take_back(&mut planted)?;
    let planting = planting(&texts, (field.head, most), &mut planted);
    trial.plant(planting, &mut planted)?;
    planted.seconds = started.elapsed().as_secs_f64();
    Ok(planted)
}

/// A year: an instant that is further away may not be one.
const MOST_SECONDS: u64 = 365 * 24 * 60 * 60;

/// The texts of what was edited.
pub(crate) fn texts<'e>(edits: &'e [Edit], commands: &[String]) -> Vec<Edited<'e>> {
    edits
        .iter()
        .filter_map(|edit| {
            let (before, after) = edit.texts.as_ref()?;
            Some(Edited {
                path: &edit.change.path,
                class: find_class(edit, commands),
                before: before.as_deref(),
                after: after.as_deref(),
            })
        })
        .collect()
}

/// Why there is nothing to plant in, where that is so.
pub(crate) fn why_not(texts: &[Edited]) -> Option<String> {
    let why = match subject(texts) {
        Subject::Code => return None,
        Subject::NoSource => "the change touches no text of source",
        Subject::Comments => "the change edits comments and blanks alone",
        Subject::Moves => "the change moves code and brings none",
        Subject::Deletions => "the change takes code away and brings none",
    };
    Some(why.to_owned())
}

/// Defects of the files whose language is known.
fn planting(texts: &[Edited], (head, most): (&str, usize), planted: &mut Planted) -> Planting {
    let is_known = |edit: &Edited| {
        let text = edit.after.or(edit.before).unwrap_or_default();
        Language::of(edit.path, text) != Language::Other
    };
    let sources = texts.iter().filter(|edit| edit.class == Class::Source);
    let (known, unknown): (Vec<Edited>, Vec<Edited>) = sources.copied().partition(is_known);
    if let Some(first) = unknown.first() {
        let others = match unknown.len() {
            1 => String::new(),
            more => format!(" and {} more", more - 1),
        };
        planted.checked.push(format!(
            "no defect is planted in `{}`{others}: the language is not known here",
            first.path
        ));
    }
    plant(&known, head, most)
}

/// A change in which defects are tried until a moment.
struct Trial<'a> {
    field: &'a Field<'a>,
    greens: Vec<Green>,
    deadline: Instant,
}

impl Trial<'_> {
    /// A gate that is red where a comment was added looks at the text of the code: that it notices a
    /// defect says nothing. What that run takes, which builds what a green run may have found built, is
    /// what one with a defect takes.
    fn leave_out_readers(
        &mut self,
        texts: &[Edited],
        planted: &mut Planted,
    ) -> Result<(), Failure> {
        let sources = texts.iter().filter(|edit| edit.class == Class::Source);
        let mut files = Vec::new();
        for edit in sources {
            if let Some(text) = edit.after.and_then(|text| with_comment(edit.path, text)) {
                files.push(self.file(edit.path, text)?);
            }
        }
        if files.is_empty() {
            return Ok(());
        }
        (self.field.tell)("once with nothing but a comment added");
        let (mut looking, mut last) = (Vec::new(), Vec::new());
        for mut green in std::mem::take(&mut self.greens) {
            let (begun, one) = (Instant::now(), std::slice::from_ref(&green));
            let tried = try_files(self.field, one, &files, self.deadline, limit_to_own)?;
            let took = begun.elapsed().as_millis() as u64;
            match tried {
                Tried::Told {
                    outcome: Outcome::Killed | Outcome::Unbuildable,
                    timed_out,
                    said,
                } => {
                    looking.push(format!("`{}`", green.gate.run));
                    last.push(match timed_out {
                        true => format!("no end within {} s", took / 1000),
                        false => said,
                    });
                }
                _ => {
                    green.ms = green.ms.max(took);
                    self.greens.push(green);
                }
            }
        }
        self.greens.sort_by_key(|green| green.ms);
        if looking.is_empty() {
            return Ok(());
        }
        let what = format!(
            "{} red where nothing but comments was added to what changed (last: {}): what looks at the text, or is red by chance, notices no defect",
            list_with_verb(&looking),
            last.join("; ")
        );
        if self.greens.is_empty() {
            planted.problem = Some(what.clone());
        }
        planted.checked.push(what);
        Ok(())
    }

    fn take_back(&self, planted: &mut Planted) -> Result<(), Failure> {
        let sources = sources(self.field.edits, self.field.commands);
        let span = (self.field.base, self.field.head);
        let files = match read_files_before(self.field.repo, &sources, span)? {
            Ok(files) => files,
            Err(why) => {
                planted.checked.push(format!(
                    "whether a gate notices the change as a whole cannot be told: {why}"
                ));
                return Ok(());
            }
        };
        (self.field.tell)("once with the whole change taken back");
        planted.reverted = match try_files(
            self.field,
            &self.greens,
            &files,
            self.deadline,
            limit_to_usual,
        )? {
            Tried::OutOfTime => {
                let what = "the whole change was not taken back: the time was over";
                planted.checked.push(what.to_owned());
                Reverted::Unknown
            }
            Tried::Told {
                outcome: Outcome::Survived,
                ..
            } => Reverted::Unnoticed,
            Tried::Told { .. } => Reverted::Noticed,
        };
        Ok(())
    }

    fn plant(&self, planting: Planting, planted: &mut Planted) -> Result<(), Failure> {
        let all = planting.mutants.len();
        let mut outcomes = Vec::new();
        for (at, mutant) in planting.mutants.into_iter().enumerate() {
            (self.field.tell)(&format!(
                "defect {} of {all}, {} noticed: {}:{}",
                at + 1,
                outcomes
                    .iter()
                    .filter(|outcome| **outcome == Outcome::Killed)
                    .count(),
                mutant.path,
                mutant.line
            ));
            let file = self.file(&mutant.path, mutant.text.clone())?;
            match try_files(
                self.field,
                &self.greens,
                &[file],
                self.deadline,
                limit_to_usual,
            )? {
                Tried::OutOfTime => break,
                Tried::Told {
                    outcome, timed_out, ..
                } => {
                    outcomes.push(outcome);
                    planted.timed_out += usize::from(timed_out && outcome == Outcome::Killed);
                    if outcome == Outcome::Survived {
                        planted.survivors.push(Survivor::from(mutant));
                    }
                }
            }
        }
        planted.left_out = planting.possible.saturating_sub(outcomes.len());
        if outcomes.len() < all {
            let what = format!(
                "{} not tried: the time was over",
                count_noun((all - outcomes.len()) as u64, "defect")
            );
            planted.checked.push(what);
        }
        if planting.possible > all {
            let what = format!(
                "{} sampled of {} that could be planted, by the commit's id",
                count_noun(all as u64, "defect"),
                planting.possible
            );
            planted.checked.push(what);
        }
        planted.tally = Tally::of(outcomes);
        Ok(())
    }

    /// The file with a defect, to be run where it could be run before.
    fn file(&self, path: &str, text: String) -> Result<TakenBack, Failure> {
        let entry = self.field.repo.tree_entry(self.field.head, path)?;
        Ok(TakenBack {
            path: path.to_owned(),
            bytes: Some(text.into_bytes()),
            runs: entry.is_some_and(|entry| entry.mode == "100755"),
        })
    }
}
