//! What a session gave becomes a transition, or an attempt that came to nothing.

use super::agent_session::SessionAnswer;
use super::run_loop::Driver;
use super::run_order::{Ended, RoleAgent, RunEvent, Step};
use super::session_guard::Violation;
use crate::service::{self, Workspace};
use cook_agents::{AgentFailure, FailureClass};
use cook_protocol::diagnostic::{Code, Failure, FailureKind};
use cook_protocol::model::{Event, Role, Snapshot};
use cook_protocol::report::{self, Provenance, Report, Reported};
use cook_repo::session::{Ref, Reply};
use std::time::Instant;

/// Longest reason why a report was not taken that is kept, in characters.
const MAX_WHY: usize = 2_000;

/// Rules that a report breaks which are named one by one.
const NAMED: usize = 5;

/// What a session began with.
pub(super) struct SessionStart {
    /// The ticket of the state that it was asked about.
    pub(super) ticket: Option<String>,
    /// HEAD.
    pub(super) head: Option<String>,
    /// When.
    pub(super) at: Instant,
}

impl Driver<'_> {
    /// Somebody recorded something while a session was held. Where that stops the work, the run
    /// ends; else the report counts as far as it still fits.
    pub(super) fn find_stop_meanwhile(&mut self, role: Role) -> Result<Option<Step>, Failure> {
        let workspace = self.open()?;
        let (_, snapshot) = workspace.require()?;
        let (dispatch, _) = service::dispatch_now(&workspace, Some(&snapshot))?;
        if dispatch.role.is_some() {
            return Ok(None);
        }
        let why = "the work was stopped meanwhile; what the session committed stays, and its report is in `cook session log`";
        self.observer
            .observe(&RunEvent::CameToNothing { role, why });
        Ok(Some(Step::Ended(Ended::Policy(dispatch.policy))))
    }

    /// The session did what its role may not: its report is not taken.
    pub(super) fn refuse_violation(
        &mut self,
        role: Role,
        breach: &Violation,
    ) -> Result<Step, Failure> {
        self.observer.observe(&RunEvent::Breached { role, breach });
        if breach.log_moved {
            return Err(Failure::from(cook_protocol::diagnostic::Refusal::new(
                Code::StaleFacts,
                format!(
                    "the log was moved during the session of the {role}: its report no longer fits the log"
                ),
            )));
        }
        let why = format!("it did what its role may not: {}", breach.what.join("; "));
        let workspace = self.open()?;
        let codes = vec![Code::AuthorityBreached.id().to_owned()];
        self.spend(&workspace, role, codes, why)
    }

    /// What a session gave becomes a transition, or an attempt that failed.
    pub(super) fn weigh(
        &mut self,
        workspace: &Workspace,
        role: Role,
        agent: &RoleAgent,
        answer: SessionAnswer,
        began: &SessionStart,
    ) -> Result<Step, Failure> {
        self.tally.has_heard |= matches!(
            answer,
            SessionAnswer::Taken(_) | SessionAnswer::Malformed(_)
        );
        match answer {
            SessionAnswer::Taken(report) => self.take(workspace, role, &report, began),
            SessionAnswer::Malformed(findings) => {
                let codes = findings.iter().map(|one| one.code.id().to_owned());
                let said = findings.iter().take(NAMED);
                let mut said: Vec<String> = said
                    .map(|one| format!("[{}] {}", one.code.id(), one.message))
                    .collect();
                let more = findings.len().saturating_sub(NAMED);
                said.extend((more > 0).then(|| format!("and {more} more")));
                let why = format!("the report breaks the rules: {}", said.join("; "));
                self.refuse(workspace, role, codes.collect(), why)
            }
            SessionAnswer::Nothing(failed, end) => {
                self.weigh_failure(workspace, role, agent, (&failed, &end))
            }
            SessionAnswer::Unkept(error) => Ok(Step::Another(error.message)),
        }
    }

    /// Hands a report in, as `cook record` does.
    fn take(
        &mut self,
        workspace: &Workspace,
        role: Role,
        (report, reply): &(Report, Reply),
        began: &SessionStart,
    ) -> Result<Step, Failure> {
        if role == Role::StopJudge
            && let (_, snapshot) = workspace.require()?
            && let Some(vote) = self.twin(&snapshot, reply)?
        {
            let why = format!("its session is the one that gave vote {vote} already");
            let codes = vec![Code::JudgeNotIndependent.id().to_owned()];
            return self.refuse(workspace, role, codes, why);
        }
        let provenance = Provenance {
            session: Some(reply.exchange.to_string()),
            ticket: began.ticket.clone(),
            began_at: began.head.clone(),
        };
        let Reported::Event(event) = report::event(report, provenance) else {
            return Ok(Step::Another("the report asks for nothing".to_owned()));
        };
        // Its gates, and whoever is told, take their own time.
        let took = began.at.elapsed();
        match self.record(workspace, &event) {
            Ok(applied) => {
                self.observer.observe(&RunEvent::Recorded {
                    role,
                    applied: &applied,
                    took,
                    cost_micro_usd: reply.answer.cost_micro_usd,
                });
                Ok(Step::Moved)
            }
            Err(failure) if failure.kind == FailureKind::Refused => {
                let mut why = format!("[{}] {}", failure.code.id(), failure.message);
                for hint in &failure.hints {
                    why.push_str("; ");
                    why.push_str(hint);
                }
                self.refuse(workspace, role, vec![failure.code.id().to_owned()], why)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Writes down that a session failed by its own doing.
    fn refuse(
        &mut self,
        workspace: &Workspace,
        role: Role,
        codes: Vec<String>,
        why: String,
    ) -> Result<Step, Failure> {
        self.observer
            .observe(&RunEvent::CameToNothing { role, why: &why });
        self.spend(workspace, role, codes, why)
    }

    /// The same where the observer knows it.
    fn spend(
        &mut self,
        workspace: &Workspace,
        role: Role,
        codes: Vec<String>,
        why: String,
    ) -> Result<Step, Failure> {
        let refused = Event::Refused {
            role,
            codes,
            why: why.chars().take(MAX_WHY).collect(),
        };
        self.record(workspace, &refused)?;
        Ok(Step::Nothing(why))
    }

    fn weigh_failure(
        &mut self,
        workspace: &Workspace,
        role: Role,
        agent: &RoleAgent,
        (failed, end): (&AgentFailure, &str),
    ) -> Result<Step, Failure> {
        let why = format!("{}: {} ({end})", agent.preset.name(), failed.why());
        match failed.class {
            FailureClass::Interrupted => Ok(Step::Ended(Ended::Asked)),
            FailureClass::Agent => self.refuse(
                workspace,
                role,
                vec![Code::SupplierFailed.id().to_owned()],
                why,
            ),
            FailureClass::Config | FailureClass::Environment => {
                self.observer
                    .observe(&RunEvent::CameToNothing { role, why: &why });
                if failed.class == FailureClass::Environment {
                    if let Some(until) = &failed.reset_at {
                        let name = agent.preset.name().to_owned();
                        self.limited.insert(name, until.clone());
                        return self.wait(workspace, until, why);
                    }
                    // One that never was there may be a wrong address, which no wait mends.
                    if failed.passes() || failed.is_offline() && self.tally.has_heard {
                        self.tally.passing = Some(failed.read_retry_after());
                    }
                }
                Ok(Step::Another(why))
            }
        }
    }

    /// The vote of this wave that came out of the same session of the same agent.
    fn twin(&self, snapshot: &Snapshot, reply: &Reply) -> Result<Option<u64>, Failure> {
        let session = |name: Ref| -> Result<Option<(String, String)>, Failure> {
            let entry = self.sessions.entry(name)?;
            Ok(entry.and_then(|entry| Some((entry.supplier, entry.exid?))))
        };
        let Some(mine) = session(reply.exchange)? else {
            return Ok(None);
        };
        for vote in &snapshot.ledger.wave.votes {
            let name = vote.session.as_deref().and_then(|text| text.parse().ok());
            if let Some(name) = name
                && session(name)?.as_ref() == Some(&mine)
            {
                return Ok(Some(vote.seq.0));
            }
        }
        Ok(None)
    }
}
