//! Agents as processes: the program itself, recorded streams, the Agent Client Protocol.

mod acp;
mod process;
mod streams;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Orphans without a mark are told apart by there being one agent only in this process.
static ALONE: RwLock<()> = RwLock::new(());

fn run_beside_others() -> RwLockReadGuard<'static, ()> {
    ALONE.read().unwrap_or_else(PoisonError::into_inner)
}

fn run_alone() -> RwLockWriteGuard<'static, ()> {
    ALONE.write().unwrap_or_else(PoisonError::into_inner)
}
