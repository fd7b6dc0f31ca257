//! `cook report`: the work and its proof as a page.

mod tell;

use super::context::{Answer, Context, answer};
use super::input;
use super::pr::{PrArgs, pr};
use super::verify::{self, ProofArgs, VerifyScope};
use crate::view::{PageAnswer, ReportAnswer, page};
use clap::{Args, ValueEnum};
use cook_core::diagnostic::{Code, Failure, FailureKind};
use cook_os::disk::{Durable, Mode, NewFile, look};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Write one HTML page there that stands by itself (`-` = standard output)
    #[arg(long, value_name = "FILE", required_unless_present = "format")]
    pub html: Option<PathBuf>,
    /// Print the text of a pull request: mission, proof, votes, what was caught
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["html", "from", "branch", "base", "accept_contract", "rerun", "history", "goal", "hidden", "strict", "trust_repo"])]
    pub format: Option<ReportFormat>,
    #[command(flatten)]
    pub pr: PrArgs,
    #[command(flatten)]
    pub proof: ProofArgs,
}

/// What is made beside a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// The text of a pull request, in Markdown
    Pr,
}

/// Who may read the page: a report is there to be shown.
const READABLE: Mode = Mode::Kept(0o644);

pub(super) fn report(context: &Context, args: &ReportArgs) -> Answer {
    let Some(html) = &args.html else {
        return pr(context, &args.pr);
    };
    let target = match html == Path::new("-") {
        true if context.screen.json => {
            return Err(
                Failure::usage("`--html -` prints the page, and `--json` something else")
                    .hint("name a file: `cook report --html report.html --json`"),
            );
        }
        true => None,
        false if context.dir_is_named => Some(context.dir.join(html)),
        false => Some(html.clone()),
    };
    // What cannot be written is said before minutes of gates.
    if let Some(target) = &target {
        input::require_outside_git(&context.dir, target)?;
        is_free(target)?;
    }
    let (workspace, verified) = verify::ask(context, &args.proof, VerifyScope::All, "")?;
    for code in [Code::LogMissing, Code::LogDamaged] {
        if let Some(found) = verified.findings.iter().find(|found| found.code == code) {
            return Err(Failure::new(
                FailureKind::Check,
                code,
                found.message.clone(),
            ));
        }
    }
    let proven = verified.has_passed();
    let page = page(&tell::tell(&workspace, verified)?);
    let Some(target) = target else {
        return answer(PageAnswer(page));
    };
    NewFile::at(&target, Durable::Content)
        .mode(READABLE)
        .write(page.as_bytes())
        .map_err(|error| {
            let what = format!("`{}` cannot be written", target.display());
            Failure::state(Code::NotWritable, what).with_cause(&error)
        })?;
    answer(ReportAnswer {
        file: target.display().to_string(),
        bytes: page.len() as u64,
        proven,
    })
}

/// Nothing but a file is replaced: a directory stays, and so does a device.
fn is_free(target: &Path) -> Result<(), Failure> {
    let shown = target.display();
    let found = look(target).map_err(|error| {
        Failure::state(Code::NotWritable, format!("`{shown}` cannot be written")).with_cause(&error)
    })?;
    if found.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        let what = format!("`{shown}` is a directory");
        let file = target.join("report.html");
        return Err(Failure::usage(what).hint(format!("name a file: `--html {}`", file.display())));
    }
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        let what = format!("`{shown}` is not a file");
        return Err(Failure::usage(what).hint("name a file, or `-` for standard output"));
    }
    if found.is_some_and(|found| found.permissions().readonly()) {
        let failure = Failure::state(Code::NotWritable, format!("`{shown}` is read-only"));
        return Err(failure
            .replace_hints(["let it be written, name another file, or `-` for standard output"]));
    }
    let dir = target.parent().filter(|dir| *dir != Path::new(""));
    if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
        let what = format!("there is no directory `{}`", dir.display());
        return Err(Failure::usage(what).hint("make it first"));
    }
    Ok(())
}
