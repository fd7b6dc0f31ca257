//! What is known of judges: how many planted faults each caught where `cook calibrate` measured it,
//! and whose word each verdict of the log is.

mod planted_answers;

pub(crate) use planted_answers::{Answered, Identity, Kept};

use crate::service::Workspace;
use cook_mutants::{Answer, Interval, Joint, Record, Share, joint};
use cook_protocol::diagnostic::{Failure, count_noun};
use cook_protocol::machine::{Head, list_votes};
use cook_protocol::model::{Role, SliceStatus, Snapshot};
use cook_repo::session::{CallRecord, GitStore, Ref};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// What is known of a judge: how many planted faults it caught, and how much clean work it refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Known {
    pub caught: Share,
    #[serde(rename = "falseAlarms")]
    pub alarms: Share,
}

impl Known {
    /// By its answers; none where it was asked nothing.
    pub fn of(kept: &Kept) -> Option<Self> {
        let answers = kept.answers.iter().filter_map(|one| {
            Some(Answer {
                faulty: one.fault.is_some(),
                refused: one.refused?,
            })
        });
        let answers: Vec<Answer> = answers.collect();
        let Record { caught, alarms } = Record::of(&answers);
        (!answers.is_empty()).then_some(Self { caught, alarms })
    }

    /// Whether its no says anything: the lowest share of faults that it may catch is above the share of
    /// clean work that it refuses.
    pub fn tells_apart(self) -> bool {
        let alarms = self.alarms.rate().unwrap_or(1.0);
        self.caught.of > 0 && self.caught.interval().low > alarms
    }

    /// In words.
    pub fn words(self) -> String {
        let Self { caught, alarms } = self;
        let describe = |share: Share, what: &str| {
            let Interval { low, high } = share.interval();
            let (low, high) = (low * 100.0, high * 100.0);
            format!(
                "{} of {} {what} ({low:.0} to {high:.0} %)",
                share.hits, share.of
            )
        };
        let faults = describe(caught, "planted faults");
        let mut text = format!("caught {faults}, {}", describe(alarms, "false alarms"));
        if caught.of > 0 && caught.hits == 0 {
            text.push_str("; it catches nothing");
        } else if !self.tells_apart() {
            text.push_str("; that does not tell faults from clean work");
        }
        text
    }
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
    let caught = all.iter();
    let caught = caught.map(|of| cases.iter().map(|case| of[*case]).collect());
    let caught: Vec<Vec<bool>> = caught.collect();
    joint(&caught)
}

/// Verdicts of one role by one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Judged {
    #[serde(serialize_with = "write_short")]
    pub role: Role,
    /// Those that said yes; of an audit those that found everything in order.
    pub yes: u64,
    pub of: u64,
    /// Who gave them; none where no session of this clone is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// None = nobody measured that agent and model with the prompt of now.
    #[serde(flatten)]
    pub known: Option<Known>,
}

fn write_short<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role.short())
}

impl Judged {
    /// On one line.
    pub fn words(&self) -> String {
        let by = match (&self.agent, &self.model) {
            (Some(agent), Some(model)) => format!(" by {agent} ({model})"),
            (Some(agent), None) => format!(" by {agent}"),
            (None, _) => String::new(),
        };
        let known = match self.known {
            Some(known) => format!("this judge {}", known.words()),
            None => "uncalibrated".to_owned(),
        };
        // An audit says what is open, and most often something is.
        let gave = match self.role {
            Role::Auditor => count_noun(self.of, "audit"),
            _ => format!("{} of {} yes", self.yes, self.of),
        };
        format!("{}: {gave}{by}; {known}", self.role.short())
    }
}

/// The reviews and audits of slices that are done or in work, and the votes at a commit.
///
/// # Errors
/// A log or sessions that cannot be read.
pub(crate) fn find_verdicts(
    workspace: &Workspace,
    snapshot: &Snapshot,
    at: &Head,
) -> Result<Vec<Judged>, Failure> {
    let kept = Kept::all(workspace)?;
    // Whose word it is changes nothing where nobody was measured.
    let session_of = |seq: u64| -> Result<Option<String>, Failure> {
        if kept.is_empty() {
            return Ok(None);
        }
        let store = workspace.store()?;
        let event = store.event(&store.resolve(&seq.to_string())?.commit)?;
        Ok(event.submission().and_then(|one| one.session.clone()))
    };
    let mut verdicts: Vec<(Role, bool, Option<String>)> = Vec::new();
    for slice in &snapshot.plan.candidate_slices {
        let ledger = snapshot.ledger.slices.get(&slice.slice_id);
        let Some(ledger) = ledger.filter(|_| slice.status != SliceStatus::Cancelled) else {
            continue;
        };
        let accepted = ledger.accepted.as_ref().map(|accepted| &accepted.head);
        let head = ledger.head.as_ref().or(accepted);
        let review = ledger.review.as_ref();
        if let Some(review) = review.filter(|one| head == Some(&one.commit)) {
            let session = session_of(review.seq.0)?;
            verdicts.push((Role::Reviewer, !review.rejects(), session));
        }
        let audit = ledger.audit.as_ref();
        if let Some(audit) = audit.filter(|one| head == Some(&one.commit)) {
            let session = session_of(audit.seq.0)?;
            verdicts.push((Role::Auditor, !audit.rejects, session));
        }
    }
    for vote in list_votes(snapshot, at) {
        let session = vote.session.clone().filter(|_| !kept.is_empty());
        verdicts.push((Role::StopJudge, vote.can_stop, session));
    }
    verdicts.sort_by_key(|(role, _, _)| *role);
    let sessions = Sessions::open(workspace, &verdicts)?;
    let mut found: Vec<Judged> = Vec::new();
    for (role, yes, session) in verdicts {
        let (agent, model) = match session.and_then(|session| sessions.find(&session).transpose()) {
            Some(by) => by.map(|(agent, model)| (Some(agent), model))?,
            None => (None, None),
        };
        let same = |one: &&mut Judged| (one.role, &one.agent, &one.model) == (role, &agent, &model);
        if let Some(one) = found.iter_mut().find(same) {
            one.of += 1;
            one.yes += u64::from(yes);
            continue;
        }
        let known = agent.as_deref().and_then(|agent| {
            let identity = Identity::now(role, agent, model.as_deref());
            let own = kept.iter().find(|kept| kept.identity == identity);
            own.and_then(Known::of)
        });
        found.push(Judged {
            role,
            yes: yes.into(),
            of: 1,
            agent,
            model,
            known,
        });
    }
    Ok(found)
}

/// Who answered in which session of this clone.
struct Sessions(Option<(GitStore, Vec<CallRecord>)>);

impl Sessions {
    /// Read only where a verdict names one.
    fn open(
        workspace: &Workspace,
        verdicts: &[(Role, bool, Option<String>)],
    ) -> Result<Self, Failure> {
        let is_ref = |session: &String| session.parse::<Ref>().is_ok();
        let named = verdicts
            .iter()
            .filter_map(|(_, _, session)| session.as_ref());
        if workspace.log_from.is_some() || !named.into_iter().any(is_ref) {
            return Ok(Self(None));
        }
        let store = GitStore::open(workspace.place())?;
        let lines = store.lines()?;
        Ok(Self(Some((store, lines))))
    }

    fn find(&self, session: &str) -> Result<Option<(String, Option<String>)>, Failure> {
        let (Some((store, lines)), Ok(name)) = (&self.0, session.parse::<Ref>()) else {
            return Ok(None);
        };
        let Some(entry) = store.entry(name)? else {
            return Ok(None);
        };
        let line = lines.iter().find(|line| line.exchange == Some(name));
        let model = line.and_then(|line| line.answer.as_ref()?.model.clone());
        Ok(Some((entry.supplier, model)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_known(caught: (u64, u64), alarms: (u64, u64)) -> Known {
        let share = |(hits, of)| Share { hits, of };
        Known {
            caught: share(caught),
            alarms: share(alarms),
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
