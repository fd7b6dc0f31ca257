//! `cook mcp`: a Model Context Protocol server on standard input and output ([docs/mcp.md]).
//!
//! A tool's call is a call of this very program with `--json`: what a command answers or refuses is what
//! the tool answers or refuses. Nothing but the protocol goes to stdout.
//!
//! [docs/mcp.md]: ../../../docs/mcp.md

mod pipe;
mod server;
mod tools;

use super::context::{Answer, Context, PromptAnswer, answer};
use cook_protocol::diagnostic::{Code, Failure};
use pipe::Pipe;
use rmcp::ServiceExt;
use server::Server;
use std::time::Duration;

/// How long calls may take over their end once the client is gone.
const END: Duration = Duration::from_secs(10);

/// Serves until standard input ends.
pub(super) fn serve(context: &Context) -> Answer {
    let failed = |error: &dyn std::error::Error| {
        Failure::state(Code::InputUnreadable, "standard input cannot be served").with_cause(error)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| failed(&error))?;
    let pipe = Pipe::open().map_err(|error| failed(&error))?;
    let server = Server::new(context.dir.clone());
    let calls = server.calls();
    runtime.block_on(async {
        // An error here is a client that went away before it said who it is.
        if let Ok(service) = server.serve(pipe).await {
            let _ = service.waiting().await;
        }
        let _ = tokio::time::timeout(END, calls.all_ended()).await;
    });
    // A thread may still wait for a child that does not end.
    runtime.shutdown_background();
    // All of it was said.
    answer(PromptAnswer(String::new()))
}
