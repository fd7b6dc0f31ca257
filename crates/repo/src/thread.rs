//! Threads. All threads are started in this module, because the system may refuse to start one: that is an error, or
//! the caller does the work itself, but never a panic.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Result};

/// Starts a thread.
///
/// # Errors
/// When the system cannot start another thread.
pub fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().spawn(work)
}

/// The number of threads that make sense for CPU-bound work.
pub fn at_once() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Applies `work` to each item, each on a thread of its own; if a thread cannot be started, the caller's thread does
/// that item. The results are in the order of the items; an `Err` holds the panic payload.
pub fn on_each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<Result<R>> {
    let work = &work;
    std::thread::scope(|scope| {
        let start = |item| {
            let thread = Builder::new().spawn_scoped(scope, move || work(item));
            thread.map_err(|_| item)
        };
        let started: Vec<_> = items.iter().map(start).collect();
        let finish = |one: std::result::Result<std::thread::ScopedJoinHandle<'_, R>, &T>| match one
        {
            Ok(thread) => thread.join(),
            Err(item) => catch_unwind(AssertUnwindSafe(|| work(item))),
        };
        started.into_iter().map(finish).collect()
    })
}

/// Runs both closures, the first on a second thread if one can be started, otherwise after `other`. A panic in either
/// is resumed in the caller.
pub fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    let one = Mutex::new(Some(one));
    let run = || {
        let taken = one.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.map(|work| work())
    };
    let (first, second) = std::thread::scope(|scope| {
        let started = Builder::new().spawn_scoped(scope, run);
        let second = other();
        let first = match started {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => run(),
        };
        (first, second)
    });
    (first.expect("it is run once"), second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..9).collect();
        let doubled = on_each(&items, |item| {
            std::thread::sleep(std::time::Duration::from_millis(9 - item));
            assert_ne!(*item, 4, "one that panics harms no other");
            item * 2
        });
        let answered: Vec<u64> = doubled.into_iter().filter_map(Result::ok).collect();
        assert_eq!(answered, [0, 2, 4, 6, 10, 12, 14, 16]);
        assert_eq!(both(|| 1, || "b"), (1, "b"));
        assert_eq!(spawn(|| 7).unwrap().join().unwrap(), 7);
    }
}
