//! `cook`, a repo-local completion control plane.
//!
//! Agents report; cook decides. Git is the database. The modules stand in the
//! order in which they may import one another (a test keeps it that way):
//! the first four are pure, the effects are at the edge.

pub mod agent;
pub mod anchor;
pub mod brief;
pub mod change;
pub mod cli;
pub mod clock;
pub mod demo;
pub mod diagnostic;
pub mod drive;
pub mod hook;
pub mod machine;
pub mod measure;
pub mod model;
pub mod process;
pub mod prompt;
pub mod receipt;
pub mod repo;
pub mod report;
pub mod scaffold;
pub mod schema;
pub mod scripted;
pub mod session;
pub mod store;
pub mod tracker;
pub mod verify;
pub mod view;
pub mod walk;
