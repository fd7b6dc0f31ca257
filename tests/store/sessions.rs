//! Sessions as a library: what a call makes, what it leaves alone, how it goes on, and each
//! error with the way out that it names. The supplier is scripted and sees what a real one would.

use cook_protocol::diagnostic::Failure;
use cook_protocol::schema::GivenSchema;
use cook_repo::session::{
    Action, Answer, Batch, Call, Capability, Cleared, Continuation, Episode, Exchange, GitStore,
    Kind, Native, NativeUse, Object, On, Prior, Ref, RefKind, Series, Supplier, SupplierError,
    SupplierErrorKind, Transport, Turn, Window, call, clear, load_episode, load_series, verify,
};
use cook_repo::store::Place;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Answers by a function of the prompt, and remembers what it was sent.
struct Scripted {
    name: &'static str,
    capability: Capability,
    continuation: Continuation,
    window: Option<Window>,
    answers: RefCell<Vec<Result<Answer, SupplierErrorKind>>>,
    sent: RefCell<Vec<(String, Option<String>)>>,
    actions: RefCell<Vec<Action>>,
    forkable: bool,
}

impl Scripted {
    fn new(name: &'static str, capability: Capability) -> Self {
        Self {
            name,
            capability,
            continuation: Continuation::Replay,
            window: None,
            answers: RefCell::default(),
            sent: RefCell::default(),
            actions: RefCell::default(),
            forkable: true,
        }
    }

    fn native(mut self) -> Self {
        self.continuation = Continuation::Native;
        self
    }

    fn answers(self, outputs: &[&str]) -> Self {
        for output in outputs {
            self.answer(Ok(text(output)));
        }
        self
    }

    fn answer(&self, answer: Result<Answer, SupplierErrorKind>) {
        self.answers.borrow_mut().push(answer);
    }

    fn prompt(&self, number: usize) -> String {
        self.sent.borrow()[number].0.clone()
    }

    fn calls(&self) -> usize {
        self.sent.borrow().len()
    }
}

fn text(output: &str) -> Answer {
    Answer {
        output: output.to_owned(),
        ..Answer::default()
    }
}

impl Supplier for Scripted {
    fn name(&self) -> &str {
        self.name
    }
    fn capability(&self) -> Capability {
        self.capability
    }
    fn continuation(&self) -> Continuation {
        self.continuation
    }
    fn window(&self, _: Option<&Native>) -> Option<Window> {
        self.window
    }
    fn can_fork(&self, _: &Native) -> bool {
        self.forkable
    }
    fn call(&self, turn: &Turn) -> Result<Answer, SupplierError> {
        let fork = turn.fork.map(|native| native.session.clone());
        self.sent.borrow_mut().push((turn.prompt.to_owned(), fork));
        self.actions.borrow_mut().push(turn.action);
        let number = self.calls();
        let mut answers = self.answers.borrow_mut();
        let mut answer = if answers.is_empty() {
            text(&format!("answer {number}"))
        } else {
            answers.remove(0)?
        };
        answer.exid.get_or_insert_with(|| format!("x{number}"));
        if self.continuation == Continuation::Native && answer.native.is_none() {
            answer.native = Some(Native {
                session: format!("{}-{number}", self.name),
                transcript_sha256: None,
                totals: None,
            });
        }
        Ok(answer)
    }
}

fn say<'a>(words: &'a str, on: Option<On>) -> Call<'a> {
    Call {
        say: words,
        action: Action::Ask,
        on,
        schema: None,
        native: NativeUse::Auto,
        recap: None,
        at: "2026-01-02T03:04:05Z",
    }
}

fn words(store: &GitStore, episode: Ref) -> Vec<(Kind, String, String)> {
    let entry = store.entry(episode).unwrap().unwrap();
    let episode = load_episode(store, &entry.hash, entry.exid).unwrap();
    episode
        .exchanges()
        .iter()
        .map(|one| (one.kind(), one.input().to_owned(), one.output().to_owned()))
        .collect()
}

fn prior(error: &Failure) -> Prior {
    let prior = error.prior.as_deref().cloned().unwrap_or_default();
    let name = |text: Option<String>| text.map(|text| text.parse().unwrap());
    Prior {
        episode: name(prior.episode),
        series: name(prior.series),
    }
}

fn code(error: &Failure) -> &'static str {
    error.code.id()
}

#[test]
fn hashes_follow_the_published_vectors() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../protocol/session-vectors.json")).unwrap();
    for vector in vectors["exchanges"].as_array().unwrap() {
        let kind: Kind = serde_json::from_value(vector["kind"].clone()).unwrap();
        let part = |name: &str| vector[name].as_str().unwrap().to_owned();
        let exchange = Exchange::new(kind, part("input"), part("output"), None);
        assert_eq!(exchange.hash().as_str(), part("hash"), "{vector}");
    }
    for vector in vectors["episodes"].as_array().unwrap() {
        let pairs = vector["exchanges"].as_array().unwrap().iter();
        let exchanges = pairs.map(|pair| {
            let part = |index: usize| pair[index].as_str().unwrap().to_owned();
            Exchange::new(Kind::Say, part(0), part(1), None)
        });
        let episode = Episode::of(exchanges.collect(), None);
        assert_eq!(episode.hash().as_str(), vector["hash"].as_str().unwrap());
    }
    let windows = ["one", "two"].map(|answer| {
        let exchange = Exchange::new(Kind::Recap, "", answer, None);
        Episode::of(vec![exchange], None)
    });
    let series = Series::of(windows.to_vec());
    assert_eq!(
        series.hash().as_str(),
        vectors["series"]["hash"].as_str().unwrap()
    );
}

#[test]
fn where_one_part_ends_and_the_next_begins_is_part_of_the_hash() {
    let exchange = |input: &str, output: &str| Exchange::new(Kind::Say, input, output, None);
    assert_ne!(exchange("a\nb", "c").hash(), exchange("a", "b\nc").hash());
    assert_ne!(exchange("ab", "").hash(), exchange("", "ab").hash());
    let named = Exchange::new(Kind::Say, "a", "b", Some("x".to_owned()));
    assert_eq!(named.hash(), exchange("a", "b").hash());
}

#[test]
fn values_go_through_one_document_and_a_changed_byte_is_noticed() {
    let exchange = Exchange::new(Kind::Act, "do \u{202e}it", "done\n", Some("x1".to_owned()));
    let episode = Episode::of(vec![exchange.clone(), exchange], Some("window".to_owned()));
    let series = Series::of(vec![episode.clone(), episode]);
    let json = serde_json::to_string(&series).unwrap();
    assert_eq!(serde_json::from_str::<Series>(&json).unwrap(), series);
    for (from, to) in [("done", "dome"), ("\"act\"", "\"say\""), ("do ", "no ")] {
        let forged = json.replacen(from, to, 1);
        assert_ne!(forged, json);
        let error = serde_json::from_str::<Series>(&forged).unwrap_err();
        assert!(error.to_string().contains("hashes to"), "{error}");
    }
}

#[test]
fn an_atom_begins_and_goes_on_and_leaves_what_was_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let atom = Scripted::new("model", Capability::Atom).answers(&["four", "eight", "nine"]);
    let first = call(&store, &atom, &say("2+2?", None)).unwrap();
    assert_eq!((first.answer.output.as_str(), first.series), ("four", None));
    let before = words(&store, first.episode);
    let second = call(
        &store,
        &atom,
        &say("twice?", Some(On::Episode(first.episode))),
    )
    .unwrap();
    assert_ne!(first.episode, second.episode);
    assert_eq!(words(&store, first.episode), before);
    assert_eq!(words(&store, second.episode).len(), 2);
    // A second branch of the same checkpoint never hears of the first.
    let third = call(
        &store,
        &atom,
        &say("plus 5?", Some(On::Episode(first.episode))),
    )
    .unwrap();
    assert!(!atom.prompt(2).contains("twice?") && !atom.prompt(2).contains("eight"));
    assert_eq!(words(&store, third.episode).len(), 2);
    assert_eq!(atom.prompt(0), "2+2?");
    for part in ["2+2?", "four", "twice?"] {
        assert!(atom.prompt(1).contains(part), "{}", atom.prompt(1));
    }
    // Two calls with the same words and the same answer are still two.
    let again = Scripted::new("model", Capability::Atom).answers(&["four"]);
    let twin = call(&store, &again, &say("2+2?", None)).unwrap();
    assert_eq!(twin.episode_hash, first.episode_hash);
    assert_ne!(twin.episode, first.episode);
    let error = call(
        &store,
        &atom,
        &say("x", Some(On::Series(Ref::new(RefKind::Series)))),
    )
    .unwrap_err();
    assert_eq!(code(&error), "series_not_found");
}

#[test]
fn a_repl_goes_on_in_its_series_and_branches_from_an_episode() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl = Scripted::new("agent", Capability::Repl);
    let first = call(&store, &repl, &say("look", None)).unwrap();
    let series = first.series.unwrap();
    let act = Call {
        action: Action::Act,
        ..say("change", Some(On::Series(series)))
    };
    let second = call(&store, &repl, &act).unwrap();
    assert!(repl.prompt(1).contains("answer 1"));
    assert_ne!(second.series, first.series);
    let kinds: Vec<Kind> = words(&store, second.episode)
        .iter()
        .map(|one| one.0)
        .collect();
    assert_eq!(kinds, [Kind::Say, Kind::Act]);
    let branch = call(
        &store,
        &repl,
        &say("else", Some(On::Episode(first.episode))),
    )
    .unwrap();
    assert!(!repl.prompt(2).contains("change"));
    assert_ne!(branch.series, second.series);
    // The old refs still answer.
    let again = call(&store, &repl, &say("more", Some(On::Series(series)))).unwrap();
    assert_eq!(words(&store, again.episode).len(), 2);
}

#[test]
fn a_supplier_that_cannot_go_on_says_so_before_anything_is_sent() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let able = Scripted::new("agent", Capability::Repl);
    let first = call(&store, &able, &say("look", None)).unwrap();
    let mut unable = Scripted::new("once", Capability::Repl);
    unable.continuation = Continuation::None;
    let error = call(
        &store,
        &unable,
        &say("on", Some(On::Episode(first.episode))),
    )
    .unwrap_err();
    assert_eq!(code(&error), "continuation_not_supported");
    assert_eq!(prior(&error).episode, Some(first.episode));
    assert_eq!(unable.calls(), 0);
    // The ways out that the hint names.
    assert!(error.hints[0].contains("afresh"));
    call(&store, &unable, &say("on", None)).unwrap();
    call(&store, &able, &say("on", Some(On::Episode(first.episode)))).unwrap();
}

fn small(capability: Capability) -> Scripted {
    let mut supplier = Scripted::new("agent", capability);
    supplier.window = Some(Window {
        tokens: 300,
        reserve: 100,
    });
    supplier
}

#[test]
fn a_window_that_fills_is_sealed_and_the_series_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl = small(Capability::Repl);
    repl.answer(Ok(text(&"long ".repeat(100))));
    repl.answer(Ok(text("SUMMARY")));
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let series = first.series.unwrap();
    let second = call(
        &store,
        &repl,
        &say(&"w".repeat(200), Some(On::Series(series))),
    )
    .unwrap();
    assert_eq!(second.recap.as_deref(), Some("SUMMARY"));
    let after = words(&store, second.episode);
    assert_eq!(after[0].0, Kind::Recap);
    assert_eq!((after[0].2.as_str(), after.len()), ("SUMMARY", 2));
    assert!(repl.prompt(2).contains("SUMMARY") && !repl.prompt(2).contains("long long"));
    let entry = store.entry(second.series.unwrap()).unwrap().unwrap();
    let whole = load_series(&store, &entry.hash).unwrap();
    assert_eq!(whole.episodes().len(), 2);
    assert_eq!(whole.episodes()[1].exchanges()[0].output(), "SUMMARY");
    // The sealed window refuses and names the series that goes on, which works.
    let error = call(&store, &repl, &say("x", Some(On::Episode(first.episode)))).unwrap_err();
    assert_eq!(code(&error), "episode_compacted");
    let series = prior(&error).series.unwrap();
    assert!(error.hints[0].contains(&series.to_string()));
    call(&store, &repl, &say("x", Some(On::Series(series)))).unwrap();
}

#[test]
fn what_cannot_fit_is_refused_before_it_is_sent_and_seals_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    for capability in [Capability::Atom, Capability::Repl] {
        let supplier = small(capability);
        let first = call(&store, &supplier, &say("begin", None)).unwrap();
        let calls = supplier.calls();
        let huge = "w".repeat(2_000);
        let mut tries = vec![None, Some(On::Episode(first.episode))];
        tries.extend(first.series.map(|series| Some(On::Series(series))));
        for on in tries {
            let error = call(&store, &supplier, &say(&huge, on)).unwrap_err();
            assert_eq!(code(&error), "context_window_exceeded");
            assert!(error.message.contains("667") || error.message.contains("671"));
            assert!(error.message.contains("200"), "{error}");
        }
        assert_eq!(supplier.calls(), calls);
        assert_eq!(store.find_successor(first.episode).unwrap(), None);
    }
    // A summary that fails is no reason to lose anything.
    let repl = small(Capability::Repl);
    repl.answer(Ok(text(&"long ".repeat(100))));
    repl.answer(Err(SupplierErrorKind::Failed("no".to_owned())));
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let on = Some(On::Series(first.series.unwrap()));
    let error = call(&store, &repl, &say(&"w".repeat(200), on)).unwrap_err();
    assert_eq!(code(&error), "context_window_exceeded");
    assert!(error.message.contains("failed: no"), "{error}");
    assert!(error.hints[0].contains(&first.series.unwrap().to_string()));
    assert_eq!(store.find_successor(first.episode).unwrap(), None);
    call(&store, &repl, &say("short", on)).unwrap();
}

#[test]
fn a_series_is_gone_on_from_at_every_point_after_it_was_compacted() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl = small(Capability::Repl);
    repl.answer(Ok(text(&"long ".repeat(100))));
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let on = Some(On::Series(first.series.unwrap()));
    let mut branches = Vec::new();
    for summary in ["ONE", "TWO", "THREE"] {
        repl.answer(Ok(text(summary)));
        let reply = call(&store, &repl, &say(&"w".repeat(200), on)).unwrap();
        assert_eq!(reply.recap.as_deref(), Some(summary));
        let entry = store.entry(reply.series.unwrap()).unwrap().unwrap();
        assert_eq!(
            load_series(&store, &entry.hash).unwrap().episodes().len(),
            2
        );
        branches.push(reply.series);
    }
    // The chain that the sealed window names stays the first, and each of them goes on.
    assert_eq!(store.find_successor(first.episode).unwrap(), branches[0]);
    for branch in branches {
        call(&store, &repl, &say("x", branch.map(On::Series))).unwrap();
    }
}

#[test]
fn a_summary_that_cannot_be_had_says_why_and_what_helps() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl = small(Capability::Repl);
    repl.answer(Ok(text(&"long ".repeat(170))));
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let series = first.series.unwrap();
    let calls = repl.calls();
    // What was said fills the window to where not even a summary can be asked for.
    let error = call(&store, &repl, &say("on", Some(On::Series(series)))).unwrap_err();
    assert_eq!(code(&error), "context_window_exceeded");
    assert!(error.message.contains("300 fit"), "{error}");
    assert!(
        error.hints[0].contains("a larger window"),
        "{}",
        error.hints[0]
    );
    assert_eq!((repl.calls(), prior(&error).series), (calls, Some(series)));
    let large = Scripted::new("large", Capability::Repl);
    call(&store, &large, &say("on", Some(On::Series(series)))).unwrap();
    // On the checkpoint itself the way out is its series, where it compacts.
    let repl = small(Capability::Repl);
    repl.answer(Ok(text(&"long ".repeat(100))));
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let words = "w".repeat(200);
    let error = call(
        &store,
        &repl,
        &say(&words, Some(On::Episode(first.episode))),
    )
    .unwrap_err();
    assert!(
        error.hints[0].contains("which compacts"),
        "{}",
        error.hints[0]
    );
    let on = prior(&error).series.map(On::Series);
    call(&store, &repl, &say(&words, on)).unwrap();
    // Words that fit no window of their own: nothing of that kind is promised.
    let error = call(&store, &repl, &say(&"w".repeat(700), on)).unwrap_err();
    assert!(error.hints[0].starts_with("say less"), "{}", error.hints[0]);
}

#[test]
fn a_compaction_that_the_supplier_reports_becomes_a_recap() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl = Scripted::new("agent", Capability::Repl).native();
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let mut compacted = text("after it");
    compacted.compaction = Some("what was".to_owned());
    repl.answer(Ok(compacted));
    let on = Some(On::Series(first.series.unwrap()));
    let second = call(&store, &repl, &say("go on", on)).unwrap();
    let after = words(&store, second.episode);
    assert_eq!((after[0].0, after[0].2.as_str()), (Kind::Recap, "what was"));
    assert_eq!(after[1].2, "after it");
    assert_eq!(store.find_successor(first.episode).unwrap(), second.series);
}

fn number() -> GivenSchema {
    let n = json!({"n": {"type": "integer"}});
    GivenSchema::of(json!({"type": "object", "required": ["n"], "properties": n})).unwrap()
}

#[test]
fn an_answer_that_breaks_the_schema_is_asked_for_twice_more() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let number = number();
    let ask = |on| Call {
        schema: Some(&number),
        ..say("how many?", on)
    };
    let good =
        Scripted::new("agent", Capability::Repl).answers(&["many", "```json\n{\"n\": 3}\n```"]);
    let reply = call(&store, &good, &ask(None)).unwrap();
    assert_eq!(
        (reply.answer.data, reply.attempts),
        (Some(json!({"n": 3})), 2)
    );
    let kinds: Vec<Kind> = words(&store, reply.episode)
        .iter()
        .map(|one| one.0)
        .collect();
    assert_eq!(kinds, [Kind::Say, Kind::Repair]);
    let bad =
        Scripted::new("agent", Capability::Repl).answers(&["1", "{\"n\":\"x\"}", "{}", "never"]);
    let error = call(&store, &bad, &ask(Some(On::Series(reply.series.unwrap())))).unwrap_err();
    assert_eq!((code(&error), bad.calls()), ("output_schema_invalid", 3));
    assert!(error.message.contains("times: /: "), "{error}");
    // All answers were kept, and the ref in the error goes on from the last.
    let kept = prior(&error).episode.unwrap();
    assert_eq!(words(&store, kept).len(), 5);
    call(&store, &bad, &say("never mind", Some(On::Episode(kept)))).unwrap();
}

#[test]
fn what_a_schema_adds_is_counted_like_all_that_is_sent() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let wide = json!({"description": "d".repeat(700), "required": ["n"]});
    let wide = GivenSchema::of(wide).unwrap();
    let repl = small(Capability::Repl);
    let asked = Call {
        schema: Some(&wide),
        ..say("how many?", None)
    };
    let error = call(&store, &repl, &asked).unwrap_err();
    assert_eq!((code(&error), repl.calls()), ("context_window_exceeded", 0));

    // An answer that is asked for again: what was said is summed up where there is a series,
    let narrow = GivenSchema::of(json!({"required": ["n"]})).unwrap();
    let asked = |schema| Call {
        schema: Some(schema),
        ..say("how many?", None)
    };
    let repl = small(Capability::Repl).answers(&[&"long ".repeat(100), "SUMMARY", "{\"n\": 3}"]);
    let reply = call(&store, &repl, &asked(&narrow)).unwrap();
    assert_eq!(
        (reply.answer.data, reply.attempts),
        (Some(json!({"n": 3})), 2)
    );
    assert_eq!(reply.recap.as_deref(), Some("SUMMARY"));
    assert!(!repl.prompt(2).contains("long long"), "{}", repl.prompt(2));
    assert!(repl.prompt(2).len() < 900, "{}", repl.prompt(2));
    // and refused where there is none.
    let atom = small(Capability::Atom).answers(&[&"long ".repeat(100)]);
    let error = call(&store, &atom, &asked(&narrow)).unwrap_err();
    assert_eq!((code(&error), atom.calls()), ("context_window_exceeded", 1));
    assert_eq!(words(&store, prior(&error).episode.unwrap()).len(), 1);
}

#[test]
fn an_order_is_given_once_and_its_answer_mended_by_asking() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl = Scripted::new("agent", Capability::Repl);
    let spent = |output: &str, tokens: u64, cost| Answer {
        usage: Some(json!({"input_tokens": tokens, "cache": {"read": 1}})),
        cost_micro_usd: cost,
        head_before: Some(format!("before {tokens}")),
        head_after: Some(format!("after {tokens}")),
        ..text(output)
    };
    let mut did = spent("did it", 5, Some(100));
    did.commits = vec!["c1".to_owned()];
    did.changed = vec!["HEAD".to_owned(), "a".to_owned()];
    repl.answer(Ok(did));
    repl.answer(Ok(spent("three", 7, Some(10))));
    repl.answer(Ok(spent("{\"n\": 3}", 11, Some(1))));
    let number = number();
    let order = Call {
        action: Action::Act,
        schema: Some(&number),
        ..say("do it and count", None)
    };
    let reply = call(&store, &repl, &order).unwrap();
    assert_eq!(
        *repl.actions.borrow(),
        [Action::Act, Action::Ask, Action::Ask]
    );
    assert_eq!(
        (reply.attempts, reply.answer.cost_micro_usd),
        (3, Some(111))
    );
    assert_eq!(
        reply.answer.usage,
        Some(json!({"input_tokens": 23, "cache": {"read": 3}}))
    );
    assert_eq!(
        (reply.answer.commits, reply.answer.changed),
        (
            vec!["c1".to_owned()],
            vec!["HEAD".to_owned(), "a".to_owned()]
        )
    );
    assert_eq!(reply.answer.head_before.as_deref(), Some("before 5"));
    assert_eq!(reply.answer.head_after.as_deref(), Some("after 11"));
    let lines = store.lines().unwrap().into_iter();
    let actions: Vec<Action> = lines.filter_map(|line| line.action).collect();
    assert_eq!(actions, [Action::Act, Action::Ask, Action::Ask]);
    // A mending that changes something is what a question that does so is.
    repl.answer(Ok(text("done")));
    let mut meddled = text("{\"n\": 4}");
    meddled.changed = vec!["b".to_owned()];
    repl.answer(Ok(meddled));
    let error = call(&store, &repl, &order).unwrap_err();
    assert_eq!(code(&error), "read_only_violated");
    // What one answer of several took is unknown: so is the whole.
    repl.answer(Ok(spent("five", 5, Some(5))));
    repl.answer(Ok(text("{\"n\": 5}")));
    let reply = call(&store, &repl, &order).unwrap();
    assert_eq!(
        (reply.answer.usage, reply.answer.cost_micro_usd),
        (None, None)
    );
}

#[test]
fn a_failed_call_names_what_is_still_good() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl = Scripted::new("agent", Capability::Repl);
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let on = Some(On::Series(first.series.unwrap()));
    for (failure, wanted) in [
        (
            SupplierErrorKind::Failed("529".to_owned()),
            "supplier_failed",
        ),
        (
            SupplierErrorKind::TimedOut("idle".to_owned()),
            "supplier_timeout",
        ),
        (
            SupplierErrorKind::Unparseable("{".to_owned()),
            "supplier_unparseable",
        ),
    ] {
        repl.answer(Err(failure));
        let error = call(&store, &repl, &say("go on", on)).unwrap_err();
        assert_eq!(code(&error), wanted);
        assert_eq!(prior(&error).series, first.series);
        assert!(error.hints[0].contains(&first.series.unwrap().to_string()));
    }
    call(&store, &repl, &say("go on", on)).unwrap();
    let lines = store.lines().unwrap().into_iter();
    let failed = lines.filter(|line| line.error.is_some()).count();
    assert_eq!(failed, 3);
}

#[test]
fn refs_of_the_wrong_kind_and_unknown_ones_make_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl = Scripted::new("agent", Capability::Repl);
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let lines = store.lines().unwrap().len();
    let cases = [
        (On::Episode(first.series.unwrap()), "ref_kind_mismatch"),
        (On::Series(first.episode), "ref_kind_mismatch"),
        (On::Episode(first.exchange), "ref_kind_mismatch"),
        (On::Episode(Ref::new(RefKind::Episode)), "episode_not_found"),
        (On::Series(Ref::new(RefKind::Series)), "series_not_found"),
    ];
    for (on, wanted) in cases {
        assert_eq!(
            code(&call(&store, &repl, &say("x", Some(on))).unwrap_err()),
            wanted
        );
    }
    assert_eq!((repl.calls(), store.lines().unwrap().len()), (1, lines));
    for text in [
        "ep_",
        "ep_01",
        "sr_01ARZ3NDEKTSV4RRFFQ69G5FAI",
        "xx_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        assert!(text.parse::<Ref>().is_err(), "{text}");
    }
}

fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The store of a repository whose git dir is `dir`.
fn open_in(dir: &Path) -> GitStore {
    GitStore::open(Place {
        common_dir: dir.to_owned(),
        git_dir: dir.to_owned(),
        worktree: dir.to_owned(),
    })
    .unwrap()
}

fn keep_ref(store: &GitStore, entry: &cook_repo::session::Entry) {
    let batch = Batch {
        entries: vec![entry.clone()],
        ..Batch::default()
    };
    store.keep(&batch).unwrap();
}

/// The same, with nothing in memory of what was read before.
fn afresh(store: &GitStore) -> GitStore {
    open_in(store.root().parent().unwrap().parent().unwrap())
}

fn find_log(store: &GitStore) -> PathBuf {
    store.root().parent().unwrap().join("log.git")
}

/// The file that says which event is the newest.
fn find_tip(store: &GitStore) -> PathBuf {
    find_log(store).join("refs/sessions/record")
}

/// The files of all objects of a log that are in no pack, by their names.
fn loose(store: &GitStore) -> BTreeMap<String, Vec<u8>> {
    let objects = files(&find_log(store).join("objects")).into_iter();
    let is_loose = |name: &String| name.len() == 41 && name.as_bytes()[2] == b'/';
    objects.filter(|(name, _)| is_loose(name)).collect()
}

/// The file of the newest event.
/// Clears once no call is being made: a program that another test starts holds the locks of this process for a moment,
/// until it is the program that it was started as.
fn clear_alone(
    store: &GitStore,
    since_ms: u64,
    cited: &BTreeSet<Ref>,
    at: &str,
    preview: bool,
) -> Result<Cleared, Failure> {
    for _ in 0..100 {
        match clear(store, since_ms, cited, at, preview) {
            Err(failure) if failure.message.ends_with("a call is being made") => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            done => return done,
        }
    }
    clear(store, since_ms, cited, at, preview)
}

fn newest(store: &GitStore) -> PathBuf {
    let tip = std::fs::read_to_string(find_tip(store)).unwrap();
    let tip = tip.trim();
    find_log(store)
        .join("objects")
        .join(&tip[..2])
        .join(&tip[2..])
}

/// What an object's file holds.
fn content(bytes: &[u8]) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut text = Vec::new();
    flate2::read::ZlibDecoder::new(bytes)
        .read_to_end(&mut text)
        .ok()
        .map(|_| text)
}

/// Git keeps its objects from being written by mistake.
fn overwrite(path: &Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn no_call_changes_a_byte_that_was_stored() {
    let dir = crate::support::room();
    let store = open_in(dir.path());
    let repl = small(Capability::Repl);
    let mut on = None;
    let mut sealed = 0;
    let mut seen: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for number in 0..12 {
        let words = format!("question {number} {}", "pad ".repeat(20));
        let reply = call(&store, &repl, &say(&words, on)).unwrap();
        on = reply.series.map(On::Series);
        sealed += usize::from(reply.recap.is_some());
        let mut now = files(dir.path());
        assert!(now.remove("cook/log.git/refs/sessions/record").is_some());
        for (name, bytes) in &seen {
            assert_eq!(now.get(name), Some(bytes), "{name} changed");
        }
        seen = now;
    }
    assert!(sealed >= 1, "no window was sealed");
}

/// Bytes of all objects of a store.
fn count_stored(store: &GitStore) -> i64 {
    let objects = files(&find_log(store).join("objects"));
    objects.values().map(|bytes| bytes.len() as i64).sum()
}

/// `COOK_EXCHANGES=10000` measures a long episode and says what it took.
#[test]
fn a_call_stores_the_same_however_long_the_episode_is() {
    let count: usize = std::env::var("COOK_EXCHANGES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(150);
    let dir = crate::support::room();
    let store = open_in(dir.path());
    let repl = Scripted::new("agent", Capability::Repl).native();
    let mut on = None;
    let (mut before, mut grown, mut took) = (0, Vec::new(), Vec::new());
    for number in 0..count {
        let begin = std::time::Instant::now();
        let reply = call(&store, &repl, &say(&format!("question {number:06}"), on)).unwrap();
        took.push(begin.elapsed().as_micros());
        on = reply.series.map(On::Series);
        if number < 20 || number + 20 >= count {
            let now = count_stored(&store);
            if number % 20 != 0 {
                grown.push(now - before);
            }
            before = now;
        } else if number + 21 == count {
            before = count_stored(&store);
        }
    }
    let (first, last) = (grown[1], *grown.last().unwrap());
    // Numbers with more digits, and the place of what lies further back, are all that grows.
    assert!(last <= first + 60, "{first} bytes at first, {last} at last");
    let begin = std::time::Instant::now();
    let checked = verify(&store).unwrap();
    assert!(checked.damaged.is_empty(), "{:?}", checked.damaged);
    let median = |times: &[u128]| {
        let mut times = times.to_vec();
        times.sort_unstable();
        times[times.len() / 2]
    };
    let elapsed = begin.elapsed();
    println!("{first} bytes for the second call, {last} for the last of {count}");
    println!("{} bytes for all", count_stored(&store));
    for end in [10, 100, 1_000, 10_000] {
        if end <= count {
            println!(
                "calls {} to {end}: median {} µs",
                end / 2 + 1,
                median(&took[end / 2..end])
            );
        }
    }
    println!(
        "verify: {} objects and {} refs in {elapsed:?}, {:.0} objects a second",
        checked.objects,
        checked.refs,
        checked.objects as f64 / elapsed.as_secs_f64()
    );
    for (what, look) in [
        (
            "a ref",
            &(|store: &GitStore, name: Ref| store.entry(name).unwrap().is_some())
                as &dyn Fn(&GitStore, Ref) -> bool,
        ),
        ("a prefix", &|store, name| {
            store
                .list_beginning_with(&name.to_string()[..20])
                .unwrap()
                .contains(&name)
        }),
        ("a name", &|store, _| {
            store.find_labelled("none").unwrap().is_none()
        }),
        ("the record of calls", &|store, _| {
            store.lines().unwrap().len() == count
        }),
    ] {
        let (store, begin) = (afresh(&store), std::time::Instant::now());
        let On::Series(name) = on.unwrap() else {
            panic!()
        };
        assert!(look(&store, name), "{what}");
        println!("{what} is found in {:?}", begin.elapsed());
    }
    let entry = on.map(|on| match on {
        On::Series(name) | On::Episode(name) => store.entry(name).unwrap().unwrap(),
    });
    let last = entry.and_then(|entry| entry.episode).unwrap();
    let begin = std::time::Instant::now();
    let told = Scripted::new("other", Capability::Repl);
    call(&store, &told, &say("and you?", Some(On::Episode(last)))).unwrap();
    println!(
        "told to another supplier: {} bytes in {:?}",
        told.prompt(0).len(),
        begin.elapsed()
    );
}

#[test]
fn each_flipped_byte_of_an_exchange_is_found() {
    let dir = crate::support::room();
    let store = open_in(dir.path());
    let repl = Scripted::new("agent", Capability::Repl);
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    call(&store, &repl, &say("on", first.series.map(On::Series))).unwrap();
    let mut tried = 0;
    for hash in store.objects().unwrap() {
        let Object::Exchange { .. } = store.get(&hash).unwrap() else {
            continue;
        };
        let is_it = |bytes: &[u8]| {
            let text = content(bytes).unwrap_or_default();
            text.starts_with(b"blob") && store.get(&hash).is_err()
        };
        for (name, good) in loose(&store) {
            let path = find_log(&store).join("objects").join(name);
            std::fs::remove_file(&path).unwrap();
            let is_it = is_it(&good);
            overwrite(&path, &good);
            for place in (0..good.len()).filter(|_| is_it) {
                let mut bad = good.clone();
                bad[place] ^= 1;
                overwrite(&path, &bad);
                match store.get(&hash) {
                    Err(error) if code(&error) == "object_corrupt" => tried += 1,
                    // Bits that stand for nothing fill the last byte up.
                    Ok(_) => assert_eq!(content(&bad), content(&good)),
                    other => panic!("{other:?}"),
                }
                overwrite(&path, &good);
            }
        }
        store.get(&hash).unwrap();
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn labels_are_plain_words() {
    let dir = crate::support::room();
    let store = open_in(dir.path());
    let name = Ref::new(RefKind::Episode);
    for label in [
        "",
        "..",
        ".hidden",
        "a/b",
        "../x",
        "a b",
        "\u{202e}",
        &"x".repeat(101),
    ] {
        assert!(store.label(label, name).is_err(), "{label:?}");
        assert_eq!(store.find_labelled(label).unwrap(), None);
    }
    assert!(store.label(&name.to_string(), name).is_err());
    store.label("before-the-change", name).unwrap();
    assert_eq!(
        store.find_labelled("before-the-change").unwrap(),
        Some(name)
    );
}

/// Usecase 7: each step goes on from the one before, and the last one is data.
#[test]
fn a_review_in_several_steps_on_an_atom() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let atom = Scripted::new("model", Capability::Atom).answers(&[
        "two leaks and a typo",
        "the leaks",
        "{\"n\": 2}",
    ]);
    let review = call(&store, &atom, &say("review the change", None)).unwrap();
    let on = |reply: &cook_repo::session::Reply| Some(On::Episode(reply.episode));
    let worst = call(&store, &atom, &say("which of it blocks?", on(&review))).unwrap();
    let number = number();
    let counted = Call {
        schema: Some(&number),
        ..say("how many is that?", on(&worst))
    };
    let counted = call(&store, &atom, &counted).unwrap();
    assert_eq!(counted.answer.data, Some(json!({"n": 2})));
    for part in [
        "review the change",
        "two leaks and a typo",
        "which of it blocks?",
        "the leaks",
    ] {
        assert!(atom.prompt(2).contains(part), "{part}");
    }
    let steps: Vec<String> = words(&store, counted.episode)
        .into_iter()
        .map(|(_, input, _)| input)
        .collect();
    assert_eq!(
        steps,
        [
            "review the change",
            "which of it blocks?",
            "how many is that?"
        ]
    );
    assert_eq!(words(&store, review.episode).len(), 1);
}

/// Pattern 2: days later, another process, the supplier's own record gone, a name is enough.
#[test]
fn a_kept_episode_is_revived_by_another_process() {
    let dir = crate::support::room();
    let kept = {
        let store = open_in(dir.path());
        let repl = Scripted::new("agent", Capability::Repl).native();
        let first = call(&store, &repl, &say("look at the parser", None)).unwrap();
        call(
            &store,
            &repl,
            &say("and the rest", first.series.map(On::Series)),
        )
        .unwrap();
        store.label("looked", first.episode).unwrap();
        first
    };
    let store = open_in(dir.path());
    let mut repl = Scripted::new("agent", Capability::Repl).native();
    repl.forkable = false;
    let named = store.find_labelled("looked").unwrap().unwrap();
    assert_eq!(named, kept.episode);
    let revived = call(&store, &repl, &say("go on", Some(On::Episode(named)))).unwrap();
    assert_eq!(revived.transport, Transport::Replay);
    assert!(repl.prompt(0).contains("look at the parser") && repl.prompt(0).contains("answer 1"));
    assert!(!repl.prompt(0).contains("and the rest"));
    assert_ne!(revived.series, kept.series);
}

#[test]
fn an_order_from_a_checkpoint_knows_what_was_asked_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_in(dir.path());
    let repl =
        Scripted::new("agent", Capability::Repl).answers(&["the cache is stale", "cleared it"]);
    let asked = call(&store, &repl, &say("what is wrong?", None)).unwrap();
    let act = Call {
        action: Action::Act,
        ..say("mend it", Some(On::Episode(asked.episode)))
    };
    let done = call(&store, &repl, &act).unwrap();
    assert!(repl.prompt(1).contains("the cache is stale"));
    assert_eq!(done.answer.output, "cleared it");
    assert!(done.series.is_some() && done.series != asked.series);
    let kinds: Vec<Kind> = words(&store, done.episode)
        .iter()
        .map(|one| one.0)
        .collect();
    assert_eq!(kinds, [Kind::Say, Kind::Act]);
    assert_eq!(words(&store, asked.episode).len(), 1);
}

/// A store with a sealed window, a chain that goes on from it, a name and an atom's call.
struct Whole {
    _dir: tempfile::TempDir,
    store: GitStore,
    sealed: Ref,
    series: Ref,
}

fn whole() -> Whole {
    let dir = crate::support::room();
    let store = open_in(dir.path());
    let mut repl = small(Capability::Repl);
    repl.window = Some(Window {
        tokens: 220,
        reserve: 100,
    });
    repl.answer(Ok(text(&"long \n".repeat(40))));
    repl.answer(Ok(text("SUMMARY")));
    let first = call(&store, &repl, &say("begin", None)).unwrap();
    let on = first.series.map(On::Series);
    let second = call(&store, &repl, &say(&"w".repeat(130), on)).unwrap();
    assert!(second.recap.is_some());
    let third = call(&store, &repl, &say("on", second.series.map(On::Series))).unwrap();
    store.label("kept", third.series.unwrap()).unwrap();
    assert_eq!(store.find_successor(first.episode).unwrap(), second.series);
    assert_eq!(verify(&store).unwrap().damaged, []);
    Whole {
        _dir: dir,
        store,
        sealed: first.episode,
        series: third.series.unwrap(),
    }
}

/// Whether the check that `cook session verify` makes finds something.
fn is_found(store: &GitStore) -> bool {
    !verify(store).unwrap().damaged.is_empty()
}

#[test]
fn each_flipped_byte_of_the_store_is_found_by_verify() {
    let Whole { store, _dir, .. } = whole();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let objects = loose(&store).into_iter();
    let objects = objects.map(|(name, good)| (find_log(&store).join("objects").join(name), good));
    let tip = (find_tip(&store), std::fs::read(find_tip(&store)).unwrap());
    for (path, good) in objects.chain([tip]) {
        let text = content(&good).unwrap_or_else(|| b"ref ".to_vec());
        let kind = String::from_utf8_lossy(&text)
            .split(' ')
            .next()
            .unwrap()
            .to_owned();
        // Each byte of one file of a kind, some of the others.
        let step = if kinds.contains_key(&kind) { 31 } else { 1 };
        for place in (0..good.len()).step_by(step) {
            let mut bad = good.clone();
            bad[place] ^= [1, 0x20, 0x80][place % 3];
            overwrite(&path, &bad);
            let is_same = match kind.as_str() {
                "ref" => {
                    String::from_utf8_lossy(&bad).trim().to_lowercase()
                        == String::from_utf8_lossy(&good).trim()
                }
                _ => content(&bad).is_some_and(|text| Some(text) == content(&good)),
            };
            // What stands for nothing, and what is read as the same, is no damage.
            assert!(is_found(&store) || is_same, "{}, {place}", path.display());
            *kinds.entry(kind.clone()).or_default() += usize::from(!is_same);
        }
        overwrite(&path, &good);
    }
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    assert!(kinds.values().all(|tried| *tried > 30), "{kinds:?}");
    assert!(!is_found(&store));
}

#[test]
fn each_missing_or_foreign_file_of_the_store_is_found_by_verify() {
    let Whole { store, _dir, .. } = whole();
    let objects = loose(&store).into_keys();
    let mut paths: Vec<PathBuf> = objects
        .map(|name| find_log(&store).join("objects").join(name))
        .collect();
    // An empty tree is known to git without a file.
    paths.retain(|path| !path.ends_with("4b/825dc642cb6eb9a060e54bf8d69288fbee4904"));
    assert!(paths.len() > 10, "{}", paths.len());
    paths.push(find_tip(&store));
    for path in paths {
        let good = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(is_found(&store), "{} is gone", path.display());
        std::fs::create_dir(&path).unwrap();
        assert!(is_found(&store), "{} is a directory", path.display());
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, &good).unwrap();
    }
    for place in [find_tip(&store), store.root().join("inflight/x")] {
        let path = place.with_file_name("a stray");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "x").unwrap();
        let found = verify(&store).unwrap().damaged;
        assert_eq!(found.len(), 1, "{}: {found:?}", path.display());
        std::fs::remove_file(&path).unwrap();
    }
    assert!(!is_found(&store));
}

#[test]
fn what_leads_elsewhere_is_found_by_verify() {
    let Whole {
        store,
        series,
        sealed,
        _dir,
    } = whole();
    let whole = std::fs::read(find_tip(&store)).unwrap();
    let entry = store.entry(series).unwrap().unwrap();
    let window = store.entry(sealed).unwrap().unwrap();
    let other = |kind| Ref::new(kind);
    let entry_of = |name: Ref, entry: &cook_repo::session::Entry| cook_repo::session::Entry {
        name,
        ..entry.clone()
    };
    let cases = [
        // Another real window in the place of its own, and one that is nowhere.
        cook_repo::session::Entry {
            episode: Some(sealed),
            ..entry_of(other(RefKind::Series), &entry)
        },
        cook_repo::session::Entry {
            episode: Some(other(RefKind::Episode)),
            ..entry_of(other(RefKind::Series), &entry)
        },
        cook_repo::session::Entry {
            length: 7,
            ..entry_of(other(RefKind::Series), &entry)
        },
        cook_repo::session::Entry {
            bytes: 7,
            ..entry_of(other(RefKind::Episode), &window)
        },
        cook_repo::session::Entry {
            series: Some(series),
            ..entry_of(other(RefKind::Episode), &window)
        },
        // A value of another kind.
        entry_of(other(RefKind::Exchange), &entry),
    ];
    for entry in cases {
        keep_ref(&store, &entry);
        assert!(is_found(&store), "{entry:?}");
        std::fs::write(find_tip(&store), &whole).unwrap();
        assert!(!is_found(&store));
    }
    // A mark that names another real series, and a name for nothing.
    let unsealed = entry.episode.unwrap();
    for batch in [
        Batch {
            sealed: Some((unsealed, series)),
            ..Batch::default()
        },
        Batch {
            label: Some(("x".to_owned(), other(RefKind::Series))),
            ..Batch::default()
        },
    ] {
        store.keep(&batch).unwrap();
        assert!(is_found(&store), "{batch:?}");
        std::fs::write(find_tip(&store), &whole).unwrap();
    }
}

/// The newest event is torn, then one behind it: clearing lets the record go on with the rest.
#[test]
fn a_torn_event_takes_no_other_with_it() {
    for behind in [0, 1, 3] {
        let Whole {
            store,
            series,
            _dir,
            ..
        } = whole();
        let repl = Scripted::new("agent", Capability::Repl);
        let path = {
            let torn = call(&store, &repl, &say("torn", None)).unwrap();
            assert!(store.entry(torn.episode).unwrap().is_some());
            newest(&store)
        };
        for _ in 0..behind {
            call(&store, &repl, &say("more", Some(On::Series(series)))).unwrap();
        }
        let before = store.lines().unwrap().len();
        let good = std::fs::read(&path).unwrap();
        overwrite(&path, &good[..good.len() - 20]);
        assert!(is_found(&store));
        let error = afresh(&store).lines().unwrap_err();
        assert_eq!(code(&error), "object_corrupt");
        let cleared =
            clear_alone(&store, 0, &BTreeSet::new(), "2026-01-02T03:04:05Z", false).unwrap();
        assert!(
            !cleared.unreadable.is_empty() && cleared.expired.is_empty(),
            "{cleared:?}"
        );
        assert_eq!(verify(&store).unwrap().damaged, []);
        assert_eq!(
            store.lines().unwrap().len(),
            before - 1,
            "the torn one alone is gone"
        );
        let aside = files(&store.root().join("damaged"));
        assert_eq!(
            aside.into_values().collect::<Vec<_>>(),
            [&good[..good.len() - 20]]
        );
        call(&store, &repl, &say("more", Some(On::Series(series)))).unwrap();
        assert_eq!(store.find_labelled("kept").unwrap(), Some(series));
        let cleared =
            clear_alone(&store, 0, &BTreeSet::new(), "2026-01-02T03:04:05Z", false).unwrap();
        assert!(cleared.unreadable.is_empty(), "{cleared:?}");
    }
}

#[test]
fn what_stays_after_clearing_is_complete() {
    let Whole {
        store,
        series,
        sealed,
        _dir,
    } = whole();
    let repl = Scripted::new("agent", Capability::Repl);
    let other = call(&store, &repl, &say("else", None)).unwrap();
    let after = store.find_successor(sealed).unwrap().unwrap();
    for name in [other.exchange, Ref::new(RefKind::Exchange)] {
        std::fs::create_dir_all(store.root().join(format!("attempts/{name}"))).unwrap();
    }
    let lines = store.lines().unwrap().len();
    let cleared = clear_alone(
        &store,
        u64::MAX,
        &BTreeSet::new(),
        "2026-01-02T03:04:05Z",
        false,
    )
    .unwrap();
    assert_eq!((cleared.unreadable.len(), cleared.attempts), (0, 1));
    assert!(
        cleared.expired.contains(&other.episode) && cleared.objects >= 3,
        "{cleared:?}"
    );
    assert_eq!(
        std::fs::read_dir(store.root().join("attempts"))
            .unwrap()
            .count(),
        0
    );
    // Lines stay, and say what expired.
    assert_eq!(store.lines().unwrap().len(), lines + 1);
    assert!(store.is_expired(&other.episode.to_string()).unwrap());
    assert_eq!(store.entry(other.episode).unwrap(), None);
    assert!(store.get(&other.exchange_hash).is_err());
    // The chain, the window sealed in it, its mark, and the series that the mark names.
    assert_eq!(store.find_successor(sealed).unwrap(), Some(after));
    for name in [series, sealed, after] {
        assert!(store.entry(name).unwrap().is_some(), "{name}");
    }
    let entry = store.entry(series).unwrap().unwrap();
    assert_eq!(
        load_series(&store, &entry.hash).unwrap().episodes().len(),
        2
    );
    assert_eq!(verify(&store).unwrap().damaged, []);
    // A name of the sealed window alone keeps the series that goes on.
    store.label("kept", sealed).unwrap();
    clear_alone(
        &store,
        u64::MAX,
        &BTreeSet::new(),
        "2026-01-02T03:04:05Z",
        false,
    )
    .unwrap();
    let error = call(&store, &repl, &say("x", Some(On::Episode(sealed)))).unwrap_err();
    assert_eq!(code(&error), "episode_compacted");
    call(&store, &repl, &say("x", Some(On::Series(after)))).unwrap();
    assert_eq!(verify(&store).unwrap().damaged, []);
}

/// Whatever lies further back is found again: by ref, by prefix, by hash, and word for word.
#[test]
fn what_lies_further_back_is_found() {
    let dir = crate::support::room();
    let store = open_in(dir.path());
    let repl = Scripted::new("agent", Capability::Repl);
    let mut replies = Vec::new();
    let mut on = None;
    for number in 0..300 {
        let reply = call(&store, &repl, &say(&format!("question {number}"), on)).unwrap();
        on = reply.series.map(On::Series);
        replies.push(reply);
    }
    for reply in replies.iter().step_by(37) {
        let store = afresh(&store);
        let entry = store.entry(reply.episode).unwrap().unwrap();
        assert_eq!(entry.hash, reply.episode_hash);
        let store = afresh(&store);
        let prefix = &reply.exchange.to_string()[..25];
        assert!(
            store
                .list_beginning_with(prefix)
                .unwrap()
                .contains(&reply.exchange)
        );
        let store = afresh(&store);
        assert_eq!(store.naming(&reply.episode_hash).unwrap(), [reply.episode]);
        let store = afresh(&store);
        let episode = load_episode(&store, &reply.episode_hash, None).unwrap();
        assert_eq!(episode.exchanges().len() as u64, entry.length);
    }
    assert_eq!(store.lines().unwrap().len(), 300);
    assert_eq!(verify(&store).unwrap().damaged, []);
    // And after the chain was begun anew.
    store.label("last", replies[299].series.unwrap()).unwrap();
    call(&store, &repl, &say("else", None)).unwrap();
    let cleared = clear_alone(
        &store,
        u64::MAX,
        &BTreeSet::new(),
        "2026-01-02T03:04:05Z",
        false,
    )
    .unwrap();
    assert!(!cleared.expired.is_empty(), "{cleared:?}");
    let store = afresh(&store);
    let last = load_episode(&store, &replies[299].episode_hash, None).unwrap();
    assert_eq!(last.exchanges().len(), 300);
    assert_eq!(verify(&store).unwrap().damaged, []);
    call(&store, &repl, &say("on", on)).unwrap();
    assert_eq!(verify(&store).unwrap().damaged, []);
}

/// Each with a store of its own, as processes have.
#[test]
fn writers_at_the_same_time_lose_nothing() {
    let dir = crate::support::room();
    let replies: Vec<Ref> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let repl = Scripted::new("agent", Capability::Repl);
                    let store = open_in(dir.path());
                    let mut on = None;
                    let mut made = Vec::new();
                    for _ in 0..12 {
                        let reply = call(&store, &repl, &say("what?", on)).unwrap();
                        on = reply.series.map(On::Series);
                        made.push(reply.episode);
                    }
                    made
                })
            })
            .collect();
        writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap())
            .collect()
    });
    let store = open_in(dir.path());
    assert_eq!(replies.len(), 72);
    for name in replies {
        assert!(store.entry(name).unwrap().is_some(), "{name}");
    }
    assert_eq!(store.lines().unwrap().len(), 72);
    assert_eq!(verify(&store).unwrap().damaged, []);
}
