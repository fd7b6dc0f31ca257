//! `cook run`: agents drive the workflow.

use super::ask::store;
use super::live_line::Printer;
use super::prelude::*;
use crate::run::{self, Ended, Held, Observer, Opening, Operator, Order, Outcome, paths_are};
use crate::service::RunEstimate;
use crate::view::{Dispatched, describe_policy};
use cook_protocol::model::{Policy, Role};

/// What a scheduler does next, by how a session for a remote ends.
const EXITS: &str = "Exit codes with --from:
  0          call it again
  7          somebody else was first, or works in this clone: call it again
  13         the mission is done
  10, 11, 12 a person is waited for: an answer, something outside, a pause
  5, 6       no agent could work; a limit is used up
  4          refused here: the message names the command (trust, a worktree that is not clean, a secret)
  3          the remote or the state cannot be read; what was recorded stands in this clone
  2          the command line is wrong
  130        an end was asked for (Ctrl-C, SIGTERM)";

#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub(super) struct RunArgs {
    /// Hold at most so many sessions
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Say what a run would take, and hold none
    #[arg(long, conflicts_with_all = ["steps", "once", "agent", "yes", "park_changes"])]
    pub estimate: bool,
    /// Hold exactly one session, then exit
    #[arg(long, conflicts_with = "steps")]
    pub once: bool,
    /// With --once: take log and branch from this remote (a name or an address), and push what came of the session
    #[arg(long, value_name = "REMOTE", requires = "once", conflicts_with_all = ["yes", "park_changes"])]
    pub from: Option<String>,
    /// With --from: trust every gate, stop verifier and agent of the repository for this session
    #[arg(long, requires = "from")]
    pub trust_repo: bool,
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

/// Holds so many sessions at most.
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
    let terminal = Terminal(context.screen);
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

/// Whoever began the run, at the terminal.
pub(super) struct Terminal(pub Screen);

impl Operator for Terminal {
    fn show(&self, line: &str) {
        self.0.note_toned(Tone::Dim, line);
    }

    fn note(&self, text: &str) {
        self.0.note(text);
    }

    fn warn(&self, text: &str) {
        self.0.note_toned(Tone::Warn, text);
    }

    fn agrees(&self, question: &str) -> bool {
        self.0.agrees(question)
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(Printer::new(self.0))
    }
}

/// What `cook run` and `cook run --once` answer.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct RunAnswer {
    /// Why it ended: the policy, the sessions asked for, a budget, no progress, no agent that could
    /// play, a signal.
    #[schemars(extend("enum" = ["policy", "steps", "budget", "stalled", "agents", "asked"]))]
    ended: &'static str,
    reason: String,
    /// Sessions that were held.
    sessions: u64,
    /// Of the sessions whose cost is known.
    #[schemars(range(min = 0))]
    cost_usd: f64,
    /// Answers whose cost nobody told.
    cost_unknown: u64,
    /// Refs that moved on the remote; absent where the session was not held for one.
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
        let is_given = held.given.is_some();
        let exit = if is_given && is_done {
            Exit::Ended
        } else {
            exit
        };
        let reason = match ended {
            Ended::Policy(policy) => match (policy, next.reason.as_str()) {
                (Policy::Done, _) | (_, "") => describe_policy(policy).to_owned(),
                (_, reason) => format!("{}: {reason}", describe_policy(policy)),
            },
            Ended::Steps => "as many sessions as were asked for were held".to_owned(),
            Ended::Budget(what) | Ended::Stalled(what) | Ended::Agents(what) => what,
            Ended::Asked => match cut {
                Some(role) => format!(
                    "an end was asked for, and the session of the {role} was ended before it reported"
                ),
                None => "an end was asked for, and no session was cut off".to_owned(),
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

/// What goes on from here; none when nothing is to go on.
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
                Role::Implementer => "; what it left in the worktree, and its commits, stay",
                _ => "",
            };
            format!("`{again}` begins the step of the {role} again, and no attempt is spent{kept}")
        }
        (Ended::Agents(_), _) => format!(
            "`cook doctor agents` says who is installed and `cook doctor --probe` who answers; log in where that is missing, then `{again}`"
        ),
        (_, _) => match next.role {
            Some(role) => format!("`{again}` resumes with the {role}"),
            None => "`cook next` says what is due".to_owned(),
        },
    };
    if matches!(outcome.ended, Ended::Asked) && uncommitted > 0 {
        text.push_str(&format!(
            "; it refuses while {} not committed, unless you say `--yes` or `--park-changes`",
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
            let refs = match refs.is_empty() {
                true => "nothing, because nothing was recorded".to_owned(),
                false => refs.join(", "),
            };
            page.row("pushed", &refs);
        }
        if let Some(text) = &self.goes_on {
            page.row("goes on", text);
        }
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
                "record" => "what calls of this role have taken",
                _ => "the size of its prompt now",
            };
            let tokens = row.prompt_tokens;
            page.line(&format!(
                "{sessions:>9}, about {tokens} prompt tokens by {by}"
            ));
        }
        let (sessions, tokens) = (count_noun(self.sessions, "session"), self.prompt_tokens);
        page.row(
            "in all",
            &format!("{sessions}, about {tokens} prompt tokens"),
        );
        let unknown = count_noun(self.cost_unknown, "session");
        let cost = match (self.cost_usd, self.cost_unknown) {
            (None, _) => "unknown: no call has told its cost yet".to_owned(),
            (Some(cost), 0) => format!("{cost:.2} US dollars"),
            (Some(cost), _) => format!("{cost:.2} US dollars, and {unknown} of unknown cost"),
        };
        page.row("cost", &cost);
        page.row(
            "counts",
            "every verdict a yes, no red gate, no report asked for twice",
        );
    }
}
