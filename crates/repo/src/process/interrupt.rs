//! What SIGINT, SIGTERM and SIGHUP do while a long child runs.
//!
//! A gate is in a process group of its own, so a Ctrl-C reaches cook alone, as may a git that
//! reaches a remote. While at least one of them runs the signal is noted, it is ended and the caller
//! told; at any other time the signal does what it always does. Whoever drives agents for
//! hours is patient: the first signal only asks for an end, the second one ends the child, and
//! what is still at work a few seconds later is ended with cook. A terminal that is closed may
//! send SIGHUP more than once, so that signal only ever asks.

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

/// The signals that are heeded. Whoever starts cook so that it outlives the terminal (`nohup`)
/// has SIGHUP ignored, and it stays so.
static HEEDED: LazyLock<Vec<i32>> = LazyLock::new(|| match ignores_hangup() {
    true => vec![SIGINT, SIGTERM],
    false => vec![SIGINT, SIGTERM, SIGHUP],
});

/// As the process was started; told on Linux only.
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

/// True after SIGINT, SIGTERM or SIGHUP came while a long child was running; under [`Patience`] after
/// the second one.
pub fn is_interrupted() -> bool {
    if PATIENT.load(Ordering::Relaxed) {
        return SIGNALS.load(Ordering::Relaxed) > 1;
    }
    WATCH.seen.load(Ordering::Relaxed)
}

/// Is told at once, on a thread of its own, how often an end has been asked for.
pub type Alarm = Box<dyn Fn(usize) + Send>;

/// While it lives, the first signal asks for an end and the second one interrupts.
pub struct Patience {
    _attention: Attention,
    handle: signal_hook::iterator::Handle,
    counter: Option<std::thread::JoinHandle<()>>,
    /// Nobody is patient any more.
    over: Arc<AtomicBool>,
}

impl Patience {
    /// Begins to be patient, and tells of each signal.
    ///
    /// # Errors
    /// When the signals cannot be handled.
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

    /// An end was asked for.
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

/// How long the work may take to end after the second signal. Then cook and what it
/// started is ended where it is: the next run settles it.
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
    // Without a thread the child is ended as always, only nobody watches over it.
    let _ = thread::spawn(end);
}

/// How often an end has been asked for, with one signal more.
fn count_signal(before: usize, signal: i32) -> usize {
    match signal {
        SIGHUP => before.max(1),
        _ => before + 1,
    }
}

/// Notes signals for as long as it lives.
pub struct Attention(());

impl Attention {
    /// Begins to note them.
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
