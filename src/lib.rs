//! `cook`, a repo-local completion control plane: what puts the crates of this workspace together
//! into a program.
//!
//! Agents report; cook decides. Git is the database. What decides is pure and stands in `cook_core`
//! and `cook_strength`; `cook_os`, `cook_git`, `cook_room`, `cook_store`, `cook_remote`, `cook_agents` and
//! `cook_hooks` stand between them and the world. The modules here measure, call them and print. They may import one another
//! in the order that ARCHITECTURE.md gives (a test keeps it that way).

mod anchor;
mod attest;
mod calibrate;
mod check;
pub mod cli;
mod demo;
mod drive;
mod judges;
pub mod lifecycle;
pub mod measure;
pub mod scaffold;
pub mod service;
mod signature;
mod strength;
pub mod tracker;
mod trial;
mod verify;
pub mod view;
