//! Gates: of the commit's folders that a change touches, of the base where the commit has other ones; what the
//! trials by them say, and what a red one lacks.

use super::found::{Ask, ChangedPath, Checked, Runs, Tell};
use super::line::Line;
use super::uncommitted::some;
use crate::measure::{Green, list_packages, missing, read_settings_at};
use crate::scaffold::SETTINGS;
use crate::service::Workspace;
use crate::trial::{ADD_GATE, count_declared, show_red, show_red_before};
use cook_core::diagnostic::{Code, Failure, count_noun, without_escapes};
use cook_core::machine::{self, GateRun};
use cook_core::model::{GateSpec, Place};
use cook_git::MAX_EDITS;
use cook_strength::{Touch, list_touched_tests};
use cook_trials::{TrialLine, Weight, Word, fits_path};
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

/// Of the gates, those that say something about what changed; the others are named. A commit that is its own base
/// is asked for all.
fn keep_concerned(
    workspace: &Workspace,
    gates: Vec<GateSpec>,
    checked: &mut Checked,
) -> Result<Vec<GateSpec>, Failure> {
    if gates.iter().all(|gate| gate.paths.is_empty()) {
        return Ok(gates);
    }
    let touched = workspace.list_touched(&checked.base.commit, &checked.head)?;
    let (kept, left): (Vec<GateSpec>, Vec<GateSpec>) = gates.into_iter().partition(|gate| {
        let fits = |path: &String| gate.paths.iter().any(|pattern| fits_path(pattern, path));
        gate.paths.is_empty() || touched.iter().any(fits)
    });
    checked.checked.extend(left.iter().map(|gate| {
        format!(
            "`{}` ({}) was not run: nothing of its `paths` changed",
            gate.run, gate.name
        )
    }));
    Ok(kept)
}

/// Runs the gates that concern the change, and tries it by them.
pub(super) fn look(
    workspace: &mut Workspace,
    ask: &Ask,
    tell: Tell,
    checked: &mut Checked,
) -> Result<(), Failure> {
    let (base, head) = (checked.base.commit.clone(), checked.head.clone());
    let (proposed, has_tests) = workspace.propose_gates_for(&base, &head)?;
    let workspace: &Workspace = workspace;
    let mut gates = choose(workspace, ask.gates, checked)?;
    // Gates of the base are asked as well, where none is named.
    let mut replaced = Vec::new();
    if ask.gates.is_empty() {
        gates = keep_concerned(workspace, gates, checked)?;
        replaced = find_replaced(workspace, proposed, &gates, checked)?;
    }
    if !has_tests || gates.is_empty() && replaced.is_empty() {
        let what = match gates.is_empty() {
            true => "no gate is known here that says anything about what changed",
            false => "no gate is known here that runs tests of what changed",
        };
        let what = format!("{what}; the line below, in `.agent/cook.toml`, names one");
        let line = Line::new(Code::NoGates, Weight::NotKnown, what, ADD_GATE);
        checked.lines.push(line);
    }
    let gates = runnable(workspace, &gates, checked)?.unwrap_or_default();
    let mut runs = run_all(workspace, (&gates, proposed), tell, checked)?;
    // What the base asked is asked of the head, whatever its settings say now.
    let may_run = runnable(workspace, &replaced, checked)?.unwrap_or_default();
    for gate in replaced {
        let ran = match may_run.contains(&gate) {
            true => workspace.ask_gates_at(&head, std::slice::from_ref(&gate))?,
            false => Vec::new(),
        };
        match ran.into_iter().next().filter(GateRun::has_passed) {
            Some(run) => runs.push(run),
            None => tell_replaced(workspace, &gate, &gates, checked)?,
        }
    }
    // The first commit is its own base, and nothing is tried: a red gate is told by its run.
    if ask.runs == Runs::Head || base == head {
        for run in runs.iter().filter(|run| !run.has_passed()) {
            checked.lines.push(red(run));
        }
        if ask.runs == Runs::Head {
            let what = "nothing was compared with the base, as it was asked for";
            checked.checked.push(what.to_owned());
        }
        return Ok(());
    }
    let tried = workspace.try_change(&base, &head, &runs, tell)?;
    checked.checked.extend(tried.looked_at);
    checked.changed = tried
        .sides
        .into_iter()
        .map(|(path, side)| ChangedPath { path, side })
        .collect();
    let mut lines = tried.lines;
    for run in runs.iter().filter(|run| !run.has_passed()) {
        let shows = [show_red(&run.gate), show_red_before(&run.gate, &base)];
        let is_of = |line: &TrialLine| {
            matches!(line.word, Word::GateRed | Word::RedBefore) && shows.contains(&line.show)
        };
        let was_so = lines.iter().filter(|line| is_of(line));
        let was_so = was_so.clone().next().is_some()
            && was_so.clone().all(|line| line.word == Word::RedBefore);
        let is_told = lines.iter().any(is_of);
        if run.problem.is_some() || run.receipt.is_none() {
            checked.lines.push(weigh_problem(workspace, run, &base)?);
        } else if is_told
            && let Some(line) = needs_more(workspace, (&head, proposed), run, was_so, tell)?
        {
            // That alone tells it.
            lines.retain(|line| !is_of(line));
            checked.lines.push(line);
        }
    }
    // What proves something is no remark.
    let lines = lines.into_iter().filter(|it| it.word != Word::FailToPass);
    checked.lines.extend(lines.map(Line::from));
    Ok(())
}

/// Runs gates that may run here. What came of a red one is told by the trials.
fn run_all(
    workspace: &Workspace,
    (gates, proposed): (&[GateSpec], bool),
    tell: Tell,
    checked: &mut Checked,
) -> Result<Vec<GateRun>, Failure> {
    let setup = workspace.config()?.clean_room.setup();
    let setup: Vec<String> = setup.map(|command| format!("`{command}`")).collect();
    let after = match setup.is_empty() {
        true => String::new(),
        false => format!(", where it is due after {}", setup.join(", ")),
    };
    let mut all = Vec::new();
    for gate in gates {
        let place = describe_place(gate);
        tell(&format!(
            "{}: `{}` in a clean room{after}",
            gate.name, gate.run
        ));
        for run in workspace.ask_gates_at(&checked.head, std::slice::from_ref(gate))? {
            if run.has_passed() {
                let found = if proposed {
                    ", found in the repository"
                } else {
                    ""
                };
                checked.checked.push(format!(
                    "`{}`{place} is green at HEAD ({}){found}",
                    gate.run,
                    seconds(ms_of(&run))
                ));
            }
            all.push(run);
        }
    }
    Ok(all)
}

/// The folder of a gate, where it is not the root.
pub(crate) fn describe_place(gate: &GateSpec) -> String {
    match gate.dir.as_str() {
        "" => String::new(),
        dir => format!(" in `{dir}`"),
    }
}

/// A run that came to no end of its own says nothing, unless it did at the base.
fn weigh_problem(workspace: &Workspace, run: &GateRun, base: &str) -> Result<Line, Failure> {
    let before = workspace.ask_gates_at(base, std::slice::from_ref(&run.gate))?;
    let is_ended = |run: &GateRun| run.problem.is_none() && run.receipt.is_some();
    if before.iter().any(is_ended) {
        return Ok(red(run));
    }
    let what = format!(
        "`{}` ran neither before nor now: {}",
        run.gate.run,
        explain(run)
    );
    let line = Line::new(Code::RedBefore, Weight::NotKnown, what, show_red(&run.gate));
    Ok(Line {
        name: Some(run.gate.name.clone()),
        ..line
    })
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
    let place = describe_place(&run.gate);
    let what = format!("`{}`{place} is red at HEAD: {}", run.gate.run, explain(run));
    Line {
        name: Some(run.gate.name.clone()),
        ..Line::new(Code::GateRed, Weight::Refuses, what, show_red(&run.gate))
    }
}

/// What a red gate lacks: it is the room's lack where the gate is green on the same files with this user's
/// environment, and the commit's where it is green in the worktree alone. `was_so`: it was red before too.
fn needs_more(
    workspace: &Workspace,
    (head, proposed): (&str, bool),
    run: &GateRun,
    was_so: bool,
    tell: Tell,
) -> Result<Option<Line>, Failure> {
    let gate = &run.gate;
    let Some(receipt) = run.receipt.as_ref().filter(|receipt| !receipt.timed_out) else {
        // What ran out of time says nothing of what it lacks.
        return Ok(None);
    };
    // The worktree says nothing of a commit that is not checked out.
    if workspace.repo.head()?.commit.as_deref() != Some(head) {
        return Ok(None);
    }
    let needs = missing(&workspace.repo, workspace.config()?, run.into())?;
    let why = explain(run);
    tell(&format!(
        "{}: red; once more with your environment",
        gate.name
    ));
    if workspace
        .with_runner(|runner| runner.run_outside(head, gate))?
        .has_passed()
    {
        let print =
            |argv: &[String]| workspace.with_runner(|runner| runner.print_both(head, gate, argv));
        let packages = list_packages(&workspace.repo, gate, receipt, &print)?;
        return Ok(Some(tell_lack(gate, proposed, &why, &packages, &needs)));
    }
    if was_so {
        return Ok(None);
    }
    let status = workspace.repo.status()?;
    // What git ignores is not in its status, and the commit does not have it either.
    tell(&format!("{}: red; once more in the worktree", gate.name));
    if !workspace
        .with_runner(|runner| runner.look_here(head, gate))?
        .has_passed()
    {
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
        ..Line::new(
            Code::GateNeedsUncommitted,
            Weight::Refuses,
            what,
            show_red(gate),
        )
    }))
}

/// What the room lacks and this user's environment has, with the line that declares it.
fn tell_lack(
    gate: &GateSpec,
    proposed: bool,
    why: &str,
    packages: &[String],
    needs: &[String],
) -> Line {
    let list = packages.join(" ");
    let (lack, show) = match (packages.is_empty(), proposed) {
        (true, _) => (needs.join("; "), show_red(gate)),
        (false, true) => (
            format!("`{list}` is declared nowhere; the line below adds it to the requirements"),
            format!("echo {list} >> {}", gate.from_root("requirements-dev.txt")),
        ),
        (false, false) => (
            format!(
                "`{list}` is missing; the line below, in `[clean_room]` of `.agent/cook.toml`, brings it"
            ),
            format!("setup = [\"python3 -m pip install --user {list}\"]"),
        ),
    };
    let lack = match lack.as_str() {
        "" => "name what it needs in `[clean_room] setup`, or its variable in `env`",
        lack => lack,
    };
    let what = format!(
        "`{}` is green with your environment and red in the clean room ({why}): {lack}",
        gate.run
    );
    Line {
        name: Some(gate.name.clone()),
        ..Line::new(Code::RoomLacks, Weight::NotKnown, what, show)
    }
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
    let touched = workspace.list_touched(base, &checked.head)?;
    let own = read_settings_at(&workspace.repo, base)?.map(|config| config.gate_specs());
    let is_committed = workspace
        .repo
        .tree_entry(&checked.head, SETTINGS)?
        .is_some();
    let before = match own.unwrap_or_default() {
        own if !own.is_empty() => own,
        // Settings that lie in the worktree alone are the user's own.
        _ if !proposed && !is_committed => Vec::new(),
        _ => workspace.propose_gates_at(base, &touched)?,
    };
    let is_same = |one: &GateSpec, other: &GateSpec| {
        one.dir == other.dir && plain_words(&one.run) == plain_words(&other.run)
    };
    let concerns = |gate: &GateSpec| {
        let fits = |path: &String| gate.paths.iter().any(|pattern| fits_path(pattern, path));
        gate.paths.is_empty() || touched.iter().any(fits)
    };
    let replaced = before.into_iter().filter(|gate| {
        let mut now = gates.iter();
        gate.place == Place::CleanRoom
            && concerns(gate)
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
