//! One call and what becomes of it: where it goes on from, how the supplier learns what came
//! before, what is kept, what a compaction makes of it.
//!
//! Invariants: nothing is sent before it is known that it can be kept and gone on from; what
//! was kept earlier stays as it was, on every path; each answer that came is kept, also one
//! that is refused afterwards; a supplier's own record is forked, never continued in place;
//! an order is given once, and what mends the form of its answer is asked, not ordered.

use super::error::{Fault, NoRecap, Prior, SessionError};
use super::event::Batch;
use super::hash::ContentHash;
use super::reference::{Grade, On, Ref};
use super::replay;
use super::store::{SessionStore, load_episode};
use super::stored::{Entry, Native, Object};
use super::supplier::{
    Answer, Continuation, Deed, Failure, Grain, Lapse, Supplier, Turn, combined, estimate,
};
use super::value::{Episode, Exchange, Kind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How many times an answer that breaks its schema is asked for again.
const REPAIRS: u32 = 2;

/// Bytes of the words that a schema is told with, at most.
const SCHEMA_WORDS: u64 = 100;

/// Whether a supplier's own record is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NativeUse {
    /// Where it is still what it was.
    #[default]
    Auto,
    /// Never: what came before is told.
    Never,
    /// Only that: otherwise nothing is sent.
    Require,
}

/// How what came before reached the supplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Nothing came before.
    Fresh,
    /// Its own record, forked.
    Fork,
    /// It was told.
    Replay,
}

/// Says what is wrong with an answer's data, by path.
pub type Check<'a> = &'a dyn Fn(&Value) -> Vec<String>;

/// What is asked or ordered.
pub struct Call<'a> {
    /// The words.
    pub say: &'a str,
    /// Whether anything may change.
    pub deed: Deed,
    /// What it goes on from.
    pub on: Option<On>,
    /// Checks an answer; what is wrong with it, by path.
    pub schema: Option<Check<'a>>,
    /// The schema itself, for suppliers that take one.
    pub schema_text: Option<&'a Value>,
    /// Whether a supplier's own record may be used.
    pub native: NativeUse,
    /// What a new window begins with, when cook knows it without asking.
    pub recap: Option<&'a dyn Fn() -> String>,
    /// The moment, RFC 3339.
    pub at: &'a str,
}

/// An answer and the refs to go on from.
#[derive(Debug)]
pub struct Reply {
    /// The final text.
    pub output: String,
    /// The data, when a schema was given.
    pub data: Option<Value>,
    /// The exchange.
    pub exchange: Ref,
    /// The window after it.
    pub episode: Ref,
    /// The chain after it; none for an atom.
    pub series: Option<Ref>,
    /// Hash of the exchange.
    pub exchange_hash: ContentHash,
    /// Hash of the window.
    pub episode_hash: ContentHash,
    /// Hash of the chain.
    pub series_hash: Option<ContentHash>,
    /// How what came before reached the supplier.
    pub transport: Transport,
    /// The summary, when a new window was begun.
    pub recap: Option<String>,
    /// As the supplier reports it.
    pub usage: Option<Value>,
    /// In millionths of a US dollar; none = unknown.
    pub cost_micro_usd: Option<u64>,
    /// What changed in the repository.
    pub changed: Vec<String>,
    /// Commits that came, oldest first.
    pub commits: Vec<String>,
    /// HEAD before the call.
    pub head_before: Option<String>,
    /// HEAD after it.
    pub head_after: Option<String>,
    /// Answers that were asked for until one fitted.
    pub attempts: u32,
}

impl Reply {
    /// Takes in what an earlier turn of the same call took and did.
    fn follows(&mut self, before: Self) {
        // What one of several answers took is not what the call took.
        self.cost_micro_usd = before
            .cost_micro_usd
            .zip(self.cost_micro_usd)
            .map(|(one, two)| one.saturating_add(two));
        self.usage = before
            .usage
            .zip(self.usage.take())
            .map(|(one, two)| combined(&one, &two, |a, b| a + b));
        self.recap = self.recap.take().or(before.recap);
        self.head_before = before.head_before;
        self.head_after = self.head_after.take().or(before.head_after);
        let later = std::mem::replace(&mut self.commits, before.commits);
        self.commits.extend(later);
        let later = std::mem::replace(&mut self.changed, before.changed);
        self.changed.extend(later);
        self.changed.sort();
        self.changed.dedup();
    }
}

/// Where a call goes on from.
#[derive(Debug, Clone, Default)]
struct Start {
    episode: Option<Entry>,
    series: Option<Entry>,
    /// The chain whose current window goes on; a branch has none.
    grows: bool,
}

impl Start {
    fn prior(&self) -> Prior {
        Prior {
            episode: self.episode.as_ref().map(|entry| entry.name),
            series: self.series.as_ref().map(|entry| entry.name),
        }
    }
}

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

/// What a call is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// What was asked or ordered. The window's reserve stays free.
    Talk,
    /// A summary, which is what the reserve is for; of a sealed window too, because a
    /// chain can be gone on from as it stood before that.
    Recap,
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
        lapse: None,
    };
    let outcome = talk.run();
    if let Err(error) = &outcome {
        let mut line = json!({
            "error": error.fault.code(),
            "message": error.to_string(),
            "prior": error.prior,
        });
        if let (Some((name, lapse)), Some(line)) = (talk.lapse.take(), line.as_object_mut()) {
            line.insert("exchange".to_owned(), name.to_string().into());
            line.insert("class".to_owned(), lapse.class.into());
            line.insert("reset_at".to_owned(), lapse.reset_at.into());
            line.extend(talk.spent(&lapse.known));
        }
        talk.note(&line)
            .map_err(|fault| SessionError::new(fault).keeping(error.prior))?;
    }
    outcome
}

fn resolve(
    store: &dyn SessionStore,
    supplier: &dyn Supplier,
    call: &Call,
    purpose: Purpose,
) -> Result<Start, SessionError> {
    let Some(on) = call.on else {
        return Ok(Start::default());
    };
    let start = match on {
        On::Episode(name) => {
            let episode = entry(store, name, Grade::Episode)?;
            let series = match episode.series {
                Some(series) => store.entry(series)?,
                None => None,
            };
            Start {
                episode: Some(episode),
                series,
                grows: false,
            }
        }
        On::Series(name) => {
            let series = entry(store, name, Grade::Series)?;
            let current = series.episode.ok_or_else(|| corrupt(name))?;
            Start {
                episode: Some(entry(store, current, Grade::Episode)?),
                series: Some(series),
                grows: true,
            }
        }
    };
    let keep = |fault: Fault| SessionError::new(fault).keeping(start.prior());
    if supplier.continuation() == Continuation::None {
        return Err(keep(Fault::ContinuationNotSupported {
            supplier: supplier.name().to_owned(),
        }));
    }
    let is_repl = supplier.grain() == Grain::Repl;
    if let (On::Episode(episode), true, Purpose::Talk) = (on, is_repl, purpose)
        && let Some(series) = store.sealed(episode).map_err(keep)?
    {
        return Err(
            SessionError::new(Fault::EpisodeCompacted { episode, series }).keeping(Prior {
                episode: Some(episode),
                series: Some(series),
            }),
        );
    }
    if let (On::Series(name), false) = (on, is_repl) {
        return Err(keep(Fault::RefKindMismatch {
            name: name.to_string(),
            found: name,
            wanted: Grade::Episode,
        }));
    }
    Ok(start)
}

fn corrupt(name: Ref) -> Fault {
    Fault::ObjectCorrupt {
        what: name.to_string(),
        why: "it names no current window".to_owned(),
    }
}

fn entry(store: &dyn SessionStore, name: Ref, wanted: Grade) -> Result<Entry, Fault> {
    if name.grade() != wanted {
        return Err(Fault::RefKindMismatch {
            name: name.to_string(),
            found: name,
            wanted,
        });
    }
    store.entry(name)?.ok_or_else(|| match wanted {
        Grade::Series => Fault::SeriesNotFound(name.to_string()),
        Grade::Episode | Grade::Exchange => Fault::EpisodeNotFound(name.to_string()),
    })
}

/// One call in the making.
struct Talk<'a> {
    store: &'a dyn SessionStore,
    supplier: &'a dyn Supplier,
    call: &'a Call<'a>,
    start: Start,
    purpose: Purpose,
    /// Of the turn that is taken: what follows an order to mend its answer is asked.
    deed: Deed,
    /// The turn that gave no answer.
    lapse: Option<(Ref, Lapse)>,
}

/// One request with its answer, to be kept.
struct Said<'a> {
    kind: Kind,
    say: &'a str,
    answer: &'a Answer,
    recap: Option<String>,
    transport: Transport,
}

/// What a turn left behind.
struct Kept {
    reply: Reply,
    answer: Answer,
}

impl Talk<'_> {
    fn run(&mut self) -> Result<Reply, SessionError> {
        let kind = match self.call.deed {
            Deed::Ask => Kind::Say,
            Deed::Act => Kind::Act,
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
            let why = match self.supplier.grain() {
                Grain::Atom => NoRecap::Atom,
                Grain::Repl => NoRecap::Branch,
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
            return Err(self.keep(corrupt(Ref::new(Grade::Episode))));
        };
        let reply = call_for(
            self.store,
            self.supplier,
            &Call {
                say: RECAP,
                deed: Deed::Ask,
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
            Kind::Act => Deed::Act,
            Kind::Say | Kind::Recap | Kind::Repair => Deed::Ask,
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
        let names = Names::new(self.supplier.grain() == Grain::Repl);
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
            Err(lapse) => {
                let fault = self.fault(lapse.failure.clone());
                self.lapse = Some((names.exchange, lapse));
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
        if self.deed == Deed::Ask && !answer.changed.is_empty() {
            return Err(self.keep(Fault::ReadOnlyViolated {
                changed: answer.changed,
            }));
        }
        Ok(Kept { reply, answer })
    }

    /// What is noted before anything is started.
    fn about_to(&self, kind: Kind) -> Value {
        json!({
            "supplier": self.supplier.name(),
            "deed": self.deed,
            "kind": kind,
            "on": self.call.on,
            "prior": self.start.prior(),
            "began_at": self.call.at,
            "pid": std::process::id(),
        })
    }

    /// What a turn took and did, for the record of calls.
    fn spent(&self, answer: &Answer) -> Map<String, Value> {
        let line = json!({
            "exid": answer.exid,
            "model": answer.model,
            "role": answer.role,
            "workflow": answer.workflow,
            "exit": answer.exit,
            "schema_hash": self.call.schema_text.map(|schema| {
                ContentHash::of("cook/schema/1", &[schema.to_string().as_bytes()])
            }),
            "usage": answer.usage,
            "cost_micro_usd": answer.cost_micro_usd,
            "duration_ms": answer.duration_ms,
            "head_before": answer.head_before,
            "head_after": answer.head_after,
            "commits": answer.commits,
            "changed": answer.changed,
        });
        match line {
            Value::Object(line) => line,
            _ => Map::new(),
        }
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

    fn fault(&self, failure: Failure) -> Fault {
        let supplier = self.supplier.name().to_owned();
        match failure {
            Failure::Failed(why) => Fault::SupplierFailed { supplier, why },
            Failure::Absent(why) => Fault::SupplierAbsent { supplier, why },
            Failure::TimedOut(why) => Fault::SupplierTimeout { supplier, why },
            Failure::Unparseable(why) => Fault::SupplierUnparseable { supplier, why },
        }
    }

    /// Keeps exchange, window and chain, and goes on from them.
    fn store_turn(&mut self, names: &Names, said: Said) -> Result<Reply, Fault> {
        let Said {
            kind,
            say,
            answer,
            recap,
            transport,
        } = said;
        let exchange = Exchange::new(kind, say, answer.output.as_str(), answer.exid.clone());
        let exchange_hash = exchange.hash().clone();
        let mut objects = vec![Object::of_exchange(&exchange)];
        let before = match &recap {
            Some(text) => Some(begun_with(text, &mut objects)),
            None => self
                .start
                .episode
                .as_ref()
                .map(|entry| (entry.hash.clone(), entry.length, entry.bytes)),
        };
        let (parent, length, bytes) = match before {
            Some((hash, length, bytes)) => (Some(hash), length, bytes),
            None => (None, 0, 0),
        };
        let window = Object::Episode {
            parent,
            exchange: exchange_hash.clone(),
            length: length + 1,
        };
        let episode_hash = window.hash();
        objects.push(window);
        let entry = |name: Ref, hash: &ContentHash, length: u64| Entry {
            schema_version: 1,
            name,
            hash: hash.clone(),
            exid: answer
                .exid
                .clone()
                .filter(|_| name.grade() != Grade::Series),
            supplier: self.supplier.name().to_owned(),
            series: names.series.filter(|_| name.grade() != Grade::Series),
            episode: Some(names.episode).filter(|_| name.grade() != Grade::Episode),
            length,
            bytes: bytes + (say.len() + answer.output.len()) as u64,
            native: answer
                .native
                .clone()
                .filter(|_| name.grade() == Grade::Episode),
            head: answer.head_after.clone(),
            tree: answer
                .tree_after
                .clone()
                .filter(|_| name.grade() == Grade::Episode),
            at: self.call.at.to_owned(),
        };
        let episode = entry(names.episode, &episode_hash, length + 1);
        let mut entries = vec![entry(names.exchange, &exchange_hash, 1), episode.clone()];
        let mut series = None;
        if let Some(name) = names.series {
            let (object, length) = self.series_object(&episode_hash, recap.is_some())?;
            series = Some(entry(name, &object.hash(), length));
            entries.extend(series.clone());
            objects.push(object);
        }
        let line = self.kept_line(kind, transport, names, answer);
        self.store.keep(&Batch {
            objects,
            entries,
            sealed: self.seals(recap.is_some(), names.series)?,
            label: None,
            line: Some(line),
        })?;
        let series_hash = series.as_ref().map(|series| series.hash.clone());
        self.start = Start {
            episode: Some(episode),
            grows: series.is_some(),
            series,
        };
        Ok(Reply {
            output: answer.output.clone(),
            data: None,
            exchange: names.exchange,
            episode: names.episode,
            series: names.series,
            exchange_hash,
            episode_hash,
            series_hash,
            transport,
            recap,
            usage: answer.usage.clone(),
            cost_micro_usd: answer.cost_micro_usd,
            changed: answer.changed.clone(),
            commits: answer.commits.clone(),
            head_before: answer.head_before.clone(),
            head_after: answer.head_after.clone(),
            attempts: 1,
        })
    }

    /// The line of a turn that is kept.
    fn kept_line(&self, kind: Kind, transport: Transport, names: &Names, answer: &Answer) -> Value {
        let mut line = json!({
            "kind": kind,
            "transport": transport,
            "exchange": names.exchange,
            "episode": names.episode,
            "series": names.series,
        });
        if let Some(line) = line.as_object_mut() {
            line.extend(self.spent(answer));
        }
        self.line(&line)
    }

    /// The window that a new one follows, unless it was sealed before, and the chain that
    /// goes on.
    fn seals(&self, begins: bool, series: Option<Ref>) -> Result<Option<(Ref, Ref)>, Fault> {
        let window = self.start.episode.as_ref().filter(|_| begins);
        let Some((window, series)) = window.zip(series) else {
            return Ok(None);
        };
        let sealed = self.store.sealed(window.name)?;
        Ok(sealed.is_none().then_some((window.name, series)))
    }

    /// The chain after this turn, and its length.
    fn series_object(&self, episode: &ContentHash, begins: bool) -> Result<(Object, u64), Fault> {
        let (parent, length) = match self.start.series.as_ref().filter(|_| self.start.grows) {
            None => (None, 1),
            Some(before) if begins => (Some(before.hash.clone()), before.length + 1),
            Some(before) => match self.store.get(&before.hash)? {
                Object::Series { parent, length, .. } => (parent, length),
                _ => return Err(corrupt(before.name)),
            },
        };
        let episode = episode.clone();
        let chain = Object::Series {
            parent,
            episode,
            length,
        };
        Ok((chain, length))
    }

    fn note(&self, what: &Value) -> Result<(), Fault> {
        self.store.record(&self.line(what))
    }

    /// A line of the record of calls.
    fn line(&self, what: &Value) -> Value {
        let mut line = json!({
            "schema_version": 1,
            "at": self.call.at,
            "supplier": self.supplier.name(),
            "deed": self.deed,
            "on": self.call.on,
        });
        if let (Some(line), Some(what)) = (line.as_object_mut(), what.as_object()) {
            line.extend(what.clone());
        }
        line
    }
}

/// A window that begins with a summary: its hash, its length and the bytes said in it.
fn begun_with(recap: &str, objects: &mut Vec<Object>) -> (ContentHash, u64, u64) {
    let first = Object::of_exchange(&Exchange::new(Kind::Recap, RECAP, recap, None));
    let window = Object::Episode {
        parent: None,
        exchange: first.hash(),
        length: 1,
    };
    let hash = window.hash();
    objects.extend([first, window]);
    (hash, 1, (RECAP.len() + recap.len()) as u64)
}

/// What a summary is asked for with.
const RECAP: &str = "Summarise this conversation for whoever goes on with it and has nothing else: the task, what holds, \
what was learned, what is open, what is next. Plain text.";

/// What an answer that breaks its schema is asked for again with.
fn repair(kind: Kind, wrong: &[String]) -> String {
    let keep = match kind {
        Kind::Act => "Do nothing more: only the form of the answer is asked for. ",
        Kind::Say | Kind::Recap | Kind::Repair => "",
    };
    format!(
        "The answer does not fit the schema:\n{}\n{keep}Answer again with the data alone, as JSON that fits.",
        wrong.join("\n")
    )
}

/// The refs of one turn.
struct Names {
    exchange: Ref,
    episode: Ref,
    series: Option<Ref>,
}

impl Names {
    fn new(chained: bool) -> Self {
        Self {
            exchange: Ref::new(Grade::Exchange),
            episode: Ref::new(Grade::Episode),
            series: chained.then(|| Ref::new(Grade::Series)),
        }
    }
}

/// The data of an answer and what is wrong with it.
fn checked(answer: &Answer, check: &dyn Fn(&Value) -> Vec<String>) -> (Option<Value>, Vec<String>) {
    let data = match &answer.data {
        Some(data) => Some(data.clone()),
        None => serde_json::from_str(unfenced(&answer.output)).ok(),
    };
    match data {
        Some(data) => {
            let wrong = check(&data);
            (Some(data), wrong)
        }
        None => (None, vec!["the answer is no JSON".to_owned()]),
    }
}

/// The inside of one fence around the whole text, or the text.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|inside| inside.strip_suffix("```"))
        .map_or(text, str::trim)
}
