//! Prints what happens while agents work.

use crate::drive::{Audience, Moment};
use crate::view::{LiveLine, Screen, Tone, moment_line};
use cook_os::process::{Alarm, Heed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Prints what happens on standard error. A signal is answered from another thread, so the
/// line that stands there is shared with it.
pub(super) struct Onlooker(Arc<Mutex<Shown>>);

struct Shown {
    screen: Screen,
    line: LiveLine,
    last: String,
    begun: Instant,
}

impl Onlooker {
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
    fn told(&mut self, moment: &Moment) {
        let now = self.begun.elapsed();
        self.line.learn(moment, now);
        let passing = matches!(moment, Moment::Shows { .. } | Moment::Ends { .. });
        if !passing {
            // Others may print after this one.
            self.erase();
        }
        if let Some((tone, line)) = moment_line(moment, self.screen.verbose)
            && line != self.last
        {
            self.say(tone, &line);
            self.last = line;
        }
        if passing || matches!(moment, Moment::Waits { .. }) {
            self.show(now);
        }
    }

    fn show(&mut self, now: Duration) {
        if self.screen.redraws {
            if let Some(sent) = self.line.redrawn(now) {
                self.screen.draw(&sent);
            }
        } else if let Some(line) = self.line.plain(now) {
            self.screen.toned_note(Tone::Dim, &line);
        }
    }

    fn say(&mut self, tone: Tone, line: &str) {
        self.erase();
        self.screen.toned_note(tone, line);
    }

    fn erase(&mut self) {
        if let Some(sent) = self.line.erased() {
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

impl Audience for Onlooker {
    fn told(&mut self, moment: &Moment) -> Heed {
        lock(&self.0).told(moment);
        Heed::GoOn
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
