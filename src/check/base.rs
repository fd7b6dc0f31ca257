//! What a commit is compared with.

use cook_core::diagnostic::{Code, Failure};
use cook_git::Repo;

/// The commit to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    /// Full id.
    pub commit: String,
    /// Why this one, in words.
    pub why: String,
}

/// The base that is named; else where the branch left its upstream, or the remote's default branch;
/// else the commit before. Where HEAD is already there, that one is no base.
pub(crate) fn find(repo: &Repo, head: &str, named: Option<&str>) -> Result<Base, Failure> {
    if let Some(name) = named {
        let Some(commit) = repo.commit_named(name)? else {
            let what = format!("`{name}` names no commit here");
            let hint = "name a branch, a tag or a commit, as in `--base main`";
            return Err(Failure::unknown(Code::CommitUnknown, what).replace_hints([hint]));
        };
        let why = match repo.merge_base(&commit, head)? {
            Some(base) if base != commit => {
                return Ok(Base {
                    commit: base,
                    why: format!("the merge base with {name}"),
                });
            }
            _ => name.to_owned(),
        };
        return Ok(Base { commit, why });
    }
    let remote = repo
        .refs()?
        .into_keys()
        .filter(|name| name.starts_with("refs/remotes/") && name.ends_with("/HEAD"))
        .min_by_key(|name| name != "refs/remotes/origin/HEAD");
    for name in [repo.upstream()?, remote].into_iter().flatten() {
        let Some(commit) = repo.commit_named(&name)? else {
            continue;
        };
        if let Some(base) = repo.merge_base(&commit, head)?.filter(|base| base != head) {
            let name = name.trim_start_matches("refs/remotes/");
            return Ok(Base {
                commit: base,
                why: format!("the merge base with {name}"),
            });
        }
    }
    Ok(match repo.commit_named(&format!("{head}~1"))? {
        Some(commit) => Base {
            commit,
            why: "the commit before".to_owned(),
        },
        None => Base {
            commit: head.to_owned(),
            why: "itself: there is no commit before".to_owned(),
        },
    })
}
