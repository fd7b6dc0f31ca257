//! The documents of the completion protocol as types: the content of `.agent/` and of the log, without any rule
//! for changing it.
//!
//! Field names and enum values are those of the protocol. A type accepts exactly the documents that its schema
//! in `protocol/schema/` accepts; a test generates documents from both sides.

mod agent;
mod brief_document;
mod config;
mod contract;
mod event;
mod evidence;
mod history;
pub mod hook_table;
mod ledger;
mod plan_document;
mod scalar;
mod setting;
mod shape;
mod shared;
mod snapshot;
mod state;
mod strength_note;

pub use agent::{
    Access, AccessArgs, AgentKind, AgentTable, Capability, Continuation, Counting, EndSignal,
    EventFormat, Identify, KnownAgent, Markers, Rule, SessionNaming, StateDirectory, Taken,
    TranscriptPlace, Wanted,
};
pub use brief_document::{
    BriefChange, BriefDocument, BriefEntry, BriefFacts, BriefLine, BriefOutcome, BriefRecord,
    BriefStanding, BriefVerdict, Cause, GuideProposal, GuideUpdate, MAX_ENTRIES, MAX_FIELD_CHARS,
    Slot,
};
pub use config::{
    BRIEF_FILE, BriefSettings, BriefSync, CheckSettings, CleanRoom, Config, Exchanges, GateSpec,
    GateTable, GitShown, Gone, Hooks, Limits, LogSettings, LostTests, Notify, Price, RoleConfig,
    Rules, Sandbox, SandboxMode, Sync, TestSettings, TrackerKind,
};
pub use contract::{
    Aggregation, Assurance, Assured, Bound, ByCook, CONTRACT_FILES, Offer, PriorityPolicy, Profile,
    ProtocolId, SETTINGS_FILES, STOP_VERIFIER, STOP_VERIFIER_SCRIPTS,
};
pub use event::{
    Actor, AdoptedPlan, Conclude, Decision, Event, PolicyChange, Reconcile, Reground, Reopen,
    Resume, Submission, USER_COMMANDS, Verdicts,
};
pub use evidence::{
    Anchor, ArtifactType, Basis, Caches, Evidence, EvidenceClaim, EvidenceRecord, KeptProof,
    MAX_ANCHOR, Malformed, Outcome, Place, Program, Receipt, SandboxKind, Stamp, Subject, Verdict,
    VerificationEvidence, fits,
};
pub use history::{
    Checkpoint, CheckpointKind, Citation, CitedExchange, MAX_CHECKPOINT_TEXT, PROMPT_DIGEST,
    PROMPT_ID, ReportRecord, Rubric, RubricEntry, RubricVerdict, Said, SliceRecord,
    SliceRecordType, StopRecord, StopRecordType,
};
pub use ledger::{
    ANSWER_NOTE, Accepted, Amendment, AnswerTo, AnsweredRejection, AuditNote, Blocker,
    CANCELLED_BY_HAND, CheckRun, CheckVerdict, Counters, FixNote, GOAL_SLICE, GOAL_VIEW, Goal,
    GoalCheck, GoalFound, GoalLedger, HiddenFile, Ledger, PAUSED_BY_HAND, PlaceAnswer, Remark,
    ReviewNote, RoomCheck, SliceLedger, TestChange, Undone, UserAnswer, Vote, Waiting, WaitingKind,
    Wave,
};
pub use plan_document::{
    ActiveSlice, ActiveStatus, CancelledSlice, ChangedSlice, Handoff, Import, Plan, PlanBlock,
    PlanSource, PlannedSlice, ProofTally, Slice, SliceStatus, TaskSource,
};
pub(crate) use scalar::all;
pub use scalar::{Count, Priority, SchemaVersion, Timestamp};
pub use setting::{
    AgentName, CachePath, Command, CommandIn, CommandLine, Commands, Dollars, LogRefs, Pattern,
    RepoPath, RoleKey, SocketPath, Span, check_command, escape_branch, is_branch_name, nearest,
    surface_matches, surface_names, unescape_branch,
};
pub use shared::Shared;
pub use snapshot::{Records, Snapshot, TreeEntry};
pub use state::{
    AuditorVerdict, MAX_ANCHOR_CHARS, Phase, Policy, Role, RoleSlot, State, is_hidden,
    mission_anchor,
};
pub use strength_note::{
    Share, StrengthNote, StrengthRule, UnnoticedDefect, WHOLE, Waiver, is_waiver, read_waivers,
};

/// Implements `id` for enums that documents write as a word.
macro_rules! words {
    ($($value:ident)*) => {$(
        impl $value {
            /// The word that documents use.
            pub fn id(self) -> &'static str {
                self.into()
            }
        }
    )*};
}

words! { ActiveStatus Actor Assurance Basis BriefVerdict ByCook CheckpointKind Role RubricVerdict SliceRecordType SliceStatus Slot Verdict }
