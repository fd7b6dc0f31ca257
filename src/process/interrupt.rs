//! What SIGINT and SIGTERM do while a long child runs.
//!
//! A gate is in a process group of its own, so a Ctrl-C reaches cook alone. While
//! at least one gate runs the signal is noted, the gate is ended and the caller
//! told; at any other time the signal does what it always does. Whoever drives agents for
//! hours is patient: the first signal only asks for an end, the second one ends the child.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// Whether somebody is patient, and how many signals came since.
static PATIENT: AtomicBool = AtomicBool::new(false);
static SIGNALS: AtomicUsize = AtomicUsize::new(0);

/// True after SIGINT or SIGTERM came while a long child was running; under [`Patience`] after
/// the second one.
pub fn interrupted() -> bool {
    if PATIENT.load(Ordering::Relaxed) {
        return SIGNALS.load(Ordering::Relaxed) > 1;
    }
    WATCH.seen.load(Ordering::Relaxed)
}

/// While it lives, the first signal asks for an end and the second one interrupts.
pub struct Patience {
    _attention: Attention,
    handle: signal_hook::iterator::Handle,
    counter: Option<std::thread::JoinHandle<()>>,
}

impl Patience {
    /// Begins to be patient.
    ///
    /// # Errors
    /// When the signals cannot be listened to.
    pub fn begin() -> std::io::Result<Self> {
        let attention = Attention::begin();
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
        let handle = signals.handle();
        SIGNALS.store(0, Ordering::Relaxed);
        PATIENT.store(true, Ordering::Relaxed);
        let counter = std::thread::spawn(move || {
            for _ in signals.forever() {
                SIGNALS.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Self {
            _attention: attention,
            handle,
            counter: Some(counter),
        })
    }

    /// An end was asked for.
    pub fn is_over(&self) -> bool {
        SIGNALS.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(counter) = self.counter.take() {
            let _ = counter.join();
        }
        PATIENT.store(false, Ordering::Relaxed);
    }
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
