//! `cook init`, and `cook record bootstrapper`: the contract, the log, the first documents.

use super::bootstrapping::{Found, make_event};
use super::caller::{self, AsUser};
use super::context::{Answer, Context, answer, note};
use super::input::free_text;
use super::{
    assurance, input, start, stated_mission, taken_plan, transition, trial, trust, which_log,
};
use crate::scaffold::{self, Contract, FileOutcome, SETTINGS, TRACKED, plans};
use crate::service::{self, Applied, Workspace};
use crate::view::{NoteAnswer, Trial};
use clap::Args;
use cook_core::diagnostic::{Code, Failure, Finding, Refusal};
use cook_core::machine::{self, Rule};
use cook_core::model::{Actor, Assurance, Event, STOP_VERIFIER};
use cook_store::store::Store;
use std::path::PathBuf;
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
    #[arg(long, value_name = "PROFILE", value_parser = assurance::parser())]
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
        which_log::take(context, id)?;
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
            (None, None) if !args.yes => stated_mission::ask(context, &workspace)?,
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
        let start = start::line(&workspace)?;
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
    let mission = stated_mission::find_mission(workspace, snapshot.as_ref(), given, &mut lines)?;
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
        assurance::choose(root, &mut profile, chosen, &mut lines)?;
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
