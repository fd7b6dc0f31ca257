//! The dispatch rules by name, and the answer of a dispatch.

use crate::model::{Phase, all};
use crate::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::VariantArray;

/// The dispatch rule: one of the answers of `protocol/completion.md#who-is-next`, in order.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    VariantArray,
)]
#[allow(missing_docs)]
pub enum Rule {
    #[serde(rename = "S")]
    Stopped,
    #[serde(rename = "1")]
    Bootstrap,
    #[serde(rename = "2")]
    Recover,
    #[serde(rename = "3")]
    Select,
    #[serde(rename = "4")]
    Implement,
    #[serde(rename = "5")]
    Review,
    #[serde(rename = "6")]
    Audit,
    #[serde(rename = "7")]
    Reconcile,
    #[serde(rename = "8")]
    Judge,
    #[serde(rename = "9")]
    Conclude,
}

/// The command that runs the gates at HEAD, for which the judges wait.
pub const VERIFY_STOP: &str = "cook verify stop";

impl Rule {
    /// All rules, in the order in which they are asked.
    pub const ALL: [Rule; 10] = all();

    /// The rule's id: `S`, `1` … `9`.
    pub fn id(self) -> &'static str {
        ["S", "1", "2", "3", "4", "5", "6", "7", "8", "9"][self as usize]
    }

    /// The role that the rule names; `None` for rule S.
    pub fn role(self) -> Option<Role> {
        match self {
            Rule::Stopped => None,
            Rule::Bootstrap => Some(Role::Bootstrapper),
            Rule::Recover | Rule::Select | Rule::Reconcile | Rule::Conclude => {
                Some(Role::Regrounder)
            }
            Rule::Implement => Some(Role::Implementer),
            Rule::Review => Some(Role::Reviewer),
            Rule::Audit => Some(Role::Auditor),
            Rule::Judge => Some(Role::StopJudge),
        }
    }

    /// The question that the rule asks, in one line.
    pub fn question(self) -> &'static str {
        match self {
            Rule::Stopped => "is the work stopped, or another branch checked out?",
            Rule::Bootstrap => "is a contract file missing?",
            Rule::Recover => {
                "is the execution state missing, edited, contradictory or stale, or a re-ground due?"
            }
            Rule::Select => "is no slice selected while one is open, or nothing planned yet?",
            Rule::Implement => "is a slice selected, or has it commits that no report names?",
            Rule::Review => "does the committed slice lack a review?",
            Rule::Audit => "does the committed slice lack an audit?",
            Rule::Reconcile => "are review and audit both in?",
            Rule::Judge => "is no slice open and a judge's vote missing?",
            Rule::Conclude => "are all votes in?",
        }
    }

    /// The phase that the state records while this rule answers under `policy`.
    pub fn phase(self, policy: Policy) -> Phase {
        match self {
            Rule::Stopped => match policy {
                Policy::Blocked => Phase::Blocked,
                Policy::Done => Phase::Done,
                Policy::AwaitUserInput | Policy::Paused | Policy::Continue => Phase::AwaitingUser,
            },
            Rule::Bootstrap | Rule::Recover | Rule::Select => Phase::Reground,
            Rule::Implement => Phase::Implement,
            Rule::Review => Phase::PostCommitReview,
            Rule::Audit => Phase::PostCommitAudit,
            Rule::Reconcile => Phase::PostCommitReconcile,
            Rule::Judge | Rule::Conclude => Phase::StopWave,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The role that is due, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dispatch {
    /// Dispatch rule that applies.
    pub rule: Rule,
    /// Role that the rule names; null if the work is stopped.
    pub role: Option<Role>,
    /// Phase of the protocol; it follows from the dispatch rule that applies.
    pub phase: Phase,
    /// Whether the work continues; `await_user_input` while another branch is checked out.
    pub policy: Policy,
    /// Task of the role, in the imperative.
    pub action: String,
    /// Reason why the rule applies.
    pub reason: String,
    /// Command that a person or cook must run first; null if there is none.
    pub blocking_command: Option<String>,
    /// Findings of the dispatch.
    pub findings: Vec<Finding>,
}

impl Dispatch {
    /// Whether judges wait for the gates, which have not run at this HEAD in a clean room.
    pub fn waits_for_gates(&self) -> bool {
        self.rule == Rule::Judge && self.blocking_command.as_deref() == Some(VERIFY_STOP)
    }
}

/// One rule: the facts that it examined, and whether it applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trace {
    /// ID of the rule.
    pub rule: Rule,
    /// Whether the rule applied; null if an earlier rule applied, so that this one was not reached.
    pub fired: Option<bool>,
    /// Facts that the rule examined, in words.
    pub saw: String,
}
