//! `cook check`: is what was just claimed true of this commit? In any repository, without a log or a
//! mission: gates in a clean room at HEAD, the tests of the base on the new code, and what is not
//! committed.
//!
//! Invariant: nothing of the repository runs that this machine does not trust, and a gate that did
//! not run is never taken for green.

mod gate_check;

pub(crate) use gate_check::{
    Ask, Base, Checked, FilePlace, Line, Runs, Tell, Truth, describe_source, find_base,
    require_green,
};

use crate::init::SETTINGS;
use crate::prelude::*;
use crate::workspace::Workspace;
use cook_mutants::{Touch, list_touched_tests};
use cook_protocol::trials::Weight;
use cook_repo::git::MAX_EDITS;
use gate_check::{NAMED, some};

/// Checks HEAD's commit, or the one that is named.
///
/// # Errors
/// No commit, a base or a gate that is not known, git that does not answer, an interruption.
pub(crate) fn check(workspace: &mut Workspace, ask: &Ask, tell: Tell) -> Result<Checked> {
    let here = workspace.repo.head()?.commit;
    let Some(head) = ask.commit.map(str::to_owned).or(here) else {
        let refusal = Refusal::new(Code::UnbornHead, "the repository has no commit yet");
        return Err(refusal
            .replace_hints(["commit what is to be checked, then run `cook check`"])
            .into());
    };
    let base = find_base(&workspace.repo, &head, ask.base)?;
    for commit in [&base.commit, &head] {
        workspace.repo.fetch_missing(commit, &[])?;
    }
    let mut checked = Checked {
        head,
        base,
        ..Checked::default()
    };
    if ask.commit.is_none() {
        check_worktree(&workspace.repo, &mut checked)?;
    }
    if workspace.trust_everything && !decides_by_own(workspace, &checked.head)? {
        let what = "the commit does not have `.agent/cook.toml` as it is here, and `--trust-repo` trusts what is committed; commit the file, or trust its commands yourself";
        checked.find(
            Code::DirtyWorktree,
            Weight::NotKnown,
            what,
            "cook trust --gates",
        );
    }
    match ask.runs {
        Runs::Nothing => {
            let what = "no gate was run, as requested";
            checked.find(Code::NoGates, Weight::NotKnown, what, "cook check");
        }
        _ => gate_check::look(workspace, ask, tell, &mut checked)?,
    }
    list_touched(&workspace.repo, &mut checked)?;
    if workspace.trust_everything {
        let shown = checked.lines.iter_mut().map(|line| &mut line.show);
        let gates = shown.filter(|show| show.starts_with("cook gate --clean "));
        gates.for_each(|show| show.push_str(" --trust-repo"));
    }
    Ok(checked.settle())
}

/// The gates of the settings are those of the commit, or this machine's user trusts each of them.
fn decides_by_own(workspace: &Workspace, head: &str) -> Result<bool> {
    let config = workspace.config()?;
    let trust = Trust::of(&workspace.repo)?;
    let gates = config.gates.values().map(|gate| gate.run.to_string());
    let setup = config.clean_room.setup().map(ToString::to_string);
    let is_trusted = gates.chain(setup).all(|command| trust.is_trusted(&command));
    Ok(is_trusted || workspace.world()?.holds_settings(head)?)
}

/// What the last check said of a commit.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Said {
    head: String,
    /// Its first line that keeps the commit from being true, and the command beside it.
    what: Option<(String, String)>,
    is_false: bool,
}

/// Bytes of what is kept of a check.
const MAX_SAID: u64 = 1 << 16;

fn find_said(repo: &Repo) -> PathBuf {
    repo.common_dir().join("cook").join("checked.json")
}

/// Keeps what a check said, for `cook` alone to show. Where it cannot be written, the answer was on the screen.
pub(crate) fn keep_said(repo: &Repo, checked: &Checked) {
    let place = find_said(repo);
    let mut lines = checked.lines.iter();
    let first = lines.find(|line| line.weight != Weight::Shown);
    let said = Said {
        head: checked.head.clone(),
        what: first.map(|line| (line.message.clone(), line.show.clone())),
        is_false: checked.answer == Truth::False,
    };
    if let (Some(dir), Ok(bytes)) = (place.parent(), serde_json::to_vec(&said)) {
        let made = std::fs::create_dir_all(dir);
        let new = NewFile::at(&place, Durable::Nothing);
        drop(made.and_then(|()| new.write(&bytes)));
    }
}

/// What the last check said, if it was of this commit (full id) and not that it is true: a verdict, its reason, and
/// the next command.
pub(crate) fn read_said(repo: &Repo, head: &str) -> Option<(&'static str, String, String)> {
    let text = disk::read_text(&find_said(repo), MAX_SAID, Links::Refuse).ok()??;
    let said: Said = serde_json::from_str(&text).ok()?;
    let (what, show) = said.what.filter(|_| said.head == head)?;
    let verdict = if said.is_false { "false" } else { "not known" };
    Some((verdict, what, show))
}

/// What no commit has.
fn check_worktree(repo: &Repo, checked: &mut Checked) -> Result<()> {
    let status = repo.status()?;
    let (mut edited, mut untracked) = (Vec::new(), Vec::new());
    for path in status.worktree.dirty {
        let known = status.tracked && repo.tree_entry(&checked.head, &path)?.is_some();
        match known {
            true => edited.push(path),
            false => untracked.push(path),
        }
    }
    // Settings that git ignores decide here all the same.
    let is_named =
        |path: &String| SETTINGS == path || SETTINGS.starts_with(path) && path.ends_with('/');
    let mut show_untracked = "git status --short";
    if repo.root().join(SETTINGS).exists()
        && !untracked.iter().any(is_named)
        && repo.tree_entry(&checked.head, SETTINGS)?.is_none()
    {
        untracked.push(SETTINGS.to_owned());
        show_untracked = "git status --short --ignored";
    }
    let unwatched = repo.list_unwatched()?;
    let is_clean = edited.len() + untracked.len() + unwatched.len() == 0;
    if is_clean && status.worktree.more == 0 {
        checked.checked.push("everything is committed".to_owned());
    }
    let mut tell = |code, weight, paths: &[String], noun, (before, after), show| {
        if !paths.is_empty() {
            let count = count_noun(paths.len(), noun);
            let what = format!("{before}{count}{after}: {}", some(paths));
            checked.find(code, weight, what, show);
        }
    };
    tell(
        Code::DirtyWorktree,
        Weight::Refuses,
        &edited,
        "edited file",
        ("", " not committed"),
        "git diff HEAD",
    );
    tell(
        Code::DirtyWorktree,
        Weight::Shown,
        &untracked,
        "file",
        ("", " that HEAD does not have"),
        show_untracked,
    );
    tell(
        Code::UnwatchedEdits,
        Weight::Refuses,
        &unwatched,
        "file",
        ("git is set to ignore ", " with other content than HEAD"),
        "git ls-files -v",
    );
    Ok(())
}

/// Which tests the diff adds, takes away, edits or marks as skipped: a list, and no verdict.
fn list_touched(repo: &Repo, checked: &mut Checked) -> Result<()> {
    let edits = repo.edits(&checked.base.commit, &checked.head)?;
    let mut touched: BTreeMap<Touch, Vec<String>> = BTreeMap::new();
    for edit in &edits {
        let Some((before, after)) = &edit.texts else {
            continue;
        };
        let path = &edit.change.path;
        for (touch, name) in list_touched_tests(path, before.as_deref(), after.as_deref()) {
            touched.entry(touch).or_default().push(name);
        }
    }
    for (touch, names) in touched {
        let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
        let more = and_more(names.len() - shown.len());
        checked.checked.push(format!(
            "the diff {touch} {}: `{}`{more}",
            count_noun(names.len(), "test"),
            shown.join("`, `")
        ));
    }
    let mut what = format!("{} compared", count_noun(edits.len(), "file"));
    if edits.len() > MAX_EDITS {
        what.push_str(&format!(", of which the first {MAX_EDITS} were read"));
    }
    checked.checked.push(what);
    Ok(())
}
