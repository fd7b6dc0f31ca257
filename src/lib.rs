//! `cook`, a repo-local completion control plane: agents report, cook decides, git is the database.
//!
//! What decides is pure and stands in `cook_protocol` and `cook_mutants`; `cook_repo` and `cook_agents` stand between
//! them and the world. The modules here measure, call them and print; they import one another in the order that
//! ARCHITECTURE.md gives, which a test holds.

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
