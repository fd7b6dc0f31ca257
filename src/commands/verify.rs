//! `cook verify` recomputes everything from files, log and git; `cook attest` writes and reads results as statements.

use super::context::*;
use super::push::SigningArgs;
use super::recorded;
use crate::attest::{self, About, Attested, Found, Made};
use crate::verify::{self, Answered, CommitStanding, Compared, Outcome, Rerun};
use clap::ValueEnum;
use cook_repo::disk::Mode;

/// What `cook verify` asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum VerifyScope {
    /// Whether contract, documents, histories and log agree
    ControlPlane,
    /// Whether the stop verifier passes, and whether the votes agree if they are due
    Stop,
    /// Whether this commit is proven done (everything)
    All,
    /// Whether one slice is proven: its review, audit, receipts and criteria
    Slice,
}

// Which log is read, what runs again, and what fails the verification.
#[derive(Debug, Clone, Args)]
pub(super) struct ProofArgs {
    /// Fail also on findings that need a re-ground, on an unclean worktree, on proof that can be neither looked
    /// up nor run, and, without --rerun, on a commit that only has the tree of the done one
    #[arg(long)]
    pub strict: bool,
    /// Run the gates, and accepted tests that have changed since, again at HEAD in a new clean room instead of
    /// trusting receipts
    #[arg(long)]
    pub rerun: bool,
    /// With --rerun, run them also at the head of each slice
    #[arg(long, requires = "rerun")]
    pub history: bool,
    /// Read the log from this remote (name or address) instead of this clone
    #[arg(long, value_name = "REMOTE")]
    pub from: Option<String>,
    /// With --from, read the log of this branch [default: the checked-out branch]
    #[arg(long, value_name = "BRANCH", requires = "from")]
    pub branch: Option<String>,
    /// Judge by the contract of this commit, and compare the current contract with it
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// With --base, accept the current contract if it has this digest (at least its first 32 digits)
    #[arg(long, value_name = "DIGEST", requires = "base", value_parser = digest)]
    pub accept_contract: Option<String>,
    /// With --rerun, allow the commands of the goal with this digest to run
    #[arg(long, value_name = "DIGEST", requires = "rerun", value_parser = digest)]
    pub goal: Option<String>,
    /// With --rerun, take the hidden files of a goal from this directory
    #[arg(long, value_name = "DIR", requires = "rerun")]
    pub hidden: Option<PathBuf>,
    /// Trust the stop verifier and the gates of this repository for this run (for CI)
    #[arg(long)]
    pub trust_repo: bool,
}

impl ProofArgs {
    fn rerun(&self) -> Rerun {
        match (self.rerun, self.history) {
            (false, _) => Rerun::No,
            (true, false) => Rerun::Head,
            (true, true) => Rerun::Slices,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Part to verify
    #[arg(value_enum, default_value_t = VerifyScope::All)]
    pub scope: VerifyScope,
    /// ID of the slice, for `verify slice`
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    #[command(flatten)]
    pub proof: ProofArgs,
    /// Print the answer in this format [default: human]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
}

/// The minimum length of a digest's prefix: nobody can make another contract with the same 32 digits.
const LEAST_DIGITS: usize = 32;

fn digest(text: &str) -> Result<String, String> {
    let is_digest = (LEAST_DIGITS..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_digest {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!(
            "it must be {LEAST_DIGITS} to 64 hexadecimal digits: `cook verify` names the digest"
        )),
    }
}

/// Records the gates' current results if judges wait for them, or if a re-ground waits because gates are red. Returns
/// whether it did.
fn write_down(workspace: &Workspace) -> Result<bool> {
    let (_, Some(snapshot)) = workspace.current()? else {
        return Ok(false);
    };
    let (dispatch, _) = service::dispatch_told(workspace, Some(&snapshot))?;
    let is_red = |finding: &Finding| finding.code == Code::RoomRed;
    let waits = dispatch.waits_for_gates() || dispatch.findings.iter().any(is_red);
    let writes = waits && workspace.trust()?.is_trusted(STOP_VERIFIER) && !workspace.from_apart;
    if writes {
        service::transition(workspace, &Event::Verified, context::anybody())?;
    }
    Ok(writes)
}

pub(super) fn verify(context: &Context, args: &VerifyArgs) -> Answer {
    let id = match (args.scope, &args.id) {
        (VerifyScope::Slice, None) => {
            return Err(Failure::usage(
                "which slice? `cook verify slice ID`".to_owned(),
            ));
        }
        (VerifyScope::Slice, Some(id)) => id.as_str(),
        (_, Some(id)) => {
            let what = format!("`{id}` is unknown here; to verify a slice, use `slice {id}`");
            return Err(Failure::usage(what));
        }
        (_, None) => "",
    };
    let (_, looked) = ask(context, &args.proof, args.scope, id)?;
    answer(looked)
}

/// Returns the worktree with the log in question, and the verification's answer.
pub(super) fn ask(
    context: &Context,
    args: &ProofArgs,
    scope: VerifyScope,
    id: &str,
) -> Result<(Workspace, VerifyAnswer)> {
    if scope == VerifyScope::Stop && (args.from.is_some() || args.base.is_some()) {
        return Err(Failure::usage(
            "`verify stop` uses the log and the contract of this worktree, so `--from` and `--base` do not fit",
        ));
    }
    let mut workspace = context.workspace()?;
    if args.rerun {
        workspace.caches = Caches::Empty;
    }
    workspace.trust_everything = args.trust_repo;
    if let Some(from) = &args.from {
        verify::bring_history(&mut workspace, from, args.branch.as_deref())?;
    }
    let mut compared = None;
    if let Some(base) = &args.base {
        let ask = verify::Ask {
            base,
            from: args.from.as_deref(),
            accepted: args.accept_contract.as_deref(),
        };
        let found = verify::judge_by(&mut workspace, ask)?;
        if found.alone && scope == VerifyScope::All {
            let found = of_contract_alone(&workspace, found)?;
            return Ok((workspace, VerifyAnswer::of("all", args.strict, found)));
        }
        compared = Some(found);
    }
    if let Some(from) = &args.from {
        verify::fetch(&mut workspace, from, args.branch.as_deref())?;
    }
    if args.rerun {
        workspace.hidden = args.hidden.as_ref().map(|dir| context.dir.join(dir));
        verify::accept_goal(&mut workspace, args.goal.as_deref())?;
    }
    let look = || look(&workspace, args, scope, id, compared);
    let guarded = context::guard(look);
    let (mut looked, written) =
        guarded.map_err(|failure| verify::blame_source(&workspace, failure))?;
    looked.findings.extend(written);
    Ok((workspace, looked))
}

/// The answer if only the contract changed: nothing is asked about the work, and a person decides on the change.
fn of_contract_alone(workspace: &Workspace, mut compared: Compared) -> Result<Answered> {
    let outcome = std::mem::take(&mut compared.outcome).sort();
    let standing = CommitStanding::new(workspace.repo.head()?, None, None);
    let answer = compared.words();
    Ok(Answered {
        commit: Some(standing),
        base: Some(compared),
        ..Answered::new("is this commit proven done?", &answer, outcome)
    })
}

fn look(
    workspace: &Workspace,
    args: &ProofArgs,
    scope: VerifyScope,
    id: &str,
    compared: Option<Compared>,
) -> Result<VerifyAnswer> {
    let (scope, found) = match scope {
        VerifyScope::ControlPlane => ("control-plane", verify::control_plane(workspace)?),
        VerifyScope::Stop => {
            let is_recorded = write_down(workspace)?;
            let Outcome {
                mut checked,
                mut findings,
            } = verify::stop(workspace)?;
            if is_recorded {
                recorded::reground(workspace, &mut checked, &mut findings);
            }
            return Ok(VerifyAnswer {
                strict: args.strict,
                ..VerifyAnswer::new("stop", checked, findings)
            });
        }
        VerifyScope::All => ("all", verify::all(workspace, args.rerun(), args.strict)?),
        VerifyScope::Slice => ("slice", verify::slice(workspace, id, args.rerun())?),
    };
    let found = match compared {
        Some(compared) => found.with_base(compared),
        None => found,
    };
    Ok(VerifyAnswer::of(scope, args.strict, found))
}

// `cook attest`: writes a verification as in-toto statements, and reads such statements.

/// The maximum size of a list of signers in bytes.
const MAX_SIGNERS: u64 = 1 << 20;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct AttestArgs {
    #[command(subcommand)]
    pub command: Option<AttestCommand>,
    #[command(flatten)]
    pub make: AttestMakeArgs,
}

#[derive(Debug, Args)]
pub(super) struct AttestMakeArgs {
    #[command(flatten)]
    pub proof: ProofArgs,
    /// Write the statements to this file, such as `NAME.intoto.jsonl` [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub signing: SigningArgs,
    /// Confirm that a script acts on behalf of a person
    #[arg(long, requires = "sign")]
    pub yes: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum AttestCommand {
    /// Verify a file of signed statements, and show its content and signer
    Verify(AttestVerifyArgs),
}

#[derive(Debug, Args)]
pub(super) struct AttestVerifyArgs {
    /// File that `cook attest --sign` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Accept only signers on this list, in the format of `ssh-keygen`
    #[arg(long, value_name = "FILE")]
    pub allowed_signers: PathBuf,
    /// Require statements about this commit [default: HEAD]
    #[arg(long, value_name = "REV")]
    pub commit: Option<String>,
}

pub(super) fn attest(context: &Context, args: &AttestArgs) -> Answer {
    match &args.command {
        Some(AttestCommand::Verify(args)) => read(context, args),
        None => make(context, &args.make),
    }
}

fn make(context: &Context, args: &AttestMakeArgs) -> Answer {
    let key = match args.signing.sign {
        true => {
            context::require_user_by("--yes", args.yes)?;
            Some(args.signing.key(context, &context.workspace()?)?)
        }
        false => None,
    };
    let out = args.out.as_deref().filter(|out| *out != Path::new("-"));
    let out = out.map(|out| context.dir.join(out));
    if let Some(out) = &out {
        input::require_outside_git(&context.dir, out)?;
        check_target(out)?;
    }
    let proof = ProofArgs {
        strict: true,
        ..args.proof.clone()
    };
    let (workspace, mut verified) = ask(context, &proof, VerifyScope::All, "")?;
    let nothing = "nothing was attested: the verification must pass, and `cook attest` verifies with `--strict`";
    if !verified.has_passed() {
        context.screen.note(nothing);
        return answer(verified);
    }
    let (gates, written) = context::guard(|| attest::run_gates(&workspace))?;
    let red = gates
        .iter()
        .filter(|run| run.gate.required && !run.has_passed());
    let red = red.map(|run| {
        let what = format!("gate `{}` was green and is red", run.gate.name);
        Finding::new(Code::StopVerifierFailed, what)
    });
    verified.findings.extend(written.into_iter().chain(red));
    let question = verified.question.as_ref();
    let standing = question.and_then(|question| question.commit.as_ref());
    let (true, Some(question), Some(commit)) = (verified.has_passed(), question, standing) else {
        context.screen.note(nothing);
        return answer(verified);
    };
    let mut made = attest::make(
        &workspace,
        &Found {
            commit,
            criteria: &question.criteria,
            gates: &gates,
            branch: args.proof.branch.as_deref(),
            url: run_address(),
        },
    )?;
    if let Some(key) = &key {
        for line in &mut made.lines {
            let (envelope, by) = attest::seal(line, key)?;
            *line = envelope;
            made.key = Some(by);
        }
    }
    if let (Some(out), Some(named)) = (&out, &args.out) {
        write(out, &made)?;
        made.file = Some(named.display().to_string());
    }
    answer(made)
}

/// Refuses to overwrite anything but a regular file.
fn check_target(out: &Path) -> Result<()> {
    if out.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        let what = format!("`{}` is there, and is not a file", out.display());
        return Err(Failure::state(Code::NotWritable, what));
    }
    Ok(())
}

fn write(out: &Path, made: &Made) -> Result<()> {
    check_target(out)?;
    let file = NewFile::at(out, Durable::ContentAndName).mode(Mode::Kept(0o644));
    file.write(made.text().as_bytes()).or_fail(
        Code::NotWritable,
        format!("`{}` was not written", out.display()),
    )
}

/// The address of this CI run, from the variables of GitHub or GitLab.
fn run_address() -> Option<String> {
    let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let github = || {
        let (server, run) = (of("GITHUB_SERVER_URL")?, of("GITHUB_RUN_ID")?);
        Some(format!(
            "{server}/{}/actions/runs/{run}",
            of("GITHUB_REPOSITORY")?
        ))
    };
    let is_address = |text: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
        text.starts_with("https://") && text.chars().all(is_plain)
    };
    github().or_else(|| of("CI_JOB_URL")).filter(is_address)
}

fn read(context: &Context, args: &AttestVerifyArgs) -> Answer {
    let at = |path: &Path| match path == Path::new("-") {
        true => path.to_owned(),
        false => context.dir.join(path),
    };
    let bytes = input::read_regular(&at(&args.file), attest::MAX_FILE)?;
    let list = input::read_regular(&at(&args.allowed_signers), MAX_SIGNERS)?;
    let about = about(context, args.commit.as_deref())?;
    let mut attested = attest::read(&bytes, &list, &about)?;
    let [file, signers] = [&args.file, &args.allowed_signers].map(|it| it.display().to_string());
    attested.by_hand = attest::by_hand(&file, attested.found, &signers, &attested.signer);
    answer(attested)
}

/// The commit in question. A full id needs no repository.
fn about(context: &Context, named: Option<&str>) -> Result<About> {
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let is_full = |id: &&str| [40, 64].contains(&id.len()) && id.chars().all(is_hex);
    let unseen = named.filter(is_full).map(|id| About {
        commit: id.to_owned(),
        tree: None,
    });
    let repo = match Repo::discover(&context.dir) {
        Ok(repo) => repo,
        Err(failure) => {
            let hint = "outside a repository, give the full id: `--commit ID`";
            return unseen.ok_or_else(|| failure.hint(hint));
        }
    };
    let found = match named {
        Some(name) => repo.commit_named(name)?,
        None => repo.head()?.commit,
    };
    if let Some(commit) = found {
        let tree = Some(repo.find_tree(&commit)?);
        return Ok(About { commit, tree });
    }
    unseen.ok_or_else(|| {
        let named = named.unwrap_or("HEAD");
        let what = format!("`{named}` names no commit here");
        let hint = "name a branch, a tag or a commit: `--commit main`";
        Failure::unknown(Code::CommitUnknown, what).replace_hints([hint])
    })
}

impl Made {
    /// The content of the file.
    fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        lines.collect()
    }
}

impl Show for Made {
    fn human(&self, page: &mut Page) {
        let Some(file) = &self.file else {
            // The text is JSON in which terminal control characters are escaped already.
            page.verbatim(&self.text());
            return;
        };
        page.add_toned(Tone::Good, "attested");
        page.line(&format!("  {file}"));
        page.row("commit", &self.commit);
        page.row("tree", &self.tree);
        page.row("properties", &self.properties.join(" "));
        page.row("log", &self.log);
        page.row("signed by", self.key.as_deref().unwrap_or("nobody"));
    }
}

impl Show for Attested {
    fn human(&self, page: &mut Page) {
        page.add_toned(Tone::Good, "signed");
        page.line(&format!("  by {} with {}", self.signer, self.key));
        page.row("commit", &self.commit);
        let tree = self.tree.as_deref();
        page.row(
            "tree",
            tree.unwrap_or("not compared: the commit is not here"),
        );
        page.row_of("name", self.name.as_ref());
        page.row("properties", &self.properties.join(" "));
        page.row("verified", &format!("{} by {}", self.time, self.verifier));
        page.row_of("log", self.log.as_ref());
        let gates = self.gates.as_deref().map(|gates| join_or(gates, "no gate"));
        page.row("green", &gates.unwrap_or_else(|| "not said".to_owned()));
        if !self.warned.is_empty() {
            let red = format!("{} (not required)", join_or(&self.warned, "no gate"));
            page.row("red", &red);
        }
        page.add_toned_line(
            Tone::Dim,
            "without cook (writes payload.json, signed and signature):",
        );
        page.list("  ", &self.by_hand);
    }
}
