//! `cook init`, and `cook record bootstrapper`: the contract, the log, the first documents.

use super::caller::AsUser;
use super::context::{Answer, Context, answer};
use super::input::free_text;
use super::transition::NoteAnswer;
use super::transition::note;
use super::trial::Trial;
use super::{caller, input, taken_plan, transition, trial, trust};
use crate::scaffold::{Contract, FileOutcome, SETTINGS, TRACKED, plans};
use crate::service::{Applied, Workspace};
use crate::{scaffold, service};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cook_agents::presets;
use cook_core::diagnostic::{Code, Failure, Finding, Refusal, list_with_verb};
use cook_core::machine;
use cook_core::machine::Rule;
use cook_core::model::{Actor, Assurance, Event, Import, Profile, STOP_VERIFIER, Snapshot};
use cook_git::Repo;
use cook_os::process::on_path;
use cook_store::store::{Place, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// The whole mission
    #[arg(long, value_name = "TEXT", conflicts_with = "mission_file", allow_hyphen_values = true, value_parser = free_text)]
    pub mission: Option<String>,
    /// Read the mission from a file (`-` = standard input)
    #[arg(long, value_name = "FILE")]
    pub mission_file: Option<PathBuf>,
    /// Take in a plan that is there: of spec-kit, OpenSpec, Kiro, task-master, Ralph, a check list, GitHub issues as JSON, beads
    #[arg(long, value_name = "PATH")]
    pub from: Option<String>,
    /// Tick what holds in the plan that was taken in, take back what was lost, and nothing else (user only)
    #[arg(long, conflicts_with_all = ["mission", "mission_file", "from", "assurance", "commit", "log", "skip_gates", "gate_time"])]
    pub tick: bool,
    /// How much of the protocol is asked for; below `strict` cook re-grounds where nothing is to be weighed (user only)
    #[arg(long, value_name = "PROFILE", value_parser = assurance_parser())]
    pub assurance: Option<Assurance>,
    /// Commit the contract files, and nothing else
    #[arg(long)]
    pub commit: bool,
    /// Ask nothing: what nobody states is left for later
    #[arg(long, short)]
    pub yes: bool,
    /// Go on with a workflow of the log that lost its worktree; `new` begins another (user only)
    #[arg(long, value_name = "ID")]
    pub log: Option<String>,
    /// How long each gate is tried for
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    pub gate_time: Duration,
    /// Do not try the gates
    #[arg(long, conflicts_with = "gate_time")]
    pub skip_gates: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn init(context: &Context, args: &InitArgs) -> Answer {
    if args.tick {
        return taken_plan::tick(context, args.as_user.as_user);
    }
    let given = input::mission_text(args.mission.as_deref(), args.mission_file.as_deref())?;
    if let Some(id) = &args.log {
        caller::require_user(args.as_user.as_user)?;
        take_log(context, id)?;
    }
    let (workspace, was_lost) = crate::drive::open_whole(&context.dir)?;
    caller::not_apart(&workspace)?;
    if was_lost {
        context
            .screen
            .note("the log was gone, and is put back from the copy that a killed run left");
    }
    let user = caller::require_user(args.as_user.as_user);
    if args.as_user.as_user || args.assurance.is_some() {
        user.as_ref().map_err(Clone::clone)?;
    }
    let how = SetUp {
        repair: false,
        user,
        anew: args.log.as_deref() == Some("new"),
    };
    let given = Given {
        mission: match (given, &args.from) {
            (None, None) if !args.yes => ask_mission(context, &workspace)?,
            (given, _) => given,
        },
        from: args.from.as_deref(),
        assurance: args.assurance,
    };
    let mut done = set_up(&workspace, given, how)?;
    let commit = match args.commit {
        true => commit_contract(&workspace)?,
        false => None,
    };
    if args.commit {
        done.lines.push(match &commit {
            Some(commit) => format!("committed the contract as {commit}"),
            None => "the contract is committed already".to_owned(),
        });
    }
    let is_new = done.wrote_settings || commit.is_some();
    let mut recorded = record(&workspace, done)?;
    if is_new && !args.skip_gates && caller::agent_around().is_none() {
        recorded.gates = trial::try_gates(context, args.gate_time, &mut recorded.findings)?;
    }
    let next = recorded.applied.as_ref().map(|applied| &applied.step.next);
    if next.is_some_and(|next| next.role.is_some()) && caller::agent_around().is_none() {
        let start = find_start(&workspace)?;
        let head = workspace.repo.head()?;
        // A slice is selected only once the contract is committed.
        recorded.start = Some(
            match workspace.repo.contract_uncommitted(&head)?.is_empty() {
                true => start,
                false => format!("cook init --commit && {start}"),
            },
        );
    }
    finish(recorded)
}

/// A bootstrapper's report: cook repairs the contract itself.
pub(super) fn repair(workspace: Workspace, dry_run: bool) -> Answer {
    let (_, snapshot) = workspace.current()?;
    let (dispatch, _) = service::dispatch_now(&workspace, snapshot.as_ref())?;
    if dispatch.rule != Rule::Bootstrap {
        return Err(Refusal::new(
            Code::NotYourTurn,
            format!(
                "rule {} answers, not the bootstrapper's: {}",
                dispatch.rule, dispatch.reason
            ),
        )
        .into());
    }
    if dry_run {
        return note(
            "bootstrap",
            vec!["cook would set the contract up".to_owned()],
        );
    }
    let how = SetUp {
        repair: true,
        user: Err(Refusal::new(Code::UserOnly, "a repair takes no settings in").into()),
        anew: false,
    };
    let done = set_up(&workspace, Given::default(), how)?;
    finish(record(&workspace, done)?)
}

/// What a set-up did so far, and the event it leads to.
struct Done {
    event: Option<Event>,
    findings: Vec<Finding>,
    lines: Vec<String>,
    /// The gates of `cook.toml` are those that were proposed just now.
    wrote_settings: bool,
}

/// A set-up that is written down, and what is said of it.
struct Recorded {
    /// None = there was nothing to write down.
    applied: Option<Applied>,
    findings: Vec<Finding>,
    lines: Vec<String>,
    gates: Vec<Trial>,
    /// The command that starts the work.
    start: Option<String>,
}

/// How a set-up is done.
struct SetUp {
    repair: bool,
    /// A person, or a script that says so, answers for the settings as they stand; why not.
    user: Result<Actor, Failure>,
    /// Another log is wanted beside one that this clone has seen elsewhere.
    anew: bool,
}

/// What the command line brings.
#[derive(Default)]
struct Given<'a> {
    mission: Option<String>,
    /// Where a plan lies.
    from: Option<&'a str>,
    /// The profile that the user chose.
    assurance: Option<Assurance>,
}

fn set_up(workspace: &Workspace, given: Given, how: SetUp) -> Result<Done, Failure> {
    let SetUp { repair, user, anew } = how;
    let Given {
        mission: given,
        from,
        assurance: chosen,
    } = given;
    let (tip, mut snapshot) = workspace.current()?;
    if let (Some(snapshot), Some(mission)) = (&snapshot, &given)
        && !snapshot.mission.is_empty()
        && mission.trim() != snapshot.mission.trim()
    {
        return Err(
            Refusal::new(Code::DoesNotApply, "the workflow has a mission already")
                .hint("run `cook plan refocus --mission TEXT` to change it")
                .into(),
        );
    }
    let root = workspace.repo.root();
    let missing_before = workspace.repo.contract_missing()?;
    let mut lines = Vec::new();
    let mut findings = Vec::new();
    let taken = from.map(|from| plans::read(root, from)).transpose()?;
    if let (Some(before), Some(tip), Some(from)) = (&snapshot, &tip, from) {
        lines.push(taken_plan::begin_anew(workspace, tip, before, from, &user)?);
        snapshot = None;
    }
    let user = user.is_ok();
    let mission = find_mission(workspace, snapshot.as_ref(), given, &mut lines)?;
    let mission = mission.or_else(|| taken.as_ref().map(|taken| taken.mission.clone()));
    let imported = match snapshot {
        Some(_) => None,
        None => scaffold::import::read(&root.join(".agent"))?,
    };
    if snapshot.is_none() && taken.is_none() && imported.is_none() {
        lines.extend(taken_plan::offers(root));
    }
    if workspace.store.is_none() {
        if !anew {
            service::check_unseen(workspace)?;
        }
        // A log that cannot be begun is said before a file is written.
        Store::create(workspace.place())?;
        let others = Store::list_unclaimed(&workspace.place())?;
        lines.extend(
            others
                .iter()
                .map(|one| format!("the log also holds {one}, which no worktree has")),
        );
        lines.push(workspace.config()?.log.exchanges.describe().to_owned());
        lines.extend(elsewhere_line(workspace, &missing_before)?);
    }
    let verifier_was_trusted = workspace.trust()?.is_trusted(STOP_VERIFIER);
    let contract = scaffold::write_contract(root, mission.as_deref())?;
    findings.extend(contract.findings.iter().cloned());
    let mut profile = contract
        .profile
        .clone()
        .ok_or_else(|| bad_profile(&contract))?;
    describe(&contract, &mut lines);
    if let Some(chosen) = chosen {
        choose_assurance(root, &mut profile, chosen, &mut lines)?;
    }
    let absent = trust::absent_programs(workspace, &contract)?;
    findings.extend(absent.values().cloned());
    trust::trust_written(
        workspace,
        &contract,
        verifier_was_trusted,
        &absent,
        &mut lines,
    )?;
    let mut import = imported.map(|imported| {
        lines.push(format!("took in older state ({})", imported.import.layout));
        findings.extend(imported.findings);
        Box::new(imported.import)
    });
    if let Some(taken) = taken {
        taken_plan::take_in(taken, &mut import, &mut lines, &mut findings)?;
    }
    let found = Found {
        mission,
        profile,
        import,
    };
    let event = make_event(
        workspace,
        snapshot.as_ref(),
        found,
        repair || !missing_before.is_empty(),
        user,
        (&mut lines, &mut findings),
    )?;
    Ok(Done {
        event,
        findings,
        lines,
        wrote_settings: contract.outcome(SETTINGS) == Some(FileOutcome::Created),
    })
}

/// A contract that came with the history was set up by somebody, whose log a remote may hold.
fn elsewhere_line(workspace: &Workspace, missing: &[String]) -> Result<Option<String>, Failure> {
    let may_be = missing.is_empty() && service::has_remotes(workspace)?;
    Ok(may_be.then(|| {
        "the contract was here already: where a remote holds the log of this branch, `cook cancel --as-user`, then `cook pull`, takes that one in".to_owned()
    }))
}

fn bad_profile(contract: &Contract) -> Failure {
    let mut failure = Failure::state(
        Code::DocumentInvalid,
        "`.agent/profile.json` cannot be used",
    );
    failure.findings = contract.findings.clone();
    failure.hints = vec!["mend it, or move it away and run `cook init` again".to_owned()];
    failure
}

fn describe(contract: &Contract, lines: &mut Vec<String>) {
    for (outcome, word) in [
        (FileOutcome::Created, "created"),
        (FileOutcome::Updated, "updated"),
        (
            FileOutcome::KeptHandMade,
            "kept as somebody edited it, so not made from the gates:",
        ),
    ] {
        let paths: Vec<&str> = contract
            .files
            .iter()
            .filter(|file| file.outcome == outcome)
            .map(|file| file.path)
            .collect();
        if !paths.is_empty() {
            lines.push(format!("{word} {}", paths.join(", ")));
        }
    }
}

/// Commits the contract files, and nothing else; none where they are committed already.
fn commit_contract(workspace: &Workspace) -> Result<Option<String>, Failure> {
    let mut paths: Vec<&str> = TRACKED.to_vec();
    paths.push(".gitignore");
    let commit = workspace
        .repo
        .commit_paths(&paths, "Set up the completion contract")?;
    Ok(commit.map(|commit| commit.get(..12).unwrap_or(&commit).to_owned()))
}

/// Records the event, if there is one.
fn record(workspace: &Workspace, done: Done) -> Result<Recorded, Failure> {
    let Done {
        event,
        mut findings,
        mut lines,
        ..
    } = done;
    let applied = match &event {
        Some(event) => Some(service::transition(workspace, event, caller::anybody())?),
        None => None,
    };
    if let Some(applied) = &applied {
        findings.extend(applied.findings.iter().cloned());
        let anchor = &applied.step.snapshot.state.mission_anchor;
        lines.insert(
            0,
            if anchor == machine::NO_MISSION {
                "set up; the mission is not known yet".to_owned()
            } else {
                format!("set up for: {anchor}")
            },
        );
    } else if lines.is_empty() {
        let nothing = match findings.is_empty() {
            true => {
                "nothing to do: contract files, log and scripts are in place, and the settings are as they were taken in"
            }
            false => "nothing was recorded",
        };
        lines.push(nothing.to_owned());
    }
    Ok(Recorded {
        applied,
        findings,
        lines,
        gates: Vec::new(),
        start: None,
    })
}

/// Says who is due, where something was written down.
fn finish(recorded: Recorded) -> Answer {
    let Recorded {
        applied,
        findings,
        lines,
        gates,
        start,
    } = recorded;
    let Some(applied) = applied else {
        return answer(NoteAnswer {
            what: "init",
            lines,
            findings,
            gates,
        });
    };
    let mut done = transition::transition_answer(applied, lines.join("; "), findings);
    done.lines = lines;
    done.gates = gates;
    done.start = start;
    answer(done)
}

/// What a set-up found in the worktree.
pub(super) struct Found {
    pub mission: Option<String>,
    pub profile: Profile,
    pub import: Option<Box<Import>>,
}

/// The transition that init leads to, if there is anything to write down.
pub(super) fn make_event(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    found: Found,
    repaired: bool,
    user: bool,
    (lines, findings): (&mut Vec<String>, &mut Vec<Finding>),
) -> Result<Option<Event>, Failure> {
    let Found {
        mission,
        mut profile,
        import,
    } = found;
    let settings = workspace.repo.settings()?;
    let Some(snapshot) = snapshot else {
        let branch = workspace.repo.head()?.branch;
        return Ok(Some(Event::Bootstrapped {
            mission,
            profile,
            branch,
            settings: Some(settings),
            import,
        }));
    };
    let edited = list_edited(&snapshot.ledger.settings, &settings);
    let settings = Some(settings).filter(|_| !edited.is_empty());
    if settings.is_some() && !user {
        let what = format!(
            "{} not as the user left it; `cook init` in the user's own terminal, or `cook init --as-user` in a script of theirs, takes that in as the user's",
            list_with_verb(&edited)
        );
        findings.push(Finding::new(Code::ContractEdited, what));
    }
    let settings = settings.filter(|_| user);
    if settings.is_some() {
        lines.push(format!("took in {} as you left it", edited.join(", ")));
    }
    if profile != snapshot.profile && caller::agent_around().is_some() {
        findings.push(
            Finding::new(
                Code::ContractEdited,
                "the profile differs from the log's; only a person's `cook init` takes it in",
            )
            .at(".agent/profile.json"),
        );
        profile = snapshot.profile.clone();
    }
    let learned = snapshot.mission.is_empty() && mission.is_some();
    if !repaired && !learned && profile == snapshot.profile && settings.is_none() {
        return Ok(None);
    }
    let branch = snapshot.ledger.branch.clone();
    Ok(Some(Event::Bootstrapped {
        mission,
        profile,
        branch,
        settings,
        import: None,
    }))
}

/// The settings files that differ, came or went.
fn list_edited(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let files: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let edited = files
        .into_iter()
        .filter(|file| before.get(*file) != now.get(*file));
    edited.map(|file| format!("`{file}`")).collect()
}

/// Bytes of an answer that are read.
const MAX_LINE: u64 = 64 << 10;

/// Where the repository states it.
const MISSION: &str = ".agent/mission.md";

/// The mission: the log's, else what is given, else what the repository says.
pub(super) fn find_mission(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    given: Option<String>,
    lines: &mut Vec<String>,
) -> Result<Option<String>, Failure> {
    if let Some(snapshot) = snapshot.filter(|snapshot| !snapshot.mission.is_empty()) {
        return Ok(Some(snapshot.mission.clone()));
    }
    let found = scaffold::find_mission(workspace.repo.root())?;
    if let Some(given) = given {
        let file = found.filter(|found| found.source == MISSION);
        return match file.is_some_and(|file| file.text.trim() != given.trim()) {
            true => Err(Refusal::new(
                Code::DoesNotApply,
                format!("`{MISSION}` states another mission"),
            )
            .hint(format!(
                "run `cook init` to take that one, or change `{MISSION}` first"
            ))
            .into()),
            false => Ok(Some(given)),
        };
    }
    if let Some(found) = &found {
        lines.push(format!("mission taken from {}", found.source));
    }
    Ok(found.map(|found| found.text))
}

/// Asks a person for the mission, where nothing states it.
pub(super) fn ask_mission(
    context: &Context,
    workspace: &Workspace,
) -> Result<Option<String>, Failure> {
    let (_, snapshot) = workspace.current()?;
    let is_known = snapshot.is_some_and(|snapshot| !snapshot.mission.is_empty())
        || scaffold::find_mission(workspace.repo.root())?.is_some();
    if is_known || context.screen.json || !caller::is_attended() {
        return Ok(None);
    }
    context.screen.note(
        "What is this repository to become? Say it in a line; an empty one leaves it for later.",
    );
    let mut line = String::new();
    let read = std::io::stdin().lock().take(MAX_LINE).read_line(&mut line);
    let said = read.map(|_| line.trim().to_owned()).unwrap_or_default();
    Ok(Some(said).filter(|said| !said.is_empty()))
}

/// Takes the named log, or begins another where that is `new`.
pub(super) fn take_log(context: &Context, id: &str) -> Result<(), Failure> {
    let place = service::find_place(&Repo::discover(&context.dir)?);
    match id {
        "new" => {
            has_no_log(&place)?;
            Store::renounce(&place)?;
        }
        id => Store::claim(&place, id)?,
    }
    Ok(())
}

/// A worktree has one log, whatever became of its workflow.
fn has_no_log(place: &Place) -> Result<(), Failure> {
    // One that cannot be opened is what another is begun for.
    let Ok(Some(store)) = Store::open(place.clone()) else {
        return Ok(());
    };
    let message = format!(
        "this worktree has a log, `{}`, and a worktree has one",
        store.id()
    );
    Err(Refusal::new(Code::DoesNotApply, message)
        .replace_hints([
            "run `cook plan refocus --mission TEXT` for another mission, after `cook cancel` first `cook resume`",
            "run `git worktree add PATH`, and `cook init` there, for a log beside it",
        ])
        .into())
}

/// `cook run` with an agent that is here, by its name on PATH alone: no program is run for it. Without
/// one, the prompt for whichever agent the reader has.
pub(super) fn find_start(workspace: &Workspace) -> Result<String, Failure> {
    let config = workspace.config()?;
    if config
        .roles
        .values()
        .any(|role| role.agent.is_some() || !role.agents.is_empty())
    {
        return Ok("cook run".to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = presets(config);
    let mut known = all.values().filter_map(|preset| preset.as_ref().ok());
    let here = known.find(|preset| preset.is_verified() && on_path(preset.bin(), &path).is_some());
    Ok(match here {
        Some(preset) => format!("cook run --agent {}", preset.name()),
        None => "cook next --prompt".to_owned(),
    })
}

/// Takes a profile by its name.
pub(super) fn assurance_parser() -> impl TypedValueParser<Value = Assurance> {
    let named = |name: String| {
        let mut all = Assurance::ALL.into_iter();
        all.find(|one| one.id() == name).unwrap_or_default()
    };
    PossibleValuesParser::new(Assurance::ALL.map(Assurance::id)).map(named)
}

/// Writes the profile that the user chose, and says what it leaves to them.
pub(super) fn choose_assurance(
    root: &Path,
    profile: &mut Profile,
    assurance: Assurance,
    lines: &mut Vec<String>,
) -> Result<(), Failure> {
    if profile.assurance != assurance {
        profile.assurance = assurance;
        scaffold::write_profile(root, profile)?;
        lines.push(format!("assurance is `{assurance}` in .agent/profile.json"));
    }
    let judges = profile.required_stop_judges.0;
    if assurance == Assurance::Lite && judges > 1 {
        lines.push(format!(
            "{judges} judges vote at the end: for one, set `required_stop_judges` to 1 in .agent/profile.json and run `cook init` again"
        ));
    }
    Ok(())
}
