//! Prints what happens while agents work.

use crate::drive::{Observer, RunEvent};
use crate::view::{LiveLine, Screen, Tone, event_line};
use cook_os::process::Alarm;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Prints what happens on standard error. A signal is answered from another thread, so the
/// line that stands there is shared with it.
pub(super) struct Printer(Arc<Mutex<Shown>>);

struct Shown {
    screen: Screen,
    line: LiveLine,
    last: String,
    begun: Instant,
}

impl Printer {
    pub(super) fn new(screen: Screen) -> Self {
        Self(Arc::new(Mutex::new(Shown {
            screen,
            line: LiveLine::default(),
            last: String::new(),
            begun: Instant::now(),
        })))
    }
}

impl Shown {
    fn observe(&mut self, event: &RunEvent) {
        let now = self.begun.elapsed();
        self.line.learn(event, now);
        let passing = matches!(event, RunEvent::Shows { .. } | RunEvent::Ends { .. });
        if !passing {
            // Others may print after this one.
            self.erase();
        }
        if let Some((tone, line)) = event_line(event, self.screen.verbose)
            && line != self.last
        {
            self.say(tone, &line);
            self.last = line;
        }
        if passing || matches!(event, RunEvent::Waits { .. }) {
            self.show(now);
        }
    }

    fn show(&mut self, now: Duration) {
        if self.screen.redraws {
            if let Some(sent) = self.line.redrawn(now) {
                self.screen.draw(&sent);
            }
        } else if let Some(line) = self.line.plain(now) {
            self.screen.note_toned(Tone::Dim, &line);
        }
    }

    fn say(&mut self, tone: Tone, line: &str) {
        self.erase();
        self.screen.note_toned(tone, line);
    }

    fn erase(&mut self) {
        if let Some(sent) = self.line.erase() {
            self.screen.draw(sent);
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.erase();
    }
}

fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Printer {
    fn observe(&mut self, event: &RunEvent) {
        lock(&self.0).observe(event);
    }

    fn alarm(&self) -> Option<Alarm> {
        let shown = Arc::clone(&self.0);
        Some(Box::new(move |times| {
            let mut shown = lock(&shown);
            let text = shown.line.end_is_asked(times);
            shown.say(Tone::Warn, &text);
        }))
    }
}
