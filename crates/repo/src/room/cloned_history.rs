//! The history that a room's `.git` holds where the project's end rests on it: what a clone is sent, each
//! object's id made from its bytes. git itself sends and receives it, so that whatever keeps a clone from being
//! made keeps the room from being filled.

use crate::room::RoomError;
use crate::room::plain_git::complaint;
use crate::room::repository::{Repository, TakenFrom};
use git2::Reference;
use std::collections::BTreeSet;
use std::path::Path;

/// The number of the error "no space left" on every Unix.
const ENOSPC: i32 = 28;

/// Whoever sends a clone: git with the settings of the repository, which say what is sent and start
/// nothing there. It reaches no remote, and whose the repository is was asked before.
const SENDER: &str =
    "--upload-pack=GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1 git -c 'safe.directory=*' upload-pack";

type Refs = [(String, String)];

/// Takes the history over into a git directory; what keeps a clone from being made is named.
pub(crate) fn hold(repository: &Repository, dir: &Path) -> Result<(), RoomError> {
    match &repository.from {
        // What is here of it is all that is needed.
        TakenFrom::Cut => copy(repository, dir),
        TakenFrom::Here => {
            copy(repository, dir)?;
            require_whole(repository, dir)
        }
        TakenFrom::Place(place) => {
            receive(repository, dir, place, &list_sent(repository, dir, place)?)
        }
        TakenFrom::Clone(place) => {
            check_refs(repository, dir)?;
            let sent = list_sent(repository, dir, place)?;
            check_sender(repository, &sent)?;
            receive(repository, dir, place, &sent)
        }
    }
}

/// What the history begins from: the commit, and what is named besides.
fn tips(repository: &Repository, refs: &Refs) -> String {
    let ids: BTreeSet<&str> = refs
        .iter()
        .map(|(_, id)| &**id)
        .chain([&*repository.commit])
        .collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    ids.join("\n") + "\n"
}

fn is_tag(name: &str) -> bool {
    name.starts_with("refs/tags/")
}

/// By the same way as to any clone, which takes all branches: what is not sent, or not whole, is told
/// so wherever it stands. It costs a copy of what they hold, once for each room.
fn receive(
    repository: &Repository,
    dir: &Path,
    place: &Path,
    sent: &Refs,
) -> Result<(), RoomError> {
    let line = "--git-dir=. fetch-pack --quiet --keep --no-progress --stdin --check-self-contained-and-connected";
    let git = repository.git(dir);
    let mut captured = git.ask(line, &[&SENDER, &place], None, tips(repository, sent))?;
    if captured.success() {
        // What came is whole as far as it leads on; a sender may leave out what was asked for.
        let line = "--git-dir=. rev-list --no-walk --quiet --stdin";
        captured = git.ask(line, &[], None, tips(repository, sent))?;
    }
    match captured.success() {
        true => Ok(()),
        false => {
            let said = complaint(&captured);
            if says_full(&said) {
                let full = std::io::ErrorKind::StorageFull.into();
                return Err(RoomError::io("copy the history to", dir, full));
            }
            Err(repository.not_reproducible(format!(
                "its history, all branches and tags, cannot be cloned: {said}"
            )))
        }
    }
}

/// git repeats what the system says where a file system is full.
fn says_full(said: &str) -> bool {
    let full = std::io::Error::from_raw_os_error(ENOSPC).to_string();
    let (words, _) = full.split_once(" (os error").unwrap_or((&full, ""));
    cfg!(unix) && said.contains(words)
}

/// Those objects of a submodule's that are here: from where a clone gets the others, nobody is asked.
fn copy(repository: &Repository, dir: &Path) -> Result<(), RoomError> {
    let git = repository.git(dir);
    let failed = |error: RoomError| match error {
        RoomError::Git(said) => {
            repository.not_reproducible(format!("its history cannot be read: {said}"))
        }
        error => error,
    };
    let line = "--git-dir=. pack-objects --quiet --revs --missing=allow-any --no-use-bitmap-index objects/pack/pack";
    let packed = git.ask(line, &[], Some(&repository.here()), tips(repository, &[]))?;
    if !packed.success() {
        return Err(failed(RoomError::Git(complaint(&packed))));
    }
    let name = String::from_utf8_lossy(&packed.stdout);
    let pack = format!("objects/pack/pack-{}.pack", name.trim());
    // An object's bytes are taken over as they lie there.
    git.answer("--git-dir=. verify-pack", &[&pack], "", &[0])
        .map(drop)
        .map_err(failed)
}

/// Where a clone gets all of it, the history is not cut off here.
fn require_whole(repository: &Repository, dir: &Path) -> Result<(), RoomError> {
    let Some(cut) = repository.read_shallow()? else {
        return Ok(());
    };
    let listed =
        repository
            .git(dir)
            .ask("--git-dir=. rev-list", &[&repository.commit], None, "")?;
    let text = String::from_utf8_lossy(&listed.stdout);
    let is_cut = |commit: &str| cut.lines().any(|line| line.trim() == commit);
    match listed.success() && !text.lines().any(is_cut) {
        true => Ok(()),
        false => Err(repository.not_reproducible(
            "the history of this submodule is cut off here, and a clone has all of it: `git fetch --unshallow` in it brings the rest".to_owned(),
        )),
    }
}

/// Each branch, tag and stash is there whole: git finds everything that they lead to and HEAD does not.
fn check_refs(repository: &Repository, dir: &Path) -> Result<(), RoomError> {
    let line = "--git-dir=. rev-list --objects --stdin --quiet";
    let ids: Vec<&str> = repository.refs.iter().map(|(_, id)| id.as_str()).collect();
    let lines = format!("{}\n^{}", ids.join("\n"), repository.commit);
    let walked = repository
        .git(dir)
        .ask(line, &[], Some(&repository.here()), lines)?;
    match walked.success() {
        true => Ok(()),
        false => {
            let said = complaint(&walked);
            Err(repository.not_reproducible(format!(
                "a branch, tag or stash is not whole, and no clone can be made: {said}"
            )))
        }
    }
}

/// Names and ids of the refs that a clone is shown and takes, none of which keeps it from being made.
fn list_sent(
    repository: &Repository,
    dir: &Path,
    place: &Path,
) -> Result<Vec<(String, String)>, RoomError> {
    let captured = repository.git(dir).ask(
        "--git-dir=. ls-remote --quiet",
        &[&SENDER, &place],
        None,
        "",
    )?;
    if !captured.success() {
        let said = complaint(&captured);
        return Err(repository.not_reproducible(format!("no clone can be made: {said}")));
    }
    let text = String::from_utf8_lossy(&captured.stdout);
    let listed = text.lines().filter_map(|line| line.split_once('\t'));
    // A clone passes over names that git itself would not give.
    let is_taken = |name: &str| {
        name == "HEAD"
            || (is_tag(name) || name.starts_with("refs/heads/")) && Reference::is_valid_name(name)
    };
    let sent: Vec<(String, String)> = listed
        .filter(|(_, name)| is_taken(name))
        .map(|(id, name)| (name.to_owned(), id.to_owned()))
        .collect();
    let is_null = |id: &str| id.bytes().all(|byte| byte == b'0');
    if let Some((name, _)) = sent.iter().find(|(_, id)| is_null(id)) {
        return Err(repository.not_reproducible(format!(
            "`{name}` names no object, and no clone can be made: remove it"
        )));
    }
    if let Some((above, name)) = find_in_the_way(&sent) {
        return Err(repository.not_reproducible(format!(
            "`{above}` and `{name}` exclude each other, and no clone can be made: remove one of them"
        )));
    }
    Ok(sent)
}

/// A ref whose name is a directory of another's: a list of packed refs can hold both, no clone can.
fn find_in_the_way(refs: &Refs) -> Option<(&str, &str)> {
    let names: BTreeSet<&str> = refs.iter().map(|(name, _)| &**name).collect();
    names.iter().find_map(|name| {
        let mut above = name.match_indices('/').map(|(at, _)| &name[..at]);
        Some((above.find(|above| names.contains(above))?, *name))
    })
}

/// A clone is shown the tags that the room shows, and HEAD.
fn check_sender(repository: &Repository, sent: &Refs) -> Result<(), RoomError> {
    let names = repository.refs.iter().map(|(name, _)| &**name);
    let shown = ["HEAD"]
        .into_iter()
        .chain(names.filter(|name| is_tag(name)));
    let mut hidden = shown.filter(|name| !sent.iter().any(|(other, _)| other == name));
    match hidden.next() {
        None => Ok(()),
        Some(name) => Err(repository.not_reproducible(format!(
            "a clone is not shown `{name}`: the repository's settings hide it (`transfer.hideRefs`, `uploadpack.hideRefs`)"
        ))),
    }
}
