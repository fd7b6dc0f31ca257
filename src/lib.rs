//! `cook` checks what coding agents claim, and marks work done only with proof.
//!
//! The logic that decides is pure, in `cook_protocol` and `cook_mutants`; `cook_repo` and `cook_agents` perform input
//! and output. The modules here measure, call the rules and print. They import one another in the order that
//! ARCHITECTURE.md gives, which a test checks.

mod anchor;
mod attest;
mod calibrate;
mod check;
pub mod commands;
mod demo;
pub mod hooks;
pub mod init;
mod judges;
pub mod measure;
mod run;
pub mod service;
mod signature;
mod strength;
pub mod tracker;
mod trial;
mod verify;
pub mod view;
pub mod workspace;

/// Imports that most modules share: protocol types, storage, and collections.
mod prelude {
    pub(crate) use cook_protocol::diagnostic::{
        Code, Failure, FailureKind, Finding, Lines, OrFail, Result, Severity, and_more, clean,
        count_noun, short, shorten, without_escapes, without_tags,
    };
    pub(crate) use cook_protocol::digest::sha256;
    pub(crate) use cook_protocol::machine::{
        self, AnchorAnswer, Dispatch, Facts, GateRun, Head, Rule, quote_word,
    };
    pub(crate) use cook_protocol::model::{
        ActiveStatus, Actor, Caches, CheckVerdict, Checkpoint, CheckpointKind, Config, Count,
        Event, Evidence, GateSpec, Plan, Policy, Profile, Receipt, Role, STOP_VERIFIER,
        SchemaVersion, Slice, SliceRecordType, SliceStatus, Snapshot, Timestamp, TreeEntry,
        Verdict, Verdicts,
    };
    pub(crate) use cook_protocol::question::{AnchorQuestion, Question, Required};
    pub(crate) use cook_protocol::refusal::Refusal;
    pub(crate) use cook_protocol::trials::{TestResult, TrialLine};
    pub(crate) use cook_repo::clock::Clock;
    pub(crate) use cook_repo::disk::{self, Durable, Links, NewFile};
    pub(crate) use cook_repo::git::{Edit, Repo};
    pub(crate) use cook_repo::process::{ProcessError, Short, capture, on_path};
    pub(crate) use cook_repo::receipt::{Gates, Receipts, Trust, merge_gates, words};
    pub(crate) use cook_repo::session::{CallRecord, GitStore};
    pub(crate) use cook_repo::store::{Meta, Store, Tip};
    pub(crate) use cook_repo::thread;
    pub(crate) use serde::{Deserialize, Serialize};
    pub(crate) use serde_json::{Map, Value, json};
    pub(crate) use std::cell::RefCell;
    pub(crate) use std::collections::{BTreeMap, BTreeSet};
    pub(crate) use std::ffi::OsString;
    pub(crate) use std::path::{Path, PathBuf};
    pub(crate) use std::sync::Arc;
    pub(crate) use std::time::{Duration, Instant};
}
