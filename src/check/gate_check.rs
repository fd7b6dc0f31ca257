//! Gates: of the commit's folders that a change touches, of the base where the commit has other ones; what the
//! trials by them say, and what a red one lacks.

use crate::init::SETTINGS;
use crate::measure::{Green, list_packages, missing, read_settings_at};
use crate::prelude::*;
use crate::trial::{count_declared, describe_place, last_line, show_red, show_red_before};
use crate::workspace::Workspace;
use cook_protocol::change::code_of;
use cook_protocol::model::Place;
use cook_protocol::trials::{Side, Weight, Word, fits_path};
use cook_repo::receipt::{Look, TrialRoom};

/// Gates of the settings, those of these names alone where there are any.
fn choose(workspace: &Workspace, names: &[String], checked: &mut Checked) -> Result<Vec<GateSpec>> {
    let mut gates = workspace.config()?.gate_specs();
    for name in names {
        if !gates.iter().any(|gate| &gate.name == name) {
            let known: Vec<&str> = gates.iter().map(|gate| gate.name.as_str()).collect();
            let known = match known.is_empty() {
                true => "none".to_owned(),
                false => known.join(", "),
            };
            let what = format!("unknown gate `{name}`; there is {known}");
            return Err(Failure::usage(what));
        }
    }
    if !names.is_empty() {
        gates.retain(|gate| names.contains(&gate.name));
    }
    // What runs in the worktree says nothing of a commit.
    let (gates, here): (Vec<GateSpec>, Vec<GateSpec>) = gates
        .into_iter()
        .partition(|gate| gate.place == Place::CleanRoom);
    checked.checked.extend(here.iter().map(|gate| {
        format!(
            "`{}` was not run: it runs in the worktree, so its result says nothing about a commit",
            gate.run
        )
    }));
    Ok(gates)
}

/// A gate says something about what changed.
fn concerns(gate: &GateSpec, touched: &BTreeSet<String>) -> bool {
    let fits = |path: &String| gate.paths.iter().any(|pattern| fits_path(pattern, path));
    gate.paths.is_empty() || touched.iter().any(fits)
}

/// Of the gates, those that say something about what changed; the others are named. A commit that is its own base
/// is asked for all.
fn keep_concerned(
    workspace: &Workspace,
    gates: Vec<GateSpec>,
    checked: &mut Checked,
) -> Result<Vec<GateSpec>> {
    if gates.iter().all(|gate| gate.paths.is_empty()) {
        return Ok(gates);
    }
    let touched = workspace.list_touched(&checked.base.commit, &checked.head)?;
    let (kept, left): (Vec<GateSpec>, Vec<GateSpec>) =
        gates.into_iter().partition(|gate| concerns(gate, &touched));
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
) -> Result<()> {
    let (base, head) = (checked.base.commit.clone(), checked.head.clone());
    let offered = workspace.propose_gates_for(&base, &head)?;
    checked.checked.extend(offered.unread);
    let own = offered.own;
    let workspace: &Workspace = workspace;
    let mut gates = choose(workspace, ask.gates, checked)?;
    // Gates of the base are asked as well, where none is named.
    let mut replaced = Vec::new();
    if ask.gates.is_empty() {
        gates = keep_concerned(workspace, gates, checked)?;
        let guessed;
        (replaced, guessed) = find_replaced(workspace, own.is_empty(), &gates, checked)?;
        replaced.extend(keep_claimed(workspace, guessed, checked)?);
    }
    let mut untested = offered.untested;
    untested.retain(|path| {
        let covers = |gate: &GateSpec| gate.inside(path).is_some();
        ask.gates.is_empty() && !replaced.iter().any(covers)
    });
    let are_there = !gates.is_empty() || !replaced.is_empty();
    if !are_there || !offered.has_tests || !untested.is_empty() {
        let what = match (are_there, &untested[..]) {
            (false, _) => "covers the changed files".to_owned(),
            (true, []) => "runs tests of the changed files".to_owned(),
            (true, some_of) => format!("runs tests of {}", some(some_of)),
        };
        let what =
            format!("no known gate {what}; add the line below to the top of `.agent/cook.toml`");
        checked.find(Code::NoGates, Weight::NotKnown, what, name_gate(&own));
    }
    let gates = runnable(workspace, &gates, checked)?;
    let mut runs = run_all(workspace, (&gates, &own), tell, checked)?;
    // What the base asked is asked of the head, whatever its settings say now.
    let may_run = runnable(workspace, &replaced, checked)?;
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
            let what = "nothing was compared with the base, as requested";
            checked.checked.push(what.to_owned());
        }
        return Ok(());
    }
    let tried = workspace.world()?.try_change(&base, &head, &runs, tell)?;
    checked.checked.extend(tried.looked_at);
    let room = &workspace.config()?.clean_room;
    let mut unrun = tried.unrun;
    // A committed directory of dependencies holds the tests of others.
    unrun.retain(|path| ask.gates.is_empty() && !untested.contains(path) && !room.is_cached(path));
    if !unrun.is_empty() {
        let what = format!(
            "no gate ran a test of {}; add the line below to the top of `.agent/cook.toml`",
            some(&unrun)
        );
        checked.find(Code::NothingRan, Weight::NotKnown, what, name_gate(&own));
    }
    checked.changed = tried
        .sides
        .into_iter()
        .map(|(path, side)| ChangedPath { path, side })
        .collect();
    let mut lines = tried.lines;
    for run in runs.iter().filter(|run| !run.has_passed()) {
        let settings = &workspace.config()?.clean_room;
        let shows = [
            show_red(&run.gate),
            show_red_before(&run.gate, settings, &base),
        ];
        let is_of = |line: &TrialLine| {
            matches!(line.word, Word::GateRed | Word::RedBefore) && shows.contains(&line.show)
        };
        let is_told = lines.iter().any(is_of);
        let mut told = lines.iter().filter(|line| is_of(line));
        let was_so = is_told && told.all(|line| line.word == Word::RedBefore);
        if run.problem.is_some() || run.receipt.is_none() {
            checked.lines.push(weigh_problem(workspace, run, &base)?);
        } else if is_told
            && let Some(line) = needs_more(workspace, (&head, &own), run, was_so, tell)?
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

/// The line of the settings that names one more gate.
fn name_gate(own: &BTreeSet<String>) -> String {
    let mut name = "test".to_owned();
    while own.contains(&name) {
        name.push_str("-more");
    }
    format!("gates.{name}.run = \"COMMAND\"")
}

/// Runs gates that may run here. What came of a red one is told by the trials.
fn run_all(
    workspace: &Workspace,
    (gates, own): (&[GateSpec], &BTreeSet<String>),
    tell: Tell,
    checked: &mut Checked,
) -> Result<Vec<GateRun>> {
    let setup = workspace.config()?.clean_room.setup();
    let setup: Vec<String> = setup.map(|command| format!("`{command}`")).collect();
    let after = match setup.is_empty() {
        true => String::new(),
        false => format!(", where it is due after {}", setup.join(", ")),
    };
    let mut all = Vec::new();
    for gate in gates {
        let (name, command, place) = (&gate.name, &gate.run, describe_place(gate));
        tell(&format!("{name}: `{command}` in a clean room{after}"));
        for run in workspace.ask_gates_at(&checked.head, std::slice::from_ref(gate))? {
            if run.has_passed() {
                let (seconds, tenths) = (ms_of(&run) / 1000, ms_of(&run) % 1000 / 100);
                let found = describe_source(gate, own);
                checked.checked.push(format!(
                    "`{command}`{place} is green at HEAD ({seconds}.{tenths} s){found}"
                ));
            } else if let Some(receipt) = &run.receipt
                && !workspace.world()?.runner()?.receipts.is_own(receipt)
            {
                let trust = match workspace.trust_everything {
                    true => " --trust-repo",
                    false => "",
                };
                checked.checked.push(format!(
                    "`{command}`{place} ran earlier at HEAD; `{}{trust}` runs it anew",
                    show_red(gate)
                ));
            }
            all.push(run);
        }
    }
    Ok(all)
}

/// Where a gate comes from that is none of the settings' own.
pub(crate) fn describe_source(gate: &GateSpec, own: &BTreeSet<String>) -> &'static str {
    match own.contains(&gate.name) {
        true => "",
        false => ", found in the repository",
    }
}

/// A run that came to no end of its own says nothing, unless it did at the base.
fn weigh_problem(workspace: &Workspace, run: &GateRun, base: &str) -> Result<Line> {
    let before = workspace.ask_gates_at(base, std::slice::from_ref(&run.gate))?;
    let is_ended = |run: &GateRun| run.problem.is_none() && run.receipt.is_some();
    if before.iter().any(is_ended) {
        return Ok(red(run));
    }
    let (command, why) = (&run.gate.run, explain(run));
    let what = format!("`{command}` ran neither before nor now: {why}");
    let line = Line::new(Code::RedBefore, Weight::NotKnown, what, show_red(&run.gate));
    Ok(line.of_gate(&run.gate))
}

/// The gates that are green; a line for each other one.
fn run_green(
    workspace: &Workspace,
    (gates, own): (&[GateSpec], &BTreeSet<String>),
    tell: Tell,
    checked: &mut Checked,
) -> Result<Vec<Green>> {
    let mut greens = Vec::new();
    for run in run_all(workspace, (gates, own), tell, checked)? {
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
fn runnable(
    workspace: &Workspace,
    gates: &[GateSpec],
    checked: &mut Checked,
) -> Result<Vec<GateSpec>> {
    let trust = workspace.trust()?;
    let may_run = |run: &String, checked: &mut Checked| {
        let absent = trust.absent_programs(run);
        if !trust.is_trusted(run) {
            let what = format!("`{run}` was not run: this machine does not trust it");
            let show = format!("cook trust {}", quote_word(run));
            checked.find(Code::GateUntrusted, Weight::NotKnown, what, show);
            return false;
        }
        if !absent.is_empty() {
            let (why, next) = explain_absent(workspace, &absent);
            let what = format!("`{run}` was not run: {why}");
            checked.find(Code::ProgramAbsent, Weight::NotKnown, what, next);
            return false;
        }
        true
    };
    let mut is_stopped = false;
    for command in workspace.config()?.clean_room.setup() {
        is_stopped |= !may_run(&command.to_string(), checked);
    }
    let mut runnable = gates.to_vec();
    runnable.retain(|gate| may_run(&gate.run, checked));
    Ok(if is_stopped { Vec::new() } else { runnable })
}

/// Why programs are not found, and the way on.
fn explain_absent(workspace: &Workspace, absent: &[String]) -> (String, String) {
    let here = std::env::var_os("PATH").unwrap_or_default();
    let found: Vec<PathBuf> = absent.iter().filter_map(|it| on_path(it, &here)).collect();
    let absent = absent.join("`, `");
    let root = workspace.repo.root();
    let within = found.iter().find_map(|file| file.strip_prefix(root).ok());
    match within.and_then(Path::parent) {
        Some(dir) => {
            let root = dir.parent().unwrap_or(dir).display().to_string();
            let dir = dir.display();
            let why = format!(
                "`{absent}` is in `{dir}` of this repository, and entries of PATH inside the repository are left out, because no commit has what lies there; the clean room can make it by the line below, in `[clean_room]` of `.agent/cook.toml`, and a gate then runs `{dir}/PROGRAM`"
            );
            let is_venv = workspace
                .repo
                .root()
                .join(&root)
                .join("pyvenv.cfg")
                .is_file();
            let setup = match is_venv {
                true => format!("\"python3 -m venv {root}\", \"{dir}/pip install {absent}\""),
                false => format!("\"COMMAND THAT MAKES {root}\""),
            };
            (why, format!("setup = [{setup}]"))
        }
        None if !found.is_empty() => {
            let why = format!("`{absent}` is not where this machine's trusted PATH has programs");
            (why, "cook trust --tools".to_owned())
        }
        None => {
            let why = format!("`{absent}` is not on this machine");
            (why, format!("install `{absent}`"))
        }
    }
}

fn explain(run: &GateRun) -> String {
    match (&run.problem, &run.receipt) {
        (Some(problem), _) => problem.clone(),
        (None, Some(receipt)) if run.failed.is_empty() => {
            format!("{}: {}", receipt.ending(), last_line(&receipt.tail))
        }
        (None, Some(receipt)) => format!("{}: {}", receipt.ending(), some(&run.failed)),
        (None, None) => "it did not run".to_owned(),
    }
}

fn red(run: &GateRun) -> Line {
    let place = describe_place(&run.gate);
    let what = format!("`{}`{place} is red at HEAD: {}", run.gate.run, explain(run));
    Line::new(Code::GateRed, Weight::Refuses, what, show_red(&run.gate)).of_gate(&run.gate)
}

/// What a red gate lacks: it is the room's lack where the gate is green on the same files with this user's
/// environment, and the commit's where it is green in the worktree alone. `was_so`: it was red before too.
fn needs_more(
    workspace: &Workspace,
    (head, own): (&str, &BTreeSet<String>),
    run: &GateRun,
    was_so: bool,
    tell: Tell,
) -> Result<Option<Line>> {
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
    let name = &gate.name;
    tell(&format!("{name}: red; once more with your environment"));
    let outside = workspace.world()?.runner()?.run_outside(head, gate)?;
    if outside.has_passed() {
        let online = GateSpec {
            network: true,
            ..gate.clone()
        };
        tell(&format!("{name}: red; once more with the network"));
        let world = workspace.world()?;
        let runner = world.runner()?;
        let mut room = TrialRoom::new(&runner, Caches::Kept);
        let look = Some(Look::Online);
        if !gate.network && room.run(head, &online, look)?.run.has_passed() {
            return Ok(Some(tell_network(gate, own, &why)));
        }
        let print = |argv: &[String]| workspace.world()?.runner()?.print_both(head, gate, argv);
        let packages = list_packages(&workspace.repo, gate, receipt, &print)?;
        return Ok(Some(tell_lack(gate, own, &why, &packages, &needs)));
    }
    if was_so {
        return Ok(None);
    }
    let status = workspace.repo.status()?;
    // What git ignores is not in its status, and the commit does not have it either. Where there is neither, the gate
    // would say the same again, and leave what it builds with the user.
    if status.worktree.is_clean() && !workspace.repo.has_untracked()? {
        return Ok(None);
    }
    tell(&format!("{name}: red; once more in the worktree"));
    let here = workspace.world()?.runner()?.look_here(gate)?;
    if !here.has_passed() {
        return Ok(None);
    }
    let mut by = needs;
    if by.is_empty() && !status.worktree.dirty.is_empty() {
        by.push(format!("not committed: {}", some(&status.worktree.dirty)));
    }
    let by: String = by.iter().map(|what| format!("; {what}")).collect();
    let what = format!("`{}` is green here and red at HEAD ({why}){by}", gate.run);
    let code = Code::GateNeedsUncommitted;
    let line = Line::new(code, Weight::Refuses, what, show_red(gate));
    Ok(Some(line.of_gate(gate)))
}

/// What the room lacks and this user's environment has, with the line that declares it.
fn tell_lack(
    gate: &GateSpec,
    own: &BTreeSet<String>,
    why: &str,
    packages: &[String],
    needs: &[String],
) -> Line {
    let list = packages.join(" ");
    let (lack, show) = match (packages.is_empty(), own.contains(&gate.name)) {
        (true, _) => (needs.join("; "), show_red(gate)),
        (false, false) => (
            format!("`{list}` is not a declared requirement; the line below adds it"),
            format!("echo {list} >> {}", gate.from_root("requirements-dev.txt")),
        ),
        (false, true) => (
            format!(
                "`{list}` is missing; add the line below to `[clean_room]` of `.agent/cook.toml`"
            ),
            format!("setup = [\"python3 -m pip install --user {list}\"]"),
        ),
    };
    let lack = match lack.as_str() {
        "" => "name what it needs in `[clean_room] setup`, or its variable in `env`",
        lack => lack,
    };
    let what = format!(
        "`{}`{} is green with your environment and red in the clean room ({why}): {lack}",
        gate.run,
        describe_place(gate)
    );
    Line::new(Code::RoomLacks, Weight::NotKnown, what, show).of_gate(gate)
}

/// The room lacks the network alone.
fn tell_network(gate: &GateSpec, own: &BTreeSet<String>, why: &str) -> Line {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let key = match gate.name.chars().all(is_bare) {
        true => gate.name.clone(),
        false => toml::Value::from(gate.name.as_str()).to_string(),
    };
    let (place, show) = match own.contains(&gate.name) {
        false => {
            let mut table = toml::Table::from_iter([("run".to_owned(), gate.run.clone().into())]);
            table.insert("network".to_owned(), true.into());
            if !gate.dir.is_empty() {
                table.insert("dir".to_owned(), gate.dir.clone().into());
            }
            let table = toml::Value::Table(table);
            ("the top of ".to_owned(), format!("gates.{key} = {table}"))
        }
        true => (format!("`[gates.{key}]` of "), "network = true".to_owned()),
    };
    let what = format!(
        "`{}`{} is green with the network and red in the clean room without it ({why}); add the line below to {place}`.agent/cook.toml`",
        gate.run,
        describe_place(gate)
    );
    Line::new(Code::RoomLacks, Weight::NotKnown, what, show).of_gate(gate)
}

/// Of gates that cook only guesses for the base, those that are green there, or may not run: nobody claims that any
/// other one is green.
fn keep_claimed(
    workspace: &Workspace,
    guessed: Vec<GateSpec>,
    checked: &mut Checked,
) -> Result<Vec<GateSpec>> {
    let trust = workspace.trust()?;
    let mut kept = Vec::new();
    for gate in guessed {
        let is_here = trust.absent_programs(&gate.run).is_empty();
        if is_here && !trust.is_trusted(&gate.run) {
            kept.push(gate);
            continue;
        }
        let runs = match is_here {
            true => workspace.ask_gates_at(&checked.base.commit, std::slice::from_ref(&gate))?,
            false => Vec::new(),
        };
        if runs.iter().any(GateRun::has_passed) {
            kept.push(gate);
            continue;
        }
        let why = match is_here {
            true => "it is not green there either",
            false => "this machine cannot run it",
        };
        checked.checked.push(format!(
            "`{}`, which nothing at the base names as a gate, is not asked: {why}",
            gate.run
        ));
    }
    Ok(kept)
}

/// Gates that the base has and the head has not: each runs at the head as well. First those that settings name.
fn find_replaced(
    workspace: &Workspace,
    proposed: bool,
    gates: &[GateSpec],
    checked: &Checked,
) -> Result<(Vec<GateSpec>, Vec<GateSpec>)> {
    let base = &checked.base.commit;
    let touched = workspace.list_touched(base, &checked.head)?;
    let own = read_settings_at(&workspace.repo, base)?.map(|config| config.gate_specs());
    let settings = workspace.repo.tree_entry(&checked.head, SETTINGS)?;
    let mut named = own.unwrap_or_default();
    let mut guessed = match named.is_empty() && !proposed && settings.is_none() {
        // Settings that lie in the worktree alone are the user's own.
        true => Vec::new(),
        false => workspace.propose_gates_at(base, &touched, &named)?,
    };
    let is_same = |one: &GateSpec, other: &GateSpec| {
        one.dir == other.dir && plain_words(&one.run) == plain_words(&other.run)
    };
    let is_replaced = |gate: &GateSpec| {
        let mut now = gates.iter();
        gate.place == Place::CleanRoom
            && concerns(gate, &touched)
            && !now.any(|now| is_same(now, gate) && (now.required || !gate.required))
    };
    named.retain(is_replaced);
    guessed.retain(is_replaced);
    Ok((named, guessed))
}

/// The words of a command; where its program lies, and which version of it, makes no other one of it.
fn plain_words(command: &str) -> Vec<String> {
    let mut words = words(command).unwrap_or_default();
    if let Some(first) = words.first_mut() {
        let name = first.rsplit('/').next().unwrap_or(first);
        *first = name
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
            .to_owned();
    }
    words
}

/// A gate of the base that is not green at the head, while the head has other ones.
fn tell_replaced(
    workspace: &Workspace,
    gate: &GateSpec,
    gates: &[GateSpec],
    checked: &mut Checked,
) -> Result<()> {
    let (base, head) = (&checked.base.commit, &checked.head);
    let required = |gate: &GateSpec| match gate.required {
        true => "",
        false => " (not required)",
    };
    let (name, was) = (&gate.name, &gate.run);
    let what = match gates.iter().find(|now| now.name == *name) {
        Some(now) => format!(
            "the gate `{name}` was `{was}`{}, which is not green at HEAD, and is `{}`{}",
            required(gate),
            now.run,
            required(now)
        ),
        None => {
            format!("the gate `{name}` of the base is gone, and is not green at HEAD: `{was}`")
        }
    };
    let mut lines = vec![TrialLine {
        word: Word::GateChanged,
        weight: Weight::Refuses,
        name: format!("gates.{name}"),
        what,
        show: format!("git diff {} {}", short(base), short(head)),
        file: None,
        declared: None,
    }];
    count_declared(&workspace.repo, base, head, &mut lines)?;
    lines.retain(|line| line.word == Word::GateChanged);
    checked.lines.extend(lines.into_iter().map(Line::from));
    Ok(())
}

/// The gates of a commit, all of them green there, and what was looked at. `named`: the settings' own;
/// `commands` are run beside them.
///
/// # Errors
/// `trust_missing`, `gates_not_green`; what [`super::check`] fails at.
pub(crate) fn require_green(
    workspace: &Workspace,
    (head, base): (&str, &Base),
    (named, commands): (&BTreeSet<String>, &[String]),
    tell: Tell,
) -> Result<(Vec<Green>, Vec<String>)> {
    let mut checked = Checked {
        head: head.to_owned(),
        base: base.clone(),
        ..Checked::default()
    };
    let gates = merge_gates(choose(workspace, &[], &mut checked)?, commands);
    if gates.is_empty() {
        let what = "no gate is known here, so a defect would not be noticed";
        return Err(Refusal::new(Code::GatesNotGreen, what)
            .replace_hints([
                "run `cook init`, or name the repository's test in `[gates]` of `.agent/cook.toml`",
            ])
            .into());
    }
    let may_run = runnable(workspace, &gates, &mut checked)?;
    let wanting = |line: &&Line| {
        matches!(
            line.code,
            Code::GateUntrusted | Code::ProgramAbsent | Code::GateRed | Code::GateNeedsUncommitted
        )
    };
    if may_run.len() == gates.len() && checked.lines.is_empty() {
        let greens = run_green(workspace, (&may_run, named), tell, &mut checked)?;
        if greens.len() == gates.len() {
            return Ok((greens, checked.checked));
        }
    }
    let lines: Vec<&Line> = checked.lines.iter().filter(wanting).collect();
    let code = match lines.iter().any(|line| line.code == Code::GateUntrusted) {
        true => Code::TrustMissing,
        false => Code::GatesNotGreen,
    };
    let what = lines
        .first()
        .map_or("a gate did not run", |line| &line.message);
    let findings = lines.iter();
    let findings = findings.map(|line| Finding::new(line.code, line.message.clone()));
    Err(Refusal::new(code, what)
        .with(findings.collect())
        .replace_hints(lines.iter().map(|line| format!("run `{}`", line.show)))
        .into())
}

// What is asked of a commit, and what was found.

/// Paths or tests in a line.
pub(super) const NAMED: usize = 5;

/// The commit to compare with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Base {
    /// Full ID of the commit that was compared with.
    #[serde(rename = "base")]
    pub commit: String,
    /// Reason for the choice of that commit.
    #[serde(rename = "base_is")]
    pub why: String,
}

/// The base that is named; else where the branch left its upstream, or the remote's default branch;
/// else the commit before. Where HEAD is already there, that one is no base.
///
/// # Errors
/// `commit_unknown`, a repository that cannot be read.
pub(crate) fn find_base(repo: &Repo, head: &str, named: Option<&str>) -> Result<Base> {
    let base = |commit: String, why: String| Ok(Base { commit, why });
    if let Some(name) = named {
        let Some(commit) = repo.commit_named(name)? else {
            let what = format!("`{name}` names no commit here");
            let hint = "name a branch, a tag or a commit, as in `--base main`";
            return Err(Failure::unknown(Code::CommitUnknown, what).replace_hints([hint]));
        };
        return match repo.merge_base(&commit, head)? {
            Some(merge) if merge != commit => base(merge, format!("the merge base with {name}")),
            _ => base(commit, name.to_owned()),
        };
    }
    let places = [repo.upstream()?, repo.default_branch()?];
    for name in places.into_iter().flatten() {
        let Some(commit) = repo.commit_named(&name)? else {
            continue;
        };
        if let Some(merge) = repo
            .merge_base(&commit, head)?
            .filter(|merge| merge != head)
        {
            let name = name.trim_start_matches("refs/remotes/");
            return base(merge, format!("the merge base with {name}"));
        }
    }
    match repo.commit_named(&format!("{head}~1"))? {
        Some(commit) => base(commit, "the commit before".to_owned()),
        None => base(
            head.to_owned(),
            "itself: this clone holds no earlier commit".to_owned(),
        ),
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ask<'a> {
    /// The commit to compare with, as the user names it; none = it is looked for.
    pub base: Option<&'a str>,
    /// The commit to check, by its full id; none = HEAD, and what the worktree has beside it.
    pub commit: Option<&'a str>,
    /// The gates to run, by name; none = all.
    pub gates: &'a [String],
    /// What is run.
    pub runs: Runs,
}

/// What a check runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Runs {
    /// The gates at the head, and the trials.
    #[default]
    All,
    /// The gates at the head alone: nothing is compared with the base.
    Head,
    /// Nothing: what needs no gate is looked at.
    Nothing,
}

/// Whether the claims about a commit are true.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// Nothing says otherwise.
    True,
    /// Something is not so.
    False,
    /// Something could not be asked.
    #[default]
    NotKnown,
}

/// A path that differs from the base, and its side of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct ChangedPath {
    /// Path relative to the root of the worktree; for a removed file, its path in the base.
    pub path: String,
    /// Side of a trial that the path belongs to: `code`, `test` or `both`.
    #[schemars(with = "String")]
    pub side: Side,
}

/// The result of `cook check`.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Checked {
    /// `false` if a line refuses the commit, `not_known` if something could not be measured, otherwise `true`.
    pub answer: Truth,
    /// Full ID of the commit that was checked.
    pub head: String,
    #[serde(flatten)]
    pub base: Base,
    /// Findings, worst first.
    pub lines: Vec<Line>,
    /// Paths that differ from the base, each with its side of a trial.
    pub changed: Vec<ChangedPath>,
    /// Completed checks, one line each.
    pub checked: Vec<String>,
}

/// What a person at a terminal sees while it takes time.
pub(crate) type Tell<'a> = &'a dyn Fn(&str);

impl Checked {
    /// One more thing that was found.
    pub fn find(
        &mut self,
        code: Code,
        weight: Weight,
        message: impl Into<String>,
        show: impl Into<String>,
    ) {
        self.lines.push(Line::new(code, weight, message, show));
    }

    /// Worst first, and the answer: false where a line refuses, else not known where a line says so.
    pub fn settle(mut self) -> Self {
        let mut told = BTreeSet::new();
        self.lines
            .retain(|line| told.insert((line.code, line.message.clone(), line.show.clone())));
        self.lines.sort_by_key(Line::rank);
        self.answer = match self.lines.iter().map(|line| line.weight).min() {
            Some(Weight::Refuses) => Truth::False,
            Some(Weight::NotKnown) => Truth::NotKnown,
            Some(Weight::Shown) | None => Truth::True,
        };
        self
    }
}

/// A finding, with the command that shows more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Line {
    pub code: Code,
    /// Weight of the finding: `refuses` if it contradicts the commit, `not_known` if something could not be measured,
    /// `shown` if it is only for the reader.
    #[schemars(with = "String")]
    pub weight: Weight,
    /// Test, file or gate that the finding concerns; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub message: String,
    /// Command that shows more, or that fixes the problem.
    pub show: String,
    /// Line for a commit message that declares the change; replace `WHY` by the reason. Absent if no line can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declare: Option<String>,
    /// Reason that a commit message gives for the change; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// The file that it is about.
    #[serde(skip)]
    pub file: Option<FilePlace>,
}

/// A file of the commit, and a line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    pub path: String,
    /// From 1.
    pub line: Option<usize>,
}

impl Line {
    pub fn new(
        code: Code,
        weight: Weight,
        message: impl Into<String>,
        show: impl Into<String>,
    ) -> Self {
        Self {
            code,
            weight,
            name: None,
            message: message.into(),
            show: show.into(),
            declare: None,
            declared: None,
            file: None,
        }
    }

    /// About that gate.
    pub(super) fn of_gate(self, gate: &GateSpec) -> Self {
        Self {
            name: Some(gate.name.clone()),
            ..self
        }
    }

    /// Worst first.
    fn rank(&self) -> (Weight, usize) {
        const FIRST: [Code; 3] = [Code::GateNeedsUncommitted, Code::GateRed, Code::PassToFail];
        let place = FIRST.iter().position(|code| *code == self.code);
        (self.weight, place.unwrap_or(FIRST.len()))
    }
}

impl From<TrialLine> for Line {
    fn from(line: TrialLine) -> Self {
        let declare = line.declaration();
        let message = match &line.declared {
            Some(why) => format!("{}; declared: {why}", line.what),
            None => line.what,
        };
        Self {
            code: code_of(line.word),
            weight: line.weight,
            name: Some(line.name),
            message,
            show: line.show,
            declare,
            declared: line.declared,
            file: line.file.map(|path| FilePlace { path, line: None }),
        }
    }
}

/// The first of them, and how many more there are.
pub(super) fn some(paths: &[String]) -> String {
    let shown = paths[..paths.len().min(NAMED)].join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown}, {more} more"),
    }
}
