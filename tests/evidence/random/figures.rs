//! What came up in the histories, so that nothing is wrong because something was tried.

use super::events::EVENTS;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Histories in which each kind of event finds something to change.
const MANY: usize = 100;
/// Histories in which most do.
const FEW: usize = 6;
/// One honest anchor may be refused in so many histories without a reason that `refused` knows: its slice has another
/// way to be accepted, or it would not be done.
const PER_REFUSED: usize = 20;

#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub histories: usize,
    /// Reports that were handed in, and those among them that were refused.
    pub reports: usize,
    pub refused: usize,
    /// Claims that do not hold, and those that did not become the proof of a done slice.
    pub lies: usize,
    pub lies_refused: usize,
    /// How often the project was done.
    pub done: usize,
    /// Claims that the oracle calls right and that were refused, where the table leaves room, by the reason.
    pub doubts: BTreeMap<&'static str, usize>,
    /// Those for which it leaves none.
    pub unexplained: usize,
    /// Events that changed something, by name.
    pub events: BTreeMap<&'static str, usize>,
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.histories += other.histories;
        self.reports += other.reports;
        self.refused += other.refused;
        self.lies += other.lies;
        self.lies_refused += other.lies_refused;
        self.done += other.done;
        self.unexplained += other.unexplained;
        for (name, count) in other.events {
            *self.events.entry(name).or_default() += count;
        }
        for (why, count) in other.doubts {
            *self.doubts.entry(why).or_default() += count;
        }
    }
}

impl Figures {
    /// The test saw enough to fail: lies were told, and each kind of event came up.
    pub fn require_enough(&self) {
        let least = self.histories / 2;
        assert!(self.lies_refused >= least, "too few lies: {self:?}");
        assert!(self.done >= self.histories, "too seldom done: {self:?}");
        let most = 1 + self.histories / PER_REFUSED;
        assert!(
            self.unexplained <= most,
            "too many honest claims refused: {self:?}"
        );
        // Few histories have little to put back.
        let kinds = match self.histories {
            MANY.. => EVENTS.len(),
            FEW.. => EVENTS.len() / 2,
            _ => 0,
        };
        assert!(self.events.len() >= kinds, "too few kinds: {self:?}");
    }

    /// On one line.
    pub fn to_line(&self, wrong: usize) -> String {
        let events: usize = self.events.values().sum();
        let list = |counts: &BTreeMap<&str, usize>| {
            let rows = counts.iter().map(|(name, count)| format!("{name} {count}"));
            rows.collect::<Vec<_>>().join(", ")
        };
        format!(
            "histories {}, reports {} (refused {}), events {events} ({}), lies refused {} of {}, doubtful claims refused ({}), others refused {}, done {}, wrong {wrong}",
            self.histories,
            self.reports,
            self.refused,
            list(&self.events),
            self.lies_refused,
            self.lies,
            list(&self.doubts),
            self.unexplained,
            self.done,
        )
    }
}
