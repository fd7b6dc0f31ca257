//! `cook init` and `cook record bootstrapper`: set up the contract, the log and the first documents.

use super::context::*;
use super::gate;
use super::recorded::{self, NoteAnswer, TransitionAnswer, Trial, note};
use crate::init::{self, FileOutcome, SETTINGS, TRACKED, plans};
use crate::service::Applied;
use crate::verify::measure_worths;
use cook_agents::presets;
use cook_protocol::diagnostic::list_with_verb;
use cook_protocol::machine::has_mission;
use cook_protocol::model::Assurance;
use std::io::{BufRead, Read};

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Set the mission to this text
    #[arg(long, value_name = "TEXT", conflicts_with = "mission_file", allow_hyphen_values = true, value_parser = free_text)]
    pub mission: Option<String>,
    /// Read the mission from this file (`-` reads standard input)
    #[arg(long, value_name = "FILE")]
    pub mission_file: Option<PathBuf>,
    /// Import a plan of spec-kit, OpenSpec, Kiro, task-master, Ralph, a Markdown check list, GitHub issues as
    /// JSON, or beads
    #[arg(long, value_name = "PATH")]
    pub from: Option<String>,
    /// Only update the boxes of the imported plan to what is proven at HEAD (user only)
    #[arg(long, conflicts_with_all = ["mission", "mission_file", "from", "size", "assurance", "commit", "log", "skip_gates", "gate_time"])]
    pub tick: bool,
    /// Choose the profile by the size of the work (less than before: user only) [default: the current profile, at
    /// first day]
    #[arg(long = "for", value_name = "SIZE", conflicts_with = "assurance", value_parser = input::one_of(&WorkSize::ALL, WorkSize::id))]
    pub size: Option<WorkSize>,
    /// Choose the profile by its name: below `strict` there are fewer audits, and cook itself makes re-grounds that
    /// need no decision (less than before: user only)
    #[arg(long, value_name = "PROFILE", value_parser = input::one_of(&Assurance::ALL, Assurance::id))]
    pub assurance: Option<Assurance>,
    /// Commit the contract files, but no other files
    #[arg(long)]
    pub commit: bool,
    /// Do not ask for a mission; without one, leave it for later
    #[arg(long, short)]
    pub yes: bool,
    /// Continue the workflow of this log, whose worktree is gone; `new` begins another log (user only)
    #[arg(long, value_name = "ID")]
    pub log: Option<String>,
    /// Limit the time of each gate's trial
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    pub gate_time: Duration,
    /// Do not try the gates
    #[arg(long, conflicts_with = "gate_time")]
    pub skip_gates: bool,
    /// A text without an option.
    #[arg(value_name = "TEXT", hide = true)]
    pub stray: Option<String>,
    #[command(flatten)]
    pub as_user: AsUser,
}

/// The amount of work in a mission, from which its first profile follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkSize {
    Hour,
    Day,
    Week,
}

impl WorkSize {
    const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    fn id(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Hour => "two sessions: the mission is the only slice, and its review decides",
            Self::Day => "two sessions a slice, and an audit and a judge at the end",
            Self::Week => "each step is a session of its role, and three judges decide",
        }
    }

    fn assurance(self) -> Assurance {
        match self {
            Self::Hour => Assurance::Lite,
            Self::Day => Assurance::Standard,
            Self::Week => Assurance::Strict,
        }
    }
}

/// The user's choice of the profile.
#[derive(Debug, Clone, Copy)]
enum Choice {
    Size(WorkSize),
    Assurance(Assurance),
}

impl Choice {
    fn assurance(self) -> Assurance {
        match self {
            Self::Size(size) => size.assurance(),
            Self::Assurance(assurance) => assurance,
        }
    }

    /// Whether the choice asks for less than the workflow's profile, or than the default profile if there is no
    /// workflow.
    fn is_less_than(self, before: Option<&Snapshot>) -> bool {
        let day = Self::Size(WorkSize::Day);
        let (assurance, judges) = match before {
            Some(before) => (
                before.profile.assurance,
                before.profile.required_stop_judges,
            ),
            None => (day.assurance(), day.judges()),
        };
        self.assurance() < assurance || self.sets_judges() && self.judges() < judges
    }

    fn sets_judges(self) -> bool {
        matches!(self, Self::Size(_))
    }

    /// The number of judges in a new profile, and in any profile that is chosen by the size of the work.
    fn judges(self) -> Count {
        Count(match (self, self.assurance()) {
            (Self::Size(WorkSize::Hour), _) => 0,
            (_, Assurance::Strict) => 3,
            _ => 1,
        })
    }
}

pub(super) fn init(context: &Context, args: &InitArgs) -> Answer {
    if let Some(stray) = &args.stray {
        let mission = format!("cook init --mission {}", quote_word(stray));
        return Err(
            Failure::usage(format!("`cook init` does not take `{stray}` by itself"))
                .hint(format!("to set the mission to it: `{mission}`")),
        );
    }
    if args.tick {
        return tick(context, args.as_user.as_user);
    }
    let given = input::mission_text(args.mission.as_deref(), args.mission_file.as_deref())?;
    if let Some(id) = &args.log {
        context::require_user(args.as_user.as_user)?;
        take_log(context, id)?;
    }
    let (workspace, was_lost) = crate::run::open_whole(&context.dir)?;
    context::not_apart(&workspace)?;
    if was_lost {
        let what = "the log was missing; it is restored from the copy that a killed run left";
        context.screen.note(what);
    }
    let user = context::require_user(args.as_user.as_user);
    let chosen = args.size.map(Choice::Size);
    let mut chosen = chosen.or(args.assurance.map(Choice::Assurance));
    let (_, before) = workspace.current()?;
    let is_less = chosen.is_some_and(|chosen| chosen.is_less_than(before.as_ref()));
    if args.as_user.as_user || is_less {
        user.as_ref().map_err(Clone::clone)?;
    }
    let given = match (given, &args.from) {
        (None, None) if !args.yes => ask_mission(context, &workspace)?,
        (given, _) => given,
    };
    if chosen.is_none() && !args.yes {
        chosen = ask_size(context, &workspace)?.map(Choice::Size);
    }
    let mut done = SetUp::new(&workspace, user);
    let anew = args.log.as_deref() == Some("new");
    let event = done.prepare(given, args.from.as_deref(), chosen, anew)?;
    let is_new = (args.commit && done.commit_contract()?) || done.wrote_settings;
    let applied = done.record(event)?;
    let is_person = context::agent_around().is_none();
    let gates = match is_new && !args.skip_gates && is_person {
        true => recorded::try_gates(context, args.gate_time, &mut done.findings)?,
        false => Vec::new(),
    };
    let applied = match Workspace::open(&context.dir) {
        // A log that was just begun is missing in the workspace above.
        Ok(workspace) if workspace.store.is_some() => {
            recorded::reground(&workspace, &mut done.lines, &mut done.findings).or(applied)
        }
        _ => applied,
    };
    let next = applied.as_ref().map(|applied| &applied.step.next);
    let start = match next.is_some_and(|next| next.role.is_some()) && is_person {
        // The event is recorded. A failure to find the first command is only a finding.
        true => find_start(&workspace)
            .map_err(|failure| {
                done.findings
                    .push(Finding::new(failure.code, failure.message))
            })
            .ok(),
        false => None,
    };
    done.finish(applied, gates, start)
}

/// Handles a bootstrapper's report: cook repairs the contract itself.
pub(super) fn repair(workspace: &Workspace, dry_run: bool) -> Answer {
    let (_, snapshot) = workspace.current()?;
    let (dispatch, _) = service::dispatch_now(workspace, snapshot.as_ref())?;
    if dispatch.rule != Rule::Bootstrap {
        let (rule, reason) = (dispatch.rule, dispatch.reason);
        let what = format!("rule {rule} applies, not the bootstrapper's: {reason}");
        return Err(Refusal::new(Code::NotYourTurn, what).into());
    }
    if dry_run {
        let what = "cook would set the contract up".to_owned();
        return note("bootstrap", vec![what]);
    }
    let user = Refusal::new(Code::UserOnly, "a repair cannot accept changed settings").into();
    let mut done = SetUp::new(workspace, Err(user));
    done.is_repair = true;
    let event = done.prepare(None, None, None, false)?;
    let applied = done.record(event)?;
    done.finish(applied, Vec::new(), None)
}

/// A set-up in progress, and its messages.
struct SetUp<'a> {
    workspace: &'a Workspace,
    /// The person, or script with `--as-user`, that accepts the settings as they are; otherwise, why nobody does.
    user: Result<Actor>,
    is_repair: bool,
    /// This set-up created `cook.toml`, with the proposed gates.
    wrote_settings: bool,
    findings: Vec<Finding>,
    lines: Vec<String>,
}

impl<'a> SetUp<'a> {
    fn new(workspace: &'a Workspace, user: Result<Actor>) -> Self {
        Self {
            workspace,
            user,
            is_repair: false,
            wrote_settings: false,
            findings: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Writes the contract and returns the event to record, if anything changed. `from` is the path of a plan. `anew`
    /// allows a second log although this clone has seen one elsewhere.
    fn prepare(
        &mut self,
        given: Option<String>,
        from: Option<&str>,
        chosen: Option<Choice>,
        anew: bool,
    ) -> Result<Option<Event>> {
        let workspace = self.workspace;
        let root = workspace.repo.root();
        let (tip, mut snapshot) = workspace.current()?;
        if let (Some(snapshot), Some(mission)) = (&snapshot, &given)
            && !snapshot.mission.is_empty()
            && mission.trim() != snapshot.mission.trim()
        {
            return Err(has_mission(snapshot).into());
        }
        let missing = workspace.repo.contract_missing()?;
        let mut taken = from.map(|from| plans::read(root, from)).transpose()?;
        let mission = self.find_mission(snapshot.as_ref(), given)?;
        let is_hour = matches!(chosen, Some(Choice::Size(WorkSize::Hour)));
        let begun = snapshot
            .as_ref()
            .map(|before| find_begun(workspace, before));
        let begun = begun.transpose()?.flatten();
        if let (true, None, Some(mission)) = (is_hour && begun.is_none(), &taken, &mission) {
            taken = Some(plans::read_mission(MISSION, mission)?);
        }
        if let (Some(_), Some(tip), Some(_)) = (&snapshot, &tip, &taken) {
            let from = from.unwrap_or(MISSION);
            let line = begin_anew(workspace, tip, begun, from, &self.user)?;
            self.lines.push(line);
            snapshot = None;
        }
        let mission = mission.or_else(|| taken.as_ref().map(|taken| taken.mission.clone()));
        let mut imported = None;
        if snapshot.is_none() {
            imported = init::import::read(&root.join(".agent"))?;
            if taken.is_none() && imported.is_none() {
                self.lines.extend(offers(root));
            }
        }
        if workspace.store.is_none() {
            self.begin_log(anew, missing.is_empty())?;
        }
        let mut profile = self.write_contract(mission.as_deref(), chosen, snapshot.as_ref())?;
        if let Some(imported) = &mut imported {
            let layout = &imported.import.layout;
            self.lines.push(format!("took in older state ({layout})"));
            self.findings.append(&mut imported.findings);
        }
        let import = match (imported, taken) {
            (Some(_), Some(_)) => return Err(refuse_two()),
            (imported, None) => imported.map(|imported| imported.import),
            (None, Some(taken)) => {
                self.lines.push(describe(&taken));
                self.findings.extend(taken.findings);
                Some(taken.import)
            }
        };
        let settings = workspace.repo.settings()?;
        let Some(snapshot) = snapshot else {
            return Ok(Some(Event::Bootstrapped {
                mission,
                profile,
                branch: workspace.repo.head()?.branch,
                settings: Some(settings),
                import: import.map(Box::new),
            }));
        };
        let settings = self.take_settings(&snapshot, settings);
        if profile != snapshot.profile && context::agent_around().is_some() {
            let what =
                "the profile differs from the log's; only a person can accept it, with `cook init`";
            let finding = Finding::new(Code::ContractEdited, what);
            self.findings.push(finding.at(".agent/profile.json"));
            profile = snapshot.profile.clone();
        }
        let is_new = self.is_repair
            || !missing.is_empty()
            || (snapshot.mission.is_empty() && mission.is_some())
            || profile != snapshot.profile
            || settings.is_some();
        Ok(is_new.then_some(Event::Bootstrapped {
            mission,
            profile,
            branch: snapshot.ledger.branch,
            settings,
            import: None,
        }))
    }

    /// Begins the log before any file is written, so that a failure leaves no files behind.
    fn begin_log(&mut self, anew: bool, is_complete: bool) -> Result<()> {
        let workspace = self.workspace;
        if !anew {
            service::check_unseen(workspace)?;
        }
        Store::create(workspace.place())?;
        let others = Store::list_unclaimed(&workspace.place())?;
        let others = others.iter();
        let others = others.map(|one| format!("the log also holds {one}, which no worktree has"));
        self.lines.extend(others);
        let exchanges = workspace.config()?.log.exchanges;
        self.lines.push(exchanges.describe().to_owned());
        // A contract that came with the history was set up elsewhere, and a remote may hold its log.
        if is_complete && service::has_remotes(workspace)? {
            self.lines.push("the contract was already here: if a remote holds the log of this branch, run `cook cancel --as-user` and then `cook pull` to use that log".to_owned());
        }
        Ok(())
    }

    fn write_contract(
        &mut self,
        mission: Option<&str>,
        chosen: Option<Choice>,
        before: Option<&Snapshot>,
    ) -> Result<Profile> {
        let workspace = self.workspace;
        let was_trusted = workspace.trust()?.is_trusted(STOP_VERIFIER);
        let first = chosen.unwrap_or(Choice::Size(WorkSize::Day));
        let adapt = |profile: &mut Profile| match before {
            // A lost file gets its former content again.
            Some(before) if before.goal().is_none() => *profile = before.profile.clone(),
            _ => {
                profile.assurance = first.assurance();
                profile.required_stop_judges = first.judges();
            }
        };
        let contract = init::write_contract(workspace.repo.root(), mission, &adapt)?;
        let Some(mut profile) = contract.profile.clone() else {
            let what = "`.agent/profile.json` cannot be used";
            let mut failure = Failure::state(Code::DocumentInvalid, what);
            failure.findings = contract.findings;
            let hint = "repair it, or move it away, and run `cook init` again";
            return Err(failure.replace_hints([hint]));
        };
        self.findings.extend(contract.findings.iter().cloned());
        self.lines.extend(contract.proposed.unread.iter().cloned());
        for (outcome, word) in [
            (FileOutcome::Created, "created"),
            (FileOutcome::Updated, "updated"),
            (
                FileOutcome::KeptHandMade,
                "kept because it was edited, so it is not generated from the gates:",
            ),
        ] {
            let files = contract.files.iter();
            let files = files.filter(|file| file.outcome == outcome);
            let paths: Vec<&str> = files.map(|file| file.path).collect();
            if !paths.is_empty() {
                self.lines.push(format!("{word} {}", paths.join(", ")));
            }
        }
        match chosen {
            Some(chosen) => self.choose_profile(&mut profile, chosen)?,
            None if contract.outcome(PROFILE) == Some(FileOutcome::Created) => {
                self.describe_profile(&profile);
            }
            None => {}
        }
        let absent = gate::absent_programs(workspace, &contract)?;
        self.findings.extend(absent.values().cloned());
        let lines = &mut self.lines;
        gate::trust_written(workspace, &contract, was_trusted, &absent, lines)?;
        self.wrote_settings = contract.outcome(SETTINGS) == Some(FileOutcome::Created);
        Ok(profile)
    }

    /// Returns the mission of the log, else the given one, else the one that the repository states.
    fn find_mission(
        &mut self,
        snapshot: Option<&Snapshot>,
        given: Option<String>,
    ) -> Result<Option<String>> {
        if let Some(snapshot) = snapshot.filter(|snapshot| !snapshot.mission.is_empty()) {
            return Ok(Some(snapshot.mission.clone()));
        }
        let found = init::find_mission(self.workspace.repo.root())?;
        match (given, found) {
            (Some(given), Some(found))
                if found.source == MISSION && found.text.trim() != given.trim() =>
            {
                let what = format!("`{MISSION}` states another mission");
                let hint = format!("run `cook init` to use that one, or change `{MISSION}` first");
                Err(Refusal::new(Code::DoesNotApply, what).hint(hint).into())
            }
            (None, Some(found)) => {
                self.lines
                    .push(format!("mission taken from {}", found.source));
                Ok(Some(found.text))
            }
            (given, _) => Ok(given),
        }
    }

    /// Writes the profile that the user chose, and adds a line that describes it.
    fn choose_profile(&mut self, profile: &mut Profile, chosen: Choice) -> Result<()> {
        let before = profile.clone();
        profile.assurance = chosen.assurance();
        let lacks = profile.required_stop_judges.0 == 0 && profile.assurance != Assurance::Lite;
        if chosen.sets_judges() || lacks {
            profile.required_stop_judges = chosen.judges();
        }
        if *profile != before {
            init::write_profile(self.workspace.repo.root(), profile)?;
        }
        self.describe_profile(profile);
        Ok(())
    }

    fn describe_profile(&mut self, profile: &Profile) {
        let judges = match profile.required_stop_judges.0 {
            0 => "no judge votes".to_owned(),
            1 => "1 judge votes".to_owned(),
            judges => format!("{judges} judges vote"),
        };
        self.lines.push(format!(
            "the profile is `{}`, and {judges} at the end: `assurance` and `required_stop_judges` in .agent/profile.json",
            profile.assurance
        ));
    }

    /// Returns the current settings if they differ from the user's version and the user accepts them.
    fn take_settings(
        &mut self,
        snapshot: &Snapshot,
        now: BTreeMap<String, String>,
    ) -> Option<BTreeMap<String, String>> {
        let before = &snapshot.ledger.settings;
        let files: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let edited = files.into_iter();
        let edited = edited.filter(|file| before.get(*file) != now.get(*file));
        let edited: Vec<String> = edited.map(|file| format!("`{file}`")).collect();
        if edited.is_empty() {
            return None;
        }
        if self.user.is_err() {
            let what = format!(
                "{} different from the user's version; to accept the change, run `cook init` in the user's own terminal, or `cook init --as-user` in the user's script",
                list_with_verb(&edited)
            );
            self.findings.push(Finding::new(Code::ContractEdited, what));
            return None;
        }
        let line = format!("accepted {} as it is now", edited.join(", "));
        self.lines.push(line);
        Some(now)
    }

    /// Commits only the contract files. Returns false if they are committed already.
    fn commit_contract(&mut self) -> Result<bool> {
        let paths = [&TRACKED[..], &[".gitignore"]].concat();
        let repo = &self.workspace.repo;
        let commit = repo.commit_paths(&paths, "Set up the completion contract")?;
        self.lines.push(match &commit {
            Some(commit) => format!("committed the contract as {commit:.12}"),
            None => "the contract is committed already".to_owned(),
        });
        Ok(commit.is_some())
    }

    fn record(&mut self, event: Option<Event>) -> Result<Option<Applied>> {
        let Some(event) = event else {
            if self.lines.is_empty() {
                let repo = &self.workspace.repo;
                let uncommitted = repo.contract_uncommitted(&repo.head()?)?;
                self.lines.push(match self.findings.is_empty() {
                    _ if !uncommitted.is_empty() => format!("{} not committed: run `cook init --commit`", list_with_verb(&uncommitted)),
                    true => "nothing to do: contract files, log and scripts are in place, and the settings are unchanged".to_owned(),
                    false => "nothing was recorded".to_owned(),
                });
            }
            return Ok(None);
        };
        let applied = service::transition(self.workspace, &event, context::anybody())?;
        self.findings.extend(applied.findings.iter().cloned());
        let anchor = &applied.step.snapshot.state.mission_anchor;
        let line = match anchor == machine::NO_MISSION {
            true => "set up; the mission is not known yet".to_owned(),
            false => format!("set up for: {anchor}"),
        };
        self.lines.insert(0, line);
        Ok(Some(applied))
    }

    /// Makes the answer; if an event was recorded, it names the next role.
    fn finish(self, applied: Option<Applied>, gates: Vec<Trial>, start: Option<String>) -> Answer {
        let (lines, findings) = (self.lines, self.findings);
        let Some(applied) = applied else {
            return answer(NoteAnswer {
                what: "init",
                lines,
                findings,
                gates,
            });
        };
        let mut done = TransitionAnswer::new(applied, lines, findings);
        done.gates = gates;
        done.start = start;
        answer(done)
    }
}

/// The maximum size of a typed answer in bytes.
const MAX_LINE: u64 = 64 << 10;

/// The file that states the repository's mission.
const MISSION: &str = ".agent/mission.md";
/// The path of the profile.
const PROFILE: &str = ".agent/profile.json";

/// Asks a person for the mission if none is stated.
fn ask_mission(context: &Context, workspace: &Workspace) -> Result<Option<String>> {
    let (_, snapshot) = workspace.current()?;
    let is_known = snapshot.is_some_and(|snapshot| !snapshot.mission.is_empty())
        || init::find_mission(workspace.repo.root())?.is_some();
    if is_known || context.screen.json || !context::is_attended() {
        return Ok(None);
    }
    context.screen.note(
        "What should this repository become? Answer in one line, or leave it empty for later.",
    );
    Ok(Some(read_line()).filter(|said| !said.is_empty()))
}

/// Asks a person for the amount of work if there is neither a workflow nor a profile.
fn ask_size(context: &Context, workspace: &Workspace) -> Result<Option<WorkSize>> {
    let (_, snapshot) = workspace.current()?;
    let is_known = snapshot.is_some() || workspace.repo.root().join(PROFILE).exists();
    if is_known || context.screen.json || !context::is_attended() {
        return Ok(None);
    }
    context
        .screen
        .note("How much work is it? Answer hour, day or week, or leave it empty for day:");
    for size in WorkSize::ALL {
        let line = format!("  {:<5} {}", size.id(), size.describe());
        context.screen.note(&line);
    }
    let said = read_line();
    match WorkSize::ALL.into_iter().find(|size| size.id() == said) {
        None if said.is_empty() => Ok(None),
        Some(size) => Ok(Some(size)),
        None => {
            let what = format!("`{said}` is none of hour, day and week");
            Err(Refusal::new(Code::DoesNotApply, what)
                .replace_hints(["run `cook init` again; nothing was written"])
                .into())
        }
    }
}

/// Reads a line from stdin and trims it.
fn read_line() -> String {
    let mut line = String::new();
    let read = std::io::stdin().lock().take(MAX_LINE).read_line(&mut line);
    read.map(|_| line.trim().to_owned()).unwrap_or_default()
}

/// Takes the log with this id, or begins another one if `id` is `new`. A worktree has one log, even after its workflow
/// has ended.
fn take_log(context: &Context, id: &str) -> Result<()> {
    let place = crate::workspace::find_place(&Repo::discover(&context.dir)?);
    if id != "new" {
        return Store::claim(&place, id);
    }
    // A log that cannot be opened may be replaced.
    if let Ok(Some(store)) = Store::open(place.clone()) {
        let id = store.id();
        let what = format!("this worktree has the log `{id}`, and can have only one");
        return Err(Refusal::new(Code::DoesNotApply, what)
            .replace_hints([
                "for another mission, run `cook plan refocus --mission TEXT` (if cancelled, `cook resume` first)",
                "for a second log, run `git worktree add PATH`, and `cook init` there",
            ])
            .into());
    }
    Store::renounce(&place)
}

/// Returns the command that starts the work: `cook run` with an agent that is on PATH (no program is run to check), or
/// else `cook next --prompt`, whose prompt works with any agent.
fn find_start(workspace: &Workspace) -> Result<String> {
    let config = workspace.config()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = presets(config);
    let mut known = all.values().filter_map(|preset| preset.as_ref().ok());
    let here = known.find(|preset| preset.is_verified() && on_path(preset.bin(), &path).is_some());
    let mut roles = config.roles.values();
    let start = match here {
        _ if roles.any(|role| role.agent.is_some() || !role.agents.is_empty()) => {
            "cook run".to_owned()
        }
        Some(preset) => format!("cook run --agent {}", preset.name()),
        None => "cook next --prompt".to_owned(),
    };
    // A slice is selected only after the contract is committed.
    let dirty = workspace.repo.status()?.worktree.dirty;
    Ok(match dirty.iter().any(|path| path.starts_with(".agent/")) {
        true => format!("cook init --commit && {start}"),
        false => start,
    })
}

// `cook init --from`: imports an existing plan. `cook init --tick`: updates its ticks.

/// Updates the ticks in the plan's source file to what is proven at HEAD.
pub(super) fn tick(context: &Context, as_user: bool) -> Answer {
    context::require_user(as_user)?;
    let workspace = Workspace::open(&context.dir)?;
    let (_, snapshot) = workspace.require()?;
    let worths = measure_worths(&workspace, &snapshot)?;
    let ticked = plans::tick(workspace.repo.root(), &snapshot, &worths)?;
    let path = &ticked.path;
    let items = ticked.items.iter();
    let items = items.map(|item| format!("ticked in {path}: {item}"));
    let back = ticked.taken_back.iter();
    let back = back.map(|(item, why)| format!("removed the tick in {path}: {item}: {why}"));
    let mut lines: Vec<String> = items.chain(back).collect();
    if lines.is_empty() && ticked.untold.is_empty() {
        lines.push(format!("nothing to tick in {path}: it is up to date"));
    }
    let left = ticked.left.iter();
    lines.extend(left.map(|(item, why)| format!("left as it is in {path}: {item}: {why}")));
    let untold = ticked.untold.iter();
    lines.extend(
        untold.map(|item| {
            format!("left unchanged, because it is not in {path} exactly once: {item}")
        }),
    );
    note("init", lines)
}

/// Offers the plans in the repository that were not named.
pub(super) fn offers(root: &Path) -> impl Iterator<Item = String> {
    plans::list_plans(root).into_iter().map(|(path, plan)| {
        let what = format!(
            "`{path}` ({}, {} tasks, {} ticked)",
            plan.import.layout, plan.tasks, plan.ticked
        );
        format!(
            "found a plan that was not imported: {what}; `cook init --from {}` imports it as long as work has not begun",
            quote_word(&path)
        )
    })
}

/// Why no plan can begin the workflow: it already has one, or a new log would lose recorded work.
fn find_begun(workspace: &Workspace, snapshot: &Snapshot) -> Result<Option<&'static str>> {
    if !snapshot.plan.candidate_slices.is_empty() {
        return Ok(Some("the workflow already has a plan of its own"));
    }
    if service::check_unseen(workspace).is_err() {
        return Ok(Some("a remote has a log of this branch"));
    }
    let mut entries = workspace.store()?.entries()?;
    let is_begun =
        entries.any(|entry| !matches!(entry, Ok(meta) if SET_UP.contains(&&*meta.event)));
    Ok(is_begun.then_some("the log holds more than the set-up, the mission and trust"))
}

/// Sets the workflow aside if only its set-up was recorded, so that a new one can begin with the plan. Returns the
/// message about it.
pub(super) fn begin_anew(
    workspace: &Workspace,
    tip: &Tip,
    begun: Option<&str>,
    from: &str,
    as_user: &Result<Actor>,
) -> Result<String> {
    if let Some(why) = begun {
        let what = format!("{why}, so `{from}` is not imported");
        let mission = format!("Do what {from} lists; its boxes are claims, not proof");
        let mission = quote_word(&mission);
        let hints = [
            format!("let the next re-ground plan it: `cook plan refocus --mission {mission}`"),
            "or start a second workflow with it: `git worktree add PATH`, and `cook init --from PATH` there".to_owned(),
        ];
        return Err(Refusal::new(Code::DoesNotApply, what)
            .replace_hints(hints)
            .into());
    }
    as_user.as_ref().map_err(Clone::clone)?;
    let kept = service::leave_workflow(workspace, tip)?;
    Ok(format!(
        "work had not begun, so the log starts again with the plan; the earlier record of `cook init` is kept as `{kept}`"
    ))
}

/// The events of a set-up: `cook init`, and answers about the mission and trust.
const SET_UP: [&str; 2] = ["bootstrapped", "resumed"];

/// Refuses to import both older state and a plan.
pub(super) fn refuse_two() -> Failure {
    let what = "`.agent/` holds the plan of an older workflow, and `--from` names another";
    let hint = "run `cook init` without `--from` to continue with the older one, or move its `plan.json`, `state.json` and `active-slice.json` away first";
    Refusal::new(Code::PlanAmbiguous, what)
        .replace_hints([hint])
        .into()
}

/// Describes the imported plan and the status of its ticks.
pub(super) fn describe(taken: &plans::TakenPlan) -> String {
    let import = &taken.import;
    let (path, layout) = (import.path.as_deref().unwrap_or_default(), &import.layout);
    let tasks = count_noun(taken.tasks, "task");
    let claimed = match taken.ticked {
        0 => String::new(),
        ticked => format!("; {ticked} ticked there, still without proof"),
    };
    let slices = import
        .plan
        .as_ref()
        .map_or(0, |plan| plan.candidate_slices.len());
    let slices = match slices == taken.tasks {
        true => String::new(),
        false => format!(" as {}", count_noun(slices, "slice")),
    };
    format!("took {tasks} from {path} ({layout}){slices}{claimed}")
}
