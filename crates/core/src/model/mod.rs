//! The documents of the completion protocol as types: what stands in `.agent/`
//! and in the log, and nothing about how it got there.
//!
//! Pure: serde only. Field names and enum values are the protocol's; a document
//! that a type here accepts is one that its schema in `protocol/schema/` accepts,
//! and the other way round (a test draws documents from both sides).

mod access;
mod agent;
mod anchor;
mod answer;
mod assurance;
mod brief;
mod carriage;
mod checkpoint;
mod cited;
mod claim;
mod clean_room;
mod config;
mod contract;
mod directory;
mod event;
mod evidence;
mod goal;
mod hidden;
mod history;
pub mod hooks;
mod known;
mod ledger;
mod limits;
mod log_refs;
mod mission;
mod plan;
mod planned;
mod report;
mod sandbox;
mod scalar;
mod setting;
#[cfg(feature = "schema")]
mod shape;
mod slice;
mod snapshot;
mod source;
mod state;
mod strength;
mod surface;
mod test_change;
mod trail;
mod tree;

pub use access::Access;
pub use agent::{
    AccessArgs, AgentKind, AgentTable, Capability, Continuation, Counting, EndSignal, EventFormat,
    Identify, Rule, SessionNaming, Taken, TranscriptPlace, Wanted,
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
pub use carriage::{Exchanges, LogSettings, Sync};
pub use checkpoint::{Checkpoint, CheckpointKind, MAX_CHECKPOINT_TEXT, PROMPT_DIGEST, PROMPT_ID};
pub use cited::{Citation, CitedExchange, Said};
pub use claim::EvidenceClaim;
pub use clean_room::{CleanRoom, GitShown};
pub use config::{
    BriefSettings, BriefSync, CheckSettings, Config, GateSpec, GateTable, Hooks, LostTests, Notify,
    Price, RoleConfig, Rules, Sessions, TestSettings, TrackerKind,
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
pub use hidden::is_hidden;
pub use history::{SliceRecord, SliceRecordType, StopRecord, StopRecordType};
pub use known::{KnownAgent, Markers};
pub use ledger::{
    Accepted, Amendment, AuditNote, Counters, FixNote, Ledger, Remark, ReviewNote, RoomCheck,
    SliceLedger, Undone, Vote, Waiting, WaitingKind, Wave,
};
pub use limits::Limits;
pub use log_refs::{LogRefs, escape_branch, is_branch_name, unescape_branch};
pub use mission::{MAX_ANCHOR_CHARS, mission_anchor};
pub use plan::{Plan, ProofTally, Slice, SliceStatus};
pub use planned::{CancelledSlice, ChangedSlice, PlanBlock, PlannedSlice};
pub use report::{ReportRecord, Rubric, RubricEntry, RubricVerdict};
pub use sandbox::{Sandbox, SandboxMode};
pub use scalar::{Count, Priority, SchemaVersion, Timestamp};
pub use setting::{
    AgentName, CachePath, Command, CommandIn, CommandLine, Commands, Dollars, Pattern, RepoPath,
    RoleKey, SocketPath, Span,
};
pub use slice::{ActiveSlice, ActiveStatus, Handoff};
pub use snapshot::{Records, Snapshot};
pub use source::{Import, PlanSource, TaskSource};
pub use state::{AuditorVerdict, Phase, Policy, Role, RoleSlot, State};
pub use strength::{
    Share, StrengthNote, StrengthRule, UnnoticedDefect, WHOLE, Waiver, is_waiver, read_waivers,
};
pub use surface::{surface_matches, surface_names};
pub use test_change::TestChange;
pub use trail::{Record, Trail};
pub use tree::TreeEntry;
