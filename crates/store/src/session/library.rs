//! Conversations for programs: an atom that is asked, a repl that is asked and given orders.
//!
//! What cannot be meant cannot be written: an atom goes on from an episode only, and [`On`]
//! is an episode or a series, never both.
//!
//! ```
//! use cook_store::session::{
//!     Answer, Capability, Continuation, GitStore, Native, On, Repl, Request, Supplier, SupplierError, Turn,
//!     Window,
//! };
//! use cook_store::store::Place;
//!
//! struct Echo;
//! impl Supplier for Echo {
//!     fn name(&self) -> &str { "echo" }
//!     fn capability(&self) -> Capability { Capability::Repl }
//!     fn continuation(&self) -> Continuation { Continuation::Replay }
//!     fn window(&self) -> Option<Window> { None }
//!     fn can_fork(&self, _: &Native) -> bool { false }
//!     fn call(&self, turn: &Turn) -> Result<Answer, SupplierError> {
//!         Ok(Answer { output: format!("{} bytes", turn.prompt.len()), ..Answer::default() })
//!     }
//! }
//!
//! # let dir = tempfile::tempdir()?;
//! # let git_dir = dir.path().to_owned();
//! let place = Place { common_dir: git_dir.clone(), worktree: git_dir.clone(), git_dir };
//! let store = GitStore::open(place)?;
//! let repl = Repl::new(&store, &Echo);
//! let first = repl.ask(&Request::of("What is open?"))?;
//! assert_eq!(first.answer.output, "13 bytes");
//! // The series goes on; the first refs stay what they were.
//! let series = first.series.expect("a repl answers in a series");
//! let second = repl.act(&Request { on: Some(On::Series(series)), ..Request::of("Do it.") })?;
//! // A branch from the checkpoint does not see what came later.
//! let branch = repl.ask(&Request { on: Some(On::Episode(first.episode)), ..Request::of("Why?") })?;
//! assert_ne!(second.episode, branch.episode);
//! # Ok::<(), cook_store::session::SessionError>(())
//! ```
//!
//! An atom takes no series:
//!
//! ```compile_fail
//! # use cook_store::session::{Atom, On, Ref, RefKind, EpisodeRef};
//! fn wrong(atom: &Atom, series: On) {
//!     let _ = atom.ask("x", Some(series), None);
//! }
//! ```

use super::conversation::{Call, NativeUse, Purpose, Reply, call_as};
use super::error::{Prior, Reason, SessionError};
use super::reference::{On, Ref, RefKind};
use super::store::SessionStore;
use super::supplier::{Action, Capability, Supplier};
use cook_core::schema::GivenSchema;
use cook_os::clock::Clock;
use serde::de::DeserializeOwned;

/// The name of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpisodeRef(Ref);

impl TryFrom<Ref> for EpisodeRef {
    type Error = SessionError;

    fn try_from(name: Ref) -> Result<Self, SessionError> {
        match name.kind() {
            RefKind::Episode => Ok(Self(name)),
            _ => Err(Reason::KindMismatch(name.to_string(), name, RefKind::Episode).into()),
        }
    }
}

/// A question or an order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request<'a> {
    /// The words.
    pub say: &'a str,
    /// What it goes on from.
    pub on: Option<On>,
    /// What the answer must fit.
    pub schema: Option<&'a GivenSchema>,
}

impl<'a> Request<'a> {
    /// One without anything before it.
    pub fn of(say: &'a str) -> Self {
        Self {
            say,
            ..Self::default()
        }
    }
}

/// A supplier that answers once: its replies name an episode and no series.
pub struct Atom<'a> {
    store: &'a dyn SessionStore,
    supplier: &'a dyn Supplier,
}

impl<'a> Atom<'a> {
    /// Any supplier, asked as an atom.
    pub fn new(store: &'a dyn SessionStore, supplier: &'a dyn Supplier) -> Self {
        Self { store, supplier }
    }

    /// Asks, going on from an episode where one is given.
    ///
    /// # Errors
    /// A [`SessionError`] with the refs that are still good.
    pub fn ask(
        &self,
        say: &str,
        on: Option<EpisodeRef>,
        schema: Option<&GivenSchema>,
    ) -> Result<Reply, SessionError> {
        let on = on.map(|EpisodeRef(name)| On::Episode(name));
        let request = Request { say, on, schema };
        let (store, supplier) = (self.store, self.supplier);
        send(store, supplier, Capability::Atom, Action::Ask, &request)
    }
}

/// A supplier with tools: its replies name an episode and a series.
pub struct Repl<'a> {
    store: &'a dyn SessionStore,
    supplier: &'a dyn Supplier,
}

impl<'a> Repl<'a> {
    /// Any supplier, as a repl.
    pub fn new(store: &'a dyn SessionStore, supplier: &'a dyn Supplier) -> Self {
        Self { store, supplier }
    }

    /// Asks: nothing may change.
    ///
    /// # Errors
    /// A [`SessionError`] with the refs that are still good.
    pub fn ask(&self, request: &Request) -> Result<Reply, SessionError> {
        let (store, supplier) = (self.store, self.supplier);
        send(store, supplier, Capability::Repl, Action::Ask, request)
    }

    /// Orders: the worktree may change. Never repeated by itself.
    ///
    /// # Errors
    /// A [`SessionError`] with the refs that are still good.
    pub fn act(&self, request: &Request) -> Result<Reply, SessionError> {
        let (store, supplier) = (self.store, self.supplier);
        send(store, supplier, Capability::Repl, Action::Act, request)
    }
}

fn send(
    store: &dyn SessionStore,
    supplier: &dyn Supplier,
    capability: Capability,
    action: Action,
    request: &Request,
) -> Result<Reply, SessionError> {
    let call = Call {
        say: request.say,
        action,
        on: request.on,
        schema: request.schema,
        native: NativeUse::Auto,
        recap: None,
        at: &Clock::System.now(),
    };
    call_as(store, supplier, capability, &call, Purpose::Talk)
}

impl Reply {
    /// The data as a value of a type.
    ///
    /// # Errors
    /// `output_schema_invalid` when there was no schema, or what fits it does not fit the type.
    pub fn data_as<T: DeserializeOwned>(&self) -> Result<T, SessionError> {
        let data = self.answer.data.clone().unwrap_or_default();
        serde_json::from_value(data).map_err(|error| {
            let reason = Reason::SchemaBroken(vec![error.to_string()], self.attempts);
            SessionError::from(reason).keeping(Prior {
                episode: Some(self.episode),
                series: self.series,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::git::GitStore;
    use super::super::stored::Native;
    use super::super::supplier::{Answer, Continuation, SupplierError, Turn, Window};
    use super::*;
    use crate::store::Place;
    use serde_json::json;

    struct Three;

    impl Supplier for Three {
        fn name(&self) -> &str {
            "three"
        }
        fn capability(&self) -> Capability {
            Capability::Repl
        }
        fn continuation(&self) -> Continuation {
            Continuation::Replay
        }
        fn window(&self) -> Option<Window> {
            None
        }
        fn can_fork(&self, _: &Native) -> bool {
            false
        }
        fn call(&self, _: &Turn) -> Result<Answer, SupplierError> {
            Ok(Answer {
                output: "{\"n\": 3}".to_owned(),
                ..Answer::default()
            })
        }
    }

    #[derive(serde::Deserialize)]
    struct Count {
        n: u64,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Other {
        #[allow(dead_code)]
        name: String,
    }

    #[test]
    fn an_atom_and_a_repl_give_values_of_a_type() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let place = Place {
            common_dir: dir.path().to_owned(),
            git_dir: dir.path().to_owned(),
            worktree: dir.path().to_owned(),
        };
        let store = GitStore::open(place).unwrap_or_else(|e| panic!("{e}"));
        let schema = GivenSchema::of(json!({"required": ["n"]})).unwrap_or_else(|e| panic!("{e}"));
        let atom = Atom::new(&store, &Three);
        let reply = atom.ask("how many?", None, Some(&schema));
        let reply = reply.unwrap_or_else(|e| panic!("{e}"));
        let count = reply.data_as::<Count>().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((count.n, reply.series), (3, None));
        let on = EpisodeRef::try_from(reply.episode).unwrap_or_else(|e| panic!("{e}"));
        let next = atom.ask("on", Some(on), None);
        assert!(next.is_ok_and(|next| next.series.is_none()));
        assert!(EpisodeRef::try_from(reply.exchange).is_err());

        let repl = Repl::new(&store, &Three);
        let request = Request {
            schema: Some(&schema),
            ..Request::of("how many?")
        };
        let reply = repl.ask(&request).unwrap_or_else(|e| panic!("{e}"));
        let count = reply.data_as::<Count>().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(count.n, 3);
        assert!(reply.series.is_some());
        let wrong = reply.data_as::<Other>().err();
        let wrong = wrong.map(|error| (error.code().id(), error.prior.series));
        assert!(
            wrong.is_some_and(|(code, series)| code == "output_schema_invalid" && series.is_some())
        );
    }
}
