//! `cook goal`: sets a goal that commands decide, shows its progress, or drops it.

use super::check::show_lines;
use super::context::*;
use super::hooks;
use super::recorded::{TransitionAnswer, note};
use crate::check::Line;
use crate::hooks::install::list_installed;
use crate::service::Draft;
use cook_agents::hooks::layout::Purpose;
use cook_protocol::machine::ASK_GOAL;
use cook_protocol::model::GoalFound;
use cook_protocol::trials::Weight;

/// The argument that drops the goal.
const DROP: &str = "drop";

/// The reason that the log gives for a dropped goal.
const DROPPED: &str = "dropped by hand with `cook goal drop`";

#[derive(Debug, Args)]
pub(super) struct GoalArgs {
    /// Goal in words, or `drop` to give it up; without it, show the progress
    #[arg(value_name = "WORDS", value_parser = free_text)]
    pub words: Option<String>,
    /// Test the goal with this command, which must fail now (can be repeated)
    #[arg(long, value_name = "CMD", value_parser = free_text)]
    pub check: Vec<String>,
    /// Use this file from outside the repository in the checks only, and never show it (can be repeated)
    #[arg(long, value_name = "FILE", requires = "check")]
    pub hidden: Vec<PathBuf>,
    /// Freeze this file too, although no test includes it (can be repeated)
    #[arg(long, value_name = "PATH", requires = "check")]
    pub freeze: Vec<String>,
    /// Install the hook that tests the goal at each stop of this agent
    #[arg(long, value_name = "NAME", requires = "check")]
    pub agent: Option<String>,
    /// Accept checks that pass already
    #[arg(long, requires = "check")]
    pub allow_green: bool,
    /// Limit the time of each check
    #[arg(long, value_name = "TIME", default_value = "4m", requires = "check", value_parser = humantime::parse_duration)]
    pub time: Duration,
    /// Show the output of the checks with hidden files (user only)
    #[arg(long, conflicts_with = "check")]
    pub show_hidden: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

pub(super) fn goal(context: &Context, args: &GoalArgs) -> Answer {
    match args.words.as_deref() {
        Some(words) if !args.check.is_empty() => set(context, args, words),
        Some(DROP) => drop_goal(context, args),
        Some(_) => Err(Failure::usage(
            "a goal needs a command that says whether it is reached: `--check 'COMMAND'`",
        )),
        None if !args.check.is_empty() => Err(Failure::usage(
            "describe the goal in words: `cook goal 'WORDS' --check 'COMMAND'`",
        )),
        None => look(context, args),
    }
}

fn set(context: &Context, args: &GoalArgs, words: &str) -> Answer {
    let actor = context::require_user(args.as_user.as_user)?;
    let mut workspace = context.workspace()?;
    context::not_apart(&workspace)?;
    let draft = Draft {
        words,
        checks: &args.check,
        hidden: &args.hidden,
        freeze: &args.freeze,
        time: args.time,
        allows_green: args.allow_green,
    };
    context
        .screen
        .note("each check runs at HEAD, where it must be red");
    context::tell_progress(context.screen, &mut workspace);
    let made = service::set_goal(&workspace, &draft, actor)?;
    let mut lines = vec![format!(
        "goal: {}",
        made.applied.step.snapshot.state.mission_anchor
    )];
    lines.extend(made.lines);
    lines.extend(hold(&mut workspace, args.agent.as_deref())?);
    let findings = made.applied.findings.clone();
    answer(TransitionAnswer::new(made.applied, lines, findings))
}

/// Installs the named agent's hook; without one, returns a line with other ways to enforce the goal.
fn hold(workspace: &mut Workspace, agent: Option<&str>) -> Result<Vec<String>> {
    let can_hold = |name: &str| {
        cook_agents::hooks::Agent::parse(name)
            .is_some_and(cook_agents::hooks::Agent::can_hold_a_stop)
    };
    let line = match agent {
        None => "to hold an agent to the goal: `cook hooks install AGENT --check`".to_owned(),
        Some(name) if can_hold(name) => {
            return hooks::install_check(workspace, name);
        }
        Some(name) => format!(
            "`{name}` cannot be held by a hook: check the goal by hand with `{ASK_GOAL}`, before each push with `cook hooks install git --check`, or in CI with `cook verify --from REMOTE --rerun`"
        ),
    };
    Ok(vec![line])
}

fn find(workspace: &Workspace) -> Result<Snapshot> {
    let (_, snapshot) = workspace.current()?;
    let snapshot = snapshot.filter(|snapshot| snapshot.goal().is_some());
    snapshot.ok_or_else(|| Refusal::new(Code::GoalNone, "this worktree has no goal").into())
}

fn look(context: &Context, args: &GoalArgs) -> Answer {
    if args.show_hidden {
        context::require_user(args.as_user.as_user)?;
    }
    let mut workspace = context.workspace()?;
    context::tell_progress(context.screen, &mut workspace);
    let snapshot = find(&workspace)?;
    if service::is_dropped(&snapshot) {
        let goal = snapshot.ledger.goal.iter();
        let found = goal.filter_map(|goal| goal.found.as_ref()).next();
        return answer(GoalAnswer::new(&snapshot, GoalState::Dropped, found, true));
    }
    context::not_apart(&workspace)?;
    let standing = service::look_at_goal(&workspace, snapshot)?;
    match standing.snapshot.goal() {
        Some(goal) if args.show_hidden => {
            let runs = workspace.run_hidden_checks(goal, &standing.found.commit)?;
            let texts = runs.into_iter().flat_map(|run| {
                let ending = run.receipt.as_ref().map(Receipt::ending);
                let said = run.receipt.map(|receipt| receipt.tail).or(run.problem);
                let ending = ending.unwrap_or_else(|| "did not run".to_owned());
                [
                    format!("`{}` {ending}:", run.gate.run),
                    said.unwrap_or_default(),
                ]
            });
            let lines = texts.map(|text| clean(&text, Lines::Keep));
            note("hidden_output", lines.collect())
        }
        _ => {
            let state = match standing.found.verdict() {
                _ if standing.is_reached() => GoalState::GoalReached,
                CheckVerdict::NotKnown => GoalState::NotKnown,
                CheckVerdict::Green | CheckVerdict::Red => GoalState::NotReached,
            };
            let (found, is_head) = (Some(&standing.found), standing.is_head);
            answer(GoalAnswer::new(&standing.snapshot, state, found, is_head))
        }
    }
}

fn drop_goal(context: &Context, args: &GoalArgs) -> Answer {
    let actor = context::require_user(args.as_user.as_user)?;
    let workspace = context.workspace()?;
    let snapshot = find(&workspace)?;
    if service::is_dropped(&snapshot) {
        return Err(Refusal::new(Code::GoalNone, "the goal was dropped already").into());
    }
    let mut words = "the goal is dropped; its commits and its log stay".to_owned();
    for agent in list_installed(&workspace, Purpose::Check) {
        let name = agent.name();
        words.push_str(&format!(
            "; `cook hooks remove {name} --check` takes its hook out"
        ));
    }
    let why = DROPPED.to_owned();
    let done = super::recorded::record(&workspace, &Event::Cancelled { why }, actor, &words)?;
    if let Some(goal) = snapshot.goal() {
        service::forget_hidden(&workspace, goal)?;
    }
    Ok(done)
}

/// State of a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum GoalState {
    /// Every check is green at a commit of the branch, and the log says so.
    GoalReached,
    /// Something is red, or green only in the worktree.
    NotReached,
    /// Something could not be measured.
    NotKnown,
    /// The user gave it up.
    Dropped,
}

/// A check of the goal.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct GoalRow {
    /// Command of the check.
    check: String,
    /// Whether the check needs hidden files.
    hidden: bool,
    /// Whether the check was already green when the goal was set.
    green_at_base: bool,
    verdict: CheckVerdict,
    why: String,
    /// Command that shows more or fixes the problem; absent if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    next: String,
}

/// The state of a goal and of its checks.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct GoalAnswer {
    state: GoalState,
    words: String,
    /// SHA-256 of the goal with its settings and frozen files, in hexadecimal.
    digest: String,
    branch: Option<String>,
    /// Full ID of the commit at which the goal was set.
    base: String,
    /// Full ID of the tested commit; null if none was tested. Uncommitted work is tested as a commit without a ref.
    commit: Option<String>,
    /// Whether the tested commit is HEAD, and not uncommitted work.
    is_head: bool,
    checks: Vec<GoalRow>,
    /// Findings of the base's tests that no commit message declares.
    lines: Vec<Line>,
    /// Paths of the frozen files, which replace the files of each later commit.
    frozen: Vec<String>,
    /// Number of hidden files.
    hidden_files: usize,
}

impl GoalAnswer {
    /// `found` is the newest result, at HEAD or in the worktree.
    fn new(
        snapshot: &Snapshot,
        state: GoalState,
        found: Option<&GoalFound>,
        is_head: bool,
    ) -> Self {
        let goal = snapshot.goal();
        let mut checks: Vec<GoalRow> = Vec::new();
        for check in goal.iter().flat_map(|goal| &goal.checks) {
            let run = found.and_then(|found| found.checks.get(checks.len()));
            checks.push(GoalRow {
                // The command may contain the path of a hidden file, which the agent must not learn.
                check: match check.hidden {
                    true => "a hidden check".to_owned(),
                    false => check.run.clone(),
                },
                hidden: check.hidden,
                green_at_base: check.green_at_base,
                verdict: run.map_or(CheckVerdict::NotKnown, |run| run.verdict),
                why: run.map_or("it was not asked", |run| &run.why).to_owned(),
                next: run.map_or("", |run| &run.next).to_owned(),
            });
        }
        let lines = found.iter().flat_map(|found| found.lines.iter().cloned());
        Self {
            state,
            words: snapshot.mission.clone(),
            digest: goal.map_or(String::new(), |goal| goal.digest()),
            branch: snapshot.ledger.branch.clone(),
            base: goal.map_or(String::new(), |goal| goal.base.clone()),
            commit: found.map(|found| found.commit.clone()),
            is_head: is_head && found.is_some(),
            checks,
            lines: lines.map(Line::from).collect(),
            frozen: goal.map_or_else(Vec::new, |goal| goal.frozen.clone()),
            hidden_files: goal.map_or(0, |goal| goal.hidden.len()),
        }
    }

    fn is_green(&self) -> bool {
        let mut checks = self.checks.iter();
        self.lines.iter().all(|line| line.weight == Weight::Shown)
            && checks.all(|row| row.verdict == CheckVerdict::Green)
    }
}

impl Show for GoalAnswer {
    fn human(&self, page: &mut Page) {
        let (tone, word) = match self.state {
            GoalState::GoalReached => (Tone::Good, "reached"),
            GoalState::NotReached => (Tone::Bad, "not reached"),
            GoalState::NotKnown => (Tone::Warn, "not known"),
            GoalState::Dropped => (Tone::Dim, "dropped"),
        };
        page.add_toned(tone, word);
        page.line(&format!("  {}", self.words));
        if let Some(commit) = &self.commit {
            let place = match self.is_head {
                true => format!("at {}", short(commit)),
                false => "in the worktree, which holds uncommitted changes".to_owned(),
            };
            page.add_toned_line(Tone::Dim, &format!("  {place}"));
        }
        for row in &self.checks {
            let (tone, word) = match row.verdict {
                CheckVerdict::Green => (Tone::Good, "green"),
                CheckVerdict::Red => (Tone::Bad, "red"),
                CheckVerdict::NotKnown => (Tone::Warn, "open"),
            };
            page.text("  ");
            page.add_toned(tone, &format!("{word:<5}"));
            page.line(&format!(" {}", row.check));
            if row.verdict != CheckVerdict::Green {
                page.line(&format!("        {}", row.why));
            }
        }
        show_lines(page, &self.lines);
        if self.is_green() && !self.is_head {
            page.add_toned(Tone::Dim, "        next: ");
            page.line("commit it: only a commit can reach the goal");
        }
    }

    fn exit(&self) -> Exit {
        match self.state {
            GoalState::GoalReached => Exit::Ok,
            GoalState::NotReached | GoalState::Dropped => Exit::CheckFailed,
            GoalState::NotKnown => Exit::State,
        }
    }
}
