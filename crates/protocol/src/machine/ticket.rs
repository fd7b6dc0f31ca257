//! Tickets: what a report that comes with one was made from.

use super::facts::Head;
use crate::digest::hex;
use sha2::{Digest, Sha256};

/// The ticket given out at dispatch: it fits one tip of the log and one HEAD, and where a role is due
/// that leaves the worktree alone, the worktree of which `git status` has this digest.
pub fn ticket(tip: &str, head: &Head, status: Option<&str>) -> String {
    let mut digest = Sha256::new();
    for part in [Some(tip), head.commit.as_deref(), head.branch.as_deref()] {
        let part = part.unwrap_or("");
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    let state = hex(&digest.finalize()[..8]);
    match status {
        Some(status) => format!("{state}-{}", tree_mark(status)),
        None => state,
    }
}

/// The part of a ticket that stands for a worktree.
fn tree_mark(status: &str) -> String {
    hex(&Sha256::digest(status.as_bytes())[..4])
}

/// Whether a ticket was given for the worktree whose `git status` has this digest; none where it
/// speaks of no worktree.
pub fn is_for_tree(ticket: &str, status: &str) -> Option<bool> {
    let (_, mark) = ticket.split_once('-')?;
    Some(mark == tree_mark(status))
}
