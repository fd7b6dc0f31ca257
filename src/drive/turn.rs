//! One role's turn: its session, its report, the transition.

use super::{Breach, Driver, Ended, Moment, Player, Step, Watch, no_role};
use crate::agent::{AgentFailure, AgentSupplier, FailureClass};
use crate::diagnostic::{Code, Failure, FailureKind, Finding, Lines, clean};
use crate::machine::Dispatch;
use crate::model::{Event, Role};
use crate::process::Heed;
use crate::report::{self, Parsed, Provenance, Reported};
use crate::session::{
    Call, Continuation, Deed, NativeUse, On, Reply, SessionError, Supplier, call,
};
use crate::walk::{self, Workspace};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long the end of a supplier's limit is waited for at most.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// How often it is looked whether somebody asks for an end.
const GLANCE: Duration = Duration::from_millis(200);

/// What a session gave.
enum Heard {
    /// A report that keeps the rules.
    Report(Box<(Parsed, Reply)>),
    /// One that does not, and there was no asking again.
    Unusable(Vec<Finding>),
    /// One that does not, also the second time.
    Malformed(Vec<Finding>),
    /// Nothing.
    Nothing(AgentFailure),
    /// Nothing, and not by the agent's doing.
    Unkept(SessionError),
}

impl Driver<'_> {
    pub(super) fn step(&mut self) -> Result<Step, Failure> {
        let workspace = Workspace::open(&self.dir)?;
        let (tip, snapshot) = workspace.require()?;
        let (dispatch, facts) = walk::dispatch_now(&workspace, Some(&snapshot))?;
        let Some(role) = dispatch.role else {
            return Ok(Step::Ended(Ended::Policy(dispatch.policy)));
        };
        if role == Role::Bootstrapper {
            return Err(no_role(&dispatch));
        }
        let head = walk::head_of(&facts)?;
        let ticket = walk::ticket(&workspace, Some((&tip, &snapshot)), &head)?;
        let mut prompt = walk::role_prompt(&workspace, Some(&snapshot), &dispatch, &facts)?;
        if let Some((of, why)) = &self.tally.refused
            && *of == role
        {
            prompt.push_str(&format!(
                "\n\nThe last report of this role was not taken: {}. What the worktree holds now is what that session left.\n",
                clean(why, Lines::Fold)
            ));
        }
        let players = self.cast.get(&role).cloned().unwrap_or_default();
        let mut last = format!("no agent is named for the {role}");
        for player in &players {
            match self.play(
                &workspace,
                role,
                player,
                &dispatch,
                &prompt,
                ticket.as_deref(),
            )? {
                Played::Step(step) => return Ok(step),
                Played::Another(why) => last = why,
            }
        }
        Ok(Step::Ended(Ended::Agents(last)))
    }

    fn play(
        &mut self,
        workspace: &Workspace,
        role: Role,
        player: &Player,
        dispatch: &Dispatch,
        prompt: &str,
        ticket: Option<&str>,
    ) -> Result<Played, Failure> {
        let started = Instant::now();
        self.audience.told(&Moment::Begins {
            role,
            dispatch,
            agent: player.preset.name(),
        });
        let dir = self.watches(workspace)?.join(crate::store::fresh_id());
        let watch = Watch::begin(workspace, role, &dir)?;
        self.tally.sessions += 1;
        let (heard, breach) = self.converse(workspace, role, player, prompt, &watch)?;
        watch.end()?;
        let workspace = Workspace::open(&self.dir)?;
        if !breach.is_none() {
            self.audience.told(&Moment::Breached {
                role,
                breach: &breach,
            });
            if breach.log_moved {
                return Err(Failure::from(crate::diagnostic::Refusal::new(
                    Code::StaleFacts,
                    format!(
                        "the log was moved during the session of the {role}: its report fits nothing any more"
                    ),
                )));
            }
            let why = format!("it did what its role may not: {}", breach.what.join("; "));
            return self.refuse(
                &workspace,
                role,
                vec![Code::AuthorityBreached.id().to_owned()],
                why,
            );
        }
        match heard {
            Heard::Unusable(findings) => {
                self.refuse(&workspace, role, codes(&findings), told(&findings))
            }
            Heard::Report(report) => {
                let (parsed, reply) = *report;
                self.take(&workspace, role, parsed, &reply, ticket, started)
            }
            Heard::Malformed(findings) => {
                let why = format!("the report breaks the rules twice: {}", told(&findings));
                self.refuse(&workspace, role, codes(&findings), why)
            }
            Heard::Nothing(failed) => self.failed(&workspace, role, player, &failed),
            Heard::Unkept(error) => Ok(Played::Another(error.to_string())),
        }
    }

    /// Hands a report in, as `cook record` does.
    fn take(
        &mut self,
        workspace: &Workspace,
        role: Role,
        parsed: Parsed,
        reply: &Reply,
        ticket: Option<&str>,
        started: Instant,
    ) -> Result<Played, Failure> {
        let Some(report) = parsed.report else {
            return self.refuse(workspace, role, Vec::new(), told(&parsed.findings));
        };
        let provenance = Provenance {
            session: Some(reply.exchange.to_string()),
            ticket: ticket.map(str::to_owned),
        };
        let Reported::Event(event) = report::event(&report, provenance) else {
            return Ok(Played::Another("the report asks for nothing".to_owned()));
        };
        match self.record(workspace, &event) {
            Ok(applied) => {
                self.tally.refused = None;
                self.audience.told(&Moment::Recorded {
                    role,
                    applied: &applied,
                    took: started.elapsed(),
                    cost_micro_usd: reply.cost_micro_usd,
                });
                Ok(Played::Step(Step::Moved))
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

    /// Writes down that a session came to nothing by its own doing.
    fn refuse(
        &mut self,
        workspace: &Workspace,
        role: Role,
        codes: Vec<String>,
        why: String,
    ) -> Result<Played, Failure> {
        self.audience
            .told(&Moment::CameToNothing { role, why: &why });
        self.record(workspace, &Event::Refused { role, codes })?;
        self.tally.refused = Some((role, why.clone()));
        Ok(Played::Step(Step::Nothing(why)))
    }

    fn failed(
        &mut self,
        workspace: &Workspace,
        role: Role,
        player: &Player,
        failed: &AgentFailure,
    ) -> Result<Played, Failure> {
        let why = format!("{}: {}", player.preset.name(), said(failed));
        match failed.class {
            FailureClass::Interrupted => Ok(Played::Step(Step::Ended(Ended::Asked))),
            FailureClass::Agent => self.refuse(
                workspace,
                role,
                vec![Code::SupplierFailed.id().to_owned()],
                why,
            ),
            FailureClass::Config => {
                self.audience
                    .told(&Moment::CameToNothing { role, why: &why });
                Ok(Played::Another(why))
            }
            FailureClass::Environment => {
                self.audience
                    .told(&Moment::CameToNothing { role, why: &why });
                match &failed.reset_at {
                    Some(until) => Ok(Played::Step(self.wait(workspace, until, why)?)),
                    None => Ok(Played::Another(why)),
                }
            }
        }
    }

    /// Waits for the end of a supplier's limit; the attempt is not spent.
    fn wait(&mut self, workspace: &Workspace, until: &str, why: String) -> Result<Step, Failure> {
        self.audience.told(&Moment::Waits { until });
        let begun = Instant::now();
        while workspace.clock.now().as_str() < until {
            if self.patience.is_over() {
                return Ok(Step::Ended(Ended::Asked));
            }
            if begun.elapsed() > LONGEST_WAIT {
                return Ok(Step::Ended(Ended::Agents(why)));
            }
            std::thread::sleep(GLANCE);
        }
        Ok(Step::Waited)
    }

    /// The session: the prompt, and where its report breaks a rule one request more; with
    /// what it did beside. Whoever did what he may not is asked nothing more.
    fn converse(
        &mut self,
        workspace: &Workspace,
        role: Role,
        player: &Player,
        prompt: &str,
        watch: &Watch,
    ) -> Result<(Heard, Breach), Failure> {
        let isolated = workspace.config()?.rules.isolate_readonly && role != Role::Implementer;
        let throwaway = match workspace.repo.head()?.commit {
            Some(commit) if isolated => Some(workspace.repo.throwaway(&commit)?),
            _ => None,
        };
        let dir: PathBuf = throwaway
            .as_ref()
            .map_or_else(|| self.dir.clone(), |tree| tree.path().to_owned());
        let audience = std::cell::RefCell::new(&mut *self.audience);
        let supplier = AgentSupplier::new(
            player.preset.clone(),
            dir,
            self.sessions.root(),
            player.clocks,
        )
        .with_model(player.model.clone())
        .as_role(Some(role.short().to_owned()))
        .with_access(Some(player.access))
        .watched(Box::new(|progress| -> Heed {
            audience.borrow_mut().told(&Moment::Shows(progress))
        }));
        let deed = match role {
            Role::Implementer => Deed::Act,
            _ => Deed::Ask,
        };
        let at = workspace.clock.now();
        let ask = |say: &str, on: Option<On>| {
            call(
                &self.sessions,
                &supplier,
                &Call {
                    say,
                    deed,
                    on,
                    schema: None,
                    schema_text: None,
                    native: NativeUse::Auto,
                    recap: None,
                    at: &at,
                },
            )
        };
        let nothing = |error: SessionError| match supplier.last().and_then(|last| last.failure) {
            Some(failed) => Heard::Nothing(failed),
            None => Heard::Unkept(error),
        };
        let (mut cost, mut unpriced) = (0, 0);
        let mut price = |reply: &Reply| match reply.cost_micro_usd {
            Some(micro) => cost += micro,
            None => unpriced += 1,
        };
        // Opened again each time: the session may have changed the settings.
        let settle = || watch.settle(&Workspace::open(&self.dir)?);
        let first = ask(prompt, None);
        let mut breach = settle()?;
        let heard = match first {
            Err(error) => nothing(error),
            Ok(reply) => {
                price(&reply);
                let parsed = report::parse(role, reply.output.as_bytes());
                if parsed.findings.is_empty() {
                    Heard::Report(Box::new((parsed, reply)))
                } else if !breach.is_none() {
                    Heard::Unusable(parsed.findings)
                } else {
                    audience
                        .borrow_mut()
                        .told(&Moment::Repairs(&parsed.findings));
                    let repair = report::repair_prompt(role, &parsed.findings);
                    let on = match (supplier.continuation(), reply.series) {
                        (Continuation::None, _) => None,
                        (_, Some(series)) => Some(On::Series(series)),
                        (_, None) => Some(On::Episode(reply.episode)),
                    };
                    let again = ask(&repair, on);
                    breach = settle()?;
                    match again {
                        Err(error) => nothing(error),
                        Ok(again) => {
                            price(&again);
                            let parsed = report::parse(role, again.output.as_bytes());
                            if parsed.findings.is_empty() {
                                Heard::Report(Box::new((parsed, again)))
                            } else {
                                Heard::Malformed(parsed.findings)
                            }
                        }
                    }
                }
            }
        };
        self.tally.cost_micro_usd += cost;
        self.tally.unpriced += unpriced;
        Ok((heard, breach))
    }
}

/// What came of one player.
enum Played {
    Step(Step),
    /// It could not play; another one may.
    Another(String),
}

fn codes(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|finding| finding.code.id().to_owned())
        .collect()
}

fn told(findings: &[Finding]) -> String {
    let lines: Vec<String> = findings
        .iter()
        .take(5)
        .map(|finding| format!("[{}] {}", finding.code.id(), finding.message))
        .collect();
    lines.join("; ")
}

fn said(failed: &AgentFailure) -> String {
    use crate::session::Failure;
    let (Failure::Failed(why) | Failure::TimedOut(why) | Failure::Unparseable(why)) =
        &failed.failure;
    why.clone()
}
