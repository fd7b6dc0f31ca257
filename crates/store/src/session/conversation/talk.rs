//! How a call is held: room is made, the supplier is asked, the answer is kept, and asked for
//! again where its form does not fit.

use super::call::{Call, NativeUse, Reply};
use super::form::{check_data, repair};
use super::start::{Purpose, no_window, resolve};
use super::turn::{Names, RECAP, Said, Talk};
use crate::session::calls::CallRecord;
use crate::session::error::{NoRecap, Reason, SessionError};
use crate::session::reference::{On, Ref, RefKind};
use crate::session::replay;
use crate::session::store::{SessionStore, load_episode};
use crate::session::stored::{Entry, Native};
use crate::session::supplier::{
    Action, Answer, Capability, Continuation, Supplier, Transport, Turn, estimate,
};
use crate::session::value::{Episode, Exchange, Kind};
use cook_core::schema::GivenSchema;

/// How many times an answer that breaks its schema is asked for again.
const REPAIRS: u32 = 2;
/// Bytes of the words that a schema is told with, at most.
const SCHEMA_WORDS: u64 = 100;

/// Makes a call and keeps what comes of it.
///
/// # Errors
/// A [`SessionError`] with the refs that are still good.
pub fn call(
    store: &dyn SessionStore,
    supplier: &dyn Supplier,
    call: &Call,
) -> Result<Reply, SessionError> {
    call_as(store, supplier, supplier.capability(), call, Purpose::Talk)
}

/// The same of a supplier that is taken as an atom or as a repl.
pub(in crate::session) fn call_as(
    store: &dyn SessionStore,
    supplier: &dyn Supplier,
    capability: Capability,
    call: &Call,
    purpose: Purpose,
) -> Result<Reply, SessionError> {
    let start = resolve(store, supplier, capability, call, purpose)?;
    let mut talk = Talk {
        store,
        supplier,
        capability,
        call,
        start,
        purpose,
        action: call.action,
        error: None,
    };
    let outcome = talk.run();
    if let Err(error) = &outcome {
        let mut line = match talk.error.take() {
            Some((name, failed)) => CallRecord {
                exchange: Some(name),
                class: failed.class.map(str::to_owned),
                reset_at: failed.reset_at,
                ..talk.record_turn(*failed.known)
            },
            None => talk.line(),
        };
        line.error = Some(error.code().id().to_owned());
        line.message = Some(error.to_string());
        line.prior = Some(error.prior);
        store
            .record(&line)
            .map_err(|unkept| unkept.keeping(error.prior))?;
    }
    outcome
}

impl Talk<'_> {
    fn run(&mut self) -> Result<Reply, SessionError> {
        let kind = match self.call.action {
            Action::Ask => Kind::Say,
            Action::Act => Kind::Act,
        };
        let mut reply = self.fitting(kind, self.call.say)?;
        let outcome = self.mend_form(kind, &mut reply);
        outcome.map_err(|mut error| {
            if self.call.action == Action::Act {
                error.changed.splice(..0, changes(&reply.answer));
            }
            error
        })?;
        Ok(reply)
    }

    /// Asks again until the answer has the form that is wanted.
    fn mend_form(&mut self, kind: Kind, reply: &mut Reply) -> Result<(), SessionError> {
        for attempt in 1.. {
            let Some(schema) = self.call.schema else {
                reply.answer.data = None;
                break;
            };
            let (data, wrong) = check_data(&reply.answer, schema);
            if wrong.is_empty() {
                reply.answer.data = data;
                break;
            }
            if attempt > REPAIRS {
                return Err(self.keep(Reason::SchemaBroken(wrong, attempt)));
            }
            let again = self.fitting(Kind::Repair, &repair(kind, &wrong))?;
            let before = std::mem::replace(reply, again);
            reply.attempts = attempt + 1;
            reply.follows(before);
        }
        Ok(())
    }

    /// One turn, in a new window where it does not fit this one.
    fn fitting(&mut self, kind: Kind, say: &str) -> Result<Reply, SessionError> {
        let recap = self.make_room(say)?;
        self.turn(kind, say, recap)
    }

    fn keep(&self, error: impl Into<SessionError>) -> SessionError {
        error.into().keeping(self.start.prior())
    }

    /// Bytes that are sent beside what is said: the schema, which some suppliers are told and
    /// the others take in another way, into the same window.
    fn beside(&self) -> u64 {
        self.call.schema.map_or(0, |schema| {
            SCHEMA_WORDS.saturating_add(schema.value().to_string().len() as u64)
        })
    }

    /// Begins a new window when what was said and what is said now do not fit this one.
    fn make_room(&self, say: &str) -> Result<Option<String>, SessionError> {
        let Some(window) = self.supplier.window() else {
            return Ok(None);
        };
        let room = match self.purpose {
            Purpose::Talk => window.room(),
            Purpose::Recap => window.tokens,
        };
        let now = (say.len() as u64).saturating_add(self.beside());
        let before = self.start.episode.as_ref().map_or(0, |entry| entry.bytes);
        let needed = estimate(before.saturating_add(now));
        if needed <= room {
            return Ok(None);
        }
        let exceeded = |needed, recap| self.keep(Reason::WindowExceeded(needed, room, recap));
        if estimate(now) > room {
            return Err(exceeded(needed, NoRecap::WouldNotHelp));
        }
        if !self.start.grows {
            let why = match self.capability {
                Capability::Atom => NoRecap::Atom,
                Capability::Repl => NoRecap::Branch,
            };
            return Err(exceeded(needed, why));
        }
        let recap = match self.call.recap {
            Some(render) => render(),
            None => self
                .ask_for_recap()
                .map_err(|error| exceeded(needed, NoRecap::Failed(error)))?,
        };
        let needed = estimate((RECAP.len() + recap.len()) as u64 + now);
        if needed > room {
            return Err(exceeded(needed, NoRecap::TooLong));
        }
        Ok(Some(recap))
    }

    /// One ask on a fork, recorded like any other; the chain itself does not move.
    fn ask_for_recap(&self) -> Result<String, SessionError> {
        let Some(episode) = &self.start.episode else {
            return Err(self.keep(no_window(Ref::new(RefKind::Episode))));
        };
        let reply = call_as(
            self.store,
            self.supplier,
            self.capability,
            &Call {
                say: RECAP,
                action: Action::Ask,
                on: Some(On::Episode(episode.name)),
                schema: None,
                native: self.call.native,
                recap: None,
                at: self.call.at,
            },
            Purpose::Recap,
        )?;
        Ok(reply.answer.output)
    }

    fn turn(
        &mut self,
        kind: Kind,
        say: &str,
        recap: Option<String>,
    ) -> Result<Reply, SessionError> {
        self.action = match kind {
            Kind::Act => Action::Act,
            Kind::Say | Kind::Recap | Kind::Repair => Action::Ask,
        };
        let before = self.start.episode.clone().filter(|_| recap.is_none());
        let fork = before.as_ref().and_then(|entry| self.forkable(entry));
        if before.is_some() && fork.is_none() && self.call.native == NativeUse::Require {
            let supplier = self.supplier.name().to_owned();
            return Err(self.keep(Reason::RecordNotUsable(supplier)));
        }
        let (prompt, transport) = self
            .prompt(before.as_ref(), fork.as_ref(), recap.as_deref(), say)
            .map_err(|error| self.keep(error))?;
        let names = Names::new(self.capability == Capability::Repl);
        let _in_flight = self
            .store
            .begin(names.exchange, &self.record_about_to(kind))
            .map_err(|error| self.keep(error))?;
        let turn = Turn {
            name: names.exchange,
            prompt: &prompt,
            action: self.action,
            fork: fork.as_ref(),
            schema: self.call.schema.map(GivenSchema::value),
        };
        let answer = match self.supplier.call(&turn) {
            Ok(answer) => answer,
            Err(error) => {
                let supplier = self.supplier.name().to_owned();
                let reason = Reason::Supplier(supplier, error.failure.clone());
                let changed = changes(&error.known);
                self.error = Some((names.exchange, error));
                return Err(match self.action {
                    Action::Ask if !changed.is_empty() => {
                        self.keep(Reason::ReadOnlyViolated(changed, Some(Box::new(reason))))
                    }
                    Action::Ask => self.keep(reason),
                    Action::Act => {
                        let mut failed = self.keep(reason);
                        failed.changed = changed;
                        failed
                    }
                });
            }
        };
        let said = Said {
            kind,
            say,
            recap: recap.or_else(|| self.find_recap(&answer)),
            answer,
            transport,
        };
        let reply = self
            .store_turn(&names, said)
            .map_err(|error| self.keep(error))?;
        if self.action == Action::Ask && !reply.answer.changed.is_empty() {
            return Err(self.keep(Reason::ReadOnlyViolated(reply.answer.changed, None)));
        }
        Ok(reply)
    }

    /// A supplier's own compaction begins a new window where a chain goes on.
    fn find_recap(&self, answer: &Answer) -> Option<String> {
        answer.compaction.clone().filter(|_| self.start.grows)
    }

    fn forkable(&self, entry: &Entry) -> Option<Native> {
        let native = entry.native.clone()?;
        let may = self.call.native != NativeUse::Never
            && self.supplier.continuation() == Continuation::Native
            && entry.supplier == self.supplier.name()
            && self.supplier.can_fork(&native);
        may.then_some(native)
    }

    fn prompt(
        &self,
        before: Option<&Entry>,
        fork: Option<&Native>,
        recap: Option<&str>,
        say: &str,
    ) -> Result<(String, Transport), SessionError> {
        let window = match (fork, recap, before) {
            (Some(_), ..) => return Ok((say.to_owned(), Transport::Fork)),
            (_, Some(recap), _) => {
                let first = Exchange::new(Kind::Recap, RECAP, recap, None);
                Episode::of(vec![first], None)
            }
            (_, _, Some(entry)) => load_episode(self.store, &entry.hash, None)?,
            _ => return Ok((say.to_owned(), Transport::Fresh)),
        };
        Ok((replay::prompt(&window, say), Transport::Replay))
    }
}

/// What an answer says is changed: paths, and commits that came.
fn changes(answer: &Answer) -> Vec<String> {
    let commits = answer
        .commits
        .iter()
        .map(|commit| format!("commit {commit}"));
    answer.changed.iter().cloned().chain(commits).collect()
}
