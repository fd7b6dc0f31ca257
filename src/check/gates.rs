//! Gates: of the commit, of the base where the commit has other ones, of the worktree where they are red; and what
//! the trials by them say.

use super::found::{ChangedPath, Checked, Tell};
use super::line::Line;
use super::uncommitted::some;
use crate::measure::{Green, missing, read_settings_at};
use crate::scaffold::SETTINGS;
use crate::service::Workspace;
use crate::trial::count_declared;
use cook_core::diagnostic::{Code, Failure, count_noun, without_escapes};
use cook_core::machine::{self, GateRun};
use cook_core::model::{GateSpec, Place};
use cook_git::MAX_EDITS;
use cook_strength::{Touch, list_touched_tests};
use cook_trials::{TrialLine, Weight, Word};
use std::collections::BTreeMap;

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

/// Runs the gates, and tries the change by them. `proposed`: the settings name none; `base_counts`: those of the
/// base are asked as well.
pub(super) fn look(
    workspace: &Workspace,
    (proposed, base_counts): (bool, bool),
    gates: &[GateSpec],
    tell: Tell,
    checked: &mut Checked,
) -> Result<(), Failure> {
    let replaced = match base_counts {
        true => find_replaced(workspace, proposed, gates, checked)?,
        false => Vec::new(),
    };
    if gates.is_empty() {
        for gate in &replaced {
            tell_replaced(workspace, gate, gates, checked)?;
        }
        if replaced.is_empty() {
            let what = "no gate is known here: nothing was run";
            let line = Line::new(Code::NoGates, Weight::NotKnown, what, "cook init");
            checked.lines.push(line);
        }
        return Ok(());
    }
    let Some(gates) = runnable(workspace, gates, checked)? else {
        return Ok(());
    };
    let mut runs = run_all(workspace, (&gates, proposed), tell, checked)?;
    // What the base asked is asked of the head, whatever its settings say now.
    for gate in runnable(workspace, &replaced, checked)?.unwrap_or_default() {
        let mut ran = workspace.run_gates_at(&checked.head, std::slice::from_ref(&gate))?;
        match ran.pop().filter(GateRun::has_passed) {
            Some(run) => runs.push(run),
            None => tell_replaced(workspace, &gate, &gates, checked)?,
        }
    }
    let tried = workspace.try_change(&checked.base.commit, &checked.head, &runs, tell)?;
    checked.checked.extend(tried.looked_at);
    checked.changed = tried
        .sides
        .into_iter()
        .map(|(path, side)| ChangedPath { path, side })
        .collect();
    // A gate that is red for what no commit has is told by that alone.
    let by_room: Vec<String> = checked
        .lines
        .iter()
        .filter(|line| line.code == Code::GateNeedsUncommitted)
        .map(|line| line.show.clone())
        .collect();
    // Both show the same command.
    let is_told = |line: &TrialLine| line.word == Word::GateRed && by_room.contains(&line.show);
    let lines = tried.lines.into_iter().filter(|line| !is_told(line));
    // What proves something is no remark.
    let lines: Vec<Line> = lines
        .filter(|line| line.word != Word::FailToPass)
        .map(Line::from)
        .collect();
    // The first commit is its own base: nothing was tried, and a red gate is told by its run.
    if checked.base.commit == checked.head {
        for run in runs
            .iter()
            .filter(|run| !run.has_passed() && run.problem.is_none())
        {
            checked.lines.push(red(run));
        }
    }
    checked.lines.extend(lines);
    Ok(())
}

/// Runs gates that may run here. What keeps a run from saying anything of the commit is told; what tests say
/// of it is told by the trials.
fn run_all(
    workspace: &Workspace,
    (gates, proposed): (&[GateSpec], bool),
    tell: Tell,
    checked: &mut Checked,
) -> Result<Vec<GateRun>, Failure> {
    let mut all = Vec::new();
    for gate in gates {
        tell(&format!("{}: `{}` in a clean room", gate.name, gate.run));
        let head = checked.head.clone();
        for run in workspace.run_gates_at(&head, std::slice::from_ref(gate))? {
            if run.has_passed() {
                let found = if proposed {
                    ", found in the repository"
                } else {
                    ""
                };
                checked.checked.push(format!(
                    "`{}` is green at HEAD ({}){found}",
                    gate.run,
                    seconds(ms_of(&run))
                ));
            } else if let Some(line) = needs_more(workspace, (&head, gate), &run, tell)? {
                checked.lines.push(line);
            }
            all.push(run);
        }
    }
    Ok(all)
}

/// The gates that are green; a line for each other one.
pub(super) fn run_green(
    workspace: &Workspace,
    (gates, proposed): (&[GateSpec], bool),
    tell: Tell,
    checked: &mut Checked,
) -> Result<Vec<Green>, Failure> {
    let mut greens = Vec::new();
    for run in run_all(workspace, (gates, proposed), tell, checked)? {
        if run.has_passed() {
            greens.push(Green {
                ms: ms_of(&run),
                tail: run.receipt.map(|receipt| receipt.tail).unwrap_or_default(),
                gate: run.gate,
            });
        } else if checked.lines.is_empty() {
            checked.lines.push(red(&run));
        }
    }
    Ok(greens)
}

fn ms_of(run: &GateRun) -> u64 {
    let receipt = run.receipt.as_ref();
    receipt.map_or(0, |receipt| receipt.duration_ms.0)
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
            Some(Line::new(Code::GateUntrusted, Weight::NotKnown, what, show))
        } else if !absent.is_empty() {
            let what = format!(
                "`{run}` was not run: `{}` is not on this machine",
                absent.join("`, `")
            );
            Some(Line::new(
                Code::ProgramAbsent,
                Weight::NotKnown,
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

fn explain(run: &GateRun) -> String {
    match (&run.problem, &run.receipt) {
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
    }
}

fn red(run: &GateRun) -> Line {
    let what = format!("`{}` is red at HEAD: {}", run.gate.run, explain(run));
    let show = format!("cook gate --clean {}", run.gate.name);
    Line {
        name: Some(run.gate.name.clone()),
        ..Line::new(Code::GateRed, Weight::Refuses, what, show)
    }
}

/// A gate whose run shows nothing, or that is red in the room and green in the worktree: it needs what is
/// not committed.
fn needs_more(
    workspace: &Workspace,
    (head, gate): (&String, &GateSpec),
    run: &GateRun,
    tell: Tell,
) -> Result<Option<Line>, Failure> {
    let why = explain(run);
    let show = format!("cook gate --clean {}", gate.name);
    if run.problem.is_some() || run.receipt.is_none() {
        return Ok(Some(red(run)));
    }
    // What ran out of time says nothing of what no commit has.
    if run
        .receipt
        .as_ref()
        .is_some_and(|receipt| receipt.timed_out)
    {
        return Ok(None);
    }
    // The worktree says nothing of a commit that is not checked out.
    if workspace.repo.head()?.commit.as_ref() != Some(head) {
        return Ok(None);
    }
    let needs = missing(&workspace.repo, workspace.config()?, run.into())?;
    let status = workspace.repo.status()?;
    // What git ignores is not in its status, and the commit does not have it either.
    tell(&format!("{}: red; once more in the worktree", gate.name));
    if !workspace.run_gate_here(gate)?.has_passed() {
        return Ok(None);
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
    Ok(Some(Line {
        name: Some(gate.name.clone()),
        ..Line::new(Code::GateNeedsUncommitted, Weight::Refuses, what, show)
    }))
}

/// Which tests the diff adds, takes away, edits or marks as skipped: a list, and no verdict.
pub(super) fn list_touched(workspace: &Workspace, checked: &mut Checked) -> Result<(), Failure> {
    /// Names of one kind.
    const NAMED: usize = 5;
    let edits = workspace.repo.edits(&checked.base.commit, &checked.head)?;
    let mut touched: BTreeMap<Touch, Vec<String>> = BTreeMap::new();
    for edit in &edits {
        let Some((before, after)) = &edit.texts else {
            continue;
        };
        let path = &edit.change.path;
        for (touch, name) in list_touched_tests(path, before.as_deref(), after.as_deref()) {
            touched.entry(touch).or_default().push(name);
        }
    }
    for (touch, names) in touched {
        let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        checked.checked.push(format!(
            "the diff {touch} {}: `{}`{more}",
            count_noun(names.len() as u64, "test"),
            shown.join("`, `")
        ));
    }
    let mut what = format!("{} compared", count_noun(edits.len() as u64, "file"));
    if edits.len() > MAX_EDITS {
        what.push_str(&format!(", of which the first {MAX_EDITS} were read"));
    }
    checked.checked.push(what);
    Ok(())
}

/// Gates that the base has and the head has not: each runs at the head as well.
pub(super) fn find_replaced(
    workspace: &Workspace,
    proposed: bool,
    gates: &[GateSpec],
    checked: &Checked,
) -> Result<Vec<GateSpec>, Failure> {
    let base = &checked.base.commit;
    let own = read_settings_at(&workspace.repo, base)?.map(|config| config.gate_specs());
    let is_committed = workspace
        .repo
        .tree_entry(&checked.head, SETTINGS)?
        .is_some();
    let before = match own.unwrap_or_default() {
        own if !own.is_empty() => own,
        // Settings that lie in the worktree alone are the user's own.
        _ if !proposed && !is_committed => Vec::new(),
        _ => workspace.propose_gates_at(base)?,
    };
    let is_same =
        |one: &GateSpec, other: &GateSpec| plain_words(&one.run) == plain_words(&other.run);
    let replaced = before.into_iter().filter(|gate| {
        let mut now = gates.iter();
        gate.place == Place::CleanRoom
            && !now.any(|now| is_same(now, gate) && (now.required || !gate.required))
    });
    Ok(replaced.collect())
}

/// The words of a command; where its program lies, and which version of it, makes no other one of it.
fn plain_words(command: &str) -> Vec<String> {
    let mut words = cook_store::receipt::words(command).unwrap_or_default();
    if let Some(first) = words.first_mut() {
        let name = first.rsplit('/').next().unwrap_or(first);
        *first = name
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
            .to_owned();
    }
    words
}

/// A gate of the base that is not green at the head, while the head has other ones.
pub(super) fn tell_replaced(
    workspace: &Workspace,
    gate: &GateSpec,
    gates: &[GateSpec],
    checked: &mut Checked,
) -> Result<(), Failure> {
    let base = checked.base.commit.clone();
    let required = |gate: &GateSpec| {
        if gate.required {
            ""
        } else {
            ", which nothing requires"
        }
    };
    let now = gates.iter().find(|now| now.name == gate.name);
    let what = match now {
        Some(now) => format!(
            "the gate `{}` was `{}`{}, which is not green at HEAD, and is `{}`{}",
            gate.name,
            gate.run,
            required(gate),
            now.run,
            required(now)
        ),
        None => format!(
            "the gate `{}` of the base is gone, and is not green at HEAD: `{}`",
            gate.name, gate.run
        ),
    };
    let mut lines = vec![TrialLine {
        word: Word::GateChanged,
        weight: Weight::Refuses,
        name: format!("gates.{}", gate.name),
        what,
        show: format!(
            "git diff {} {}",
            base.get(..12).unwrap_or(&base),
            checked.head.get(..12).unwrap_or(&checked.head)
        ),
        file: None,
        declared: None,
    }];
    count_declared(&workspace.repo, &base, &checked.head, &mut lines)?;
    let own = lines
        .into_iter()
        .filter(|line| line.word == Word::GateChanged);
    checked.lines.extend(own.map(Line::from));
    Ok(())
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}
