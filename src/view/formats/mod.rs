//! The formats of [`Results`] beside people's text and JSON, a file for each. Each is held to its
//! published schema by `tests/verify/formats.rs`.

mod github;
mod junit;
mod markdown;
mod pull_request;
mod sarif;

pub(super) use github::{commands, harmless, outputs};
pub(super) use junit::junit;
pub(super) use markdown::markdown;
pub(super) use pull_request::body;
pub(crate) use pull_request::{Caught, PullRequest, SliceLine, VoteLine};
pub(super) use sarif::sarif;
