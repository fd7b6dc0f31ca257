//! Converts the trials of a slice's change into the codes that its report and its review must answer.

use crate::digest::sha256;
use crate::model::TestChange;
use crate::prelude::*;
use crate::trials::{TrialLine, Weight, Word};

/// The number of changes that get an entry of their own; the rest are counted in the last entry.
const NAMED: usize = 40;

/// Returns the code of a trial's result.
pub fn code_of(word: Word) -> Code {
    match word {
        Word::GateRed => Code::GateRed,
        Word::PassToFail => Code::PassToFail,
        Word::Bent => Code::Bent,
        Word::TestRepaired => Code::TestRepaired,
        Word::SetAside => Code::SetAside,
        Word::Lost => Code::Lost,
        Word::RedBefore => Code::RedBefore,
        Word::NotComparable => Code::NotComparable,
        Word::FailToPass => Code::FailToPass,
        Word::RunnerChanged => Code::RunnerChanged,
        Word::GateChanged => Code::GateChanged,
        Word::MadeFlaky => Code::MadeFlaky,
        Word::Flaky => Code::Flaky,
        Word::NothingRan => Code::NothingRan,
        Word::ChangeUnnoticed => Code::ChangeUnnoticed,
        Word::NotDeclared => Code::DeclarationUnknown,
    }
}

/// Returns the lines for which a report is refused, because no commit declares the change.
pub fn list_undeclared(lines: &[TrialLine]) -> Vec<&TrialLine> {
    let refuses = lines.iter().filter(|line| line.weight == Weight::Refuses);
    refuses.collect()
}

/// Returns the changes of tests that a review must answer for, each with an id: changes that are declared or
/// came with a merge, and tests that could not be compared.
pub fn list_test_changes(lines: &[TrialLine]) -> Vec<TestChange> {
    let owed = |line: &&TrialLine| {
        line.declared.is_some()
            || line.word == Word::NotComparable
            || line.word.weight() == Weight::Refuses
    };
    let mut changes: Vec<TestChange> = Vec::new();
    let mut more = 0;
    for line in lines.iter().filter(owed) {
        if changes.len() < NAMED {
            let digest = sha256(format!("{:?} {}", line.word, line.name));
            changes.push(TestChange {
                id: format!("t-{}", &digest[..8]),
                code: code_of(line.word).id().to_owned(),
                name: Some(line.name.clone()),
                what: clean(&line.what, Lines::Fold),
                declared: line.declared.clone(),
                answered: None,
            });
        } else {
            more += 1;
        }
    }
    if let Some(last) = changes.last_mut().filter(|_| more > 0) {
        last.what
            .push_str(&format!(", and {more} more changes of tests"));
    }
    changes
}
