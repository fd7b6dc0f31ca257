//! Takes the whole change back, then plants one defect after another.

use super::found::{Ask, Measured, Reverted, Survivor};
use super::span::{self, Span};
use super::tried::{Tried, try_files};
use crate::check::{Green, Tell, deciding, read_files_before, require_green, sources};
use crate::service::Workspace;
use cook_core::diagnostic::{Failure, count_noun};
use cook_git::{Edit, MAX_EDITS};
use cook_store::receipt::TakenBack;
use cook_strength::{
    Class, Edited, Language, Mutant, Outcome, Planting, Subject, Tally, classify, plant, subject,
};
use std::time::{Duration, Instant};

/// Plants defects in a change, and counts those that its gates notice.
///
/// # Errors
/// A base or a slice that is not known, gates that may not run or are not green, an interruption.
pub(crate) fn measure(
    workspace: &mut Workspace,
    ask: &Ask,
    tell: Tell,
) -> Result<Measured, Failure> {
    let Span {
        head,
        base,
        commands: own,
    } = span::find(workspace, ask)?;
    let proposed = workspace.propose_gates()?;
    let edits = workspace.repo.edits(&base.commit, &head)?;
    let mut commands = deciding(workspace, &edits, &base.commit)?;
    commands.extend(own.iter().cloned());
    let texts = texts(&edits, &commands);
    let mut measured = Measured {
        head,
        base,
        not_applicable: why_not(subject(&texts)),
        reverted: Reverted::Unknown,
        tally: Tally::default(),
        timed_out: 0,
        survivors: Vec::new(),
        left_out: 0,
        seconds: 0.0,
        checked: Vec::new(),
    };
    if edits.len() > MAX_EDITS {
        measured.checked.push(format!(
            "{} differ, of which the first {MAX_EDITS} were read",
            count_noun(edits.len() as u64, "file")
        ));
    }
    if !workspace.repo.status()?.worktree.is_clean() {
        let what = "what is not committed was not looked at";
        measured.checked.push(what.to_owned());
    }
    if measured.not_applicable.is_some() {
        return Ok(measured);
    }
    let span = (measured.head.as_str(), &measured.base);
    let (mut greens, looked_at) = require_green(workspace, span, (proposed, &own), tell)?;
    measured.checked.extend(looked_at);
    greens.sort_by_key(|green| green.ms);
    let started = Instant::now();
    let deadline = started + Duration::from_secs(ask.minutes.saturating_mul(60).min(MOST_SECONDS));
    let trial = Trial {
        workspace,
        greens: &greens,
        deadline,
        tell,
    };
    trial.take_back(&sources(&edits, &commands), &mut measured)?;
    let planting = planting(&texts, ask.mutants, &mut measured);
    trial.plant(planting, &mut measured)?;
    measured.seconds = started.elapsed().as_secs_f64();
    Ok(measured)
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
                class: classify(&edit.change.path, commands),
                before: before.as_deref(),
                after: after.as_deref(),
            })
        })
        .collect()
}

fn why_not(subject: Subject) -> Option<String> {
    let why = match subject {
        Subject::Code => return None,
        Subject::NoSource => "the change touches no text of source",
        Subject::Comments => "the change edits comments and blanks alone",
        Subject::Moves => "the change moves code and brings none",
        Subject::Deletions => "the change takes code away and brings none",
    };
    Some(why.to_owned())
}

/// Defects of the files whose language is known.
fn planting(texts: &[Edited], most: usize, measured: &mut Measured) -> Planting {
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
        measured.checked.push(format!(
            "no defect is planted in `{}`{others}: the language is not known here",
            first.path
        ));
    }
    plant(&known, &measured.head, most)
}

/// By what defects are tried.
struct Trial<'a> {
    workspace: &'a Workspace,
    greens: &'a [Green],
    deadline: Instant,
    tell: Tell<'a>,
}

impl Trial<'_> {
    fn take_back(&self, sources: &[&Edit], measured: &mut Measured) -> Result<(), Failure> {
        let span = (measured.base.commit.as_str(), measured.head.as_str());
        let files = match read_files_before(self.workspace, sources, span)? {
            Ok(files) => files,
            Err(why) => {
                measured.checked.push(format!(
                    "whether a gate notices the change as a whole cannot be told: {why}"
                ));
                return Ok(());
            }
        };
        (self.tell)("once with the whole change taken back");
        measured.reverted = match self.try_files(&measured.head, &files)? {
            Tried::OutOfTime => {
                let what = "the whole change was not taken back: the time was over";
                measured.checked.push(what.to_owned());
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

    fn plant(&self, planting: Planting, measured: &mut Measured) -> Result<(), Failure> {
        let all = planting.mutants.len();
        let mut outcomes = Vec::new();
        for (at, mutant) in planting.mutants.into_iter().enumerate() {
            (self.tell)(&format!(
                "defect {} of {all}, {} noticed: {}:{}",
                at + 1,
                outcomes
                    .iter()
                    .filter(|outcome| **outcome == Outcome::Killed)
                    .count(),
                mutant.path,
                mutant.line
            ));
            let file = self.file(&mutant, &measured.head)?;
            match self.try_files(&measured.head, &[file])? {
                Tried::OutOfTime => break,
                Tried::Told { outcome, timed_out } => {
                    outcomes.push(outcome);
                    measured.timed_out += usize::from(timed_out && outcome == Outcome::Killed);
                    if outcome == Outcome::Survived {
                        measured.survivors.push(Survivor::from(mutant));
                    }
                }
            }
        }
        measured.left_out = planting.possible.saturating_sub(outcomes.len());
        if outcomes.len() < all {
            let what = format!(
                "{} not tried: the time was over",
                count_noun((all - outcomes.len()) as u64, "defect")
            );
            measured.checked.push(what);
        }
        if planting.possible > all {
            let what = format!(
                "{} sampled of {} that could be planted, by the commit's id",
                count_noun(all as u64, "defect"),
                planting.possible
            );
            measured.checked.push(what);
        }
        measured.tally = Tally::of(outcomes);
        Ok(())
    }

    /// The file with a defect, to be run where it could be run before.
    fn file(&self, mutant: &Mutant, head: &str) -> Result<TakenBack, Failure> {
        let entry = self.workspace.repo.tree_entry(head, &mutant.path)?;
        Ok(TakenBack {
            path: mutant.path.clone(),
            bytes: Some(mutant.text.clone().into_bytes()),
            runs: entry.is_some_and(|entry| entry.mode == "100755"),
        })
    }

    fn try_files(&self, head: &str, files: &[TakenBack]) -> Result<Tried, Failure> {
        try_files(self.workspace, head, files, self.greens, self.deadline)
    }
}
