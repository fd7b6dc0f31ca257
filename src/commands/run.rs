//! `cook run`: agents drive the workflow.

use super::ask::store;
use super::context::*;
use crate::run::{
    self, Ended, Held, Observer, Opening, Operator, Order, Outcome, RunEvent, Violation, paths_are,
};
use crate::service::RunEstimate;
use crate::view::{describe_policy, tell_dollars};
use cook_agents::{Progress, Spent};
use cook_repo::process::Alarm;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a scheduler should do after a run with `--from`, by its exit code.
const EXITS: &str = "Exit codes with --from:
  0          call the command again
  7          another worker was first, or uses this clone: call the command again
  13         the mission is done
  10, 11, 12 a person must answer a question, remove an obstacle or end a pause
  5, 6       no agent could work; a limit is used up
  4          refused on this machine; the message names the command that helps
  3          the remote or the state cannot be read; recorded work is in this clone
  2          the command line is wrong
  130        interrupted (Ctrl-C, SIGTERM)";

#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub(super) struct RunArgs {
    /// Run at most this many sessions
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Estimate the sessions, tokens and cost of a run, but start none
    #[arg(long, conflicts_with_all = ["steps", "once", "yes", "park_changes"])]
    pub estimate: bool,
    /// Run exactly one session
    #[arg(long, conflicts_with = "steps")]
    pub once: bool,
    /// With --once, pull the log and the branch from this remote (name or address), and push the result
    #[arg(long, value_name = "REMOTE", requires = "once", conflicts_with_all = ["yes", "park_changes"])]
    pub from: Option<String>,
    /// With --from, trust the gates, the stop verifier and the agents of the repository for this session
    #[arg(long, requires = "from")]
    pub trust_repo: bool,
    /// Use this agent for every role instead of the agents of `cook.toml`
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Continue although there are uncommitted changes
    #[arg(long)]
    pub yes: bool,
    /// Move uncommitted changes to a ref, and restore them when the run ends
    #[arg(long, conflicts_with = "yes")]
    pub park_changes: bool,
}

pub(super) fn run(context: &Context, args: &RunArgs) -> Answer {
    if args.estimate {
        let workspace = context.workspace()?;
        let calls = store(&workspace)?.lines()?;
        return answer(service::estimate_run(&workspace, &calls)?);
    }
    context::not_nested()?;
    let opening = Opening {
        trusts_everything: args.trust_repo,
        pushes_later: args.from.is_some(),
        tells_nobody: false,
    };
    let order = Order {
        dir: &context.dir,
        agent: args.agent.as_deref(),
        steps: if args.once { Some(1) } else { args.steps },
        goes_beside: args.yes,
        parks: args.park_changes,
        opening,
    };
    let terminal = context.screen;
    let mut held = match &args.from {
        None => run::hold(&order, &terminal)?,
        Some(remote) => {
            context::not_apart(&Workspace::open(&context.dir)?)?;
            run::step_from(&order, &terminal, remote, context::is_attended())?
        }
    };
    held.is_one_step = args.once;
    answer(RunAnswer::new(held))
}

impl Operator for Screen {
    fn show(&self, line: &str) {
        self.note_toned(Tone::Dim, line);
    }

    fn note(&self, text: &str) {
        Screen::note(self, text);
    }

    fn warn(&self, text: &str) {
        self.note_toned(Tone::Warn, text);
    }

    fn agrees(&self, question: &str) -> bool {
        Screen::agrees(self, question)
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(Printer::new(*self))
    }
}

/// The result of `cook run` or `cook run --once`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct RunAnswer {
    /// Cause of the end: the policy, the number of sessions, a budget, no progress, no working agent, or a
    /// signal.
    #[schemars(extend("enum" = ["policy", "steps", "budget", "stalled", "agents", "asked"]))]
    ended: &'static str,
    reason: String,
    /// Number of sessions.
    sessions: u64,
    /// Cost of the sessions with a known cost, in US dollars.
    #[schemars(range(min = 0))]
    cost_usd: f64,
    /// Number of answers without a known cost.
    cost_unknown: u64,
    /// Full names of the refs that moved on the remote; absent without `--from`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed: Option<Vec<String>>,
    next: Dispatched,
    #[serde(skip)]
    goes_on: Option<String>,
    #[serde(skip)]
    exit: Exit,
}

impl RunAnswer {
    fn new(held: Held) -> Self {
        let goes_on = goes_on(&held);
        let is_done = held.is_done();
        let Outcome {
            ended,
            cut,
            sessions,
            cost_micro_usd,
            unpriced,
            next,
        } = held.outcome;
        let (word, exit) = match &ended {
            Ended::Policy(policy) => ("policy", Exit::of_policy(*policy)),
            Ended::Steps if next.policy == Policy::Continue && !held.is_one_step => {
                ("steps", Exit::Ended)
            }
            Ended::Steps => ("steps", Exit::of_policy(next.policy)),
            Ended::Budget(_) => ("budget", Exit::Spent),
            Ended::Stalled(_) => ("stalled", Exit::Spent),
            Ended::Agents(_) => ("agents", Exit::Supplier),
            Ended::Asked => ("asked", Exit::Interrupted),
        };
        let exit = match held.given.is_some() && is_done {
            true => Exit::Ended,
            false => exit,
        };
        let reason = match ended {
            Ended::Policy(policy) => match (policy, next.reason.as_str()) {
                (Policy::Done, _) | (_, "") => describe_policy(policy).to_owned(),
                (_, reason) => format!("{}: {reason}", describe_policy(policy)),
            },
            Ended::Steps => "the requested number of sessions was held".to_owned(),
            Ended::Budget(what) | Ended::Stalled(what) | Ended::Agents(what) => what,
            Ended::Asked => match cut {
                Some(role) => format!(
                    "stopped on request; the session of the {role} was ended before it reported"
                ),
                None => "stopped on request, after the last session had ended".to_owned(),
            },
        };
        Self {
            ended: word,
            reason,
            sessions,
            cost_usd: cost_micro_usd as f64 / 1e6,
            cost_unknown: unpriced,
            pushed: held.given.map(|given| given.refs),
            next: Dispatched::of(next, Some(&held.snapshot), &held.head, None),
            goes_on,
            exit,
        }
    }

    fn cost(&self) -> String {
        let dollars = format!("{:.2} US dollars", self.cost_usd);
        match (self.cost_usd > 0.0, self.cost_unknown) {
            (_, 0) => dollars,
            (false, _) => "unknown cost".to_owned(),
            (true, unknown) => {
                let calls = count_noun(unknown, "call");
                format!("{dollars}, and {calls} of unknown cost")
            }
        }
    }
}

/// How the run can continue; `None` if nothing should continue.
fn goes_on(held: &Held) -> Option<String> {
    let (outcome, uncommitted) = (&held.outcome, held.uncommitted);
    let next = &outcome.next;
    let again = match &held.given {
        Some(given) => format!("cook run --once --from {}", given.remote),
        None => "cook run".to_owned(),
    };
    if let (true, Some(command)) = (next.role.is_none(), &next.blocking_command) {
        return (next.policy != Policy::Done).then(|| format!("`{command}`, then `{again}`"));
    }
    let mut text = match (&outcome.ended, outcome.cut) {
        (Ended::Policy(Policy::Done), _) => return None,
        (Ended::Asked, Some(role)) => {
            let kept = match role {
                Role::Implementer => "; its commits and its changes in the worktree stay",
                _ => "",
            };
            format!("`{again}` begins the step of the {role} again, and no attempt is spent{kept}")
        }
        (Ended::Agents(_), _) => format!(
            "`cook doctor agents` lists the installed agents and `cook doctor --probe` those that answer; log in where needed, then run `{again}`"
        ),
        (_, _) => match next.role {
            Some(role) => format!("`{again}` resumes with the {role}"),
            None => "`cook next` says what is due".to_owned(),
        },
    };
    if matches!(outcome.ended, Ended::Asked) && uncommitted > 0 {
        text.push_str(&format!(
            "; it refuses while {} not committed, unless you add `--yes` or `--park-changes`",
            paths_are(uncommitted)
        ));
    }
    Some(text)
}

impl Show for RunAnswer {
    fn human(&self, page: &mut Page) {
        page.row("ended", &self.reason);
        let sessions = count_noun(self.sessions, "session");
        page.row("held", &format!("{sessions}, {}", self.cost()));
        if let Some(refs) = &self.pushed {
            let refs = join_or(refs, "nothing, because nothing was recorded");
            page.row("pushed", &refs);
        }
        page.row_of("goes on", self.goes_on.as_ref());
        self.next.lines(page);
    }

    fn exit(&self) -> Exit {
        self.exit
    }
}

impl Show for RunEstimate {
    fn human(&self, page: &mut Page) {
        page.row("assurance", self.assurance.id());
        let what = match self.planless {
            true => "no plan yet: counted for one slice; each further slice adds its own sessions"
                .to_owned(),
            false => format!("{} open", count_noun(self.slices, "slice")),
        };
        page.row("plan", &what);
        for row in &self.rows {
            page.text("  ");
            page.add_toned(Tone::Strong, &format!("{:<12}", row.role.short()));
            let sessions = count_noun(row.sessions, "session");
            let by = match row.tokens_by {
                "record" => "earlier calls of this role",
                _ => "the size of its prompt now",
            };
            let tokens = row.prompt_tokens;
            page.line(&format!(
                "{sessions:>9}, about {tokens} prompt tokens by {by}"
            ));
        }
        let (sessions, tokens) = (count_noun(self.sessions, "session"), self.prompt_tokens);
        let all = format!("{sessions}, about {tokens} prompt tokens");
        page.row("in all", &all);
        let unknown = count_noun(self.cost_unknown, "session");
        let cost = match (self.cost_usd, self.cost_unknown) {
            (None, _) => "unknown: the cost of earlier calls was not reported".to_owned(),
            (Some(cost), 0) => format!("{cost:.2} US dollars"),
            (Some(cost), _) => format!("{cost:.2} US dollars, and {unknown} of unknown cost"),
        };
        page.row("cost", &cost);
        page.row(
            "counts",
            "if every verdict is yes, every gate is green, and every report is accepted the first time",
        );
    }
}

// Output while agents work: a line for each event, and a live line with the current activity. Text from agents is
// cleaned before it becomes part of a line.

/// Prints events to stderr. Signals are answered from another thread, so both share the state of the live line.
pub(super) struct Printer(Arc<Mutex<Shown>>);

struct Shown {
    screen: Screen,
    line: LiveLine,
    last: String,
    begun: Instant,
}

impl Printer {
    pub(super) fn new(screen: Screen) -> Self {
        Self(Arc::new(Mutex::new(Shown {
            screen,
            line: LiveLine::default(),
            last: String::new(),
            begun: Instant::now(),
        })))
    }
}

impl Shown {
    fn observe(&mut self, event: &RunEvent) {
        let now = self.begun.elapsed();
        self.line.learn(event, now);
        let passing = matches!(event, RunEvent::Shows { .. } | RunEvent::Ends { .. });
        if !passing {
            // Other code may print after this event.
            self.erase();
        }
        if let Some((tone, line)) = event_line(event, self.screen.verbose)
            && line != self.last
        {
            self.say(tone, &line);
            self.last = line;
        }
        if !passing && !matches!(event, RunEvent::Waits { .. }) {
            return;
        }
        if self.screen.redraws {
            let sent = self.line.redrawn(now);
            sent.iter().for_each(|sent| self.screen.draw(sent));
        } else if let Some(line) = self.line.plain(now) {
            self.screen.note_toned(Tone::Dim, &line);
        }
    }

    fn say(&mut self, tone: Tone, line: &str) {
        self.erase();
        self.screen.note_toned(tone, line);
    }

    fn erase(&mut self) {
        if let Some(sent) = self.line.erase() {
            self.screen.draw(sent);
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.erase();
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Printer {
    fn observe(&mut self, event: &RunEvent) {
        lock(&self.0).observe(event);
    }

    fn alarm(&self) -> Option<Alarm> {
        let shown = Arc::clone(&self.0);
        Some(Box::new(move |times| {
            let mut shown = lock(&shown);
            let text = shown.line.end_is_asked(times);
            shown.say(Tone::Warn, &text);
        }))
    }
}

/// The maximum length of a line about an event in characters.
const MOST: usize = 640;
/// The maximum length of a name in characters.
const NAME: usize = 40;
/// The lines in which an agent reports its progress (`protocol/completion.md#reports`).
const MARKED: [&str; 5] = [
    "PROGRESS:",
    "RATIONALE:",
    "NEXT:",
    "VERIFYING:",
    "STATE-DELTA:",
];

/// The line for an event, if any. `verbose` adds tool calls and text of the agent.
fn event_line(event: &RunEvent, verbose: bool) -> Option<(Tone, String)> {
    let (tone, lead, text) = match event {
        RunEvent::Begins {
            role,
            dispatch,
            agent,
            ..
        } => {
            let (rule, reason) = (dispatch.rule, &dispatch.reason);
            let text = format!("{role} ({agent}), rule {rule}: {reason}");
            (Tone::Strong, "", text)
        }
        RunEvent::Shows { progress, .. } => {
            let (tone, text) = progress_line(progress, verbose)?;
            (tone, "  ", text)
        }
        RunEvent::Ends { .. } => return None,
        RunEvent::NotNotified(finding) | RunEvent::Inbox(finding) => {
            let text = format!("[{}] {}", finding.code, finding.message);
            (Tone::Warn, "  ", text)
        }
        RunEvent::Repairs(findings) => {
            let rules = count_noun(findings.len(), "rule");
            let text = format!("the report breaks {rules}, so cook asks for it once more");
            (Tone::Warn, "  ", text)
        }
        RunEvent::Recovered { role, breach } => {
            let later = describe_later(breach);
            let (tone, did) = match breach.is_none() {
                true => (
                    Tone::Dim,
                    " was ended; its report was not recorded, so".to_owned(),
                ),
                false => (Tone::Warn, format!(": {};", describe_violation(breach))),
            };
            let text =
                format!("an unfinished session of the {role}{did} its step is begun again{later}");
            (tone, "", text)
        }
        RunEvent::Beside(copies) => {
            let kept = describe_kept(copies);
            let text = format!("something outside the session changed the worktree; {kept}");
            (Tone::Warn, "  ", text)
        }
        RunEvent::Breached { role, breach } => {
            let what = describe_violation(breach);
            let text = format!("the {role} {what}; its report is not recorded");
            (Tone::Bad, "  ", text)
        }
        RunEvent::CaughtUp(recovery) => {
            let mut text = "`.agent/` was behind the log; it now agrees".to_owned();
            if let Some(id) = &recovery.displaced {
                text.push_str(&format!("; the earlier content is kept as {id}"));
            }
            (Tone::Dim, "", text)
        }
        RunEvent::Unlocked(locks) => {
            let names = locks.iter().map(|lock| lock.display().to_string());
            let names = names.collect::<Vec<_>>().join(", ");
            let text = format!("removed the locks of a git process that was ended: {names}");
            (Tone::Warn, "  ", text)
        }
        RunEvent::CameToNothing(why) => (Tone::Warn, "  ", format!("the session failed: {why}")),
        RunEvent::Recorded {
            applied,
            took,
            cost_micro_usd,
            ..
        } => {
            let cost = cost_micro_usd.map_or_else(|| "cost unknown".to_owned(), tell_dollars);
            let (seq, event) = (applied.step.snapshot.ledger.seq.0, applied.event);
            let took = Duration::from_millis(took.as_millis() as u64);
            let took = humantime::format_duration(took);
            let text = format!("recorded #{seq} {event} ({took}, {cost})");
            (Tone::Good, "  ", text)
        }
        RunEvent::ByCook(applied) => {
            let (seq, next) = (applied.step.snapshot.ledger.seq.0, &applied.step.next);
            let text = format!("cook re-grounded (#{seq}): {}", next.reason);
            (Tone::Good, "", text)
        }
        RunEvent::ModelAsked(why) => (Tone::Dim, "", format!("a model re-grounds: {why}")),
        RunEvent::Waits { until } => {
            let text = format!("waiting until {until} to try again");
            (Tone::Warn, "  ", text)
        }
    };
    Some((tone, format!("{lead}{}", fold(&text, MOST))))
}

fn progress_line(progress: &Progress, verbose: bool) -> Option<(Tone, String)> {
    match progress {
        Progress::Tool(tool) if verbose => Some((Tone::Dim, format!("tool: {tool}"))),
        Progress::Said(text) => {
            let mut lines = text.lines().rev().map(str::trim);
            let marked = lines.find(|line| MARKED.iter().any(|mark| line.starts_with(mark)));
            marked.map(|line| (Tone::Dim, line.to_owned()))
        }
        Progress::Notice(text) => Some((Tone::Warn, format!("it says: {text}"))),
        Progress::Started(_) | Progress::Tool(_) | Progress::Pulse { .. } => None,
    }
}

fn describe_violation(breach: &Violation) -> String {
    let mut text = format!("exceeded its role: {}", breach.what.join("; "));
    if !breach.copies.is_empty() {
        let copies = breach.copies.join("`, `cook doctor rescue show ");
        text.push_str("; reverted, a copy is kept (`cook doctor rescue show ");
        text.push_str(&format!("{copies}`)"));
    }
    for path in &breach.moved {
        let path = path.display();
        text.push_str(&format!(
            "; reverted; it was too large for a copy and was moved to `{path}`"
        ));
    }
    if !breach.refs.is_empty() {
        text.push_str(&format!("; its commits stay at {}", breach.refs.join(", ")));
    }
    if !breach.left.is_empty() {
        text.push_str(&format!("; left as it is: {}", breach.left.join("; ")));
    }
    if breach.log_moved {
        text.push_str("; the log was moved meanwhile");
    }
    text
}

/// Names the changes that count as the user's own work, and where the replaced versions are.
fn describe_later(breach: &Violation) -> String {
    let mut text = String::new();
    if !breach.later.is_empty() {
        let later = breach.later.join("; ");
        text.push_str("; left as it is, because it came after the session: ");
        text.push_str(&later);
    }
    if breach.is_none() && !breach.refs.is_empty() {
        let refs = breach.refs.join(", ");
        text.push_str(&format!("; their earlier commits stay at {refs}"));
    }
    if !breach.before.is_empty() {
        text.push_str(&format!("; {}", describe_kept(&breach.before)));
    }
    text
}

fn describe_kept(copies: &[String]) -> String {
    let copies = copies.join("`, `cook doctor rescue show ");
    format!("the earlier uncommitted content is kept (`cook doctor rescue show {copies}`)")
}

/// Puts text on one line of at most `most` characters.
fn fold(text: &str, most: usize) -> String {
    shorten(&clean(text, Lines::Fold), most)
}

/// After this time without output an agent is called silent.
const SILENT: Duration = Duration::from_secs(30);

/// The interval of plain lines, if the live line cannot be redrawn.
const PLAIN: Duration = Duration::from_secs(60);

/// Moves to the beginning of the line and erases it.
const ERASED: &str = "\r\u{1b}[2K";

/// Turns line wrapping off and on: a line that is too wide is cut, because a wrapped line cannot be erased as one.
const CUT: [&str; 2] = ["\u{1b}[?7l", "\u{1b}[?7h"];

/// The state of a session in the live line. Times are measured from the start of the run.
#[derive(Debug)]
struct HeldSession {
    role: Role,
    agent: String,
    /// The limit of time without output.
    idle: Duration,
    began: Duration,
    heard: Duration,
    tool: Option<String>,
    ended: bool,
}

/// The current state of a run in one line.
#[derive(Debug, Default)]
pub struct LiveLine {
    held: Vec<HeldSession>,
    waits_until: Option<String>,
    spent: Spent,
    /// The text that the terminal shows now.
    drawn: Option<String>,
    /// When the last plain line was due.
    told: Duration,
}

impl LiveLine {
    /// Updates the state with an event of the run.
    pub fn learn(&mut self, event: &RunEvent, now: Duration) {
        match event {
            RunEvent::Begins {
                role, agent, idle, ..
            } => {
                self.waits_until = None;
                if self.held.iter().all(|held| held.ended) {
                    self.held.clear();
                    self.told = now;
                }
                self.held.push(HeldSession {
                    role: *role,
                    agent: fold(agent, NAME),
                    idle: *idle,
                    began: now,
                    heard: now,
                    tool: None,
                    ended: false,
                });
            }
            RunEvent::Shows { slot, progress } => {
                let Some(held) = self.held.get_mut(*slot) else {
                    return;
                };
                // The agent is asked again for its report.
                held.ended = false;
                held.heard = match progress {
                    Progress::Pulse { quiet, .. } => now.saturating_sub(*quiet),
                    _ => now,
                };
                if let Progress::Tool(tool) = progress {
                    held.tool = Some(fold(tool, NAME));
                }
            }
            RunEvent::Ends { slot, spent } => {
                if let Some(held) = self.held.get_mut(*slot) {
                    held.ended = true;
                }
                self.spent = **spent;
            }
            RunEvent::Waits { until } => self.waits_until = Some(fold(until, NAME)),
            _ => {}
        }
    }

    fn at_work(&self) -> impl Iterator<Item = &HeldSession> {
        self.held.iter().filter(|held| !held.ended)
    }

    /// The text of the line; `None` if nothing is in progress.
    pub fn text(&self, now: Duration) -> Option<String> {
        let what = match (&self.waits_until, self.at_work().count()) {
            (Some(until), _) => format!("waiting until {until} to try again"),
            (None, 0) => {
                let held = self.held.first()?;
                format!("what the {} reports is checked", held.role)
            }
            (None, 1) => self.at_work().map(|held| held.line(now)).collect(),
            (None, many) => self.together(many, now)?,
        };
        Some(format!("{what}, {}", cost(&self.spent)))
    }

    /// The part of the line for several sessions; only judges work at the same time.
    fn together(&self, many: usize, now: Duration) -> Option<String> {
        let longest = self.at_work().min_by_key(|held| held.heard)?;
        let began = self.at_work().map(|held| held.began).min()?;
        let (judges, silence) = (count_noun(many, "judge"), longest.silence(now));
        Some(format!("{judges}, {}, {silence}", span(now, began)))
    }

    /// The terminal output that shows the line; `None` if it has not changed.
    pub fn redrawn(&mut self, now: Duration) -> Option<String> {
        let text = self.text(now)?;
        if self.drawn.as_ref() == Some(&text) {
            return None;
        }
        let [from, to] = CUT;
        let sent = format!("{ERASED}{from}{text}{to}");
        self.drawn = Some(text);
        Some(sent)
    }

    /// The terminal output that erases the line; `None` if none is shown.
    pub fn erase(&mut self) -> Option<&'static str> {
        self.drawn.take().map(|_| ERASED)
    }

    /// The next plain line, if one is due and the live line cannot be redrawn.
    pub fn plain(&mut self, now: Duration) -> Option<String> {
        if now.saturating_sub(self.told) < PLAIN {
            return None;
        }
        self.told = now;
        self.text(now).map(|text| format!("  {text}"))
    }

    /// The message after the user asked to stop for the nth time; `times` is n.
    pub fn end_is_asked(&self, times: usize) -> String {
        let whose = self.at_work().next().map(|held| held.role);
        match (times, whose) {
            (..=1, Some(role)) => {
                format!("stopping after the session of the {role}; press Ctrl-C again to stop now")
            }
            (..=1, None) => {
                "stopping after the current work; press Ctrl-C again to stop now".to_owned()
            }
            (_, Some(role)) => format!(
                "stopping the session of the {role} now; the next `cook run` begins its step again"
            ),
            (_, None) => "stopping now".to_owned(),
        }
    }
}

impl HeldSession {
    fn line(&self, now: Duration) -> String {
        let tool = self.tool.as_ref();
        let tool = tool.map_or(String::new(), |tool| format!(", tool {tool}"));
        let (role, agent, time) = (self.role, &self.agent, span(now, self.began));
        format!("{role} ({agent}), {time}{tool}, {}", self.silence(now))
    }

    fn silence(&self, now: Duration) -> String {
        let quiet = now.saturating_sub(self.heard);
        let seconds = quiet.as_secs();
        match seconds {
            _ if quiet > self.idle / 2 => {
                let end = self.idle.as_secs();
                format!("stalled: silent for {seconds} s, ended at {end} s")
            }
            _ if quiet >= SILENT => format!("silent for {seconds} s"),
            _ => format!("output {seconds} s ago"),
        }
    }
}

/// The known cost of the calls; an unknown cost never appears as zero.
pub fn cost(spent: &Spent) -> String {
    let dollars = spent.micro_usd as f64 / 1e6;
    match (spent.calls, spent.micro_usd, spent.unpriced) {
        (0, _, _) => "no cost so far".to_owned(),
        (_, _, 0) => format!("{dollars:.2} US dollars so far"),
        (_, 0, _) => "cost unknown".to_owned(),
        (_, _, unknown) => {
            let unknown = count_noun(unknown, "call");
            format!("{dollars:.2} US dollars so far and {unknown} of unknown cost")
        }
    }
}

fn span(now: Duration, began: Duration) -> String {
    let seconds = now.saturating_sub(began).as_secs();
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_protocol::machine::{Dispatch, Rule};
    use cook_protocol::model::{Phase, Policy};

    const IDLE: Duration = Duration::from_secs(600);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn begins(line: &mut LiveLine, role: Role, agent: &str, now: u64) {
        let dispatch = Dispatch {
            rule: Rule::Judge,
            role: Some(role),
            phase: Phase::StopWave,
            policy: Policy::Continue,
            action: String::new(),
            reason: String::new(),
            blocking_command: None,
            findings: Vec::new(),
        };
        let event = RunEvent::Begins {
            role,
            dispatch: &dispatch,
            agent,
            idle: IDLE,
        };
        line.learn(&event, at(now));
    }

    fn shows(line: &mut LiveLine, slot: usize, progress: Progress, now: u64) {
        line.learn(&RunEvent::Shows { slot, progress }, at(now));
    }

    fn ends(line: &mut LiveLine, slot: usize, spent: &Spent, now: u64) {
        line.learn(&RunEvent::Ends { slot, spent }, at(now));
    }

    fn pulse(quiet: u64) -> Progress<'static> {
        Progress::Pulse {
            elapsed: at(quiet),
            quiet: at(quiet),
        }
    }

    fn one() -> LiveLine {
        let mut line = LiveLine::default();
        begins(&mut line, Role::Implementer, "claude", 10);
        line
    }

    #[test]
    fn a_session_is_told_with_its_time_its_tool_its_silence_and_the_cost() {
        let mut line = one();
        let said = |line: &LiveLine, now| line.text(at(now)).unwrap_or_default();
        let begun = "completion-implementer (claude), 5s, output 5 s ago, no cost so far";
        assert_eq!(said(&line, 15), begun);
        shows(&mut line, 0, Progress::Tool("Bash"), 100);
        assert_eq!(
            said(&line, 112),
            "completion-implementer (claude), 1m 42s, tool Bash, output 12 s ago, no cost so far"
        );
        shows(&mut line, 0, pulse(29), 129);
        assert!(said(&line, 129).contains("output 29 s ago"));
        shows(&mut line, 0, pulse(30), 130);
        assert!(said(&line, 130).contains(", silent for 30 s, "));
        shows(&mut line, 0, pulse(300), 400);
        assert!(said(&line, 400).contains(", silent for 300 s, "));
        shows(&mut line, 0, pulse(301), 401);
        let stalled = ", stalled: silent for 301 s, ended at 600 s, ";
        assert!(said(&line, 401).contains(stalled), "{}", said(&line, 401));
        shows(&mut line, 0, Progress::Said("PROGRESS: half"), 402);
        assert!(said(&line, 402).contains("output 0 s ago"));
    }

    #[test]
    fn unknown_cost_is_never_zero() {
        let spent = |calls, micro_usd, unpriced| {
            cost(&Spent {
                calls,
                micro_usd,
                unpriced,
                unpriced_tokens: 0,
            })
        };
        assert_eq!(spent(0, 0, 0), "no cost so far");
        assert_eq!(spent(2, 420_000, 0), "0.42 US dollars so far");
        assert_eq!(spent(3, 0, 3), "cost unknown");
        assert_eq!(
            spent(3, 420_000, 1),
            "0.42 US dollars so far and 1 call of unknown cost"
        );
    }

    #[test]
    fn judges_that_are_held_at_once_are_one_line_with_the_longest_silence() {
        let mut line = LiveLine::default();
        for now in 0..3 {
            begins(&mut line, Role::StopJudge, "claude", now);
        }
        shows(&mut line, 1, Progress::Said("so"), 50);
        shows(&mut line, 2, pulse(40), 60);
        shows(&mut line, 0, pulse(5), 60);
        let text = line.text(at(60)).unwrap_or_default();
        assert_eq!(text, "3 judges, 1m, silent for 40 s, no cost so far");
        // A judge that has ended does not count as silent.
        ends(&mut line, 2, &Spent::default(), 61);
        let text = line.text(at(62)).unwrap_or_default();
        assert_eq!(text, "2 judges, 1m 2s, output 12 s ago, no cost so far");
    }

    #[test]
    fn after_the_session_its_report_is_checked_and_a_limit_is_shown_with_its_end() {
        let mut line = one();
        let spent = Spent {
            calls: 1,
            unpriced: 1,
            ..Spent::default()
        };
        ends(&mut line, 0, &spent, 20);
        let checked = "what the completion-implementer reports is checked, cost unknown";
        assert_eq!(line.text(at(21)).as_deref(), Some(checked));
        let until = "2026-01-02T04:04:05Z";
        line.learn(&RunEvent::Waits { until }, at(22));
        let waits = format!("waiting until {until} to try again, cost unknown");
        assert_eq!(line.text(at(23)), Some(waits));
        begins(&mut line, Role::Implementer, "claude", 30);
        let text = line.text(at(30)).unwrap_or_default();
        assert!(text.starts_with("completion-implementer"), "{text}");
    }

    #[test]
    fn the_line_is_redrawn_in_place_when_it_changes_and_erased_once() {
        let mut line = LiveLine::default();
        assert_eq!(line.redrawn(at(1)), None);
        assert_eq!(line.erase(), None);
        let mut line = one();
        let sent = line.redrawn(at(11)).unwrap_or_default();
        let text = line.text(at(11)).unwrap_or_default();
        assert_eq!(sent, format!("\r\u{1b}[2K\u{1b}[?7l{text}\u{1b}[?7h"));
        assert_eq!(line.redrawn(at(11)), None, "it stands there");
        assert!(line.redrawn(at(12)).is_some());
        assert_eq!(line.erase(), Some("\r\u{1b}[2K"));
        assert_eq!(line.erase(), None);
        assert!(line.redrawn(at(12)).is_some(), "it was erased");
    }

    #[test]
    fn a_plain_line_is_due_once_a_minute() {
        let mut line = one();
        assert_eq!(line.plain(at(69)), None);
        let said = line.plain(at(70)).unwrap_or_default();
        assert!(
            said.starts_with("  completion-implementer (claude), 1m, "),
            "{said}"
        );
        assert!(!said.contains('\u{1b}') && !said.contains('\r'));
        assert_eq!(line.plain(at(129)), None);
        assert!(line.plain(at(130)).is_some());
        ends(&mut line, 0, &Spent::default(), 200);
        begins(&mut line, Role::Reviewer, "claude", 200);
        assert_eq!(line.plain(at(259)), None);
    }

    #[test]
    fn what_an_agent_calls_itself_or_its_tool_moves_no_cursor() {
        let mut line = LiveLine::default();
        begins(&mut line, Role::Reviewer, "a\u{1b}[2Jb\nc", 0);
        let long = "\u{202e}\r".to_owned() + &"x".repeat(500);
        shows(&mut line, 0, Progress::Tool(&long), 1);
        let text = line.text(at(2)).unwrap_or_default();
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text:?}");
        assert!(text.chars().count() < 200, "{text}");
    }

    #[test]
    fn whoever_asks_for_an_end_is_told_what_happens() {
        let mut line = one();
        let first = line.end_is_asked(1);
        assert!(
            first.contains("after the session of the completion-implementer"),
            "{first}"
        );
        assert!(first.contains("press Ctrl-C again to stop now"), "{first}");
        let second = line.end_is_asked(2);
        assert!(second.contains("begins its step again"), "{second}");
        ends(&mut line, 0, &Spent::default(), 20);
        assert!(line.end_is_asked(1).contains("after the current work"));
    }
}
