//! `cook report --format pr`: the body of a pull request (the mission, whether it is proven, the votes, and what was
//! caught on the way), and the request itself.

use super::context::*;
use crate::verify::Rerun;
use crate::view::plain;
use crate::view::results::{code, cut, quote_lines, sign, table, tables, words};
use clap::ValueEnum;
use cook_protocol::diagnostic::without_tokens;
use cook_protocol::machine::{EXCHANGE, list_other_ratings};
use cook_repo::disk::TemporaryDir;
use std::fmt::Write;

/// The maximum size of a body in bytes; GitHub takes 65,536 characters.
const LONGEST: usize = 60_000;
/// The maximum length of the mission in lines.
const MISSION: usize = 20;
const DEADLINE: Duration = Duration::from_secs(120);
const LIMIT: usize = 1 << 20;

#[derive(Debug, Args)]
#[command(next_help_heading = "Options with --format pr")]
pub(super) struct PrArgs {
    /// Create the pull request for the branch as it was pushed (user only)
    #[arg(long, requires = "format")]
    pub create: bool,
    /// Ask to merge into this branch, which `glab` requires [default: the repository's default branch]
    #[arg(long, value_name = "BRANCH", requires = "create")]
    pub into: Option<String>,
    /// Create it with this program [default: `gh`, else `glab`]
    #[arg(long, value_enum, value_name = "PROGRAM", requires = "create")]
    pub with: Option<Forge>,
    /// Set the title [default: the first line of the mission]
    #[arg(long, value_name = "TEXT", requires = "format")]
    pub title: Option<String>,
    /// Confirm that a script acts on behalf of a person
    #[arg(long, requires = "create")]
    pub yes: bool,
}

/// The text of a pull request.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct PullRequestAnswer {
    /// Title of the pull request.
    title: String,
    /// Body in Markdown.
    body: String,
    /// Whether the proof in the text passes `cook verify`.
    proven: bool,
    /// Address of the created pull request; null if none was created.
    created: Option<String>,
}

impl Show for PullRequestAnswer {
    fn human(&self, page: &mut Page) {
        match &self.created {
            Some(address) => page.line(address),
            // Each word in the body is already safe to print. Other methods of `Page` would remove its HTML tags.
            None => page.verbatim(&self.body),
        }
    }
}

pub(super) fn pull_request(context: &Context, args: &PrArgs) -> Answer {
    let workspace = context.workspace()?;
    context::not_apart(&workspace)?;
    let (_, snapshot) = workspace.require()?;
    let forge = match args.create {
        true => {
            context::require_user_by("--yes", args.yes)?;
            Some(Forge::find(args.with)?)
        }
        false => None,
    };
    let look = || crate::verify::all(&workspace, Rerun::No, false);
    let (found, written) = context::guard(look)?;
    let mut verified = VerifyAnswer::of("all", false, found);
    verified.findings.extend(written);
    let title = args.title.as_ref();
    let title = title.unwrap_or(&snapshot.state.mission_anchor);
    // Redacts secrets in the title and the body.
    let mut told = PullRequestAnswer {
        title: without_tokens(&clean(title, Lines::Fold)),
        body: without_tokens(&write_body(&workspace, &snapshot, &verified)?),
        proven: verified.has_passed(),
        created: None,
    };
    if let Some(forge) = forge {
        let Some(branch) = workspace.repo.head()?.branch else {
            return Err(Failure::usage("no branch is checked out for a request"));
        };
        let made = forge.create(&workspace.repo, &branch, args.into.as_deref(), &told)?;
        told.created = Some(made);
    }
    answer(told)
}

fn write_body(
    workspace: &Workspace,
    snapshot: &Snapshot,
    verified: &VerifyAnswer,
) -> Result<String> {
    let results = verified.as_results();
    let log = read_log(workspace)?;
    let mut text = write_catches(workspace, &log)?;
    text.push_str("## Mission\n\n");
    text.push_str(&quote_lines(&snapshot.mission, MISSION));
    let (sign, verdict) = (sign(verified.has_passed()), words(&results.verdict));
    let _ = writeln!(text, "## Proof\n\n{sign} {verdict}\n");
    tables(&mut text, &results);
    text.push_str("## Slices\n\n");
    let rows = snapshot.plan.candidate_slices.iter().map(|slice| {
        let id = &slice.slice_id;
        let ledger = snapshot.ledger.slices.get(id);
        let head = ledger.and_then(|it| it.head.as_ref().or(it.last_head.as_ref()));
        [
            code(&plain(id)),
            words(&plain(&slice.goal)),
            slice.status.id().replace('_', " "),
            count_tries(&log, id).to_string(),
            head.map_or("none".to_owned(), |head| code(short(head))),
        ]
    });
    let heads = ["slice", "goal", "status", "attempts", "commit"];
    table(&mut text, heads, rows, ("slice", "slices"));
    let votes = &snapshot.ledger.wave.votes;
    if !votes.is_empty() {
        let wave = snapshot.state.current_stop_wave_id.0;
        let _ = writeln!(text, "## Votes, wave {wave}\n");
        let rows = votes.iter().enumerate().map(|(at, vote)| {
            [
                name_judge(vote.session.as_deref(), at + 1)
                    .map_or(BY_HAND.to_owned(), |it| words(&plain(&it))),
                if vote.can_stop { "✅ yes" } else { "❌ no" }.to_owned(),
                words(&plain(&vote.blockers.join("; "))),
            ]
        });
        let heads = ["judge", "vote", "names"];
        table(&mut text, heads, rows, ("vote", "votes"));
    }
    let how = match results.list_failing().is_empty() {
        false => "The tables above list the failures.",
        true => "Only lines marked `recorded` rest on an agent's word alone.",
    };
    let _ = writeln!(
        text,
        "{how} To verify everything again in a clone: `cook verify --from origin --rerun --trust-repo`"
    );
    Ok(cut(text, LONGEST))
}

/// Lists what was caught, which the diff does not show.
fn write_catches(workspace: &Workspace, log: &[Moment]) -> Result<String> {
    let catches = list_catches(workspace, log)?;
    let mut text = String::new();
    if !catches.caught.is_empty() {
        text.push_str("## What was caught\n\n");
        let rows = catches.caught.iter().map(|caught| {
            let (seq, what) = (caught.seq.to_string(), caught.what.to_owned());
            [seq, what, words(&plain(&caught.names))]
        });
        let heads = ["transition", "what", "names"];
        table(&mut text, heads, rows, ("catch", "catches"));
    }
    if let Some(others) = &catches.unheeded {
        let _ = writeln!(text, "{others}\n");
    }
    Ok(text)
}

/// The judge's name for a vote without a session.
pub(super) const BY_HAND: &str = "by hand";

/// Returns the name of a vote's session; an exchange's id means nothing to readers, so its judge gets a number.
pub(super) fn name_judge(session: Option<&str>, number: usize) -> Option<String> {
    session.map(|session| match session.starts_with(EXCHANGE) {
        true => format!("judge {number}"),
        false => session.to_owned(),
    })
}

/// The program that speaks to a forge. Each word is an argument of its own and the body is a file: nothing of it is
/// read by a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Forge {
    /// GitHub CLI
    Gh,
    /// GitLab CLI
    Glab,
}

impl Forge {
    const ALL: [Self; 2] = [Self::Gh, Self::Glab];

    fn program(self) -> &'static str {
        match self {
            Self::Gh => "gh",
            Self::Glab => "glab",
        }
    }

    /// Returns the named program, or the first one that is installed.
    fn find(named: Option<Self>) -> Result<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_here = |forge: &Self| on_path(forge.program(), &path).is_some();
        let wanted = named.map_or(Self::ALL.to_vec(), |named| vec![named]);
        wanted.iter().copied().find(is_here).ok_or_else(|| {
            let names: Vec<&str> = wanted.iter().map(|forge| forge.program()).collect();
            let what = format!("`{}` is not on PATH", names.join("` or `"));
            Failure::state(Code::ForgeAbsent, what)
        })
    }

    /// Creates the request and returns its address.
    fn create(
        self,
        repo: &Repo,
        branch: &str,
        base: Option<&str>,
        told: &PullRequestAnswer,
    ) -> Result<String> {
        let dir = TemporaryDir::make().map_err(|error| unwritable(&error))?;
        let file = dir.path().join("body.md");
        std::fs::write(&file, &told.body).map_err(|error| unwritable(&error))?;
        let mut argv: Vec<OsString> = vec![self.program().into()];
        argv.extend(match self {
            Self::Gh => gh(branch, base, &told.title, &file),
            Self::Glab => glab(branch, base, &told.title, &file)?,
        });
        let made = capture(&Short {
            env: vec![
                ("GH_PROMPT_DISABLED", "1".into()),
                ("NO_PROMPT", "1".into()),
            ],
            ..Short::new(argv, repo.root(), DEADLINE, LIMIT)
        });
        let made = made.map_err(|error| {
            self.report_failure("it could not be run")
                .with_cause(&error)
        })?;
        if made.code != Some(0) {
            let last = made
                .stderr
                .lines()
                .rev()
                .find(|line| !line.trim().is_empty());
            return Err(self.report_failure(last.unwrap_or("it said nothing").trim()));
        }
        let said = String::from_utf8_lossy(&made.stdout);
        let address = match self {
            Self::Gh => said.lines().last().map(|line| line.trim().to_owned()),
            Self::Glab => serde_json::from_str::<serde_json::Value>(&said)
                .ok()
                .and_then(|made| made["web_url"].as_str().map(str::to_owned)),
        };
        let address = address.filter(|address| !address.is_empty());
        address.ok_or_else(|| self.report_failure("it succeeded but did not name the request"))
    }

    fn report_failure(self, why: &str) -> Failure {
        let what = format!("`{}` made no request: {why}", self.program());
        Failure::new(FailureKind::State, Code::ForgeRefused, what)
    }
}

fn gh(branch: &str, base: Option<&str>, title: &str, file: &Path) -> Vec<OsString> {
    let mut argv: Vec<OsString> = vec!["pr".into(), "create".into()];
    argv.push(format!("--head={branch}").into());
    argv.push(format!("--title={title}").into());
    argv.extend(base.map(|base| format!("--base={base}").into()));
    argv.extend(["--body-file".into(), file.into()]);
    argv
}

/// `glab mr create` cannot read the body from a file, but `glab api` can.
fn glab(branch: &str, base: Option<&str>, title: &str, file: &Path) -> Result<Vec<OsString>> {
    let Some(base) = base else {
        let what = "`glab` has to be told into which branch: `cook report --format pr --create --into main`";
        return Err(Failure::usage(what));
    };
    let mut argv: Vec<OsString> = ["api", "--method", "POST"].map(OsString::from).into();
    argv.push("projects/:fullpath/merge_requests".into());
    for (key, value) in [
        ("source_branch", branch),
        ("target_branch", base),
        ("title", title),
    ] {
        argv.extend(["--raw-field".into(), format!("{key}={value}").into()]);
    }
    let mut body = OsString::from("description=@");
    body.push(file);
    argv.extend(["--field".into(), body]);
    Ok(argv)
}

fn unwritable(error: &std::io::Error) -> Failure {
    Failure::state(Code::NotWritable, "a directory for the request's body").with_cause(error)
}

// What was caught: refused reports, and rejections that changed the work after them. Counted apart: an audit of planned
// work, which only names open points, and a no that the user voids or that a re-ground only answers, because they
// change nothing.

/// Events that report on a slice or on the whole project, and events that decide on those reports.
const READ: &str =
    "implemented returned reviewed audited judged refused regrounded regrounded_by_cook";

/// A transition, and its event if it is one of [`READ`].
pub(super) type Moment = (Meta, Option<Event>);

/// Reads the transitions, oldest first.
pub(super) fn read_log(workspace: &Workspace) -> Result<Vec<Moment>> {
    let store = workspace.store()?;
    let mut log = Vec::new();
    for meta in store.entries()? {
        let meta = meta?;
        let event = match READ.split(' ').any(|name| name == meta.event) {
            true => Some(store.event(&meta.commit)?),
            false => None,
        };
        log.push((meta, event));
    }
    log.reverse();
    Ok(log)
}

/// Counts the reports of commits for a slice.
pub(super) fn count_tries(log: &[Moment], id: &str) -> usize {
    let tries = log.iter().filter(|(meta, event)| {
        meta.subject == id && matches!(event, Some(Event::Implemented { .. }))
    });
    tries.count()
}

/// A refused report, or a no that changed something.
pub(super) struct Caught {
    pub seq: u64,
    pub subject: String,
    pub what: &'static str,
    pub names: String,
}

/// What was caught, oldest first, and a line that counts the rejections without effect.
pub(super) struct Catches {
    pub caught: Vec<Caught>,
    pub unheeded: Option<String>,
}

/// Searches the log, newest transition first.
pub(super) fn list_catches(workspace: &Workspace, log: &[Moment]) -> Result<Catches> {
    let store = workspace.store()?;
    let mut caught = Vec::new();
    let mut unheeded = 0_u64;
    // The earliest re-ground after the current event that decided something.
    let mut decided: Option<&Meta> = None;
    for (meta, event) in log.iter().rev() {
        let Some(event) = event else { continue };
        if decides(event) {
            decided = Some(meta);
        }
        let found = match event {
            Event::Implemented { slice_id, .. } => {
                let entry = store.entry(&meta.commit)?;
                let slice = entry.snapshot.ledger.slices.get(slice_id);
                // Red gates stay on record after a green attempt, but a green attempt has a head.
                let red = slice.filter(|slice| slice.head.is_none());
                let red = red.map(|slice| slice.red_gates.join("; "));
                red.filter(|red| !red.is_empty())
                    .map(|red| ("a gate was red", red))
            }
            event => find_no(event),
        };
        let Some((what, names)) = found else {
            continue;
        };
        let is_heeded = match (event, decided) {
            (Event::Refused { .. } | Event::Implemented { .. }, _) => true,
            (_, None) => false,
            (_, Some(decided)) => {
                let before = store.entry(&meta.commit)?.snapshot.plan;
                let after = store.entry(&decided.commit)?.snapshot.plan;
                takes_up(event, &before, &after)
            }
        };
        match is_heeded {
            false => unheeded += 1,
            true => caught.push(Caught {
                seq: meta.seq,
                subject: meta.subject.clone(),
                what,
                names,
            }),
        }
    }
    caught.reverse();
    let unheeded = (unheeded > 0).then(|| {
        let rejections = count_noun(unheeded, "rejection");
        format!(
            "{rejections} changed nothing: the point was already planned, was answered with a reason, or is still waiting."
        )
    });
    Ok(Catches { caught, unheeded })
}

/// Returns the kind of a refusal or a no, and its reasons.
fn find_no(event: &Event) -> Option<(&'static str, String)> {
    Some(match event {
        Event::Returned { slice_id, why, .. } => {
            ("a slice was given back", format!("{slice_id}: {why}"))
        }
        Event::Refused { role, codes, .. } => (
            "a session was refused",
            format!("{role}: `{}`", codes.join("`, `")),
        ),
        Event::Reviewed { verdicts, .. } if !verdicts.positive => {
            ("a review said no", list_named(verdicts).join("; "))
        }
        Event::Audited { verdicts, .. } if !verdicts.positive => (
            "an audit found something open",
            list_named(verdicts).join("; "),
        ),
        Event::Judged { verdicts, .. } if !verdicts.positive => {
            ("a judge said no", list_named(verdicts).join("; "))
        }
        _ => return None,
    })
}

/// Lists findings and failed ratings. Failed dimensions are among the concerns too, if the log records concerns.
pub(super) fn list_named(verdicts: &Verdicts) -> Vec<String> {
    let rated = match verdicts.concerns.is_empty() {
        true => verdicts.fails.clone(),
        false => list_other_ratings(&verdicts.findings, &verdicts.concerns),
    };
    [&verdicts.findings[..], &rated].concat()
}

/// Whether the event decides on work; a re-ground that only notes a moved HEAD does not.
fn decides(event: &Event) -> bool {
    let Some(block) = event.block() else {
        return false;
    };
    let lists = !block.reopen.is_empty() || !block.answers.is_empty();
    // A re-ground that ends a wave with a question has not decided.
    let ends = block.conclude.is_some() && block.policy.is_none();
    lists || block.reconcile.is_some() || block.plan.is_some() || ends
}

/// Whether the plan has more or other work than before the rejection. After a review, added required fixes count too;
/// after a slice was given back, a changed dependency. In both cases, so does a cancelled slice.
fn takes_up(event: &Event, before: &Plan, after: &Plan) -> bool {
    after.candidate_slices.iter().any(|now| {
        let Some(then) = before.slice(&now.slice_id) else {
            return now.status.is_open();
        };
        let is_again = then.status == SliceStatus::Done && now.status.is_open();
        let is_more = has_more(&then.acceptance_criteria, &now.acceptance_criteria);
        let is_cancelled = then.status.is_open() && now.status == SliceStatus::Cancelled;
        let differs = match event {
            Event::Reviewed { .. } => {
                let fix = |slice: &Slice| slice.must_fix_findings.clone().unwrap_or_default();
                is_cancelled || has_more(&fix(then), &fix(now))
            }
            Event::Returned { .. } => is_cancelled || then.blocked_on != now.blocked_on,
            _ => false,
        };
        is_again || is_more || differs
    })
}

fn has_more(before: &[String], after: &[String]) -> bool {
    after.iter().any(|text| !before.contains(text))
}
