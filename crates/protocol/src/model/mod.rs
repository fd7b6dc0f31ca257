//! The documents of the completion protocol as types: what stands in `.agent/`
//! and in the log, and nothing about how it got there.
//!
//! Pure: serde only. Field names and enum values are the protocol's; a document
//! that a type here accepts is one that its schema in `protocol/schema/` accepts,
//! and the other way round (a test draws documents from both sides).

mod agent;
mod anchor;
mod answer;
mod assurance;
mod brief;
mod checkpoint;
mod claim;
mod config;
mod contract;
mod directory;
mod event;
mod evidence;
mod goal;
mod history;
pub mod hooks;
mod known;
mod ledger;
mod log_refs;
mod mission;
mod plan;
mod planned;
mod scalar;
mod setting;
mod shape;
mod slice;
mod snapshot;
mod source;
mod state;
mod strength;
mod surface;

pub use agent::{
    Access, AccessArgs, AgentKind, AgentTable, Capability, Continuation, Counting, EndSignal,
    EventFormat, Identify, Rule, SessionNaming, Taken, TranscriptPlace, Wanted,
};
pub use anchor::{Anchor, MAX_ANCHOR, Malformed, Stamp, Verdict, fits};
pub use answer::{
    ANSWER_NOTE, AnswerTo, AnsweredRejection, Blocker, CANCELLED_BY_HAND, PAUSED_BY_HAND,
    PlaceAnswer, UserAnswer,
};
pub use assurance::{Assurance, Assured, Bound, ByCook, Offer};
pub use brief::{
    BriefChange, BriefDocument, BriefEntry, BriefLine, BriefOutcome, BriefRecord, BriefStanding,
    BriefVerdict, Cause, GuideProposal, GuideUpdate, MAX_ENTRIES, MAX_FIELD_CHARS, Slot,
};
pub use checkpoint::{Checkpoint, CheckpointKind, MAX_CHECKPOINT_TEXT, PROMPT_DIGEST, PROMPT_ID};
pub use claim::EvidenceClaim;
pub use config::{
    BriefSettings, BriefSync, CheckSettings, CleanRoom, Config, Exchanges, GateSpec, GateTable,
    GitShown, Hooks, Limits, LogSettings, LostTests, Notify, Price, RoleConfig, Rules, Sandbox,
    SandboxMode, Sessions, Sync, TestSettings, TrackerKind,
};
pub use contract::{
    Aggregation, CONTRACT_FILES, PriorityPolicy, Profile, ProtocolId, SETTINGS_FILES,
    STOP_VERIFIER, STOP_VERIFIER_SCRIPTS,
};
pub use directory::StateDirectory;
pub use event::{
    Actor, AdoptedPlan, Conclude, Decision, Event, PolicyChange, Reconcile, Reground, Reopen,
    Resume, Submission, USER_COMMANDS, Verdicts,
};
pub use evidence::{
    ArtifactType, Basis, Caches, Evidence, EvidenceRecord, KeptProof, Outcome, Place, Program,
    Receipt, SandboxKind, Subject, VerificationEvidence,
};
pub use goal::{
    CheckRun, CheckVerdict, GOAL_SLICE, GOAL_VIEW, Goal, GoalCheck, GoalFound, GoalLedger,
    HiddenFile,
};
pub use history::{
    Citation, CitedExchange, ReportRecord, Rubric, RubricEntry, RubricVerdict, Said, SliceRecord,
    SliceRecordType, StopRecord, StopRecordType,
};
pub use known::{KnownAgent, Markers};
pub use ledger::{
    Accepted, Amendment, AuditNote, Counters, FixNote, Ledger, Remark, ReviewNote, RoomCheck,
    SliceLedger, TestChange, Undone, Vote, Waiting, WaitingKind, Wave,
};
pub use log_refs::{LogRefs, escape_branch, is_branch_name, unescape_branch};
pub use mission::{MAX_ANCHOR_CHARS, is_hidden, mission_anchor};
pub use plan::{Plan, ProofTally, Slice, SliceStatus};
pub use planned::{CancelledSlice, ChangedSlice, PlanBlock, PlannedSlice};
pub use scalar::{Count, Priority, SchemaVersion, Timestamp};
pub use setting::{
    AgentName, CachePath, Command, CommandIn, CommandLine, Commands, Dollars, Pattern, RepoPath,
    RoleKey, SocketPath, Span,
};
pub use slice::{ActiveSlice, ActiveStatus, Handoff};
pub use snapshot::{Records, Snapshot, TreeEntry};
pub use source::{Import, PlanSource, TaskSource};
pub use state::{AuditorVerdict, Phase, Policy, Role, RoleSlot, State};
pub use strength::{
    Share, StrengthNote, StrengthRule, UnnoticedDefect, WHOLE, Waiver, is_waiver, read_waivers,
};
pub use surface::{surface_matches, surface_names};
