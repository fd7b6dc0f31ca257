//! `cook doctor`: checks the set-up, shows the settings in force, checks the log's objects, and lists the installed
//! agents and the copies that were set aside.

use super::context::*;
use super::gate;
use super::recorded::note;
use crate::{hooks, run};
use cook_agents::{Found, Preset, describe_elsewhere, presets};
use cook_protocol::model::{AgentKind, Continuation, SessionNaming};
use cook_repo::store::KeptCopy;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct DoctorArgs {
    #[command(subcommand)]
    pub command: Option<DoctorCommand>,
    /// Print all settings in force
    #[arg(long)]
    pub config: bool,
    /// Send a test question to each installed agent
    #[arg(long, conflicts_with = "config")]
    pub probe: bool,
    /// With --probe, ask only this agent
    #[arg(long, value_name = "NAME", requires = "probe")]
    pub agent: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum DoctorCommand {
    /// Check the objects of the log and the files of `.agent/`
    Fsck,
    /// List, show and restore saved copies of reverted changes
    #[command(subcommand)]
    Rescue(RescueCommand),
    /// List the known agents, their versions and their abilities
    Agents,
}

pub(super) fn doctor(context: &Context, args: &DoctorArgs) -> Answer {
    match &args.command {
        None => check_setup(context, args),
        Some(DoctorCommand::Fsck) => fsck(context),
        Some(DoctorCommand::Rescue(command)) => rescue(context, command),
        Some(DoctorCommand::Agents) => agents(context),
    }
}

fn check_setup(context: &Context, args: &DoctorArgs) -> Answer {
    let workspace = context.workspace()?;
    if args.config {
        let config = workspace.config()?;
        let text = config.effective();
        if context.screen.json {
            return note("config", text.lines().map(str::to_owned).collect());
        }
        let head = "# every setting in force; `.agent/cook.toml` overrides a default";
        return answer(PromptAnswer(format!("{head}\n{text}")));
    }
    let mut findings: Vec<Finding> = workspace.config_problem().cloned().into_iter().collect();
    let mut checked = vec![format!("repository {}", workspace.repo.root().display())];
    if !workspace.repo.is_open_in_libgit2() {
        checked.push("libgit2 cannot open this repository; cook calls git instead".to_owned());
    }
    match workspace.current()? {
        (Some(tip), Some(snapshot)) => {
            let status = &snapshot.state.contract_status;
            checked.push(format!("log at #{}, {status}", tip.seq));
        }
        _ => {
            let what = "there is no log for this worktree";
            findings.push(Finding::new(Code::LogMissing, what));
        }
    }
    if let Ok(config) = workspace.config() {
        let given = workspace.trust()?;
        if given.is_foreign() {
            let what = "the list of trusted commands was made by another user or on another machine: it came with the git directory";
            findings.push(Finding::new(Code::TrustForeign, what));
        }
        let gates = count_noun(config.gate_specs().len(), "gate");
        checked.push(format!("{gates} in `.agent/cook.toml`"));
        for (name, command) in gate::commands(config) {
            if !given.is_trusted(&command) {
                let what = format!("`{command}` is not trusted on this machine");
                findings.push(Finding::new(Code::GateUntrusted, what).at(name.clone()));
            }
            findings.extend(gate::absent(&given, &name, &command));
        }
        if workspace.is_stop_verifier_stale()? {
            findings.push(machine::stale_stop_verifier());
        }
        findings.extend(run::unfit(&workspace)?);
        match run::Keeping::of(&workspace) {
            Ok(keeping) => {
                checked.push(format!("sandbox {}", keeping.summary()));
                checked.extend(keeping.describe());
                findings.extend(keeping.warning());
            }
            Err(failure) => {
                findings.push(Finding::new(failure.code, failure.message).at("sandbox.mode"))
            }
        }
    }
    findings.extend(hooks::install::unseen(&workspace));
    if args.probe {
        context::not_nested()?;
        let (heard, silent) = run::probe(&workspace, args.agent.as_deref())?;
        checked.extend(heard);
        findings.extend(silent);
    }
    if let Some(marker) = context::agent_around() {
        checked.push(format!("this process runs inside an agent ({marker}): commands that only the user may run are refused"));
    }
    answer(VerifyAnswer::new("doctor", checked, findings))
}

fn fsck(context: &Context) -> Answer {
    let report = context.workspace()?.store()?.fsck()?;
    let transitions = count_noun(report.transitions, "transition");
    let workflows = count_noun(report.workflows, "workflow");
    let checked = vec![
        format!("{} objects, {} bytes", report.objects, report.bytes),
        format!("{transitions} in {workflows}"),
    ];
    answer(VerifyAnswer::new("fsck", checked, report.findings))
}

fn agents(context: &Context) -> Answer {
    let workspace = context.workspace()?;
    let all = presets(workspace.config()?);
    let sound = all.values().filter_map(|preset| preset.as_ref().ok());
    let sound: Vec<&Preset> = sound.collect();
    let found = run::find_here(&workspace, &sound)?;
    let mut agents: Vec<AgentRow> = Vec::new();
    for (preset, found) in sound.into_iter().zip(found) {
        let mut preset = preset.clone();
        found.restrict(&mut preset);
        agents.push(AgentRow::new(&preset, found));
    }
    for (name, wrong) in &all {
        if let Err(error) = wrong {
            agents.push(AgentRow {
                name: name.clone(),
                problem: Some(error.message.clone()),
                ..AgentRow::default()
            });
        }
    }
    agents.sort_by(|one, two| one.name.cmp(&two.name));
    answer(AgentsAnswer { agents })
}

/// Agents that can be asked.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct AgentsAnswer {
    /// The agents, sorted by name.
    agents: Vec<AgentRow>,
}

/// One agent.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
struct AgentRow {
    name: String,
    /// Name of the program.
    bin: String,
    /// Whether the program is installed and is the expected one.
    installed: bool,
    /// Path of the first program of that name on PATH; null if there is none.
    path: Option<String>,
    /// Version that the program reports.
    version: Option<String>,
    /// Whether a version of the program was tested with the preset.
    verified: bool,
    /// Capabilities of the agent.
    capabilities: Vec<&'static str>,
    /// Problem with the program or the preset; null if there is none.
    problem: Option<String>,
    /// Paths of other programs of that name further on PATH; cook runs none of them.
    further: Vec<String>,
    /// The path in `further` of the program that is the agent, if the program at `path` is not; null otherwise.
    elsewhere: Option<String>,
}

impl AgentRow {
    fn new(preset: &Preset, found: Found) -> Self {
        let table = preset.table();
        let shown = |path: PathBuf| path.display().to_string();
        let tells_cost = preset.rules().iter().any(|rule| rule.set.cost.is_some());
        let can = [
            ("acp", preset.kind() == AgentKind::Acp),
            ("resume", table.resume.is_some()),
            ("fork", preset.continuation() == Continuation::Native),
            ("schema", table.schema.is_some()),
            ("named-session", preset.session() != SessionNaming::None),
            ("read-only", preset.can_only_read()),
            ("cost", tells_cost),
            ("open", table.open.is_some()),
        ];
        Self {
            name: preset.name().to_owned(),
            bin: preset.bin().to_owned(),
            installed: found.path.is_some() && found.is_it,
            path: found.path.map(shown),
            version: found.version,
            verified: preset.is_verified(),
            capabilities: can
                .iter()
                .filter(|(_, can)| *can)
                .map(|(name, _)| *name)
                .collect(),
            problem: found.problem,
            further: found.further.into_iter().map(shown).collect(),
            elsewhere: found.elsewhere.map(shown),
        }
    }

    /// A remark on the agent's program.
    fn remark(&self) -> Option<String> {
        let Self { bin, path, .. } = self;
        let problem = match (&self.problem, path) {
            (Some(problem), _) => problem.clone(),
            (None, Some(path)) if self.installed => {
                let further = (!self.further.is_empty()).then(|| self.further.join("`, `"))?;
                return Some(format!("`{path}` runs; `{further}` is further on PATH"));
            }
            (None, Some(_)) => format!("`{bin}` is a different program with that name"),
            (None, None) => return None,
        };
        Some(match &self.elsewhere {
            Some(path) => format!("{problem}; {}", describe_elsewhere(path)),
            None => problem,
        })
    }
}

impl Show for AgentsAnswer {
    fn human(&self, page: &mut Page) {
        for row in &self.agents {
            let (tone, state) = match (&row.problem, &row.path, row.installed) {
                (Some(_), _, _) => (Tone::Warn, "problem"),
                (None, None, _) => (Tone::Dim, "absent"),
                (None, Some(_), false) => (Tone::Warn, "another"),
                (None, Some(_), true) => (Tone::Good, "here"),
            };
            page.add_toned(Tone::Strong, &format!("{:<10}", row.name));
            page.add_toned(tone, &format!(" {state:<8}"));
            let version = row.version.as_deref().unwrap_or("-");
            let verified = if row.verified { "" } else { "  unverified" };
            let can = row.capabilities.join(" ");
            page.line(&format!(" {version:<12} {can}{verified}"));
            if let Some(remark) = row.remark() {
                page.line(&format!("           {remark}"));
            }
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum RescueCommand {
    /// List the saved copies
    List,
    /// List the files of a copy, or print one of them
    Show {
        /// ID of the copy (a prefix is enough), or a ref from the list
        id: String,
        /// Path of a file, as listed
        path: Option<String>,
    },
    /// Write the files of a copy to a directory of the worktree
    Restore {
        /// ID of the copy (a prefix is enough)
        id: String,
        /// Write to this directory, and create it if it does not exist
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
    },
}

fn rescue(context: &Context, command: &RescueCommand) -> Answer {
    let workspace = context.workspace()?;
    let store = workspace.store()?;
    let mut copies = store.rescue_list()?;
    let mut refs = list_refs(&workspace)?;
    match command {
        RescueCommand::List => {}
        RescueCommand::Show { id, path: None } => {
            copies.retain(|copy| copy.id.starts_with(id.as_str()));
            refs.retain(|kept| kept.name == *id);
            if copies.is_empty() && refs.is_empty() {
                return Err(refuse_unknown(id));
            }
        }
        RescueCommand::Show {
            id,
            path: Some(path),
        } => {
            if let Some(kept) = refs.iter().find(|kept| kept.name == *id) {
                let what = format!("`{id}` is a ref, not a copy");
                return Err(refuse_name(what, &format!("run `{}`", kept.shown_by)));
            }
            let copy = find_copy(&copies, id)?;
            let id = copy.id.clone();
            if !copy.files.iter().any(|file| file.path == *path) {
                let what = format!("the copy {id} holds no file `{}`", path.escape_debug());
                let hint = format!("`cook doctor rescue show {id}` lists its files");
                return Err(refuse_name(what, &hint));
            }
            let bytes = store.rescue_show(&id, path)?;
            return answer(RescuedFile {
                id,
                path: path.clone(),
                bytes: bytes.len() as u64,
                text: String::from_utf8(bytes).ok(),
            });
        }
        RescueCommand::Restore { id, to } => {
            context::not_apart(&workspace)?;
            let id = &find_copy(&copies, id)?.id;
            let written = store.rescue_restore(id, &[], &context.dir.join(to), false)?;
            let lines = written.iter();
            let lines = lines.map(|path| format!("wrote {}", path.display()));
            return note("rescue_restored", lines.collect());
        }
    }
    let copies = copies.into_iter().map(|copy| RescueRow {
        kind: format!("{:?}: {}", copy.kind, copy.why).to_lowercase(),
        id: copy.id,
        time: Clock::of_epoch(copy.epoch_seconds),
        files: copy
            .files
            .into_iter()
            .map(|file| RescueFile {
                path: file.path,
                bytes: file.bytes,
            })
            .collect(),
    });
    answer(RescueAnswer {
        copies: copies.collect(),
        refs,
    })
}

/// Lists the refs that keep work of the repository and transitions of the log.
fn list_refs(workspace: &Workspace) -> Result<Vec<RescueRef>> {
    let log = machine::quote_word(&workspace.place().log_dir().display().to_string());
    let show = |prefix: &str, (name, object): (String, String)| RescueRef {
        shown_by: format!("{prefix} {name}"),
        name,
        object,
    };
    let own = workspace.repo.set_aside()?.into_iter();
    let own = own.map(|kept| show("git show", kept));
    let of_log = workspace.store()?.set_aside()?.into_iter();
    let of_log = of_log.map(|kept| show(&format!("git --git-dir={log} log"), kept));
    Ok(own.chain(of_log).collect())
}

/// Finds the only copy whose id begins with `id`.
fn find_copy<'c>(copies: &'c [KeptCopy], id: &str) -> Result<&'c KeptCopy> {
    let found = copies.iter().filter(|copy| copy.id.starts_with(id));
    match found.collect::<Vec<_>>()[..] {
        [] => Err(refuse_unknown(id)),
        [copy] => Ok(copy),
        [..] => {
            let what =
                format!("several copies that were set aside have an id that begins with `{id}`");
            let hint = "give more of the id; `cook doctor rescue list` shows the ids";
            Err(refuse_name(what, hint))
        }
    }
}

fn refuse_unknown(id: &str) -> Failure {
    let what = format!("no copy that was set aside is named `{id}`");
    refuse_name(what, "run `cook doctor rescue list`")
}

fn refuse_name(message: String, hint: &str) -> Failure {
    Failure::new(FailureKind::Usage, Code::OperationUnknown, message).replace_hints([hint])
}

/// A file of a copy that was set aside.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct RescuedFile {
    /// ID of the copy.
    id: String,
    /// Path of the file in the copy.
    path: String,
    /// Size in bytes.
    bytes: u64,
    /// Text of the file; null if it is not text.
    text: Option<String>,
}

impl Show for RescuedFile {
    fn human(&self, page: &mut Page) {
        match &self.text {
            Some(text) => page.verbatim(&clean(text, Lines::Keep)),
            None => page.line(&format!(
                "{} bytes that are not text; `cook doctor rescue restore {} --to DIR` writes them",
                self.bytes, self.id
            )),
        }
    }
}

/// Copies that were set aside.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct RescueAnswer {
    /// Copies, newest last.
    copies: Vec<RescueRow>,
    /// Refs that hold reverted commits or parked changes.
    refs: Vec<RescueRef>,
}

/// One kept copy.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct RescueRow {
    /// ID of the copy.
    id: String,
    /// Kind of the copy, and the reason for it.
    kind: String,
    /// Time at which the copy was made.
    time: String,
    /// Files of the copy.
    files: Vec<RescueFile>,
}

/// A file of a kept copy.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct RescueFile {
    /// Path of the file in the copy.
    path: String,
    /// Size in bytes.
    bytes: u64,
}

/// A ref of the user's repository, or of the log.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct RescueRef {
    /// Name of the ref.
    name: String,
    /// ID of the object that the ref points to.
    object: String,
    /// Command that shows the content of the ref.
    shown_by: String,
}

impl Show for RescueAnswer {
    fn human(&self, page: &mut Page) {
        if self.copies.is_empty() && self.refs.is_empty() {
            page.line("nothing was set aside");
        }
        for copy in &self.copies {
            page.add_toned(Tone::Strong, &copy.id);
            page.line(&format!("  {}  {}", copy.kind, copy.time));
            for file in &copy.files {
                page.line(&format!("    {}  {} bytes", file.path, file.bytes));
            }
        }
        for kept in &self.refs {
            page.add_toned(Tone::Strong, &kept.name);
            let (object, shown_by) = (&kept.object, &kept.shown_by);
            page.line(&format!("  {object:.12}  `{shown_by}` shows it"));
        }
    }
}
