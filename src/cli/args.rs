//! The command line, as clap sees it.

use crate::view::ColorChoice;
use clap::{Args, Parser, Subcommand, ValueEnum};
use cook_core::model::KnownAgent;
use std::path::PathBuf;

/// Agents report; cook decides. Git is the database.
#[derive(Debug, Parser)]
#[command(name = "cook", version, about, long_about = None, max_term_width = 100)]
pub(super) struct Cli {
    /// Work in this directory
    #[arg(short = 'C', long = "dir", global = true, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
    /// No notes on stderr
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say what led to an error
    #[arg(short, long, global = true)]
    pub verbose: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Set the repository up, or repair what is missing; safe to repeat
    Init(InitArgs),
    /// Name the mandatory role, and why
    Next(NextArgs),
    /// Show the rules in order, with what each one looked at
    Why,
    /// Take a role's report: check it, measure the repository, decide
    Record(RecordArgs),
    /// Recompute everything from files, log and git
    Verify(VerifyArgs),
    /// Run gates now and keep receipts
    Gate(GateArgs),
    /// Let cook run a command that a plan or `cook.toml` names (user only)
    Trust(TrustArgs),
    /// Where the work stands
    Status,
    /// Slices that can be selected now, in order of work
    Ready,
    /// The plan as a graph
    Graph(GraphArgs),
    /// Issues: of `br` or `bd` where one is here, else the plan's slices
    Issue(IssueArgs),
    /// The transitions, newest first
    Log(LogArgs),
    /// One transition
    Show(ShowArgs),
    /// What changed between two transitions
    Diff(DiffArgs),
    /// Take transitions back (user only)
    Undo(UndoArgs),
    /// Take in an edited `plan.json`, a branch, or put the log's version back (user only)
    Adopt(AdoptArgs),
    /// Stop the work until `cook resume`
    Pause(WhyArgs),
    /// Resume stopped work (user only)
    Resume(ResumeArgs),
    /// End the workflow (user only)
    Cancel(CancelArgs),
    /// Answer the question that is waited on (user only)
    Answer(AnswerArgs),
    /// Change the mission (user only)
    Refocus(RefocusArgs),
    /// Correct acceptance criteria (user only)
    Criteria(CriteriaArgs),
    /// Extend budgets (user only)
    Budget(BudgetArgs),
    /// What the next session must know, every claim with an anchor that is checked
    Brief(Box<BriefArgs>),
    /// Keep a line about what was done and what comes next
    Checkpoint(CheckpointArgs),
    /// The message a session gets when its context was lost
    Recover,
    /// Answer an agent's lifecycle event (agents call this)
    Hook(HookArgs),
    /// Install, check or remove the hooks of an agent
    Hooks(HooksArgs),
    /// Drive agent sessions until the policy says stop
    Run(RunArgs),
    /// Hold exactly one session, then exit
    Step(DriveArgs),
    /// What agents have cost, by role and agent
    Cost,
    /// Show a whole run with scripted agents, in a repository of its own
    Demo(DemoArgs),
    /// Ask an agent; nothing may change
    Ask(AskArgs),
    /// Order an agent to do something
    Act(ActArgs),
    /// Ask several agents the same, none seeing another's answer
    Fanout(FanoutArgs),
    /// What was said to agents: look at it, name it, check it, move it
    Session(SessionArgs),
    /// Agents that can be asked: installed, version, what they can
    Agents,
    /// Look at what was set aside, and put it back
    Rescue(RescueArgs),
    /// Check the log's objects and the view
    Fsck,
    /// Check the set-up
    Doctor(DoctorArgs),
    /// Shell completions
    Completions(CompletionsArgs),
    /// The manual page
    Man,
    /// Stand in for an agent by a script (for tests and demonstrations)
    #[command(hide = true)]
    ScriptedAgent(ScriptedAgentArgs),
}

impl Command {
    /// `cook verify --format json` says the same as `--json`.
    pub(super) fn asks_for_json(&self) -> bool {
        matches!(self, Command::Verify(args) if args.format == VerifyFormat::Json)
    }
}

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// The whole mission
    #[arg(long, value_name = "TEXT", conflicts_with = "mission_file")]
    pub mission: Option<String>,
    /// Read the mission from a file (`-` = standard input)
    #[arg(long, value_name = "FILE")]
    pub mission_file: Option<PathBuf>,
    /// Commit the contract files, and nothing else
    #[arg(long)]
    pub commit: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
pub(super) struct NextArgs {
    /// Print the role's whole prompt
    #[arg(long, conflicts_with = "json")]
    pub prompt: bool,
    /// Make the agent session around this command the one that does it
    #[arg(long)]
    pub take: bool,
    /// Exit 10, 11 or 12 when the work waits for the user, is blocked or paused
    #[arg(long)]
    pub exit_code: bool,
}

#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// bootstrapper, regrounder, implementer, reviewer, auditor or stop-judge
    pub role: String,
    /// The report (`-` or nothing = standard input)
    pub file: Option<PathBuf>,
    /// Check grammar and consistency only; needs no repository
    #[arg(long, conflicts_with_all = ["dry_run", "repair_prompt"])]
    pub check: bool,
    /// Everything but writing
    #[arg(long)]
    pub dry_run: bool,
    /// Print what to ask the agent for
    #[arg(long, conflicts_with = "dry_run")]
    pub repair_prompt: bool,
    /// The ticket `cook next --json` gave out
    #[arg(long, value_name = "TICKET")]
    pub ticket: Option<String>,
    /// The session the report came from
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// What `cook verify` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyScope {
    /// Contract, documents, histories, log
    ControlPlane,
    /// The stop verifier, and the votes when they are due
    Stop,
    /// Everything
    All,
}

/// How `cook verify` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyFormat {
    /// For people
    Human,
    /// For programs
    Json,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// What to look at
    #[arg(value_enum, default_value_t = VerifyScope::All)]
    pub scope: VerifyScope,
    /// Findings that need a re-ground fail too
    #[arg(long)]
    pub strict: bool,
    /// Run gates again instead of believing receipts
    #[arg(long)]
    pub rerun: bool,
    /// Trust the stop verifier and the gates of this repository for this run (for CI)
    #[arg(long)]
    pub trust_repo: bool,
    /// human or json
    #[arg(long, value_enum, default_value_t = VerifyFormat::Human)]
    pub format: VerifyFormat,
}

#[derive(Debug, Args)]
pub(super) struct GateArgs {
    /// Gates of `cook.toml`; none = all
    pub names: Vec<String>,
    /// The commands of this slice, beside those of `cook.toml`
    #[arg(long, value_name = "ID")]
    pub slice: Option<String>,
    /// Run even where a receipt for this tree is kept
    #[arg(long)]
    pub rerun: bool,
}

#[derive(Debug, Default, Args)]
pub(super) struct AsUser {
    /// Called by a script on a person's behalf; recorded as such
    #[arg(long)]
    pub as_user: bool,
}

#[derive(Debug, Args)]
pub(super) struct TrustArgs {
    /// The command, as `cook` printed it
    #[arg(required_unless_present_any = ["list", "gates"])]
    pub command: Option<String>,
    /// Trust every command that begins with these words
    #[arg(long, requires = "command")]
    pub prefix: bool,
    /// Trust the gates of `cook.toml` and the stop verifier as they stand
    #[arg(long, conflicts_with = "command")]
    pub gates: bool,
    /// List what is trusted here
    #[arg(long, conflicts_with_all = ["command", "gates"])]
    pub list: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

/// How `cook graph` prints.
#[derive(Debug, Args)]
pub(super) struct GraphArgs {
    /// Mermaid (the default)
    #[arg(long, conflicts_with = "dot")]
    pub mermaid: bool,
    /// Graphviz
    #[arg(long)]
    pub dot: bool,
}

#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// At most this many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub limit: usize,
    /// The logs of all worktrees, removed ones among them
    #[arg(long)]
    pub all_worktrees: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// A number, an id, `@` or `@-`
    #[arg(default_value = "@")]
    pub operation: String,
}

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The earlier transition
    #[arg(default_value = "@-")]
    pub from: String,
    /// The later one
    #[arg(default_value = "@")]
    pub to: String,
}

#[derive(Debug, Args)]
pub(super) struct UndoArgs {
    /// Back to how it was after this transition (default: before the newest)
    #[arg(default_value = "@-")]
    pub operation: String,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
pub(super) struct AdoptArgs {
    /// Put the log's version back; the edit is kept (`cook rescue list`)
    #[arg(long, conflicts_with = "branch")]
    pub discard: bool,
    /// Go on on the branch that is checked out
    #[arg(long)]
    pub branch: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// Why
    pub why: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// Why
    pub why: Option<String>,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The answer to the question
    #[arg(long, value_name = "TEXT")]
    pub answer: Option<String>,
    /// A command that is now trusted
    #[arg(long, value_name = "COMMAND")]
    pub trust: Vec<String>,
    /// More budget: `steps=20`, `attempts=2`, `cost=5.00`
    #[arg(long, value_name = "KEY=N")]
    pub budget: Vec<String>,
    /// Ask the judges again
    #[arg(long)]
    pub new_wave: bool,
    /// Void the review of the slice in work
    #[arg(long)]
    pub review_again: bool,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
pub(super) struct AnswerArgs {
    /// The answer (`-` = standard input)
    pub text: String,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
pub(super) struct RefocusArgs {
    /// The whole new mission
    #[arg(long, value_name = "TEXT", required_unless_present = "mission_file")]
    pub mission: Option<String>,
    /// Read it from a file (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "mission")]
    pub mission_file: Option<PathBuf>,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
pub(super) struct CriteriaArgs {
    #[command(subcommand)]
    pub command: CriteriaCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum CriteriaCommand {
    /// Correct one criterion that proved false
    Amend(AmendArgs),
}

#[derive(Debug, Args)]
pub(super) struct AmendArgs {
    /// The slice
    pub slice: String,
    /// Which criterion, from 1
    pub number: u64,
    /// The new text
    #[arg(long, value_name = "TEXT")]
    pub text: String,
    /// Why the old one was false
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
pub(super) struct BudgetArgs {
    #[command(subcommand)]
    pub command: BudgetCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum BudgetCommand {
    /// Add to a budget: `steps=20`, `attempts=2`, `cost=5.00`
    Add(BudgetAddArgs),
}

#[derive(Debug, Args)]
pub(super) struct BudgetAddArgs {
    /// What to add
    #[arg(required = true, value_name = "KEY=N")]
    pub budget: Vec<String>,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct BriefArgs {
    #[command(subcommand)]
    pub command: Option<BriefCommand>,
    #[command(flatten)]
    pub show: BriefShowArgs,
}

#[derive(Debug, Args)]
pub(super) struct BriefShowArgs {
    /// At most this many bytes; what is left out is counted
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub max_bytes: Option<usize>,
    /// All of it
    #[arg(long)]
    pub all: bool,
    /// Write it into a file too, `CONTINUE.md` when none is named
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "")]
    pub write: Option<String>,
    /// The entries with their ids
    #[arg(long, conflicts_with = "write")]
    pub ids: bool,
    /// End or replace entries: a list of `{id, verdict, by, why}` (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["write", "ids"])]
    pub reconcile: Option<PathBuf>,
    #[command(flatten)]
    pub author: BriefAuthorArgs,
}

/// Who changes the brief.
#[derive(Debug, Default, Args)]
pub(super) struct BriefAuthorArgs {
    /// Who says so
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// The session it comes from
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[command(flatten)]
    pub as_user: AsUser,
}

#[derive(Debug, Subcommand)]
pub(super) enum BriefCommand {
    /// Print it
    Show(BriefShowArgs),
    /// Print an artifact as a brief; needs no repository
    Render {
        /// The artifact (`-` or nothing = standard input)
        file: Option<PathBuf>,
    },
    /// Say of every anchor whether it still holds
    Check,
    /// Add an entry, from flags or as JSON on standard input
    Note(Box<BriefNoteArgs>),
    /// Keep a statement of the user's that anchors may quote (user only)
    Say {
        /// The statement (`-` = standard input)
        text: String,
        /// The session it was made in
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        #[command(flatten)]
        as_user: AsUser,
    },
    /// Take in an artifact as the whole next brief
    Import {
        /// The artifact (`-` or nothing = standard input)
        file: Option<PathBuf>,
        /// Causes of the entries that it leaves out
        #[arg(long, value_name = "FILE")]
        reconcile: Option<PathBuf>,
        #[command(flatten)]
        author: BriefAuthorArgs,
    },
    /// Print the brief as an artifact
    Export,
    /// The proposed update of the agent guide
    Guide {
        /// Show what it would change
        #[arg(long, required_unless_present = "apply", conflicts_with = "apply")]
        diff: bool,
        /// Write it
        #[arg(long)]
        apply: bool,
    },
}

/// A list of the brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BriefSlot {
    /// What must not be done: rule, source
    Forbid,
    /// What holds, with its proof: claim, evidence, basis, reopen
    Established,
    /// What was found out: lesson, source
    Learned,
    /// What must be answered: question, verifies
    Open,
    /// What comes next: action, outcome
    Next,
}

#[derive(Debug, Args)]
pub(super) struct BriefNoteArgs {
    /// Which list
    #[arg(value_enum)]
    pub slot: BriefSlot,
    /// What it says: rule, claim, lesson, question or action (nothing and no flag = JSON on standard input)
    pub text: Option<String>,
    /// Of forbid and learned: where it comes from
    #[arg(long)]
    pub source: Option<String>,
    /// Of established: the anchor
    #[arg(long, value_name = "ANCHOR")]
    pub evidence: Option<String>,
    /// Of established: observed, test, output, user or doc
    #[arg(long)]
    pub basis: Option<String>,
    /// Of established: what would make it worth another look
    #[arg(long)]
    pub reopen: Option<String>,
    /// Of open: what would answer it
    #[arg(long)]
    pub verifies: Option<String>,
    /// Of next: what it leads to
    #[arg(long)]
    pub outcome: Option<String>,
    /// Of forbid: the rule
    #[arg(long, conflicts_with = "text")]
    pub rule: Option<String>,
    /// Of established: the claim
    #[arg(long, conflicts_with = "text")]
    pub claim: Option<String>,
    /// Of learned: the lesson
    #[arg(long, conflicts_with = "text")]
    pub lesson: Option<String>,
    /// Of open: the question
    #[arg(long, conflicts_with = "text")]
    pub question: Option<String>,
    /// Of next: the action
    #[arg(long, conflicts_with = "text")]
    pub action: Option<String>,
    /// What becomes of earlier entries
    #[arg(long, value_name = "FILE")]
    pub reconcile: Option<PathBuf>,
    #[command(flatten)]
    pub author: BriefAuthorArgs,
}

#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    /// What was done, what comes next (`-` = standard input)
    pub text: String,
    /// Take this artifact in as the whole next brief first; when it is refused, nothing is kept
    #[arg(long, value_name = "FILE")]
    pub brief: Option<PathBuf>,
}

/// The agents with hooks.
fn hooked_agents() -> String {
    listed(KnownAgent::names_with("[hooks]").map(str::to_owned))
}

/// What may call `cook hook`.
fn callers() -> String {
    let lines =
        KnownAgent::names_with("statusline = true").map(|name| format!("{name}-statusline"));
    let agents = KnownAgent::names_with("[hooks]").map(str::to_owned);
    listed(agents.chain(lines))
}

fn listed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

#[derive(Debug, Args)]
pub(super) struct HookArgs {
    #[arg(help = callers())]
    pub agent: String,
    /// The event, for agents that do not send its name
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct HooksArgs {
    #[command(subcommand)]
    pub command: HooksCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum HooksCommand {
    /// Write the hooks of an agent into its settings, beside what is there
    Install(HooksAgentArgs),
    /// Say whether they are there, current, and called
    Check(HooksAgentArgs),
    /// Take exactly cook's part out again
    Remove(HooksAgentArgs),
    /// Make a session the one that the workflow is worked in
    Attach {
        /// The session's id; none = the one around this command, else the last that called
        session: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(super) struct HooksAgentArgs {
    #[arg(help = hooked_agents())]
    pub agent: String,
    /// In the tracked file that everybody gets, not in your own
    #[arg(long)]
    pub shared: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub print: bool,
}

#[derive(Debug, Args)]
pub(super) struct RescueArgs {
    #[command(subcommand)]
    pub command: RescueCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum RescueCommand {
    /// What was set aside
    List,
    /// What one copy holds, or the text of one of its files
    Show {
        /// Its id or the beginning of it, or a ref of the list
        id: String,
        /// A file of the copy, as the list of its files names it
        path: Option<String>,
    },
    /// Write one copy into a directory of this worktree
    Restore {
        /// Its id, or the beginning of it
        id: String,
        /// Where to; made when it is not there
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(super) struct IssueArgs {
    #[command(subcommand)]
    pub command: IssueCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum IssueCommand {
    /// What could be worked on, and what hangs on it
    Ready,
    /// One issue with its dependencies and comments
    Show {
        /// The issue
        id: String,
    },
    /// Take an issue; one that somebody else holds is left alone
    Claim {
        /// The issue
        id: String,
    },
    /// Close an issue, and see that it is closed
    Close {
        /// The issue
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "done")]
        reason: String,
    },
    /// Say something about an issue
    Comment {
        /// The issue
        id: String,
        /// What to say (`-` = standard input)
        text: String,
        /// Say it once however often this is called with this word
        #[arg(long, value_name = "WORD")]
        key: Option<String>,
    },
    /// Make an issue
    Create(CreateIssueArgs),
    /// Which tracker there is, and what is in work
    Status,
}

#[derive(Debug, Args)]
pub(super) struct CreateIssueArgs {
    /// Its title
    pub title: String,
    /// `task` (the default), `bug`, `feature`, …
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// 0 = first
    #[arg(long, value_name = "N")]
    pub priority: Option<u8>,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// The issue in whose work it was found
    #[arg(long, value_name = "ID")]
    pub discovered_from: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Print every setting in force
    #[arg(long)]
    pub config: bool,
    /// Have each agent that is here answer once
    #[arg(long, conflicts_with = "config")]
    pub probe: bool,
    /// With --probe: this agent only
    #[arg(long, value_name = "NAME", requires = "probe")]
    pub agent: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ScriptedAgentArgs {
    /// A script, or the file that holds it
    pub script: String,
    /// As a preset gives them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<String>,
}

/// Whether an agent's own record may be gone on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum NativeChoice {
    /// By a fork of it where it is still what it was, else by telling
    #[default]
    Auto,
    /// Always by telling
    Never,
    /// By a fork of it, or not at all
    Require,
}

/// What every call of an agent takes.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// Branch from this checkpoint
    #[arg(long, value_name = "REF")]
    pub on_episode: Option<String>,
    /// Go on in this series
    #[arg(long, value_name = "REF")]
    pub on_series: Option<String>,
    /// The answer must be JSON that fits this JSON Schema
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Whether the agent's own record may be gone on from
    #[arg(long, value_enum, default_value_t = NativeChoice::Auto)]
    pub native: NativeChoice,
    /// A model other than the agent's own choice
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// How long it may take in all
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// How long it may be silent
    #[arg(long, value_name = "TIME")]
    pub idle_timeout: Option<String>,
    /// Refuse to go on when the worktree is not the one the conversation left
    #[arg(long)]
    pub require_tree: bool,
}

#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question (`-` = standard input)
    #[arg(required_unless_present = "request")]
    pub say: Option<String>,
    /// The agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Everything in one JSON object: say, agent, on, schema (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["say", "agent", "on_episode", "on_series", "schema"])]
    pub request: Option<PathBuf>,
    #[command(flatten)]
    pub call: CallArgs,
}

#[derive(Debug, Args)]
pub(super) struct ActArgs {
    /// The order (`-` = standard input)
    #[arg(value_name = "DO")]
    pub say: String,
    /// The agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub call: CallArgs,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Hold at most so many sessions
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    #[command(flatten)]
    pub drive: DriveArgs,
}

/// What one session and many have in common.
#[derive(Debug, Args)]
pub(super) struct DriveArgs {
    /// The agent of every role, in place of `[roles.*] agent`
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Go on beside paths that are not committed
    #[arg(long)]
    pub yes: bool,
    /// Put what is not committed aside as a ref, and back when the run ends
    #[arg(long, conflicts_with = "yes")]
    pub park_changes: bool,
}

/// Who misbehaves in a demonstration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DemoCulprit {
    /// Reports a commit that is not there, and green tests that are red
    Liar,
    /// Weakens a criterion, edits cook's files, disarms the stop verifier
    Cheater,
    /// Dies in the middle of a line, with its work committed
    Crasher,
    /// Prints nothing and does not end
    Hanger,
    /// Prints 1 GB
    Flooder,
    /// Edits, commits and tags where it may only read
    Editor,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The repository is made in a new directory, or in the one that `--dir` names, which must be \
absent or empty; it stays there to be looked at."
)]
pub(super) struct DemoArgs {
    /// Let this agent misbehave, and see it caught
    #[arg(long, value_enum, value_name = "CULPRIT")]
    pub with: Option<DemoCulprit>,
    /// Pause after each step, to read along
    #[arg(long)]
    pub slow: bool,
}

#[derive(Debug, Args)]
pub(super) struct FanoutArgs {
    /// The question (`-` = standard input)
    pub say: String,
    /// The agents; one named twice is asked in two sessions
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', required = true)]
    pub agents: Vec<String>,
    #[command(flatten)]
    pub call: CallArgs,
}

#[derive(Debug, Args)]
pub(super) struct SessionArgs {
    #[command(subcommand)]
    pub command: SessionCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum SessionCommand {
    /// The calls, newest first
    Log {
        /// At most this many
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
    },
    /// What was said, by ref, prefix, hash or name
    Show {
        /// Which
        name: String,
    },
    /// Which call went on from which
    Tree {
        /// Only what leads to it and away from it
        name: Option<String>,
    },
    /// Recompute every hash
    Verify,
    /// Give a ref a name, which also keeps it
    Name {
        /// Which
        name: String,
        /// Letters, digits, `.`, `_`, `-`
        label: String,
    },
    /// Write an episode or a series as one file
    Export {
        /// Which
        name: String,
        /// Where to; standard output when left out
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Take in what was exported
    Import {
        /// The file (`-` or nothing = standard input)
        file: Option<PathBuf>,
    },
    /// Let go of what no name holds and nobody used for a while
    Gc,
    /// Fork the agent's own session and start its own interface on it
    Open {
        /// Which
        name: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
