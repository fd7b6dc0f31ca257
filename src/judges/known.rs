//! How often a judge notices, by its answers to planted cases.

use super::kept::{Identity, Kept};
use crate::service::Workspace;
use cook_core::diagnostic::Failure;
use cook_core::model::Role;
use cook_strength::{Answer, Joint, Record, Share, joint};
use std::collections::BTreeMap;

/// What is known of a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub record: Record,
}

impl Known {
    /// By its answers; none where it was asked nothing.
    pub fn of(kept: &Kept) -> Option<Self> {
        let answers: Vec<Answer> = kept
            .answers
            .iter()
            .filter_map(|one| {
                Some(Answer {
                    faulty: one.fault.is_some(),
                    refused: one.refused?,
                })
            })
            .collect();
        (!answers.is_empty()).then(|| Self {
            record: Record::of(&answers),
        })
    }

    /// Whether its no says anything: the lowest share of faults that it may catch is above the share of
    /// clean work that it refuses.
    pub fn tells_apart(self) -> bool {
        let alarms = self.record.alarms.rate().unwrap_or(1.0);
        self.record.caught.of > 0 && self.record.caught.interval().low > alarms
    }

    /// In words.
    pub fn words(self) -> String {
        let Record { caught, alarms } = self.record;
        let mut text = format!(
            "caught {} of {} planted faults ({}), {} of {} false alarms ({})",
            caught.hits,
            caught.of,
            span(caught),
            alarms.hits,
            alarms.of,
            span(alarms)
        );
        if caught.of > 0 && caught.hits == 0 {
            text.push_str("; it catches nothing");
        } else if !self.tells_apart() {
            text.push_str("; that does not tell faults from clean work");
        }
        text
    }
}

fn span(share: Share) -> String {
    let of = share.interval();
    format!("{:.0} to {:.0} %", of.low * 100.0, of.high * 100.0)
}

/// What is known of an agent in a role, with the prompt of now.
///
/// # Errors
/// What was kept cannot be read.
pub(crate) fn find_known(
    workspace: &Workspace,
    role: Role,
    agent: &str,
    model: Option<&str>,
) -> Result<Option<Known>, Failure> {
    let kept = Kept::of(workspace, Identity::now(role, agent, model))?;
    Ok(Known::of(&kept))
}

/// How often several judges miss the same planted fault; none where no two saw the same ones.
pub(crate) fn joint_misses(judges: &[Kept]) -> Option<Joint> {
    let seen = |kept: &Kept| -> BTreeMap<String, bool> {
        let planted = kept.answers.iter().filter(|one| one.fault.is_some());
        let answered = planted.filter_map(|one| Some((one.case.clone(), one.refused?)));
        answered.collect()
    };
    let all: Vec<BTreeMap<String, bool>> = judges.iter().map(seen).collect();
    let (first, others) = all.split_first().filter(|(_, others)| !others.is_empty())?;
    let shared = |case: &&String| others.iter().all(|other| other.contains_key(*case));
    let cases: Vec<&String> = first.keys().filter(shared).collect();
    let caught: Vec<Vec<bool>> = all
        .iter()
        .map(|of| cases.iter().map(|case| of[*case]).collect())
        .collect();
    joint(&caught)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_known(caught: (u64, u64), alarms: (u64, u64)) -> Known {
        let share = |(hits, of)| Share { hits, of };
        Known {
            record: Record {
                caught: share(caught),
                alarms: share(alarms),
            },
        }
    }

    #[test]
    fn a_judge_whose_answer_is_always_the_same_is_shown_as_one() {
        let yes = make_known((0, 20), (0, 20));
        assert!(!yes.tells_apart());
        assert_eq!(
            yes.words(),
            "caught 0 of 20 planted faults (0 to 16 %), 0 of 20 false alarms (0 to 16 %); it catches nothing"
        );
        let no = make_known((20, 20), (20, 20));
        assert!(!no.tells_apart());
        assert!(
            no.words()
                .ends_with("; that does not tell faults from clean work")
        );
        let good = make_known((14, 20), (2, 20));
        assert!(good.tells_apart());
        assert_eq!(
            good.words(),
            "caught 14 of 20 planted faults (48 to 85 %), 2 of 20 false alarms (3 to 30 %)"
        );
        assert!(!make_known((0, 0), (0, 3)).tells_apart());
    }
}
