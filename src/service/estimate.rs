//! What a run would take, before it begins: sessions by role, tokens of their prompts, and money by
//! what calls have cost before.

use super::context::context_text;
use super::dispatch::{dispatch_now, find_head};
use super::workspace::Workspace;
use cook_agents::prompt_tokens;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::{self, Facts, Rule, Selection};
use cook_protocol::model::{Assurance, Role, Snapshot};
use cook_protocol::prompt::{self, PromptInput};
use cook_repo::session::CallRecord;
use serde::Serialize;

/// Bytes of a prompt that make a token, about.
const BYTES_A_TOKEN: u64 = 4;

/// What the sessions of one role would take.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct RoleEstimate {
    pub role: Role,
    pub sessions: u64,
    /// Tokens that go into all of them.
    pub prompt_tokens: u64,
    /// `record`: by what calls of this role have taken; `size`: by the bytes of its prompt now.
    #[schemars(extend("enum" = ["record", "size"]))]
    pub tokens_by: &'static str,
    /// US dollars; null = no call of this role has told its cost.
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
}

/// What a run would take.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct RunEstimate {
    /// The profile in force.
    pub assurance: Assurance,
    /// Open slices that are counted.
    pub slices: u64,
    /// No plan is there yet: one slice is counted.
    pub planless: bool,
    /// By role.
    pub rows: Vec<RoleEstimate>,
    pub sessions: u64,
    /// Tokens that go into all of them.
    pub prompt_tokens: u64,
    /// US dollars, of the roles whose calls have told their cost; null = none has.
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
    /// Sessions of roles whose cost no call has told.
    pub cost_unknown: u64,
}

/// Estimates a run from here to the end, where every verdict is a yes.
///
/// # Errors
/// Unreadable state.
pub fn estimate_run(workspace: &Workspace, calls: &[CallRecord]) -> Result<RunEstimate, Failure> {
    let (_, snapshot) = workspace.require()?;
    let (due, facts) = dispatch_now(workspace, Some(&snapshot))?;
    let head = find_head(&facts)?;
    let estimate = machine::estimate(&snapshot, &due, &head, facts.config.as_ref());
    let mut rows = Vec::new();
    for (role, sessions) in estimate.sessions {
        let known = Known::of(calls, role);
        let each = match known.tokens {
            Some(tokens) => tokens,
            None => prompt_size(workspace, &snapshot, &facts, role)? / BYTES_A_TOKEN,
        };
        rows.push(RoleEstimate {
            role,
            sessions,
            prompt_tokens: each.saturating_mul(sessions),
            tokens_by: if known.tokens.is_some() {
                "record"
            } else {
                "size"
            },
            cost_usd: known
                .micro_usd
                .map(|micro| micro.saturating_mul(sessions) as f64 / 1e6),
        });
    }
    let costs = rows.iter().filter_map(|row| row.cost_usd);
    let unknown = rows.iter().filter(|row| row.cost_usd.is_none());
    Ok(RunEstimate {
        assurance: snapshot.assurance(),
        slices: estimate.slices,
        planless: estimate.is_planless,
        sessions: rows.iter().map(|row| row.sessions).sum(),
        prompt_tokens: rows.iter().map(|row| row.prompt_tokens).sum(),
        cost_usd: costs
            .reduce(|one, two| one + two)
            .map(|sum| (sum * 1e6).round() / 1e6),
        cost_unknown: unknown.map(|row| row.sessions).sum(),
        rows,
    })
}

/// What a call of a role takes on average; none where no call tells.
struct Known {
    tokens: Option<u64>,
    micro_usd: Option<u64>,
}

impl Known {
    fn of(calls: &[CallRecord], role: Role) -> Self {
        let is_of_role = |named: Option<&str>| named.and_then(Role::parse) == Some(role);
        let answers = calls.iter().filter_map(|call| call.answer.as_ref());
        let answers: Vec<_> = answers
            .filter(|answer| is_of_role(answer.role.as_deref()))
            .collect();
        let tokens = answers
            .iter()
            .filter_map(|answer| prompt_tokens(answer.usage.as_ref()?));
        let costs = answers.iter().filter_map(|answer| answer.cost_micro_usd);
        Self {
            tokens: mean(tokens.collect()),
            micro_usd: mean(costs.collect()),
        }
    }
}

fn mean(counts: Vec<u64>) -> Option<u64> {
    let sum = counts
        .iter()
        .fold(0_u64, |sum, count| sum.saturating_add(*count));
    sum.checked_div(counts.len() as u64)
}

/// Bytes of the prompt that the role would be given now.
fn prompt_size(
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
    role: Role,
) -> Result<u64, Failure> {
    let rule = Rule::ALL.into_iter().find(|rule| rule.role() == Some(role));
    let context = context_text(workspace, (snapshot, snapshot), facts, role)?;
    let prompt = prompt::render(&PromptInput {
        role,
        snapshot,
        rule: rule.map_or("", Rule::id),
        action: "",
        reason: "",
        findings: &[],
        selection: &Selection::default(),
        context: &context,
        brief: "",
    });
    Ok(prompt.len() as u64)
}
