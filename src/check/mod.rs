//! `cook check`: whether the claims made about a commit are true. It works in any repository, without a log or a
//! mission: it runs the gates in a clean room at HEAD, runs the tests of the base on the new code, and lists
//! uncommitted changes.
//!
//! Invariant: only commands that this machine trusts run, and a gate that did not run never counts as green.

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

/// Checks HEAD or the named commit.
///
/// # Errors
/// No commit, an unknown base or gate, a failing git, or an interruption.
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
    let lacks_base = ask.runs == Runs::All
        && workspace.repo.is_shallow()
        && match ask.base {
            Some(_) => workspace.repo.merge_base(&base.commit, &head)?.is_none(),
            None => base.commit == head,
        };
    let mut checked = Checked {
        head,
        base,
        ..Checked::default()
    };
    if lacks_base {
        let what = "this shallow clone does not hold the commit to compare with";
        let show = "git fetch --unshallow";
        checked.find(Code::HistoryShallow, Weight::NotKnown, what, show);
    }
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

/// Whether the settings are those of the commit, or the user trusts each of their commands.
fn decides_by_own(workspace: &Workspace, head: &str) -> Result<bool> {
    let config = workspace.config()?;
    let trust = Trust::of(&workspace.repo)?;
    let gates = config.gates.values().map(|gate| gate.run.to_string());
    let setup = config.clean_room.setup().map(ToString::to_string);
    let is_trusted = gates.chain(setup).all(|command| trust.is_trusted(&command));
    Ok(is_trusted || workspace.world()?.holds_settings(head)?)
}

/// The stored result of the last check.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Said {
    head: String,
    /// The first line that keeps the answer from being true, with its command.
    what: Option<(String, String)>,
    is_false: bool,
}

/// Maximum size of the stored result in bytes.
const MAX_SAID: u64 = 1 << 16;

fn find_said(repo: &Repo) -> PathBuf {
    repo.common_dir().join("cook").join("checked.json")
}

/// Stores the result of a check, for `cook` without a command. A failure is ignored, because the answer was shown
/// already.
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

/// The last result if it is about this commit (full id) and not true: the verdict, its reason, and the next command.
pub(crate) fn read_said(repo: &Repo, head: &str) -> Option<(&'static str, String, String)> {
    let text = disk::read_text(&find_said(repo), MAX_SAID, Links::Refuse).ok()??;
    let said: Said = serde_json::from_str(&text).ok()?;
    let (what, show) = said.what.filter(|_| said.head == head)?;
    let verdict = if said.is_false { "false" } else { "not known" };
    Some((verdict, what, show))
}

/// Adds lines about uncommitted changes.
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
    // Settings that git ignores are in force all the same.
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

/// Lists the tests that the diff adds, removes, edits or marks as skipped, without a verdict.
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
