//! `cook gate` runs gates now and keeps receipts. `cook trust` allows cook to run a command on this machine.

use super::context::*;
use super::recorded::{self, TransitionAnswer, describe_red, note};
use crate::init::{Contract, FileOutcome, OF_FOLDER, SETTINGS};
use crate::measure;
use cook_agents::Preset;
use cook_protocol::model::{Resume, STOP_VERIFIER_SCRIPTS};
use cook_repo::receipt::plan_gate;

#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// Names of the gates to run [default: all gates of `cook.toml`]
    pub names: Vec<String>,
    /// Also run the verification commands of this slice
    #[arg(long, value_name = "ID")]
    pub slice: Option<String>,
    /// Run in a clean room with HEAD's commit, as for a proof, instead of in the worktree
    #[arg(long)]
    pub clean: bool,
    /// With --clean, run with empty caches, even if there is a receipt
    #[arg(long, requires = "clean")]
    pub fresh: bool,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
}

pub(super) fn gate(context: &Context, args: &GateArgs) -> Answer {
    let mut workspace = context.workspace()?;
    workspace.trust_everything = args.trust_repo;
    let names = args.names.iter();
    let folders = names.filter_map(|name| name.rsplit_once(OF_FOLDER));
    let folders: Vec<&str> = folders.map(|(dir, _)| dir).collect();
    workspace.propose_gates_in(&folders)?;
    let gates = choose_gates(&workspace, args)?;
    context::not_apart(&workspace).map_err(|mut refusal| {
        // The gate would run beside the changes that this throwaway copy excludes.
        let here = gates.iter();
        let here = here.map(|gate| format!("to see it here, run `{}`", gate.run));
        refusal.hints.splice(0..0, here);
        refusal
    })?;
    let setup = workspace.config()?.clean_room.setup();
    let setup = setup.filter(|_| args.clean).map(ToString::to_string);
    let commands: Vec<String> = gates
        .iter()
        .map(|gate| gate.run.clone())
        .chain(setup)
        .collect();
    workspace.require_trust("", &commands)?;
    if args.clean {
        if args.fresh {
            workspace.caches = Caches::Empty;
        }
        // In a large worktree, git status takes as long as the clean room, so they run in parallel.
        let root = workspace.repo.root().to_owned();
        let (status, runs) = thread::both(
            move || Repo::discover(&root)?.status(),
            || workspace.run_gates(&gates),
        );
        let (status, runs) = (status?, runs?);
        let green = runs.iter().filter(|run| run.has_passed());
        let green: Vec<&Receipt> = green.filter_map(|run| run.receipt.as_ref()).collect();
        let is_nameless = measure::are_nameless(&workspace.repo, &green)?;
        let mut gates = Vec::new();
        for run in runs {
            let missing = measure::missing(&workspace.repo, workspace.config()?, (&run).into())?;
            gates.push(Gate::new(run, missing));
        }
        if let Some(gate) = gates.iter_mut().rfind(|gate| gate.passed && is_nameless) {
            gate.remarks.push(measure::NAMELESS.to_owned());
        }
        let mut findings = Vec::new();
        if !status.worktree.is_clean() {
            let what = "the worktree is not clean: the clean room held HEAD's commit, without the uncommitted changes";
            findings.push(Finding::new(Code::DirtyWorktree, what));
        }
        return answer(GateAnswer { gates, findings });
    }
    let config = workspace.config()?;
    let world = workspace.world()?;
    let runner = world.runner()?;
    let mut shown = Vec::new();
    for gate in &gates {
        let run = runner.run_here(gate)?;
        let missing = measure::list_missing_in_worktree(&workspace.repo, config, &run);
        shown.push(Gate::new(run, missing));
    }
    answer(GateAnswer {
        gates: shown,
        findings: Vec::new(),
    })
}

/// Returns the gates with the given names, or all gates of `cook.toml`, and those of the slice.
fn choose_gates(workspace: &Workspace, args: &GateArgs) -> Result<Vec<GateSpec>> {
    let mut gates = workspace.config()?.gate_specs();
    if let (_, Some(snapshot)) = workspace.current()?
        && let Some(goal) = snapshot.goal()
    {
        let shown = goal.checks.iter().filter(|check| !check.hidden);
        gates.extend(shown.map(|check| plan_gate(&check.run)));
    }
    if !args.names.is_empty() {
        let known: Vec<String> = gates.iter().map(|gate| gate.name.clone()).collect();
        if let Some(name) = args.names.iter().find(|name| !known.contains(name)) {
            let known = join_or(&known, "none");
            let what = format!("unknown gate `{name}`; `.agent/cook.toml` has {known}");
            return Err(Failure::usage(what));
        }
        gates.retain(|gate| args.names.contains(&gate.name));
    }
    if let Some(id) = &args.slice {
        let (_, snapshot) = workspace.require()?;
        let Some(slice) = snapshot.plan.slice(id) else {
            let what = format!("no slice `{id}` in the plan");
            return Err(Failure::unknown(Code::SliceUnknown, what));
        };
        for command in slice.verification_commands.iter().flatten() {
            if !gates.iter().any(|gate| &gate.run == command) {
                gates.push(plan_gate(command));
            }
        }
    }
    Ok(gates)
}

/// The gates that ran, or that have a receipt.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct GateAnswer {
    gates: Vec<Gate>,
    findings: Vec<Finding>,
}

/// The result of one gate.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Gate {
    name: String,
    run: String,
    required: bool,
    passed: bool,
    /// Reason why the gate could not run, or why its run says nothing about the commit; null if there is none.
    problem: Option<String>,
    receipt: Option<Receipt>,
    /// Remarks about the run.
    remarks: Vec<String>,
    /// Missing parts of the clean room, with the setting that adds each.
    missing: Vec<String>,
    #[serde(skip)]
    timeout: Duration,
}

impl Gate {
    fn new(run: GateRun, missing: Vec<String>) -> Self {
        Self {
            passed: run.has_passed(),
            name: run.gate.name,
            run: run.gate.run,
            required: run.gate.required,
            problem: run.problem,
            receipt: run.receipt,
            remarks: run.remarks,
            missing,
            timeout: Duration::from_millis(run.gate.timeout_ms),
        }
    }

    fn lines(&self, page: &mut Page) {
        match self.passed {
            true => page.add_toned(Tone::Good, "green"),
            false => page.add_toned(Tone::Bad, "red  "),
        }
        let mut more: Vec<String> = Vec::new();
        let mut took = String::new();
        if let Some(receipt) = &self.receipt {
            took = format!("  {} ms", receipt.duration_ms.0);
            more.push(format!("receipt:{}", receipt.id));
            if !receipt.proves() {
                more.push("ran in the worktree, so it proves nothing".to_owned());
            }
            if receipt.exit_code.is_none() {
                let limit = humantime::format_duration(self.timeout);
                more.push(format!("ended by a signal, or by its timeout of {limit}"));
            }
        }
        page.line(&format!("  {}  {}{took}", self.name, self.run));
        more.extend(self.remarks.iter().cloned());
        match (&self.problem, &self.receipt) {
            (Some(problem), _) => more.push(problem.clone()),
            (None, Some(receipt)) if !self.passed => {
                more.extend(describe_red(&receipt.tail));
            }
            _ => {}
        }
        page.list("       ", &more);
        for hint in &self.missing {
            page.add_toned(Tone::Dim, "       missing: ");
            page.line(hint);
        }
    }
}

impl Show for GateAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        if self.gates.is_empty() {
            page.line("no gates: `.agent/cook.toml` names none");
        }
        self.gates.iter().for_each(|gate| gate.lines(page));
    }

    fn exit(&self) -> Exit {
        Exit::of_check(!self.gates.iter().any(|gate| gate.required && !gate.passed))
    }
}

// `cook trust`: allows cook to run a command.

#[derive(Debug, Args)]
pub(super) struct TrustArgs {
    /// Command to trust, exactly as `cook` printed it
    #[arg(
        required_unless_present_any = ["list", "gates", "tools", "program"],
        allow_hyphen_values = true,
        value_parser = free_text
    )]
    pub command: Option<String>,
    /// Trust every command that begins with these words
    #[arg(long, requires = "command")]
    pub prefix: bool,
    /// Trust the current gates of `cook.toml` and the stop verifier
    #[arg(long, conflicts_with = "command")]
    pub gates: bool,
    /// Let gates use the PATH and the toolchain directories of this terminal
    #[arg(long, conflicts_with_all = ["command", "gates"])]
    pub tools: bool,
    /// Accept the current version of this program, which has changed since its first green run
    #[arg(long, value_name = "NAME", conflicts_with_all = ["command", "gates", "tools"])]
    pub program: Option<String>,
    /// List the trusted commands of this machine
    #[arg(long, conflicts_with_all = ["command", "gates", "tools", "program"])]
    pub list: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn trust(context: &Context, args: &TrustArgs) -> Answer {
    let workspace = context.workspace()?;
    let mut trust = workspace.trust()?;
    if args.list {
        let (commands, prefixes) = trust.list_trusted();
        let commands = commands.iter().map(|command| format!("command  {command}"));
        let prefixes = prefixes.iter().map(|prefix| format!("prefix   {prefix} …"));
        let mut lines: Vec<String> = commands.chain(prefixes).collect();
        match lines.is_empty() {
            true => lines.push("nothing is trusted on this machine".to_owned()),
            false => lines.extend(tools(&trust)),
        }
        return note("trust_list", lines);
    }
    let actor = context::require_user(args.as_user.as_user)?;
    if args.tools {
        let before = trust.tools();
        trust.trust_tools()?;
        return note("trusted", list_changed_tools(&workspace, &before, &trust));
    }
    if let Some(name) = &args.program {
        let file = trust.trust_program(name)?;
        let line = format!("trusted: program `{name}` as {}", file.display());
        return note("trusted", vec![line]);
    }
    let mut lines = Vec::new();
    let commands: Vec<String> = match &args.command {
        Some(command) => vec![command.clone()],
        None => {
            let mut commands: Vec<String> = commands(workspace.config()?)
                .map(|(_, command)| command)
                .collect();
            // The stop verifier's command, if its script is in the worktree.
            let script = workspace.repo.root().join(STOP_VERIFIER_SCRIPTS[0]);
            commands.extend(script.is_file().then(|| STOP_VERIFIER.to_owned()));
            commands
        }
    };
    let mut given = Vec::new();
    for command in commands {
        if args.prefix {
            trust.trust_prefix(&command)?;
            lines.push(format!(
                "trusted: every command that begins with `{command}`"
            ));
            given.push(format!("{command} …"));
        } else {
            trust.trust(&command)?;
            lines.push(format!("trusted: `{command}`"));
            let absent = trust.absent_programs(&command).join("`, `");
            if !absent.is_empty() && !Preset::are_trust_words(&command) {
                lines.push(format!("it needs `{absent}`, not on the PATH here: install it, then run `cook trust --tools` in a terminal that finds it"));
            }
            given.push(command);
        }
    }
    // Without a log there is nothing to record.
    let (_, Some(before)) = workspace.current()? else {
        return note("trusted", lines);
    };
    // This resumes work that waited for the trust, if it waits for nothing else.
    let resume = Resume {
        trust: given,
        settings: args.command.is_none(),
        ..Resume::default()
    };
    let applied = service::transition(&workspace, &Event::Resumed(resume), actor)?;
    if before.state.continuation_policy != applied.step.snapshot.state.continuation_policy {
        lines.push("resumed".to_owned());
    }
    let mut findings = applied.findings.clone();
    let applied = recorded::reground(&workspace, &mut lines, &mut findings).unwrap_or(applied);
    answer(TransitionAnswer::new(applied, lines, findings))
}

/// Lists where gates find programs, with one line for each variable.
fn tools(trust: &Trust) -> Vec<String> {
    let line = |(name, value)| format!("tools    {name}={value}");
    trust.tools().iter().map(line).collect()
}

/// Lists the variables that changed, and the parts of their values that gates do not get.
fn list_changed_tools(
    workspace: &Workspace,
    before: &BTreeMap<String, String>,
    trust: &Trust,
) -> Vec<String> {
    let now = trust.tools();
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let changed = names.into_iter().filter_map(|name| {
        let (was, is) = (before.get(name), now.get(name));
        (was != is).then(|| match is {
            Some(value) => format!("changed  {name}={value}"),
            None => format!("removed  {name}"),
        })
    });
    let mut lines: Vec<String> = changed.collect();
    if lines.is_empty() {
        lines.push("nothing changed: gates had the PATH and the toolchain directories of this terminal already".to_owned());
    }
    let path = now.get("PATH").map(String::as_str).unwrap_or_default();
    let root = workspace.repo.root();
    let within = std::env::split_paths(path).filter(|dir| dir.starts_with(root));
    lines.extend(within.map(|dir| {
        format!(
            "left out of PATH, because it is inside the repository: {}",
            dir.display()
        )
    }));
    lines.extend(tools(trust));
    lines
}

/// The name and command of everything that the settings run in a clean room.
pub(super) fn commands(config: &Config) -> impl Iterator<Item = (String, String)> {
    let setup = config.clean_room.setup();
    let setup = setup.map(|command| ("setup".to_owned(), command.to_string()));
    let gates = config.gates.iter();
    setup.chain(gates.map(|(name, gate)| (name.clone(), gate.run.to_string())))
}

/// Reports the programs of a command that are missing on this machine.
pub(super) fn absent(trust: &Trust, name: &str, command: &str) -> Option<Finding> {
    let absent = trust.absent_programs(command).join("`, `");
    let what = format!("`{command}` needs `{absent}`, not on the PATH here");
    (!absent.is_empty()).then(|| Finding::new(Code::ProgramAbsent, what).at(name))
}

/// By command, the missing programs of the gates and the setup.
pub(super) fn absent_programs(
    workspace: &Workspace,
    contract: &Contract,
) -> Result<BTreeMap<String, Finding>> {
    let Some(config) = &contract.config else {
        return Ok(BTreeMap::new());
    };
    let trust = workspace.trust()?;
    let found = commands(config).filter_map(|(name, command)| {
        let finding = absent(&trust, &name, &command)?;
        Some((command, finding))
    });
    Ok(found.collect())
}

/// Trusts the gates that cook proposed and the scripts that it wrote, because the user accepts them by running
/// `cook init` outside an agent's environment. Commands that came with the repository, and commands whose programs are
/// missing, do not become trusted.
pub(super) fn trust_written(
    workspace: &Workspace,
    contract: &Contract,
    verifier_was_trusted: bool,
    absent: &BTreeMap<String, Finding>,
    lines: &mut Vec<String>,
) -> Result<()> {
    let mut written = Vec::new();
    if contract.outcome(SETTINGS) == Some(FileOutcome::Created)
        && let Some(config) = &contract.config
    {
        written.extend(commands(config).map(|(_, command)| command));
    }
    let is_written = |path: &&str| {
        matches!(
            contract.outcome(path),
            Some(FileOutcome::Created | FileOutcome::Updated)
        )
    };
    let all_written = STOP_VERIFIER_SCRIPTS.iter().all(is_written);
    let any_written = STOP_VERIFIER_SCRIPTS.iter().any(is_written);
    let mut trust = workspace.trust()?;
    // The verifier runs the gates, and the user first looks at those that came with the repository.
    let gates = contract.config.iter().flat_map(Config::gate_specs);
    let gates_are_trusted = gates
        .filter(|gate| gate.required)
        .all(|gate| written.contains(&gate.run) || trust.is_trusted(&gate.run));
    if gates_are_trusted && (all_written || (any_written && verifier_was_trusted)) {
        written.push(STOP_VERIFIER.to_owned());
    }
    // The verifier runs every gate, so it needs the programs of all gates.
    let (left, commands): (Vec<String>, Vec<String>) = written.into_iter().partition(|command| {
        absent.contains_key(command) || command == STOP_VERIFIER && !absent.is_empty()
    });
    if !left.is_empty() {
        let left = left.join(" · ");
        lines.push(format!("not trusted, because a program is missing: {left}"));
    }
    if commands.is_empty() {
        return Ok(());
    }
    let named = commands.join(" · ");
    if let Some(marker) = context::agent_around() {
        lines.push(format!("gates, not trusted yet because {marker}: {named}"));
        return Ok(());
    }
    for command in &commands {
        trust.trust(command)?;
    }
    lines.push(format!("gates, trusted on this machine: {named}"));
    Ok(())
}
