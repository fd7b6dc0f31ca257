//! Entries that a change names: each one is there already, or new.

use super::next::{Next, Outcomes};
use crate::brief::identity::entry_id;
use crate::diagnostic::{Code, Refusal};
use crate::model::{BriefEntry, BriefLine, BriefVerdict, Cause, Slot, Stamp};

impl Next<'_> {
    /// Everything that is not given an outcome goes on; a forbid is given one by the user alone.
    pub(super) fn begin(&mut self, outcomes: &Outcomes) -> Result<(), Refusal> {
        for entry in &self.prior.entries {
            let Some(outcome) = outcomes.get(entry.id.as_str()) else {
                self.live.push(entry.clone());
                continue;
            };
            if entry.line.slot == Slot::Forbid {
                self.user_only(entry)?;
            }
            if outcome.verdict == BriefVerdict::Demoted && entry.line.slot != Slot::Established {
                return Err(Refusal::new(
                    Code::BriefContradictory,
                    format!("`{}` is not established, so it cannot be demoted", entry.id),
                ));
            }
        }
        Ok(())
    }

    pub(super) fn user_only(&self, entry: &BriefEntry) -> Result<(), Refusal> {
        if self.author.is_user {
            return Ok(());
        }
        Err(Refusal::new(
            Code::UserOnly,
            format!(
                "only the user ends or changes the forbid `{}`: {}",
                entry.id, entry.line.head
            ),
        ))
    }

    /// One entry of the change: one that is there, one that is there with another
    /// source, or a new one.
    pub(super) fn take(
        &mut self,
        line: BriefLine,
        stamp: Option<Stamp>,
        whole: bool,
        outcomes: &Outcomes,
    ) -> Result<(), Refusal> {
        let id = self.find_known_id(&line, stamp.as_ref());
        if outcomes.contains_key(id.as_str()) {
            return Err(Refusal::new(
                Code::BriefContradictory,
                format!("`{id}` is kept among the entries and given an end"),
            ));
        }
        let Some(at) = self.live.iter().position(|entry| entry.id == id) else {
            let entry = self.entry(id, line, stamp, whole);
            self.record(Cause::Added, &entry, None, None);
            self.matched.insert(entry.id.clone());
            self.live.push(entry);
            return Ok(());
        };
        self.matched.insert(id.clone());
        let old = self.live[at].clone();
        if old.line == line || self.same_but_moved(&old, &line) {
            return Ok(());
        }
        if old.line.slot == Slot::Forbid {
            self.user_only(&old)?;
        }
        let entry = self.entry(id.clone(), line, stamp, whole);
        self.record(
            Cause::Superseded,
            &old,
            Some(id),
            Some("reworded".to_owned()),
        );
        self.live[at] = entry;
        Ok(())
    }

    /// The id of the earlier entry that a line repeats, else its own.
    pub(super) fn find_known_id(&self, line: &BriefLine, stamp: Option<&Stamp>) -> String {
        let id = entry_id(line, stamp);
        let earlier = &self.prior.entries;
        if earlier.iter().any(|entry| entry.id == id) {
            return id;
        }
        let same = earlier
            .iter()
            .find(|entry| entry.line == *line || self.same_but_moved(entry, line));
        same.map_or(id, |entry| entry.id.clone())
    }

    /// The same entry, its anchor written as it should be by now.
    pub(super) fn same_but_moved(&self, entry: &BriefEntry, line: &BriefLine) -> bool {
        let standing = self.incoming.standings.get(&entry.id);
        let Some(now) = standing.and_then(|standing| standing.now.as_ref()) else {
            return false;
        };
        let mut followed = entry.line.clone();
        if followed.slot == Slot::Established {
            followed.tail.clone_from(now);
        }
        followed == *line
    }
}
