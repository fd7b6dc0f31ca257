//! `cook attest`: a verification as in-toto statements, and what somebody else's say.

use super::prelude::*;
use super::push::SigningArgs;
use super::verify::{self, ProofArgs, VerifyScope};
use crate::attest::{self, About, Attested, Found, Made};
use cook_repo::disk::{Durable, Mode, NewFile};
use cook_repo::git::Repo;
use std::path::{Path, PathBuf};

/// Bytes of a list of signers.
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
    /// Write the statements into a file, `NAME.intoto.jsonl` (default: standard output)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub signing: SigningArgs,
    /// Called by a script on a person's behalf
    #[arg(long, requires = "sign")]
    pub yes: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum AttestCommand {
    /// Say what a file attests, and who signed it
    Verify(AttestVerifyArgs),
}

#[derive(Debug, Args)]
pub(super) struct AttestVerifyArgs {
    /// What `cook attest --sign` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Who may sign, as `ssh-keygen` reads it
    #[arg(long, value_name = "FILE")]
    pub allowed_signers: PathBuf,
    /// The commit that it must be about (default: HEAD)
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
    let (workspace, mut verified) = verify::ask(
        context,
        &ProofArgs {
            strict: true,
            ..args.proof.clone()
        },
        VerifyScope::All,
        "",
    )?;
    let nothing =
        "nothing was attested: only a verification that passed is, and this one is strict";
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

/// Nothing but a file is written over.
fn check_target(out: &Path) -> Result<(), Failure> {
    if out.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        let what = format!("`{}` is there, and is not a file", out.display());
        return Err(Failure::state(Code::NotWritable, what));
    }
    Ok(())
}

fn write(out: &Path, made: &Made) -> Result<(), Failure> {
    check_target(out)?;
    let file = NewFile::at(out, Durable::ContentAndName).mode(Mode::Kept(0o644));
    file.write(made.text().as_bytes()).map_err(|error| {
        let what = format!("`{}` was not written", out.display());
        Failure::state(Code::NotWritable, what).with_cause(&error)
    })
}

/// Where a CI runner shows this run, by the variables of GitHub and of GitLab.
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

/// The commit that is asked about. A full id is one wherever it is asked.
fn about(context: &Context, named: Option<&str>) -> Result<About, Failure> {
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    let is_full = |id: &&str| [40, 64].contains(&id.len()) && id.chars().all(is_hex);
    let unseen = named.filter(is_full).map(|id| About {
        commit: id.to_owned(),
        tree: None,
    });
    let repo = match Repo::discover(&context.dir) {
        Ok(repo) => repo,
        Err(failure) => {
            let hint = "outside of a repository name the whole id: `--commit ID`";
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
    /// The file's bytes.
    fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        lines.collect()
    }
}

impl Show for Made {
    fn human(&self, page: &mut Page) {
        let Some(file) = &self.file else {
            // What would act on a terminal is escaped in it already.
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
        if let Some(name) = &self.name {
            page.row("name", name);
        }
        page.row("properties", &self.properties.join(" "));
        page.row("verified", &format!("{} by {}", self.time, self.verifier));
        if let Some(log) = &self.log {
            page.row("log", log);
        }
        let gates = self.gates.as_deref().map(list_gates);
        page.row("green", &gates.unwrap_or_else(|| "not said".to_owned()));
        if !self.warned.is_empty() {
            let red = format!("{} (not required)", list_gates(&self.warned));
            page.row("red", &red);
        }
        page.add_toned_line(
            Tone::Dim,
            "without cook (writes payload.json, signed and signature):",
        );
        for line in &self.by_hand {
            page.line(&format!("  {line}"));
        }
    }
}

fn list_gates(gates: &[String]) -> String {
    match gates.is_empty() {
        true => "no gate".to_owned(),
        false => gates.join(", "),
    }
}
