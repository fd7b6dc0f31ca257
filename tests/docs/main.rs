//! What the pages, the example and the published schemas say, held against the program.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../support/mod.rs"]
mod support;

mod agents;
mod example;
mod notify;
mod pages;
mod plain_schemas;
mod plugin;
mod published;
mod readme;
mod report_schemas;
mod schemas;
mod smoke;
