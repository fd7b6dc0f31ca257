//! Commands that were red and green at one tree: green counts once it came three times in a row from
//! nothing. Else whoever asks again and again gets it by chance.

use super::gate::{Gates, Outcome};
use super::place::RunPlace;
use cook_core::diagnostic::Failure;
use cook_core::model::{Caches, Receipt};

/// Runs with empty caches that must all be green.
const FRESH_RUNS: usize = 3;

impl Gates<'_> {
    /// Runs a green command anew where it was red at the same tree before; with what to say of that.
    pub(super) fn confirm(
        &self,
        commit: &str,
        outcome: Outcome,
        rerun: impl Fn(&mut RunPlace) -> Result<Outcome, Failure>,
    ) -> Result<(Outcome, Option<String>), Failure> {
        let green = match &outcome {
            (Some(receipt), None) if receipt.has_passed() => receipt,
            _ => return Ok((outcome, None)),
        };
        let Some(red) = self.receipts.find_red(green)? else {
            let known = self.tell_chance(green)?;
            return Ok((outcome, known));
        };
        let mut last = outcome;
        for number in 1..=FRESH_RUNS {
            let mut place = self.room(Caches::Empty)?;
            last = match self.prepare(&mut place, commit)? {
                None => rerun(&mut place)?,
                problem => (None, problem),
            };
            let is_green = matches!(&last, (Some(receipt), None) if receipt.has_passed());
            if !is_green {
                let said = format!("number {number}, with empty caches, was red again");
                return Ok((last, Some(tell(&red, &said))));
            }
        }
        self.receipts.note_chance(&red)?;
        Ok((last, Some(tell_confirmed(&red))))
    }

    /// What to say of a green receipt whose command was red at the same tree, and was found to be so
    /// by chance.
    ///
    /// # Errors
    /// When a receipt cannot be opened.
    pub fn tell_chance(&self, green: &Receipt) -> Result<Option<String>, Failure> {
        let red = self.receipts.find_chance(green)?;
        Ok(red.as_ref().map(tell_confirmed))
    }
}

fn tell_confirmed(red: &Receipt) -> String {
    let said = format!("{FRESH_RUNS} in a row, with empty caches, were green");
    tell(red, &said)
}

fn tell(red: &Receipt, of_runs: &str) -> String {
    format!(
        "`{}` {} (receipt:{}) and then passed at the same tree; of the runs after that, {of_runs}",
        red.command,
        red.ending(),
        red.id
    )
}
