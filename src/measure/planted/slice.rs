//! The strength of a slice's gates, once all of them are green at its commit.

use super::before::{list_unread, tell_unread};
use super::found::{Field, Green, Planted, Reverted};
use super::trial::{plant_defects, texts, why_not};
use crate::measure::deciding::deciding;
use crate::measure::world::World;
use cook_mutants::{Class, Edited, Language};
use cook_protocol::diagnostic::{Code, Failure, Lines, clean};
use cook_protocol::machine::{GateQuestion, GateRun};
use cook_protocol::model::{Count, StrengthNote, StrengthRule, UnnoticedDefect};
use cook_repo::receipt::TakenBack;

/// Defects that are named, and bytes of the diff of each.
const NAMED: usize = 40;
const DIFF: usize = 600;

impl World<'_> {
    /// What planted defects say of these runs; nothing where it is not asked for, or one of them is red.
    pub(in crate::measure) fn strength(
        &self,
        question: &GateQuestion,
        runs: &[GateRun],
    ) -> Result<Option<StrengthNote>, Failure> {
        let is_red = |run: &GateRun| run.gate.required && !run.has_passed();
        let rule = self.config.rules.strength;
        if rule == StrengthRule::Off || runs.iter().any(is_red) {
            return Ok(None);
        }
        let ends = (
            self.repo.resolve(&question.basis)?,
            self.repo.resolve(&question.commit)?,
        );
        let (Some(base), Some(head)) = ends else {
            return Ok(None);
        };
        let mut note = StrengthNote {
            commit: head.clone(),
            required: self.config.find_required_strength(),
            ..StrengthNote::default()
        };
        let edits = self.repo.edits(&base, &head)?;
        let mut commands = deciding((self.repo, self.config), &edits, &base)?;
        commands.extend(question.commands.iter().cloned());
        let texts = texts(&edits, &commands);
        note.untried = list_untried(&texts);
        note.not_applicable = why_not(&texts);
        // The rest may be noticed: it says nothing of what nobody read.
        if let Some(why) = tell_unread(&list_unread(&edits, &commands)) {
            note.not_applicable = None;
            note.problem = Some(why);
            return Ok(Some(note));
        }
        if note.not_applicable.is_some() && note.untried.is_empty() {
            return Ok(Some(note));
        }
        if note.not_applicable.take().is_some() {
            note.problem = Some("nothing is planted in what the gates' commands name".to_owned());
            return Ok(Some(note));
        }
        let greens = list_green(runs);
        if greens.is_empty() {
            note.problem = Some("no gate ran".to_owned());
            return Ok(Some(note));
        }
        let runner = self.runner()?;
        let run = |files: &[TakenBack], gate: &_| {
            runner.run_without(&head, files, std::slice::from_ref(gate), self.caches)
        };
        let field = Field {
            repo: self.repo,
            base: &base,
            head: &head,
            edits: &edits,
            commands: &commands,
            greens: &greens,
            run: &run,
            tell: &|_| {},
        };
        let budget = &self.config.strength;
        if budget.mutants == 0 || budget.minutes == 0 {
            note.problem = Some("`[strength]` leaves no defect or no time".to_owned());
            return Ok(Some(note));
        }
        match plant_defects(&field, (budget.mutants as usize, budget.minutes.into())) {
            Ok(planted) => write_down(planted, &mut note),
            // A gate was green, and does not run any more.
            Err(failure) if failure.code == Code::GatesNotGreen => {
                note.problem = Some(failure.message);
            }
            Err(failure) => return Err(failure),
        }
        Ok(Some(note))
    }
}

/// Code that changed and in which nothing is planted: what a command names may be what tests, and no language
/// is known of the rest.
fn list_untried(texts: &[Edited]) -> Vec<String> {
    let is_untried = |edit: &&Edited| {
        let Some(text) = edit.after else {
            return false;
        };
        let is_known = Language::of(edit.path, text) != Language::Other;
        match edit.class {
            Class::Gate => is_known && edit.before != edit.after,
            Class::Source => !is_known,
            _ => false,
        }
    };
    let untried = texts.iter().filter(is_untried).take(NAMED);
    untried.map(|edit| clean(edit.path, Lines::Fold)).collect()
}

/// Gates that passed, the fastest first.
fn list_green(runs: &[GateRun]) -> Vec<Green> {
    let passed = runs.iter().filter(|run| run.has_passed());
    let mut greens: Vec<Green> = passed
        .filter_map(|run| {
            let receipt = run.receipt.as_ref()?;
            Some(Green {
                gate: run.gate.clone(),
                ms: receipt.duration_ms.0,
                tail: receipt.tail.clone(),
            })
        })
        .collect();
    greens.sort_by_key(|green| green.ms);
    greens
}

fn write_down(planted: Planted, note: &mut StrengthNote) {
    note.proves_nothing = planted.reverted == Reverted::Unnoticed;
    note.noticed = Count(planted.tally.killed as u64);
    note.unnoticed = Count(planted.survivors.len() as u64);
    note.left_out = Count(planted.left_out as u64);
    note.unbuildable = Count(planted.tally.unbuildable as u64);
    note.problem = planted.problem;
    let defects = planted.survivors.into_iter().take(NAMED);
    note.defects = defects
        .map(|defect| UnnoticedDefect {
            id: defect.id,
            // A name is anybody's text, and goes into prompts.
            path: clean(&defect.path, Lines::Fold),
            line: Count(defect.line as u64),
            what: defect.what,
            diff: begin(defect.diff.unwrap_or_default()),
        })
        .collect();
    if note.problem.is_some() || note.noticed.0 + note.unnoticed.0 > 0 {
        return;
    }
    // A gate can print the words of a compiler: it alone says that nothing builds.
    if note.unbuildable.0 > 0 {
        note.problem = Some(format!(
            "by what the gates print, none of the {} defects that were tried builds",
            note.unbuildable.0
        ));
    } else if planted.left_out > 0 {
        note.problem = Some("the time was over before a defect was tried".to_owned());
    }
}

/// The beginning of a long text.
fn begin(mut text: String) -> String {
    if text.len() > DIFF {
        let end = (0..=DIFF).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text.push_str("…\n");
    }
    text
}
