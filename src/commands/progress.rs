//! What takes long says what it is doing, to a person at a terminal: from its second second on.

use crate::view::Screen;
use cook_repo::thread;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What ends sooner says nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is being done, where that is to be said, and whether it is time to.
pub(super) struct Progress(Screen, Arc<Mutex<(Option<String>, bool)>>);

impl Progress {
    pub(super) fn begin(screen: Screen) -> Self {
        let said = Arc::new(Mutex::new((None, false)));
        let waits = Arc::clone(&said);
        let wait = move || {
            std::thread::sleep(PATIENCE);
            let mut said = hold(&waits);
            said.1 = true;
            said.0.iter().for_each(|text: &String| screen.note(text));
        };
        // Where there is no thread for it, each is said at once.
        if screen.redraws && thread::spawn(wait).is_err() {
            hold(&said).1 = true;
        }
        Self(screen, said)
    }

    pub(super) fn tell(&self, text: &str) {
        let mut said = hold(&self.1);
        if said.1 {
            self.0.note(text);
        }
        said.0 = Some(text.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        hold(&self.1).0 = None;
    }
}

fn hold<T>(said: &Mutex<T>) -> MutexGuard<'_, T> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}
