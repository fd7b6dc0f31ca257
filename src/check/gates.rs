//! Gates: of the commit, of the worktree where they are red, and of the commit without its change.

use super::change::{deciding, loss_line};
use super::found::{Ask, Checked, Tell};
use super::line::Line;
use super::uncommitted::some;
use crate::measure::{Green, missing, read_files_before, sources};
use crate::service::Workspace;
use cook_core::change::LossKind;
use cook_core::diagnostic::{Code, Failure, count_noun, without_escapes};
use cook_core::machine::{self, GateRun};
use cook_core::model::{GateSpec, Place};
use cook_git::Edit;
use cook_strength::count_tests;

/// Gates of the settings, those of these names alone where there are any.
pub(super) fn choose(
    workspace: &Workspace,
    names: &[String],
    checked: &mut Checked,
) -> Result<Vec<GateSpec>, Failure> {
    let mut gates = workspace.config()?.gate_specs();
    for name in names {
        if !gates.iter().any(|gate| &gate.name == name) {
            let known: Vec<&str> = gates.iter().map(|gate| gate.name.as_str()).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            return Err(Failure::usage(format!(
                "unknown gate `{name}`; there is {known}"
            )));
        }
    }
    if !names.is_empty() {
        gates.retain(|gate| names.contains(&gate.name));
    }
    for gate in &mut gates {
        gate.must_fail_at_basis = false;
    }
    // What runs in the worktree says nothing of a commit.
    let (gates, here): (Vec<GateSpec>, Vec<GateSpec>) = gates
        .into_iter()
        .partition(|gate| gate.place == Place::CleanRoom);
    checked.checked.extend(here.iter().map(|gate| {
        format!(
            "`{}` was not run: it runs in the worktree, which says nothing of a commit",
            gate.run
        )
    }));
    Ok(gates)
}

pub(super) fn look(
    workspace: &Workspace,
    (ask, proposed): (&Ask, bool),
    gates: &[GateSpec],
    edits: &[Edit],
    tell: Tell,
    checked: &mut Checked,
) -> Result<(), Failure> {
    if gates.is_empty() {
        let what = "no gate is known here: nothing was run";
        checked
            .lines
            .push(Line::new(Code::NoGates, false, what, "cook init"));
        return Ok(());
    }
    let Some(gates) = runnable(workspace, gates, checked)? else {
        return Ok(());
    };
    let greens = run_green(workspace, (&gates, proposed), edits, tell, checked)?;
    let took = greens.iter().map(|green| green.ms).sum();
    if greens.len() == gates.len() && !ask.no_revert {
        take_back(workspace, &gates, edits, (tell, took), checked)?;
    }
    Ok(())
}

/// Runs gates that may run here; those that are green, and a line for each other one.
pub(super) fn run_green(
    workspace: &Workspace,
    (gates, proposed): (&[GateSpec], bool),
    edits: &[Edit],
    tell: Tell,
    checked: &mut Checked,
) -> Result<Vec<Green>, Failure> {
    let mut greens = Vec::new();
    for gate in gates {
        tell(&format!("{}: `{}` in a clean room", gate.name, gate.run));
        let head = checked.head.clone();
        let runs =
            workspace.run_gates_since(&head, &checked.base.commit, std::slice::from_ref(gate))?;
        for run in runs {
            for loss in &run.losses {
                let mut line = loss_line(loss, edits, checked);
                // As many tests as before: it may be a new name, and the sources tell that better.
                line.fails = loss.kind != LossKind::Deleted;
                checked.lines.push(line);
            }
            if run.has_passed() {
                let ms = run
                    .receipt
                    .as_ref()
                    .map_or(0, |receipt| receipt.duration_ms.0);
                let found = if proposed {
                    ", found in the repository"
                } else {
                    ""
                };
                checked.checked.push(format!(
                    "`{}` is green at HEAD ({}){found}",
                    gate.run,
                    seconds(ms)
                ));
                greens.push(Green {
                    gate: gate.clone(),
                    ms,
                    tail: run.receipt.map(|receipt| receipt.tail).unwrap_or_default(),
                });
            } else {
                let line = red(workspace, (&head, gate), &run, tell)?;
                checked.lines.push(line);
            }
        }
    }
    Ok(greens)
}

/// Gates that may run here; none where setup may not.
pub(super) fn runnable(
    workspace: &Workspace,
    gates: &[GateSpec],
    checked: &mut Checked,
) -> Result<Option<Vec<GateSpec>>, Failure> {
    let trust = workspace.trust()?;
    let setup = workspace.config()?.clean_room.setup();
    let setup: Vec<String> = setup.map(|command| command.to_string()).collect();
    let mut runnable = Vec::new();
    let mut stopped = false;
    let all = setup.iter().map(|run| (run, None));
    for (run, gate) in all.chain(gates.iter().map(|gate| (&gate.run, Some(gate)))) {
        let absent = trust.absent_programs(run);
        let line = if !trust.is_trusted(run) {
            let what = format!("`{run}` was not run: this machine does not trust it");
            let show = format!("cook trust {}", machine::quote_word(run));
            Some(Line::new(Code::GateUntrusted, true, what, show))
        } else if !absent.is_empty() {
            let what = format!(
                "`{run}` was not run: `{}` is not on this machine",
                absent.join("`, `")
            );
            Some(Line::new(
                Code::ProgramAbsent,
                true,
                what,
                "cook trust --tools",
            ))
        } else {
            None
        };
        match (line, gate) {
            (Some(line), gate) => {
                stopped |= gate.is_none();
                checked.lines.push(line);
            }
            (None, Some(gate)) => runnable.push(gate.clone()),
            (None, None) => {}
        }
    }
    Ok((!stopped && !runnable.is_empty()).then_some(runnable))
}

/// A gate that is red in the room; green in the worktree, it needs what is not committed.
fn red(
    workspace: &Workspace,
    (head, gate): (&String, &GateSpec),
    run: &GateRun,
    tell: Tell,
) -> Result<Line, Failure> {
    let needs = missing(&workspace.repo, workspace.config()?, run.into())?;
    let why = match (&run.problem, &run.receipt) {
        (Some(problem), _) => problem.clone(),
        (None, Some(receipt)) if run.failed.is_empty() => {
            let tail = without_escapes(&receipt.tail);
            let last = tail.lines().rev().find(|line| !line.trim().is_empty());
            format!(
                "{}: {}",
                receipt.ending(),
                last.unwrap_or("no output").trim()
            )
        }
        (None, Some(receipt)) => {
            let failed: Vec<&str> = run.failed.iter().map(String::as_str).collect();
            format!("{}: {}", receipt.ending(), some(&failed))
        }
        (None, None) => "it did not run".to_owned(),
    };
    let show = format!("cook gate --clean {}", gate.name);
    let status = workspace.repo.status()?;
    let red = || format!("`{}` is red at HEAD: {why}", gate.run);
    // A run that shows nothing, or no run at all, has its cause in the room; the worktree says
    // nothing of a commit that is not checked out.
    let here = workspace.repo.head()?.commit.as_ref() == Some(head);
    if run.problem.is_some() || !here {
        return Ok(Line::new(Code::GateRed, true, red(), show));
    }
    // What git ignores is not in its status, and the commit does not have it either.
    tell(&format!("{}: red; once more in the worktree", gate.name));
    if !workspace.run_gate_here(gate)?.has_passed() {
        return Ok(Line::new(Code::GateRed, true, red(), show));
    }
    let mut by = needs;
    if by.is_empty() && !status.worktree.dirty.is_empty() {
        let dirty: Vec<&str> = status.worktree.dirty.iter().map(String::as_str).collect();
        by.push(format!("not committed: {}", some(&dirty)));
    }
    let by = if by.is_empty() {
        String::new()
    } else {
        format!("; {}", by.join("; "))
    };
    let what = format!("`{}` is green here and red at HEAD ({why}){by}", gate.run);
    Ok(Line::new(Code::GateNeedsUncommitted, true, what, show))
}

/// Whether the gates notice that the change is not there.
fn take_back(
    workspace: &Workspace,
    gates: &[GateSpec],
    edits: &[Edit],
    (tell, took): (Tell, u64),
    checked: &mut Checked,
) -> Result<(), Failure> {
    let commands = deciding(workspace, edits, &checked.base.commit)?;
    let sources = sources(edits, &commands);
    if sources.is_empty() {
        return Ok(());
    }
    let span = (checked.base.commit.as_str(), checked.head.as_str());
    let files = match read_files_before(&workspace.repo, &sources, span)? {
        Ok(files) => files,
        Err(why) => {
            checked.checked.push(format!(
                "whether a gate notices the change cannot be told: {why}"
            ));
            return Ok(());
        }
    };
    tell(&format!(
        "once more with the change taken back; took {} with it (`--no-revert` leaves it out)",
        seconds(took)
    ));
    let runs = workspace.run_gates_without(&checked.head.clone(), &files, gates)?;
    let ms = runs
        .iter()
        .filter_map(|run| run.receipt.as_ref())
        .map(|receipt| receipt.duration_ms.0)
        .sum();
    if runs.iter().any(|run| !run.has_passed()) {
        checked.checked.push(format!(
            "the gates notice when the change is taken back ({})",
            seconds(ms)
        ));
        return Ok(());
    }
    let brings_tests = edits.iter().any(new_tests);
    let what = format!(
        "no gate notices when the change in {} is taken back{}",
        count_noun(files.len() as u64, "file"),
        if brings_tests {
            ", nor do the tests that came with it"
        } else {
            ": nothing tests it"
        }
    );
    let paths: Vec<&str> = sources
        .iter()
        .take(3)
        .map(|edit| edit.change.path.as_str())
        .collect();
    let show = checked.diff(&paths);
    // Of a change that brings no test nobody said that it changes what is seen.
    checked
        .lines
        .push(Line::new(Code::ChangeUnnoticed, brings_tests, what, show));
    Ok(())
}

/// It brings tests that were not there.
fn new_tests(edit: &Edit) -> bool {
    let Some((before, after)) = &edit.texts else {
        return false;
    };
    let count =
        |text: &Option<String>| count_tests(&edit.change.path, text.as_deref().unwrap_or(""));
    count(after) > count(before)
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}
