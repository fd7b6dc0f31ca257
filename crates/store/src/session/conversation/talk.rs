//! How a call is held: room is made, the supplier is asked, the answer is kept, and asked for
//! again where its form does not fit.

use super::call::{Call, NativeUse, Reply, Transport};
use super::form::{checked, repair};
use super::start::{Purpose, corrupt, resolve};
use super::turn::{Kept, Names, RECAP, Said, Talk};
use crate::session::error::{Fault, NoRecap, SessionError};
use crate::session::reference::{On, Ref, RefKind};
use crate::session::replay;
use crate::session::store::{SessionStore, load_episode};
use crate::session::stored::{Entry, Native};
use crate::session::supplier::{
    Action, Answer, Capability, Continuation, Supplier, SupplierErrorKind, Turn, estimate,
};
use crate::session::value::{Episode, Exchange, Kind};
use serde_json::json;

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
    call_for(store, supplier, call, Purpose::Talk)
}

fn call_for(
    store: &dyn SessionStore,
    supplier: &dyn Supplier,
    call: &Call,
    purpose: Purpose,
) -> Result<Reply, SessionError> {
    let start = resolve(store, supplier, call, purpose)?;
    let mut talk = Talk {
        store,
        supplier,
        call,
        start,
        purpose,
        deed: call.deed,
        error: None,
    };
    let outcome = talk.run();
    if let Err(error) = &outcome {
        let mut line = json!({
            "error": error.fault.code(),
            "message": error.to_string(),
            "prior": error.prior,
        });
        if let (Some((name, error)), Some(line)) = (talk.error.take(), line.as_object_mut()) {
            line.insert("exchange".to_owned(), name.to_string().into());
            line.insert("class".to_owned(), error.class.into());
            line.insert("reset_at".to_owned(), error.reset_at.into());
            line.extend(talk.spent(&error.known));
        }
        talk.note(&line)
            .map_err(|fault| SessionError::new(fault).keeping(error.prior))?;
    }
    outcome
}

impl Talk<'_> {
    fn run(&mut self) -> Result<Reply, SessionError> {
        let kind = match self.call.deed {
            Action::Ask => Kind::Say,
            Action::Act => Kind::Act,
        };
        let mut kept = self.fitting(kind, self.call.say)?;
        for attempt in 1.. {
            let Some(check) = self.call.schema else { break };
            let (data, wrong) = checked(&kept.answer, check);
            if wrong.is_empty() {
                kept.reply.data = data;
                break;
            }
            if attempt > REPAIRS {
                return Err(self.keep(Fault::OutputSchemaInvalid {
                    paths: wrong,
                    attempts: attempt,
                }));
            }
            let again = repair(kind, &wrong);
            let before = kept.reply;
            kept = self.fitting(Kind::Repair, &again)?;
            kept.reply.attempts = attempt + 1;
            kept.reply.follows(before);
        }
        Ok(kept.reply)
    }

    /// One turn, in a new window where it does not fit this one.
    fn fitting(&mut self, kind: Kind, say: &str) -> Result<Kept, SessionError> {
        let recap = self.make_room(say)?;
        self.turn(kind, say, recap)
    }

    fn keep(&self, fault: Fault) -> SessionError {
        SessionError::new(fault).keeping(self.start.prior())
    }

    /// Bytes that are sent beside what is said: the schema, which some suppliers are told and
    /// the others take in another way, into the same window.
    fn beside(&self) -> u64 {
        self.call.schema_text.map_or(0, |schema| {
            SCHEMA_WORDS.saturating_add(schema.to_string().len() as u64)
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
        let exceeded = |needed, recap| {
            self.keep(Fault::ContextWindowExceeded {
                needed,
                room,
                recap,
            })
        };
        if estimate(now) > room {
            return Err(exceeded(needed, NoRecap::WouldNotHelp));
        }
        if !self.start.grows {
            let why = match self.supplier.capability() {
                Capability::Atom => NoRecap::Atom,
                Capability::Repl => NoRecap::Branch,
            };
            return Err(exceeded(needed, why));
        }
        let recap = match self.call.recap {
            Some(render) => render(),
            None => self
                .ask_for_recap()
                .map_err(|error| exceeded(needed, NoRecap::Failed(error.fault)))?,
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
            return Err(self.keep(corrupt(Ref::new(RefKind::Episode))));
        };
        let reply = call_for(
            self.store,
            self.supplier,
            &Call {
                say: RECAP,
                deed: Action::Ask,
                on: Some(On::Episode(episode.name)),
                schema: None,
                schema_text: None,
                native: self.call.native,
                recap: None,
                at: self.call.at,
            },
            Purpose::Recap,
        )?;
        Ok(reply.output)
    }

    fn turn(&mut self, kind: Kind, say: &str, recap: Option<String>) -> Result<Kept, SessionError> {
        self.deed = match kind {
            Kind::Act => Action::Act,
            Kind::Say | Kind::Recap | Kind::Repair => Action::Ask,
        };
        let before = match (&recap, &self.start.episode) {
            (None, Some(entry)) => Some(entry.clone()),
            _ => None,
        };
        let fork = before.as_ref().and_then(|entry| self.forkable(entry));
        if before.is_some() && fork.is_none() && self.call.native == NativeUse::Require {
            return Err(self.keep(Fault::RecordNotUsable {
                supplier: self.supplier.name().to_owned(),
            }));
        }
        let (prompt, transport) = self
            .prompt(before.as_ref(), fork.as_ref(), recap.as_deref(), say)
            .map_err(|fault| self.keep(fault))?;
        let names = Names::new(self.supplier.capability() == Capability::Repl);
        let _in_flight = self
            .store
            .begin(names.exchange, &self.about_to(kind))
            .map_err(|fault| self.keep(fault))?;
        let turn = Turn {
            name: names.exchange,
            prompt: &prompt,
            deed: self.deed,
            fork: fork.as_ref(),
            schema: self.call.schema_text,
        };
        let answer = match self.supplier.call(&turn) {
            Ok(answer) => answer,
            Err(error) => {
                let fault = self.fault(error.failure.clone());
                self.error = Some((names.exchange, error));
                return Err(self.keep(fault));
            }
        };
        let recap = recap.or_else(|| self.reported_recap(&answer));
        let said = Said {
            kind,
            say,
            answer: &answer,
            recap,
            transport,
        };
        let reply = self
            .store_turn(&names, said)
            .map_err(|fault| self.keep(fault))?;
        if self.deed == Action::Ask && !answer.changed.is_empty() {
            return Err(self.keep(Fault::ReadOnlyViolated {
                changed: answer.changed,
            }));
        }
        Ok(Kept { reply, answer })
    }

    /// A supplier's own compaction begins a new window where a chain goes on.
    fn reported_recap(&self, answer: &Answer) -> Option<String> {
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
    ) -> Result<(String, Transport), Fault> {
        if fork.is_some() {
            return Ok((say.to_owned(), Transport::Fork));
        }
        if let Some(recap) = recap {
            let window =
                Episode::empty().with(Exchange::new(Kind::Recap, RECAP, recap, None), None);
            return Ok((replay::prompt(&window, say), Transport::Replay));
        }
        match before {
            Some(entry) => {
                let episode = load_episode(self.store, &entry.hash, None)?;
                Ok((replay::prompt(&episode, say), Transport::Replay))
            }
            None => Ok((say.to_owned(), Transport::Fresh)),
        }
    }

    fn fault(&self, failure: SupplierErrorKind) -> Fault {
        let supplier = self.supplier.name().to_owned();
        match failure {
            SupplierErrorKind::Failed(why) => Fault::SupplierFailed { supplier, why },
            SupplierErrorKind::Absent(why) => Fault::SupplierAbsent { supplier, why },
            SupplierErrorKind::TimedOut(why) => Fault::SupplierTimeout { supplier, why },
            SupplierErrorKind::Unparseable(why) => Fault::SupplierUnparseable { supplier, why },
        }
    }
}
