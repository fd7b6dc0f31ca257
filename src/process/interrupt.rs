//! What SIGINT and SIGTERM do while a long child runs.
//!
//! A gate is in a process group of its own, so a Ctrl-C reaches cook alone. While
//! at least one gate runs the signal is noted, the gate is ended and the caller
//! told; at any other time the signal does what it always does.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

struct Watch {
    idle: Arc<AtomicBool>,
    seen: Arc<AtomicBool>,
    running: Mutex<usize>,
}

static WATCH: LazyLock<Watch> = LazyLock::new(|| {
    let watch = Watch {
        idle: Arc::new(AtomicBool::new(true)),
        seen: Arc::new(AtomicBool::new(false)),
        running: Mutex::new(0),
    };
    for signal in [SIGINT, SIGTERM] {
        // Where no handler can be set the signal keeps its default, which ends cook.
        if flag::register_conditional_default(signal, Arc::clone(&watch.idle)).is_ok() {
            let _ = flag::register(signal, Arc::clone(&watch.seen));
        }
    }
    watch
});

/// True after SIGINT or SIGTERM came while a long child was running.
pub fn interrupted() -> bool {
    WATCH.seen.load(Ordering::Relaxed)
}

/// Notes signals for as long as it lives.
pub(super) struct Attention(());

impl Attention {
    pub(super) fn begin() -> Self {
        change(|running| running + 1);
        Self(())
    }
}

impl Drop for Attention {
    fn drop(&mut self) {
        change(|running| running - 1);
    }
}

fn change(by: impl FnOnce(usize) -> usize) {
    let mut running = WATCH
        .running
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    *running = by(*running);
    WATCH.idle.store(*running == 0, Ordering::Relaxed);
}
