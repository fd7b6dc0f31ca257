//! `cook verify --base`: finds the base commit, reads its contract, compares HEAD's with it, and checks the log against
//! the contract that decides: its judges, its assurance, and the criteria that the base states.
//!
//! Invariant: requirements that HEAD's own tree states are not believed until a person accepts exactly that contract
//! from outside of the tree.

use super::criterion_proof::Outcome;
use crate::init::{SETTINGS, control_plane_script, plans, stop_script};
use crate::prelude::*;
use crate::service;
use crate::workspace::{Judging, Workspace};
use cook_protocol::model::{CONTRACT_FILES, STOP_VERIFIER_SCRIPTS, surface_matches};
use cook_repo::disk::TemporaryDir;
use cook_repo::receipt::TakenBack;
use cook_repo::remote::{Remote, Side};

/// Maximum number of files that are named.
const MOST_NAMED: usize = 100;
/// Written by `cook init` together with the contract.
const WRITTEN_WITH_IT: &str = ".gitignore";
/// Maximum number of files that are read along with a plan.
const MAX_BESIDE: usize = 200;

/// The options of the question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    /// The base, as the user named it.
    pub base: &'a str,
    /// The remote that may have it.
    pub from: Option<&'a str>,
    /// The beginning of a digest that the user accepted.
    pub accepted: Option<&'a str>,
}

/// The commit whose contract decides, and how the one at HEAD stands to it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Compared {
    /// Name of the base, as the user gave it.
    pub name: String,
    pub commit: String,
    /// SHA-256 of the complete contract of HEAD, in hexadecimal, for `--accept-contract`.
    #[serde(rename = "contract")]
    pub digest: String,
    /// Whether the user accepted this digest, so that the contract of HEAD decides.
    pub accepted: bool,
    /// Whether the branch changed the contract and nothing else.
    #[serde(rename = "contract_alone")]
    pub alone: bool,
    #[serde(skip)]
    pub outcome: Outcome,
}

impl Compared {
    /// The part of the first line of the answer about the base.
    pub fn words(&self) -> String {
        let (name, at) = (&self.name, short(&self.commit));
        match (self.alone, self.accepted) {
            (true, true) => {
                format!("only the contract differs from `{name}` (`{at}`), and it was accepted")
            }
            (true, false) => format!(
                "not asked: only the contract differs from `{name}` (`{at}`), and a person must accept it"
            ),
            (false, true) => format!(
                "judged by its own contract, which was accepted against that of `{name}` (`{at}`)"
            ),
            (false, false) => format!("judged by the contract of `{name}` (`{at}`)"),
        }
    }

    fn find_alone(&mut self, what: &str) {
        let (name, digest) = (&self.name, &self.digest);
        let what =
            format!("the change from `{name}` {what}; the digest of the contract is {digest}");
        self.outcome.find(Code::ContractAlone, what);
    }

    /// Adds the differences as findings, or as plain lines if a person decides about them or has accepted them.
    fn tell(&mut self, difference: &Difference) {
        let decided = self.alone || self.accepted;
        let outcome = &mut self.outcome;
        let gates = difference.gates.iter();
        let gates = gates.map(|name| (SETTINGS, format!("it adds the gate `{name}`")));
        let judges = difference.judges.iter();
        let judges = judges.map(|count| (PROFILE, format!("it asks for {count} votes that agree")));
        for (path, what) in gates.chain(judges) {
            match decided {
                true => outcome.add_checked(format!("`{path}`: {what}")),
                false => outcome.find_at(Code::ContractStronger, what, path),
            }
        }
        let count = difference.changed.len();
        for (path, what) in difference.changed.iter().take(MOST_NAMED) {
            let what = format!("`{}` {what}", clean(path, Lines::Fold));
            match decided {
                true => outcome.add_checked(what),
                false => outcome.find_at(Code::ContractChanged, what, path),
            }
        }
        if count > MOST_NAMED && !decided {
            let rest = count_noun(count - MOST_NAMED, "file");
            outcome.find(Code::ContractChanged, format!("{rest} more"));
        }
        if self.alone && !self.accepted {
            self.find_alone(&match count as u64 {
                0 => "touches only the contract, and does not weaken it".to_owned(),
                count => format!("touches only the contract: {}", count_noun(count, "file")),
            });
        }
    }
}

/// Finds the base, compares the contracts, and sets the one that decides for the rest of the verification.
///
/// # Errors
/// `commit_unknown` for the base, `config_invalid` for its contract, or no commit at HEAD.
pub(crate) fn judge_by(workspace: &mut Workspace, ask: Ask) -> Result<Compared> {
    let Some(head) = workspace.repo.head()?.commit else {
        return Err(Refusal::new(Code::UnbornHead, "the repository has no commit yet").into());
    };
    let commit = find(workspace, ask)?;
    let repo = &workspace.repo;
    for here in [&commit, &head] {
        repo.fetch_missing(here, &[])?;
    }
    let fork = repo.only_merge_base(&commit, &head)?;
    let commits = [Some(&commit), Some(&head), fork.as_ref()].into_iter();
    let commits: Vec<&str> = commits.flatten().map(String::as_str).collect();
    let contracts = Contract::read_all(repo, &commits)?;
    let (base, own) = (&contracts[0], &contracts[1]);
    let digest = own.digest();
    let from = fork.as_ref().unwrap_or(&commit);
    let mut compared = Compared {
        name: ask.base.to_owned(),
        alone: is_alone(workspace, from, &head, &contracts)?,
        accepted: ask.accepted.is_some_and(|begin| digest.starts_with(begin)),
        outcome: Outcome::default(),
        commit,
        digest,
    };
    let count = count_noun(own.files.len(), "file");
    let digest = &compared.digest;
    compared.outcome.add_checked(format!(
        "the contract of HEAD, {count}: its digest is {digest}"
    ));
    if let Some(begin) = ask.accepted.filter(|_| !compared.accepted) {
        let what =
            format!("`--accept-contract` names `{begin}`, and the contract of HEAD is `{digest}`");
        compared.outcome.find(Code::ContractNotAccepted, what);
    }
    if !base.is_stated() && !compared.accepted {
        if compared.alone {
            compared.find_alone("brings a contract where there was none");
        } else {
            let what = format!("`{}` has no contract under `.agent/`", ask.base);
            compared.outcome.find(Code::BaseContractMissing, what);
        }
        return Ok(compared);
    }
    base.read_config().map_err(|why| {
        let what = format!("`{SETTINGS}` of `{}`: {why}", ask.base);
        let hint = format!(
            "repair it on `{}` first: a contract that cannot be read cannot judge a commit",
            ask.base
        );
        Failure::state(Code::ConfigInvalid, what).replace_hints([hint])
    })?;
    let difference = Difference::find(base, contracts.get(2), own);
    compared.tell(&difference);
    workspace.judging = Some(match compared.accepted {
        true => Judging {
            base: compared.commit.clone(),
            ..judging(&head, own, own, &[])?
        },
        false => judging(&compared.commit, base, own, &difference.gates)?,
    });
    Ok(compared)
}

/// The commit that the base names, in this clone or at the remote.
fn find(workspace: &Workspace, ask: Ask) -> Result<String> {
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

/// Checks that the base has only one meaning. Anyone who may push a tag or a branch could give it the base's name:
/// `origin/main` would then be ambiguous or, if the remote's branch is not in this clone, mean only theirs.
fn require_one_meaning(workspace: &Workspace, base: &str) -> Result<()> {
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
        let what = format!("`{base}` is a branch of that name, not the remote's HEAD branch");
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
            format!("`{base}` is the tag `{tag}`, which anybody with push access could have made");
        let hint = format!(
            "name it whole: `--base {tag}`, or a branch: `--base refs/remotes/REMOTE/{name}`"
        );
        return Err(Failure::usage(what).hint(hint));
    }
    let named = meant.iter().map(|(whole, _)| format!("`{whole}`"));
    let named: Vec<String> = named.collect();
    let what = match is_one {
        true => format!(
            "`{base}` is {}, and no branch of the remote",
            named.join(", ")
        ),
        false => format!("`{base}` may be {}", named.join(" or ")),
    };
    Err(Failure::usage(what).hint(format!("name it whole: `--base {tracked}`")))
}

/// Whether the branch changed only the contract since it began.
fn is_alone(workspace: &Workspace, from: &str, head: &str, contracts: &[Contract]) -> Result<bool> {
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

/// The contract that decides, with the gates that HEAD adds.
fn judging(
    commit: &str,
    contract: &Contract,
    head: &Contract,
    added: &[String],
) -> Result<Judging> {
    let unreadable = |path: &str, why: String| {
        let what = format!("`{path}` of the contract that decides: {why}");
        Failure::state(Code::ConfigInvalid, what)
    };
    let config = contract.read_config();
    let mut config = config.map_err(|why| unreadable(SETTINGS, why))?;
    let profile = contract.files.get(PROFILE);
    let profile = profile.and_then(|file| file.bytes.as_ref());
    let profile = profile.map(|bytes| serde_json::from_slice::<Profile>(bytes));
    let profile = profile.transpose();
    let profile = profile.map_err(|why| unreadable(PROFILE, why.to_string()))?;
    let new = head.read_config().unwrap_or_default().gates.into_iter();
    let new = new.filter(|(name, _)| added.contains(name));
    config.gates.extend(new);
    let verifier = contract.files.get(STOP_VERIFIER_SCRIPTS[0]);
    Ok(Judging {
        commit: commit.to_owned(),
        base: commit.to_owned(),
        config,
        profile,
        added: added.to_vec(),
        files: list_taken_back(contract, head),
        has_own_verifier: verifier.is_some_and(|file| !file.generated),
    })
}

/// Files under `.agent/` that differ at HEAD; those that only HEAD has are to be removed.
fn list_taken_back(contract: &Contract, head: &Contract) -> Vec<TakenBack> {
    let paths: BTreeSet<&String> = contract.files.keys().chain(head.files.keys()).collect();
    let others = paths.into_iter().filter(|path| {
        let is_same = are_same(contract.files.get(*path), head.files.get(*path));
        !is_same && path.starts_with(".agent/")
    });
    let taken_back = others.map(|path| {
        let was = contract.files.get(path);
        TakenBack {
            path: path.clone(),
            bytes: was.and_then(|file| file.bytes.clone()),
            runs: was.is_some_and(|file| file.mode == "100755"),
        }
    });
    taken_back.collect()
}

/// Number of votes that must agree: at least as many as the contract that decides requires.
pub(super) fn count_judges(workspace: &Workspace, snapshot: &Snapshot) -> u64 {
    let own = snapshot.count_required_judges();
    let judging = workspace.judging.as_ref();
    let asked = judging.and_then(|judging| judging.profile.as_ref());
    asked.map_or(own, |profile| profile.required_stop_judges.0.max(own))
}

/// Adds the requirements of the contract that decides which the log does not prove.
pub(super) fn hold(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<()> {
    let Some(judging) = &workspace.judging else {
        return Ok(());
    };
    if let Some(profile) = &judging.profile
        && snapshot.lowest_assurance() < profile.assurance
    {
        let what = format!(
            "slices or votes rest on the assurance `{}`, and the contract that decides asks for `{}`",
            snapshot.lowest_assurance(),
            profile.assurance
        );
        outcome.find_at(Code::ContractWeaker, what, ".agent/profile.json");
    }
    let Some(source) = &snapshot.ledger.plan_source else {
        return Ok(());
    };
    for what in list_unproven(workspace, judging, &source.path, &snapshot.plan)? {
        outcome.find_at(Code::ContractWeaker, what, &source.path);
    }
    outcome.add_checked(format!(
        "the tasks in `{}` of the deciding contract, compared with the proven slices",
        source.path
    ));
    Ok(())
}

/// Slices and criteria of the base's plan that were not proven, as far as the plan had them when the branch began.
fn list_unproven(
    workspace: &Workspace,
    judging: &Judging,
    path: &str,
    proven: &Plan,
) -> Result<Vec<String>> {
    let Some(base) = read_plan_at(workspace, &judging.commit, path)? else {
        return Ok(Vec::new());
    };
    let head = workspace.repo.head()?.commit;
    let fork = match head {
        Some(head) => workspace.repo.only_merge_base(&judging.commit, &head)?,
        None => None,
    };
    let fork = match fork.filter(|fork| *fork != judging.commit) {
        Some(fork) => read_plan_at(workspace, &fork, path)?,
        None => None,
    };
    Ok(compare_plans(&base, fork.as_ref().unwrap_or(&base), proven))
}

fn compare_plans(base: &Plan, fork: &Plan, proven: &Plan) -> Vec<String> {
    let holds = |slice: Option<&Slice>, text: &str| {
        let mut known = slice.iter().flat_map(|slice| &slice.acceptance_criteria);
        known.any(|known| known.trim() == text.trim())
    };
    let mut found = Vec::new();
    for slice in &base.candidate_slices {
        let id = &slice.slice_id;
        let Some(known) = fork.slice(id) else {
            continue;
        };
        let kept = proven.slice(id);
        let kept = kept.filter(|kept| kept.status != SliceStatus::Cancelled);
        if kept.is_none() {
            found.push(format!(
                "the slice `{}` was not proven: {}",
                show(id),
                show(&slice.goal)
            ));
            continue;
        }
        let asked = slice.acceptance_criteria.iter();
        let lost = asked.filter(|text| holds(Some(known), text) && !holds(kept, text));
        found.extend(lost.map(|text| {
            format!(
                "the slice `{}` was proven without this criterion, or with a different wording of it: {}",
                show(id),
                show(text)
            )
        }));
    }
    found
}

/// A text as it is shown: one line of limited length.
fn show(text: &str) -> String {
    shorten(&clean(text.trim(), Lines::Fold), 80)
}

/// The plan in a file of a commit, read as `cook init --from` reads it; `None` if the file does not exist.
fn read_plan_at(workspace: &Workspace, commit: &str, path: &str) -> Result<Option<Plan>> {
    let dir = Path::new(path).parent().and_then(Path::to_str);
    let below = dir.filter(|dir| !dir.is_empty());
    let files = workspace
        .repo
        .list_files_under(commit, &[below.unwrap_or(path)])?;
    if !files.contains_key(path) {
        return Ok(None);
    }
    let what = "a directory for a plan";
    let place = TemporaryDir::make().or_fail(Code::NotWritable, what)?;
    let is_beside = |file: &str| Path::new(file).parent() == Path::new(path).parent();
    let beside = files
        .iter()
        .filter(|(file, entry)| is_beside(file) && entry.mode.starts_with("100"));
    let own = files.get_key_value(path).into_iter();
    for (file, entry) in own.chain(beside.take(MAX_BESIDE)) {
        let Some(bytes) = workspace.repo.blob(&entry.id)? else {
            continue;
        };
        let target = place.path().join(file);
        if let Some(dir) = target.parent() {
            std::fs::create_dir_all(dir).or_fail(Code::NotWritable, what)?;
        }
        std::fs::write(&target, bytes).or_fail(Code::NotWritable, what)?;
    }
    Ok(plans::read(place.path(), path)?.import.plan)
}

// The contract of a commit, and the difference between two contracts: file by file, or as added gates and additional
// judges.

const AGENT: &str = ".agent";
pub(super) const PROFILE: &str = CONTRACT_FILES[2];
const JUDGES: &str = "required_stop_judges";

/// A file of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContractFile {
    /// The mode as git writes it, such as `100644`.
    pub mode: String,
    /// Id of its content.
    pub id: String,
    /// Its content; `None` if it is not a regular file or is too large.
    pub bytes: Option<Vec<u8>>,
    /// Whether cook generated it from that commit's own gates, so that it differs only if they do.
    pub generated: bool,
}

impl ContractFile {
    fn read(repo: &Repo, entry: TreeEntry) -> Result<Self> {
        let bytes = match entry.mode.starts_with("100") {
            true => repo.blob(&entry.id)?,
            false => None,
        };
        Ok(Self {
            mode: entry.mode,
            id: entry.id,
            bytes,
            generated: false,
        })
    }

    fn text(&self) -> Option<String> {
        let bytes = self.bytes.as_ref()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The contract of a commit: files under `.agent/`, scripts that the base's gates name, and paths that the base
/// protects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Contract {
    /// By path.
    pub files: BTreeMap<String, ContractFile>,
}

impl Contract {
    /// Reads the contracts of several commits. The first is the base; it determines which paths are part of the
    /// contract in all of them.
    pub fn read_all(repo: &Repo, commits: &[&str]) -> Result<Vec<Self>> {
        let (mut protected, mut scripts) = (Vec::new(), BTreeSet::new());
        if let Some(base) = commits.first() {
            let own = Self::read(repo, base, is_agents)?;
            let settings = own.read_config().unwrap_or_default();
            protected = settings.rules.protected.clone();
            scripts = list_named_scripts(repo, base, &list_commands(&settings))?;
        }
        let is_part = |path: &str| {
            let mut patterns = protected.iter();
            is_agents(path)
                || scripts.contains(path)
                || patterns.any(|pattern| surface_matches(pattern, path))
        };
        let read = |commit: &&str| Self::read(repo, commit, is_part);
        commits.iter().map(read).collect()
    }

    fn read(repo: &Repo, commit: &str, is_part: impl Fn(&str) -> bool) -> Result<Self> {
        let mut contract = Self::default();
        for (path, entry) in repo.files(commit)? {
            if is_part(&path) {
                let file = ContractFile::read(repo, entry)?;
                contract.files.insert(path, file);
            }
        }
        let config = contract.read_config().ok();
        let made = [
            config.map(|config| stop_script(&config.gate_specs())),
            Some(control_plane_script()),
        ];
        for (path, made) in STOP_VERIFIER_SCRIPTS.into_iter().zip(made) {
            if let (Some(file), Some(made)) = (contract.files.get_mut(path), made) {
                file.generated = file.bytes.as_deref() == Some(made.as_bytes());
            }
        }
        Ok(contract)
    }

    /// The settings, or why they cannot be read.
    pub fn read_config(&self) -> Result<Config, String> {
        let Some(file) = self.files.get(SETTINGS) else {
            return Ok(Config::default());
        };
        let text = file.text().ok_or("it is not a file that can be read")?;
        Config::parse(&text)
    }

    /// Whether any file under `.agent/` states requirements.
    pub fn is_stated(&self) -> bool {
        let [_, mission, profile, ..] = CONTRACT_FILES;
        let mut stating = [SETTINGS, mission, profile].into_iter();
        stating.any(|path| self.files.contains_key(path))
    }

    /// A digest of the whole contract; every edit changes it.
    pub fn digest(&self) -> String {
        let mut all = b"cook contract 2\n".to_vec();
        for (path, file) in &self.files {
            let content = match &file.bytes {
                Some(bytes) => sha256(bytes),
                None => file.id.clone(),
            };
            for part in [path, &file.mode, &content] {
                all.extend_from_slice(&(part.len() as u64).to_le_bytes());
                all.extend_from_slice(part.as_bytes());
            }
        }
        sha256(&all)
    }
}

/// Whether the path is under `.agent/`. Leaves out the README of the directory, which cook does not read.
fn is_agents(path: &str) -> bool {
    let is_below = path.strip_prefix(AGENT);
    is_below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && path != CONTRACT_FILES[0]
}

/// The commands of the gates and of the setup.
fn list_commands(settings: &Config) -> Vec<String> {
    let gates = settings.gates.values().map(|gate| gate.run.to_string());
    let setup = settings.clean_room.setup().map(ToString::to_string);
    gates.chain(setup).collect()
}

/// Scripts outside of `.agent/` that the commands name.
fn list_named_scripts(repo: &Repo, commit: &str, commands: &[String]) -> Result<BTreeSet<String>> {
    let words: BTreeSet<String> = commands
        .iter()
        .filter_map(|command| words(command).ok())
        .flatten()
        .map(|word| word.trim_start_matches("./").to_owned())
        .filter(|word| !word.is_empty() && !word.starts_with(['-', '/']) && !word.contains('\0'))
        .filter(|word| !word.split('/').any(|part| matches!(part, "" | "." | "..")))
        .collect();
    let paths: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = BTreeSet::new();
    for (path, entry) in repo.list_files_under(commit, &paths)? {
        if !words.contains(&path) {
            continue;
        }
        let bytes = ContractFile::read(repo, entry)?.bytes;
        let is_script = bytes.is_some_and(|bytes| bytes.starts_with(b"#!"));
        if is_script || path.ends_with(".sh") {
            found.insert(path);
        }
    }
    Ok(found)
}

/// How a branch changed the contract.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Files that a person must accept, and how each changed.
    pub changed: Vec<(String, &'static str)>,
    /// Names of the gates that it adds.
    pub gates: Vec<String>,
    /// The required number of votes, if it was raised.
    pub judges: Option<u64>,
}

impl Difference {
    /// The changes of the branch: paths at which HEAD differs from the commit where the branch began, unless the base
    /// has the same version as HEAD. Changes that only the base made are left out, because there the base decides.
    pub fn find(base: &Contract, fork: Option<&Contract>, head: &Contract) -> Self {
        let from = fork.unwrap_or(base);
        let paths: BTreeSet<&String> = from.files.keys().chain(head.files.keys()).collect();
        let mut found = Self::default();
        for path in paths {
            let (was, is) = (from.files.get(path), head.files.get(path));
            if are_same(was, is) || are_same(base.files.get(path), is) {
                continue;
            }
            let what = match (was, is) {
                (Some(was), Some(is)) if was.mode != is.mode => "has another mode",
                (Some(was), Some(is)) if was.generated && is.generated => continue,
                _ if found.add(base, path, was, is).is_some() => continue,
                (None, _) => "is new",
                (_, None) => "is removed",
                _ => "is edited",
            };
            found.changed.push((path.clone(), what));
        }
        // The files that an added gate names are part of that gate.
        let settings = head.read_config().unwrap_or_default();
        let added = settings.gates.iter();
        let added = added.filter(|(name, _)| found.gates.contains(name));
        let named: BTreeSet<String> = added
            .filter_map(|(_, gate)| words(&gate.run.to_string()).ok())
            .flatten()
            .collect();
        let is_brought = |(path, what): &(String, &str)| {
            *what == "is new" && named.contains(path) && is_inert(path)
        };
        found.changed.retain(|change| !is_brought(change));
        found
    }

    /// Notes a change that only adds gates or only requires more votes; `None` if it does more.
    fn add(
        &mut self,
        base: &Contract,
        path: &str,
        was: Option<&ContractFile>,
        is: Option<&ContractFile>,
    ) -> Option<()> {
        let after = is?.text()?;
        if path == SETTINGS {
            let before = was.map_or(Some(String::new()), ContractFile::text)?;
            let known = base.read_config().ok()?.gates;
            let gates = list_added_gates(&before, &after)?;
            if gates.iter().any(|name| known.contains_key(name)) {
                return None;
            }
            self.gates = gates;
            return Some(());
        }
        if path != PROFILE {
            return None;
        }
        let (mut was, mut is) = (read_object(&was?.text()?)?, read_object(&after)?);
        let count = |profile: &mut Value| profile.as_object_mut()?.remove(JUDGES)?.as_u64();
        let (asked, asks) = (count(&mut was)?, count(&mut is)?);
        if was != is || asks < asked {
            return None;
        }
        self.judges = (asks > asked).then_some(asks);
        Some(())
    }
}

pub(super) fn are_same(one: Option<&ContractFile>, other: Option<&ContractFile>) -> bool {
    let key = |file: &ContractFile| (file.mode.clone(), file.id.clone());
    one.map(key) == other.map(key)
}

/// Whether the path is a file under `.agent/` whose name has no meaning to cook.
fn is_inert(path: &str) -> bool {
    let names = [SETTINGS, ".agent/allowed_signers"];
    is_agents(path) && !names.contains(&path) && !CONTRACT_FILES.contains(&path)
}

fn read_object(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

/// Names of the added gates, if nothing else differs between the settings.
fn list_added_gates(before: &str, after: &str) -> Option<Vec<String>> {
    Config::parse(after).ok()?;
    let mut before: toml::Table = before.parse().ok()?;
    let mut after: toml::Table = after.parse().ok()?;
    let take = |table: &mut toml::Table| match table.remove("gates") {
        None => Some(toml::Table::new()),
        Some(toml::Value::Table(gates)) => Some(gates),
        Some(_) => None,
    };
    let (was, mut is) = (take(&mut before)?, take(&mut after)?);
    let is_kept = was
        .iter()
        .all(|(name, gate)| is.remove(name).as_ref() == Some(gate));
    (is_kept && before == after).then(|| is.into_iter().map(|(name, _)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_protocol::model::SchemaVersion;

    fn plan(slices: &[(&str, &[&str])]) -> Plan {
        let slice = |(id, criteria): &(&str, &[&str])| Slice {
            slice_id: (*id).to_owned(),
            acceptance_criteria: criteria.iter().map(|text| (*text).to_owned()).collect(),
            ..Slice::default()
        };
        Plan {
            schema_version: SchemaVersion,
            mission_anchor: String::new(),
            last_reground_at: None,
            plan_basis: String::new(),
            candidate_slices: slices.iter().map(|it| slice(it).into()).collect(),
        }
    }

    #[test]
    fn a_dropped_slice_and_a_dropped_or_reworded_criterion_are_named() {
        let base = plan(&[("a", &["one", "two"]), ("b", &["three"])]);
        let count = |proven: &Plan| compare_plans(&base, &base, proven).len();
        assert_eq!(count(&base), 0);
        assert_eq!(
            count(&plan(&[("a", &["one", "two", "more"]), ("b", &["three"])])),
            0
        );
        assert_eq!(count(&plan(&[("a", &["one"]), ("b", &["three"])])), 1);
        assert_eq!(
            count(&plan(&[("a", &["one", "two, mostly"]), ("b", &["three"])])),
            1
        );
        let mut cancelled = base.clone();
        cancelled.candidate_slices[1].status = SliceStatus::Cancelled;
        assert_eq!(count(&cancelled), 1);
        // Slices that the base gained later are not required of the branch.
        let fork = plan(&[("a", &["one"])]);
        assert_eq!(compare_plans(&base, &fork, &fork).len(), 0);
    }

    fn contract(files: &[(&str, &str)]) -> Contract {
        let file = |(path, text): &(&str, &str)| {
            let file = ContractFile {
                mode: "100644".to_owned(),
                id: sha256(text.as_bytes()),
                bytes: Some(text.as_bytes().to_vec()),
                generated: false,
            };
            ((*path).to_owned(), file)
        };
        Contract {
            files: files.iter().map(file).collect(),
        }
    }

    fn settings(text: &str) -> Contract {
        contract(&[(SETTINGS, text)])
    }

    const A: &str = "[gates.a]\nrun = \"true\"\n";
    const B: &str = "[gates.b]\nrun = \"true\"\n";

    #[test]
    fn a_gate_that_is_added_alone_is_no_change() {
        let of = |is: &str| Difference::find(&settings(A), None, &settings(is));
        assert_eq!(of(&format!("# why\n{A}{B}")).gates, ["b"]);
        for is in [
            B.to_owned(),
            A.replace("true", "false"),
            format!("{A}required = false\n"),
            format!("{A}{B}[limits]\nsteps = 1\n"),
            "gates = 1".to_owned(),
            "[".to_owned(),
        ] {
            let found = of(&is);
            assert_eq!(found.changed, [(SETTINGS.to_owned(), "is edited")], "{is}");
            assert!(found.gates.is_empty(), "{is}");
        }
        let new = Difference::find(&Contract::default(), None, &settings(A));
        assert_eq!(new.gates, ["a"]);
        let gone = Difference::find(&settings(A), None, &Contract::default());
        assert_eq!(gone.changed, [(SETTINGS.to_owned(), "is removed")]);
    }

    #[test]
    fn a_gate_brings_the_files_that_it_names_and_no_other() {
        let more = format!("{A}[gates.b]\nrun = \"sh .agent/b.sh .agent/allowed_signers b.sh\"\n");
        let head = |path: &str| contract(&[(SETTINGS, &more), (path, "x")]);
        let of = |path: &str| Difference::find(&settings(A), None, &head(path));
        assert!(of(".agent/b.sh").changed.is_empty());
        for path in [".agent/c.sh", ".agent/allowed_signers", "b.sh"] {
            assert_eq!(of(path).changed, [(path.to_owned(), "is new")]);
        }
    }

    #[test]
    fn what_the_base_changed_alone_is_no_change_of_the_branch() {
        let (fork, base) = (settings(A), settings(&format!("{A}{B}")));
        let of = |head: &Contract| Difference::find(&base, Some(&fork), head);
        assert_eq!(of(&fork), Difference::default());
        assert_eq!(of(&base), Difference::default());
        // Both added a gate with that name.
        let other = of(&settings(&format!("{A}[gates.b]\nrun = \"false\"\n")));
        assert_eq!(other.changed.len(), 1);
        let back = Difference::find(&base, Some(&base), &fork);
        assert_eq!(back.changed.len(), 1);
    }

    #[test]
    fn votes_are_added_and_nothing_else_of_a_profile() {
        let profile = |text: &str| contract(&[(PROFILE, text)]);
        let was = profile(r#"{"a": 1, "required_stop_judges": 3}"#);
        let of = |is: &str| Difference::find(&was, None, &profile(is));
        let same = of(r#"{"required_stop_judges":   3, "a": 1}"#);
        assert_eq!(same, Difference::default());
        assert_eq!(of(r#"{"required_stop_judges": 4, "a": 1}"#).judges, Some(4));
        for is in [
            r#"{"a": 1, "required_stop_judges": 2}"#,
            r#"{"a": 2, "required_stop_judges": 4}"#,
            "{}",
        ] {
            assert_eq!((of(is).changed.len(), of(is).judges), (1, None), "{is}");
        }
    }

    #[test]
    fn files_that_are_gone_new_or_edited_are_named() {
        let base = contract(&[(".agent/check.sh", "a"), ("tools/check.sh", "a")]);
        let with = |path: &str, text: Option<&str>| {
            let mut other = base.clone();
            match text {
                Some(text) => other.files.extend(contract(&[(path, text)]).files),
                None => drop(other.files.remove(path)),
            }
            let found = Difference::find(&base, None, &other);
            found.changed.first().map(|(_, what)| *what)
        };
        for path in [".agent/check.sh", "tools/check.sh"] {
            assert_eq!(with(path, Some("b")), Some("is edited"));
            assert_eq!(with(path, None), Some("is removed"));
        }
        assert_eq!(with(".agent/new.sh", Some("b")), Some("is new"));
        assert_eq!(with(".agent/allowed_signers", Some("b")), Some("is new"));
        assert_eq!(with(".agent/mission.md", Some("b")), Some("is new"));
        assert_eq!(with("tools/new.sh", Some("b")), Some("is new"));
        let mut mode = base.clone();
        mode.files.get_mut(".agent/check.sh").unwrap().mode = "120000".to_owned();
        let found = Difference::find(&base, None, &mode).changed;
        assert_eq!(found[0].1, "has another mode");
    }

    #[test]
    fn a_digest_is_another_after_each_edit() {
        let mut contract = contract(&[("a", "one")]);
        let mut seen = vec![Contract::default().digest(), contract.digest()];
        let mut other = |contract: &Contract| {
            let digest = contract.digest();
            assert!(!seen.contains(&digest));
            seen.push(digest);
        };
        let more = ContractFile {
            bytes: Some(b"two".to_vec()),
            ..contract.files["a"].clone()
        };
        contract.files.insert("b".to_owned(), more.clone());
        other(&contract);
        contract.files.insert("a".to_owned(), more);
        other(&contract);
        contract.files.get_mut("a").unwrap().mode = "100755".to_owned();
        other(&contract);
        contract.files.remove("b");
        other(&contract);
    }
}
