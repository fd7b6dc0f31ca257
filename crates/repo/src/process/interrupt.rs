//! Handling of SIGINT, SIGTERM and SIGHUP while a long-running child runs.
//!
//! A gate runs in a process group of its own, and so may a git command that talks to a remote, so Ctrl-C reaches only
//! cook. While at least one such child runs, a signal is recorded, the child is ended and the caller is told; at any
//! other time the signal has its default effect. A command that drives agents for hours uses [`Patience`]: the first
//! signal only asks for an end, the second one ends the child, and whatever still runs a few seconds later is killed
//! together with cook. A closing terminal may send SIGHUP more than once, so SIGHUP never counts as the second signal.

use super::process_tree::end_all;
use crate::thread;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

struct Watch {
    idle: Arc<AtomicBool>,
    seen: Arc<AtomicBool>,
    running: Mutex<usize>,
}

/// The signals that cook handles. `nohup` starts cook with SIGHUP ignored, and cook leaves it ignored.
static HEEDED: LazyLock<Vec<i32>> = LazyLock::new(|| match ignores_hangup() {
    true => vec![SIGINT, SIGTERM],
    false => vec![SIGINT, SIGTERM, SIGHUP],
});

/// Whether SIGHUP was ignored when the process was started. Always false except on Linux.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

static WATCH: LazyLock<Watch> = LazyLock::new(|| {
    let watch = Watch {
        idle: Arc::new(AtomicBool::new(true)),
        seen: Arc::new(AtomicBool::new(false)),
        running: Mutex::new(0),
    };
    for &signal in HEEDED.iter() {
        // If no handler can be set, the signal keeps its default effect, which ends cook.
        if flag::register_conditional_default(signal, Arc::clone(&watch.idle)).is_ok() {
            let _ = flag::register(signal, Arc::clone(&watch.seen));
        }
    }
    watch
});

/// Whether a [`Patience`] is alive, and how many signals have arrived since it began.
static PATIENT: AtomicBool = AtomicBool::new(false);
static SIGNALS: AtomicUsize = AtomicUsize::new(0);

/// Whether SIGINT, SIGTERM or SIGHUP arrived while a long-running child was running; under [`Patience`], whether the
/// second signal has arrived.
pub fn is_interrupted() -> bool {
    if PATIENT.load(Ordering::Relaxed) {
        return SIGNALS.load(Ordering::Relaxed) > 1;
    }
    WATCH.seen.load(Ordering::Relaxed)
}

/// Called on a separate thread at each signal, with the number of times that an end has been asked for.
pub type Alarm = Box<dyn Fn(usize) + Send>;

/// While this value lives, the first signal asks for an end and the second one interrupts.
pub struct Patience {
    _attention: Attention,
    handle: signal_hook::iterator::Handle,
    counter: Option<std::thread::JoinHandle<()>>,
    /// Set when this value is dropped.
    over: Arc<AtomicBool>,
}

impl Patience {
    /// Begins to count signals, and calls `alarm` at each of them.
    ///
    /// # Errors
    /// When the signal handlers or the thread cannot be set up.
    pub fn begin(alarm: Option<Alarm>) -> std::io::Result<Self> {
        let attention = Attention::begin();
        let mut signals = signal_hook::iterator::Signals::new(HEEDED.iter())?;
        let handle = signals.handle();
        SIGNALS.store(0, Ordering::Relaxed);
        PATIENT.store(true, Ordering::Relaxed);
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let counter = thread::spawn(move || {
            for signal in signals.forever() {
                let before = SIGNALS.load(Ordering::Relaxed);
                let now = count_signal(before, signal);
                SIGNALS.store(now, Ordering::Relaxed);
                if now == 2 && now != before {
                    end_soon(signal, Arc::clone(&ended));
                }
                if let Some(alarm) = alarm.as_ref().filter(|_| now != before) {
                    alarm(now);
                }
            }
        });
        let counter = counter.inspect_err(|_| PATIENT.store(false, Ordering::Relaxed))?;
        Ok(Self {
            _attention: attention,
            handle,
            counter: Some(counter),
            over,
        })
    }

    /// Whether a signal has asked for an end.
    pub fn is_over(&self) -> bool {
        SIGNALS.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.handle.close();
        if let Some(counter) = self.counter.take() {
            let _ = counter.join();
        }
        PATIENT.store(false, Ordering::Relaxed);
    }
}

/// How long the work may take to end after the second signal. After that, cook and everything it started are killed;
/// the next run cleans up.
const LAST_GRACE: Duration = Duration::from_secs(4);

fn end_soon(signal: i32, over: Arc<AtomicBool>) {
    let end = move || {
        let started = Instant::now();
        while started.elapsed() < LAST_GRACE {
            std::thread::sleep(Duration::from_millis(50));
            if over.load(Ordering::Relaxed) {
                return;
            }
        }
        end_all();
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    };
    // Without a thread the child is still ended, but nothing enforces the time limit.
    let _ = thread::spawn(end);
}

/// The number of times that an end has been asked for, including this signal.
fn count_signal(before: usize, signal: i32) -> usize {
    match signal {
        SIGHUP => before.max(1),
        _ => before + 1,
    }
}

/// While this value lives, signals are recorded instead of ending cook.
pub struct Attention(());

impl Attention {
    /// Begins to record signals.
    #[must_use]
    pub fn begin() -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_terminal_asks_for_an_end_once() {
        assert_eq!(count_signal(0, SIGHUP), 1);
        assert_eq!(count_signal(1, SIGHUP), 1);
        assert_eq!(count_signal(1, SIGINT), 2);
        assert_eq!(count_signal(count_signal(0, SIGTERM), SIGTERM), 2);
    }
}
