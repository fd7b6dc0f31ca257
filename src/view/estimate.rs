//! `cook run --estimate`.

use super::{Page, Show, Tone};
use crate::service::{RoleEstimate, RunEstimate};
use cook_core::diagnostic::count_noun;
use cook_core::model::{Assurance, Role};
use serde::Serialize;

/// What a run would take.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateAnswer {
    /// The profile in force.
    assurance: Assurance,
    /// Open slices that are counted.
    slices: u64,
    /// No plan is there yet: one slice is counted.
    planless: bool,
    /// By role.
    rows: Vec<EstimateRow>,
    sessions: u64,
    /// Tokens that go into all of them.
    prompt_tokens: u64,
    /// US dollars, of the roles whose calls have told their cost; null = none has.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    cost_usd: Option<f64>,
    /// Sessions of roles whose cost no call has told.
    cost_unknown: u64,
}

/// What the sessions of one role would take.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EstimateRow {
    role: Role,
    sessions: u64,
    prompt_tokens: u64,
    /// `record`: by what calls of this role have taken; `size`: by the bytes of its prompt now.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["record", "size"])))]
    tokens_by: &'static str,
    /// US dollars; null = no call of this role has told its cost.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    cost_usd: Option<f64>,
}

fn dollars(micro_usd: u64) -> f64 {
    micro_usd as f64 / 1e6
}

impl From<&RoleEstimate> for EstimateRow {
    fn from(row: &RoleEstimate) -> Self {
        Self {
            role: row.role,
            sessions: row.sessions,
            prompt_tokens: row.prompt_tokens,
            tokens_by: match row.is_recorded {
                true => "record",
                false => "size",
            },
            cost_usd: row.micro_usd.map(dollars),
        }
    }
}

impl EstimateAnswer {
    /// Of a workflow as it stands.
    pub fn of(estimate: &RunEstimate) -> Self {
        let rows = || estimate.rows.iter();
        let known: Vec<u64> = rows().filter_map(|row| row.micro_usd).collect();
        let unknown = rows().filter(|row| row.micro_usd.is_none());
        Self {
            assurance: estimate.assurance,
            slices: estimate.slices,
            planless: estimate.is_planless,
            rows: rows().map(EstimateRow::from).collect(),
            sessions: rows().map(|row| row.sessions).sum(),
            prompt_tokens: rows().map(|row| row.prompt_tokens).sum(),
            cost_usd: (!known.is_empty()).then(|| dollars(known.iter().sum())),
            cost_unknown: unknown.map(|row| row.sessions).sum(),
        }
    }

    fn cost(&self) -> String {
        match (self.cost_usd, self.cost_unknown) {
            (None, _) => "unknown: no call has told its cost yet".to_owned(),
            (Some(cost), 0) => format!("{cost:.2} US dollars"),
            (Some(cost), unknown) => format!(
                "{cost:.2} US dollars, and {} of unknown cost",
                count_noun(unknown, "session")
            ),
        }
    }
}

impl Show for EstimateAnswer {
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
            page.line(&format!(
                "{:>9}, about {} prompt tokens by {}",
                count_noun(row.sessions, "session"),
                row.prompt_tokens,
                match row.tokens_by {
                    "record" => "what calls of this role have taken",
                    _ => "the size of its prompt now",
                }
            ));
        }
        page.row(
            "in all",
            &format!(
                "{}, about {} prompt tokens",
                count_noun(self.sessions, "session"),
                self.prompt_tokens
            ),
        );
        page.row("cost", &self.cost());
        page.row(
            "counts",
            "every verdict a yes, no red gate, no report asked for twice",
        );
    }
}
