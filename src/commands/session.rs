//! `cook session`: the conversations with agents.

use super::ask::{find_ref, store};
use super::context::*;
use super::recorded::note;
use crate::run;
use cook_agents::{Surroundings, open_command};
use cook_protocol::diagnostic::harmless_json;
use cook_repo::session::{
    Archive, Entry, Exchange, On, Ref, RefKind, clear, corrupt, load_episode, load_exchange,
    load_series, no_continuation, not_found, reads_as_ref, verify, without_nulls,
};

#[derive(Debug, Subcommand)]
pub(super) enum SessionCommand {
    /// List the calls, newest first
    Log {
        /// List at most this many calls
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
    },
    /// Show an exchange, an episode or a series
    Show {
        /// Ref, unique prefix of a ref, hash or name
        name: String,
    },
    /// Show the calls as a tree, each below the call that it continues
    Tree {
        /// Show only the tree of this ref, unique prefix, hash or name
        name: Option<String>,
    },
    /// Recompute and check every hash
    Verify,
    /// Give a ref a name, which also protects it from `gc`
    Name {
        /// Ref, unique prefix of a ref, hash or name
        name: String,
        /// New name, of letters, digits, `.`, `_` and `-`
        label: String,
    },
    /// Export an episode or a series to one file
    Export {
        /// Ref, unique prefix of a ref, hash or name
        name: String,
        /// Write to this new file [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Import an exported file
    Import {
        /// File to import (`-` reads standard input) [default: -]
        file: Option<PathBuf>,
    },
    /// Delete unused exchanges that no name and no log refers to
    Gc {
        /// Keep exchanges that were used within this time
        #[arg(long, value_name = "TIME", default_value = "30d")]
        keep: humantime::Duration,
        /// Show what would be deleted, but delete nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Fork an agent's own session, and open it in the agent's interface
    Open {
        /// Ref, unique prefix of a ref, hash or name
        name: String,
    },
}

pub(super) fn session(context: &Context, command: &SessionCommand) -> Answer {
    let workspace = context.workspace()?;
    let store = store(&workspace)?;
    match command {
        SessionCommand::Log { limit } => {
            let mut calls = store.lines()?;
            // An imported copy is not a call of this repository.
            calls.retain(|line| line.imported.is_none());
            let of = calls.len();
            let newest = calls.into_iter().rev().take(*limit);
            answer(SessionLogAnswer {
                what: "log",
                of,
                calls: newest.map(|call| CallRow { depth: 0, call }).collect(),
            })
        }
        SessionCommand::Show { name } => show(&store, name),
        SessionCommand::Tree { name } => tree(&store, name.as_deref()),
        SessionCommand::Verify => check(&store),
        SessionCommand::Name { name, label } => give_name(&store, name, label),
        SessionCommand::Export { name, output } => export(context, &store, name, output.as_deref()),
        SessionCommand::Import { file } => import(context, &workspace, &store, file.as_deref()),
        SessionCommand::Gc { keep, dry_run } => gc(&workspace, &store, **keep, *dry_run),
        SessionCommand::Open { name } => open(&workspace, &store, name),
    }
}

fn give_name(store: &GitStore, name: &str, label: &str) -> Answer {
    let name = find_ref(store, name, None, &mut Vec::new())?;
    if reads_as_ref(label) {
        let what = "this name looks like a ref, so it would be mistaken for one";
        return Err(Failure::usage(what));
    }
    let before = match store.find_labelled(label) {
        Ok(before) => before.map(|before| before.to_string()),
        // A new name repairs a damaged one.
        Err(error) if error.code == Code::ObjectCorrupt => {
            Some("something that could not be read".to_owned())
        }
        Err(error) => return Err(error),
    };
    store.label(label, name)?;
    let moved = before.filter(|before| *before != name.to_string());
    let lines = std::iter::once(format!("{label} now means {name}"))
        .chain(moved.map(|before| format!("it meant {before} before")));
    note("session_named", lines.collect())
}

fn show(store: &GitStore, text: &str) -> Answer {
    let mut findings = Vec::new();
    let name = find_ref(store, text, None, &mut findings)?;
    let entry = read_entry(store, name)?;
    let exid = entry.exid.clone();
    let (value, windows) = match name.kind() {
        RefKind::Exchange => {
            let exchange = load_exchange(store, &entry.hash, exid)?;
            (json!(exchange), vec![vec![exchange]])
        }
        RefKind::Episode => {
            let episode = load_episode(store, &entry.hash, exid)?;
            (json!(episode), vec![episode.exchanges().to_vec()])
        }
        RefKind::Series => {
            let series = load_series(store, &entry.hash)?;
            let windows = series.episodes().iter();
            let windows = windows.map(|one| one.exchanges().to_vec()).collect();
            (json!(series), windows)
        }
    };
    answer(SessionShowAnswer {
        name,
        value,
        entry,
        windows,
        note: findings.pop().map(|finding| finding.message),
    })
}

fn read_entry(store: &GitStore, name: Ref) -> Result<Entry> {
    let missing = || not_found(RefKind::Episode, name);
    store.entry(name)?.ok_or_else(missing)
}

/// Shows each call below the call that it continued; a failed call stands below the refs that it left.
fn tree(store: &GitStore, text: Option<&str>) -> Answer {
    let mut lines = store.lines()?;
    lines.retain(|line| line.supplier.is_some());
    let mut made: BTreeMap<Ref, usize> = BTreeMap::new();
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    let mut parents: Vec<Option<usize>> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let on = line.on.map(|(On::Episode(name) | On::Series(name))| name);
        let prior = line.prior.and_then(|prior| prior.episode.or(prior.series));
        let parent = prior.or(on).and_then(|name| made.get(&name)).copied();
        let names = [line.exchange, line.episode, line.series];
        made.extend(names.into_iter().flatten().map(|name| (name, index)));
        parents.push(parent);
        children.entry(parent).or_default().push(index);
    }
    // In reverse order, because they go on a stack.
    let below = |of: Option<usize>, depth: usize| {
        let calls = children.get(&of).into_iter().flatten().rev();
        calls.map(move |index| (depth, *index)).collect::<Vec<_>>()
    };
    let mut open = match text {
        None => below(None, 0),
        Some(text) => {
            let name = find_ref(store, text, None, &mut Vec::new())?;
            let up = |index: &usize| parents[*index];
            let root = std::iter::successors(made.get(&name).copied(), up).last();
            root.into_iter().map(|root| (0, root)).collect()
        }
    };
    let mut calls = Vec::new();
    while let Some((depth, index)) = open.pop() {
        calls.push(CallRow {
            depth,
            call: lines[index].clone(),
        });
        open.extend(below(Some(index), depth + 1));
    }
    answer(SessionLogAnswer {
        what: "tree",
        calls,
        of: lines.len(),
    })
}

fn check(store: &GitStore) -> Answer {
    let checked = verify(store)?;
    let seen = vec![
        count_noun(checked.objects, "object"),
        count_noun(checked.refs, "ref"),
        count_noun(checked.names, "name"),
        count_noun(checked.lines, "line"),
    ];
    let damaged = checked.damaged.into_iter();
    let damaged = damaged.map(|(what, why)| Finding::new(Code::SessionDamaged, why).at(what));
    answer(VerifyAnswer::new("session", seen, damaged.collect()))
}

fn export(context: &Context, store: &GitStore, text: &str, output: Option<&Path>) -> Answer {
    let name = find_ref(store, text, None, &mut Vec::new())?;
    let archive = Archive::of(store, name)?;
    let text = serde_json::to_string_pretty(&archive).unwrap_or_default();
    let text = harmless_json(&text) + "\n";
    let Some(output) = output.filter(|output| *output != Path::new("-")) else {
        return answer(PromptAnswer(text));
    };
    let path = context.dir.join(output);
    let shown = path.display();
    let dir = path.parent().unwrap_or(&path);
    if !dir.is_dir() {
        let what = format!("there is no directory `{}`", dir.display());
        return Err(Failure::usage(what).hint("make it first"));
    }
    // Writes the file completely or not at all, and overwrites nothing.
    let file = NewFile::at(&path, Durable::Content).over_nothing();
    file.write(text.as_bytes())
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                Failure::usage(format!("`{shown}` is there already"))
                    .hint("name a file that is not there yet")
            }
            _ => Failure::state(Code::NotWritable, format!("`{shown}` cannot be written"))
                .with_cause(&error),
        })?;
    note("session_exported", vec![format!("wrote {name} to {shown}")])
}

/// The maximum size of an imported file in bytes.
const MAX_IMPORT: u64 = 1 << 30;

fn import(
    context: &Context,
    workspace: &Workspace,
    store: &GitStore,
    file: Option<&Path>,
) -> Answer {
    let file = file.map(|file| match file {
        file if file == Path::new("-") => file.to_owned(),
        file => context.dir.join(file),
    });
    let bytes = input::read_up_to(file.as_deref(), MAX_IMPORT)?;
    let archive: Archive =
        serde_json::from_slice(&bytes).map_err(|error| refuse_file(corrupt("the file", error)))?;
    let taken = archive.keep(store, &workspace.clock.now());
    let taken = taken.map_err(refuse_file)?;
    let aside = taken.aside.iter().map(|aside| {
        let aside = aside.display();
        format!("the damaged objects here were replaced; they are kept in {aside}")
    });
    let name = format!("took in {}", taken.name);
    note(
        "session_imported",
        std::iter::once(name).chain(aside).collect(),
    )
}

/// Adapts the hint for a damaged file: it refers to the file's origin, because this store may be intact.
fn refuse_file(failure: Failure) -> Failure {
    if failure.code == Code::ObjectCorrupt {
        let hint = "export it again where it is whole: `cook session export NAME --output FILE`";
        return failure.replace_hints([hint]);
    }
    failure
}

fn gc(workspace: &Workspace, store: &GitStore, keep: Duration, dry_run: bool) -> Answer {
    let keep = keep.as_millis();
    let since = workspace.clock.epoch_millis().try_into().unwrap_or(0_u64);
    let since = since.saturating_sub(keep.try_into().unwrap_or(u64::MAX));
    // All worktrees share the sessions, so the records of each may cite them.
    let mut cited = BTreeSet::new();
    for worktree in Store::all_worktrees(&workspace.place())? {
        if let Some(log) = Store::open_other(workspace.place(), &worktree.id)? {
            log.each_cited_exchange(None, |_, _, _, one| {
                cited.extend(one.ok().and_then(|one| one.exchange.parse::<Ref>().ok()));
                Ok(())
            })?;
        }
    }
    let now = workspace.clock.now();
    let cleared = clear(store, since, &cited, &now, dry_run)?;
    let verb = if dry_run { "would remove" } else { "removed" };
    let refs = count_noun(cleared.expired.len(), "ref");
    let objects = count_noun(cleared.objects, "object");
    let outputs = count_noun(cleared.attempts, "output");
    let kept = count_noun(cleared.kept, "ref");
    let mut lines = vec![
        format!("{verb} {refs}, {objects} and {outputs} of failed calls"),
        format!("{kept} stay"),
    ];
    for (what, why) in &cleared.unreadable {
        lines.push(format!("{what} cannot be read and may name any ref, so its refs were not removed ({why}): `cook session verify`"));
    }
    note("session_gc", lines)
}

/// Opens the agent's own interface on a fork, so that input there does not change the stored conversation.
fn open(workspace: &Workspace, store: &GitStore, text: &str) -> Answer {
    context::not_nested()?;
    let name = find_ref(store, text, None, &mut Vec::new())?;
    let mut entry = read_entry(store, name)?;
    // An exchange or a series names its episode.
    if let Some(episode) = entry.episode {
        entry = read_entry(store, episode)?;
    }
    // Refuses to continue from an object that can no longer be read, whatever the agent itself kept.
    match entry.name.kind() {
        RefKind::Episode => load_episode(store, &entry.hash, None).map(drop)?,
        _ => store.get(&entry.hash).map(drop)?,
    }
    let preset = run::choose(workspace, Some(&entry.supplier))?;
    let preset = run::fit_to_program(workspace, preset)?;
    let root = workspace.repo.root();
    let argv = entry
        .native
        .as_ref()
        .and_then(|native| open_command(&preset, root, native));
    let Some((program, arguments)) = argv.as_ref().and_then(|argv| argv.split_first()) else {
        return Err(no_interface(&entry.supplier, name));
    };
    let before = Surroundings::of(&workspace.repo)?;
    let status = std::process::Command::new(program)
        .args(arguments)
        .current_dir(root)
        .status()
        .map_err(|error| {
            let what = format!("`{program}` could not be started");
            Failure::new(FailureKind::Supplier, Code::SupplierFailed, what).with_cause(&error)
        })?;
    let now = Surroundings::of(&workspace.repo)?;
    let changed = before.list_changes(&workspace.repo, &now)?;
    let changed = (!changed.is_empty()).then(|| format!("it changed: {}", changed.join(", ")));
    let supplier = &entry.supplier;
    if !status.success() {
        let changed = changed.map_or_else(String::new, |changed| format!("; {changed}"));
        let what = format!("`{supplier}` on {name} ended with: {status}{changed}");
        let failure = Failure::new(FailureKind::Supplier, Code::SupplierFailed, what);
        return Err(failure.hint("nothing was recorded; its output is above"));
    }
    let ended = std::iter::once(format!("{supplier} ended: {status}"));
    note("session_opened", ended.chain(changed).collect())
}

fn no_interface(supplier: &str, name: Ref) -> Failure {
    let mut failure = no_continuation(supplier);
    failure.message = format!("`{supplier}` has no session of {name} that it could open");
    failure.hints = vec![format!("read it: `cook session show {name}`")];
    failure
}

/// Recorded calls of agents.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct SessionLogAnswer {
    /// Command that answered: `log` or `tree`.
    #[schemars(extend("enum" = ["log", "tree"]))]
    what: &'static str,
    /// Recorded calls.
    calls: Vec<CallRow>,
    /// Number of all calls, listed or not.
    #[serde(skip)]
    of: usize,
}

/// A recorded call.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct CallRow {
    /// `cook session tree` only: number of earlier calls that the call continues, one after the other; otherwise 0.
    depth: usize,
    /// The recorded call.
    #[serde(serialize_with = "without_nulls")]
    #[schemars(with = "Map<String, Value>")]
    call: CallRecord,
}

impl Show for SessionLogAnswer {
    fn human(&self, page: &mut Page) {
        match (self.calls.len(), self.of as u64) {
            (_, 0) => page.line("no calls yet"),
            (0, of) => page.line(&format!("none shown of {}", count_noun(of, "call"))),
            _ => {}
        }
        for CallRow { depth, call: line } in &self.calls {
            page.text(&"  ".repeat(*depth));
            page.add_toned(Tone::Dim, &line.at);
            if let Some(expired) = &line.expired {
                let refs = count_noun(expired.len(), "ref");
                page.line(&format!(" expired: {refs}"));
                continue;
            }
            let supplier = line.supplier.as_deref().unwrap_or_default();
            page.text(&format!(" {supplier:<10} {:<4}", word(line.action)));
            match &line.error {
                Some(code) => page.add_toned(Tone::Bad, &format!(" {code}")),
                None => page.text(&format!(" {}", word(line.transport))),
            }
            let refs = [word(line.episode), word(line.series)];
            page.text(&format!(" {}", refs.join(" ").trim()));
            let said = line.said.as_deref().unwrap_or_default();
            page.add_toned_line(Tone::Dim, &format!(" {said}"));
        }
    }
}

/// Serializes a value that is a single word, without quotes.
fn word(value: impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// The content of a session ref.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct SessionShowAnswer {
    /// Name of the ref.
    #[serde(rename = "ref")]
    #[schemars(with = "String", regex(pattern = super::ask::REF))]
    name: Ref,
    /// The exchange, episode or series that the ref names.
    #[schemars(with = "Map<String, Value>")]
    value: Value,
    /// Data that the ref records about the value, such as its content hash, agent and time.
    #[schemars(with = "Map<String, Value>")]
    entry: Entry,
    /// What is shown to people, window by window.
    #[serde(skip)]
    windows: Vec<Vec<Exchange>>,
    /// What was chosen, where several were meant.
    #[serde(skip)]
    note: Option<String>,
}

impl Show for SessionShowAnswer {
    fn human(&self, page: &mut Page) {
        page.add_toned(Tone::Strong, &self.name.to_string());
        page.newline();
        page.row("hash", self.entry.hash.as_str());
        page.row("agent", &self.entry.supplier);
        page.row("at", &self.entry.at);
        for (number, window) in self.windows.iter().enumerate() {
            if self.name.kind() == RefKind::Series {
                page.add_toned(Tone::Dim, &format!("-- episode {} --", number + 1));
                page.newline();
            }
            for exchange in window {
                page.add_toned(Tone::Strong, &format!("{}: ", word(exchange.kind())));
                page.lines(exchange.input());
                page.lines(exchange.output());
            }
        }
    }

    fn aside(&self) -> Option<&str> {
        self.note.as_deref()
    }
}
