//! Which commit the base is, what its contract says, and how HEAD's differs from it.

use super::contract::{Contract, Difference, PROFILE};
use crate::scaffold::SETTINGS;
use crate::service::{self, Judging, Workspace};
use crate::verify::outcome::Outcome;
use cook_core::diagnostic::{Code, Failure, Finding, Lines, Refusal, clean, count_noun};
use cook_core::machine::short;
use cook_core::model::{CONTRACT_FILES, Config, Profile, STOP_VERIFIER_SCRIPTS};
use cook_remote::{Remote, Side};
use cook_store::receipt::TakenBack;
use std::collections::BTreeSet;

/// Files that are named.
const MOST_NAMED: usize = 100;
/// Written by `cook init` with the contract.
const WRITTEN_WITH_IT: &str = ".gitignore";

/// What was asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    /// The base, as it was named.
    pub base: &'a str,
    /// The remote that may have it.
    pub from: Option<&'a str>,
    /// The beginning of a digest that somebody accepted.
    pub accepted: Option<&'a str>,
}

/// What the comparison came to.
#[derive(Debug)]
pub(crate) struct Compared {
    /// The base, as it was named.
    pub name: String,
    /// Its commit, full id.
    pub commit: String,
    /// The digest of HEAD's whole contract.
    pub digest: String,
    /// It was accepted as it is.
    pub accepted: bool,
    /// HEAD differs from the base in nothing but its contract.
    pub alone: bool,
    /// What was looked at and what was found.
    pub outcome: Outcome,
}

impl Compared {
    /// For the first line.
    pub fn words(&self) -> String {
        let (name, at) = (&self.name, short(&self.commit));
        match (self.alone, self.accepted) {
            (true, true) => {
                format!("the contract alone is changed from `{name}` (`{at}`), and was accepted")
            }
            (true, false) => format!(
                "not asked: the contract alone is changed from `{name}` (`{at}`), and a person decides on it"
            ),
            (false, true) => format!(
                "judged by its own contract, which was accepted against that of `{name}` (`{at}`)"
            ),
            (false, false) => format!("judged by the contract of `{name}` (`{at}`)"),
        }
    }
}

/// Finds the base, compares the contracts, and lets the one that decides decide from here on.
///
/// # Errors
/// `commit_unknown` for the base, `config_invalid` for its contract, no commit at HEAD.
pub(crate) fn judge_by(workspace: &mut Workspace, ask: Ask) -> Result<Compared, Failure> {
    let Some(head) = workspace.repo.head()?.commit else {
        return Err(Refusal::new(Code::UnbornHead, "the repository has no commit yet").into());
    };
    let commit = find(workspace, ask)?;
    let repo = &workspace.repo;
    for here in [&commit, &head] {
        repo.fetch_missing(here, &[])?;
    }
    let fork = repo.only_merge_base(&commit, &head)?;
    let commits: Vec<&str> = [Some(&commit), Some(&head), fork.as_ref()]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let contracts = Contract::read_all(repo, &commits)?;
    let (base, own) = (&contracts[0], &contracts[1]);
    let digest = own.digest();
    let mut compared = Compared {
        name: ask.base.to_owned(),
        alone: is_alone(
            workspace,
            fork.as_ref().unwrap_or(&commit),
            &head,
            &contracts,
        )?,
        accepted: ask.accepted.is_some_and(|begin| digest.starts_with(begin)),
        outcome: Outcome::default(),
        commit,
        digest,
    };
    let count = count_noun(own.files.len() as u64, "file");
    let digest = &compared.digest;
    compared.outcome.add_checked(format!(
        "the contract of HEAD, {count}: its digest is {digest}"
    ));
    if let Some(begin) = ask.accepted.filter(|_| !compared.accepted) {
        let what =
            format!("`--accept-contract` names `{begin}`, and the contract of HEAD is `{digest}`");
        let finding = Finding::new(Code::ContractNotAccepted, what);
        compared.outcome.findings.push(finding);
    }
    if !base.is_stated() && !compared.accepted {
        let what = format!(
            "`{}` has no contract under `.agent/`: nothing there says what is asked",
            ask.base
        );
        let finding = match compared.alone {
            true => alone(&compared, "brings a contract where there was none"),
            false => Finding::new(Code::BaseContractMissing, what),
        };
        compared.outcome.findings.push(finding);
        return Ok(compared);
    }
    read_config(base).map_err(|why| {
        let what = format!("`{SETTINGS}` of `{}`: {why}", ask.base);
        let hint = format!(
            "mend it on `{}` first: nothing is judged by a contract that cannot be read",
            ask.base
        );
        Failure::state(Code::ConfigInvalid, what).replace_hints([hint])
    })?;
    let difference = Difference::find(base, contracts.get(2), own);
    tell(&mut compared, &difference);
    workspace.judging = Some(match compared.accepted {
        true => Judging {
            base: compared.commit.clone(),
            ..judging(&head, own, own, &[])?
        },
        false => judging(&compared.commit, base, own, &difference.gates)?,
    });
    Ok(compared)
}

/// The commit that the base names, here or at the remote.
fn find(workspace: &Workspace, ask: Ask) -> Result<String, Failure> {
    require_one_meaning(workspace, ask.base)?;
    if let Some(commit) = workspace.repo.commit_named(ask.base)? {
        return Ok(commit);
    }
    if let Some(from) = ask.from {
        let branch = ask.base.strip_prefix("refs/remotes/").unwrap_or(ask.base);
        let branch = branch.strip_prefix(&format!("{from}/")).unwrap_or(branch);
        let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        let remote = service::remote(workspace, Some(from), branch, Side::Fetch, false)?;
        if let Some(found) = remote.look(branch, Side::Fetch)?.branch
            && remote
                .bring(std::slice::from_ref(&found.commit))?
                .is_empty()
        {
            return Ok(found.commit);
        }
    }
    let what = format!("the base `{}` names no commit here", ask.base);
    let branch = ask.base.rsplit('/').next().unwrap_or(ask.base);
    Err(Failure::unknown(Code::CommitUnknown, what).replace_hints([
        format!(
            "name a branch, a tag or a commit: `cook verify --base {}`",
            shell_words::quote(&format!("origin/{branch}"))
        ),
        "in CI check out with `fetch-depth: 0`, or name the remote with `--from`".to_owned(),
    ]))
}

/// Somebody who may push a tag or a branch could give it the base's name: `origin/main` is then two things,
/// or, where the remote's own is not here, only theirs.
fn require_one_meaning(workspace: &Workspace, base: &str) -> Result<(), Failure> {
    let name = base.split(['~', '^', '@', ':']).next().unwrap_or(base);
    if name.starts_with("refs/") {
        return Ok(());
    }
    let refs = workspace.repo.refs()?;
    let places = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
    let meant: Vec<(String, &String)> = places
        .iter()
        .map(|place| format!("{place}{name}"))
        .chain([format!("refs/remotes/{name}/HEAD")])
        .filter_map(|whole| refs.get(&whole).map(|at| (whole, at)))
        .collect();
    let tracked = format!("refs/remotes/{name}");
    let of_remote = |remote: String| name.starts_with(&format!("{remote}/"));
    let is_of_remote = Remote::list(&workspace.repo)?.into_iter().any(of_remote);
    let is_theirs = is_of_remote && !meant.is_empty() && !refs.contains_key(&tracked);
    let is_branch_head = is_of_remote
        && name.ends_with("/HEAD")
        && refs.contains_key(&tracked)
        && !workspace.repo.is_symbolic(&tracked)?;
    if is_branch_head {
        let what =
            format!("`{base}` is a branch of that name, and not what the remote's HEAD names");
        return Err(
            Failure::usage(what).hint("name the branch: `--base refs/remotes/REMOTE/BRANCH`")
        );
    }
    let is_tag = |(whole, _): &(String, &String)| whole.starts_with("refs/tags/");
    let is_one = meant.iter().all(|(_, at)| *at == meant[0].1);
    if is_one && !is_theirs {
        let (Some((tag, _)), true) = (meant.first(), meant.iter().all(is_tag)) else {
            return Ok(());
        };
        let what =
            format!("`{base}` is the tag `{tag}`, and whoever may push there could have made it");
        let hint = format!(
            "name it whole: `--base {tag}`, or a branch: `--base refs/remotes/REMOTE/{name}`"
        );
        return Err(Failure::usage(what).hint(hint));
    }
    let named: Vec<String> = meant
        .iter()
        .map(|(whole, _)| format!("`{whole}`"))
        .collect();
    let what = match is_one {
        true => format!(
            "`{base}` is {}, and no branch of the remote",
            named.join(", ")
        ),
        false => format!("`{base}` may be {}", named.join(" or ")),
    };
    Err(Failure::usage(what).hint(format!("name it whole: `--base {tracked}`")))
}

/// What differs from where the branch began is nothing but contract.
fn is_alone(
    workspace: &Workspace,
    from: &str,
    head: &str,
    contracts: &[Contract],
) -> Result<bool, Failure> {
    let changes = workspace.repo.changes(Some(from), head)?;
    let is_contract = |path: &str| {
        path == CONTRACT_FILES[0] || contracts.iter().any(|one| one.files.contains_key(path))
    };
    let mut of_contract = changes.iter().filter(|change| is_contract(&change.path));
    Ok(of_contract.next().is_some()
        && changes
            .iter()
            .all(|change| is_contract(&change.path) || change.path == WRITTEN_WITH_IT))
}

fn alone(compared: &Compared, what: &str) -> Finding {
    let (name, digest) = (&compared.name, &compared.digest);
    let what = format!("the change from `{name}` {what}; the digest of the contract is {digest}");
    Finding::new(Code::ContractAlone, what)
}

/// Findings, or lines where a person decides or has decided.
fn tell(compared: &mut Compared, difference: &Difference) {
    let decided = compared.alone || compared.accepted;
    let outcome = &mut compared.outcome;
    let gates = difference.gates.iter();
    let gates = gates.map(|name| (SETTINGS, format!("it adds the gate `{name}`")));
    let judges = difference.judges.iter();
    let judges = judges.map(|count| (PROFILE, format!("it asks for {count} votes that agree")));
    for (path, what) in gates.chain(judges) {
        match decided {
            true => outcome.add_checked(format!("`{path}`: {what}")),
            false => outcome.find(Code::ContractStronger, what, path),
        }
    }
    for (path, what) in difference.changed.iter().take(MOST_NAMED) {
        let what = format!("`{}` {what}", clean(path, Lines::Fold));
        match decided {
            true => outcome.add_checked(what),
            false => outcome.find(Code::ContractChanged, what, path),
        }
    }
    let rest = difference.changed.len().saturating_sub(MOST_NAMED);
    if rest > 0 && !decided {
        let what = format!("{} more", count_noun(rest as u64, "file"));
        let finding = Finding::new(Code::ContractChanged, what);
        outcome.findings.push(finding);
    }
    if compared.alone && !compared.accepted {
        let what = match difference.changed.len() {
            0 => "touches nothing but the contract, and asks for no less".to_owned(),
            count => format!(
                "is of the contract alone: {}",
                count_noun(count as u64, "file")
            ),
        };
        compared.outcome.findings.push(alone(compared, &what));
    }
}

/// What decides: that contract, with the gates that HEAD adds.
fn judging(
    commit: &str,
    contract: &Contract,
    head: &Contract,
    added: &[String],
) -> Result<Judging, Failure> {
    let unreadable = |path: &str, why: String| {
        Failure::state(
            Code::ConfigInvalid,
            format!("`{path}` of the contract that decides: {why}"),
        )
    };
    let mut config = read_config(contract).map_err(|why| unreadable(SETTINGS, why))?;
    let profile = contract
        .files
        .get(PROFILE)
        .and_then(|file| file.bytes.as_ref());
    let profile = profile.map(|bytes| serde_json::from_slice::<Profile>(bytes));
    let profile = profile
        .transpose()
        .map_err(|why| unreadable(PROFILE, why.to_string()))?;
    let new = head.settings().unwrap_or_default().gates.into_iter();
    config
        .gates
        .extend(new.filter(|(name, _)| added.contains(name)));
    let verifier = contract.files.get(STOP_VERIFIER_SCRIPTS[0]);
    Ok(Judging {
        commit: commit.to_owned(),
        base: commit.to_owned(),
        config,
        profile,
        added: added.to_vec(),
        files: files(contract, head),
        has_own_verifier: verifier.is_some_and(|file| !file.generated),
    })
}

fn read_config(contract: &Contract) -> Result<Config, String> {
    let Some(file) = contract.files.get(SETTINGS) else {
        return Ok(Config::default());
    };
    let bytes = file
        .bytes
        .as_deref()
        .ok_or("it is not a file that can be read")?;
    Config::parse(&String::from_utf8_lossy(bytes))
}

/// Files under `.agent/` that HEAD has otherwise; what only HEAD has is not there either.
fn files(contract: &Contract, head: &Contract) -> Vec<TakenBack> {
    let paths: BTreeSet<&String> = contract.files.keys().chain(head.files.keys()).collect();
    let mut files = Vec::new();
    for path in paths {
        let (was, is) = (contract.files.get(path), head.files.get(path));
        let is_same = match (was, is) {
            (Some(was), Some(is)) => was.is_same(is),
            _ => false,
        };
        if is_same || !path.starts_with(".agent/") {
            continue;
        }
        files.push(TakenBack {
            path: path.clone(),
            bytes: was.and_then(|file| file.bytes.clone()),
            runs: was.is_some_and(|file| file.mode == "100755"),
        });
    }
    files
}
