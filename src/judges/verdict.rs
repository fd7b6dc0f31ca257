//! The verdicts that count now, each with whose word it is and what is known of them.

use super::kept::{Identity, Kept};
use super::known::Known;
use crate::service::Workspace;
use cook_core::diagnostic::{Failure, count_noun};
use cook_core::machine::{Head, list_votes};
use cook_core::model::{Role, SliceStatus, Snapshot};
use cook_store::session::{CallRecord, GitStore, Ref};

/// Verdicts of one role by one agent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    pub role: Role,
    /// Those that said yes; of an audit those that found everything in order.
    pub yes: u64,
    pub of: u64,
    /// Who gave them; none where no session of this clone is named.
    pub agent: Option<String>,
    pub model: Option<String>,
    /// None = nobody measured that agent and model with the prompt of now.
    pub known: Option<Known>,
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
        let Some(ledger) = snapshot.ledger.slices.get(&slice.slice_id) else {
            continue;
        };
        let accepted = ledger.accepted.as_ref().map(|accepted| &accepted.head);
        let head = ledger.head.as_ref().or(accepted);
        let counts =
            |commit: &String| slice.status != SliceStatus::Cancelled && head == Some(commit);
        if let Some(review) = ledger.review.as_ref().filter(|one| counts(&one.commit)) {
            let session = session_of(review.seq.0)?;
            verdicts.push((Role::Reviewer, !review.rejects(), session));
        }
        if let Some(audit) = ledger.audit.as_ref().filter(|one| counts(&one.commit)) {
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
