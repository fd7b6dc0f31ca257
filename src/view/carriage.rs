//! What `cook push` and `cook pull` answer.

use super::{Page, Show, Tone};
use cook_core::diagnostic::{Code, Finding, count_noun};
use cook_core::machine::quote_word;
use cook_remote::{Plan, Pulled};
use cook_store::store::{Contents, Place};
use serde::Serialize;

/// What a push did, or would do.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PushAnswer {
    /// Its name or address.
    pub remote: String,
    /// False for a dry run, and where the remote has everything already.
    pub pushed: bool,
    /// The log's newest transition, by its commit.
    pub operation: String,
    /// Full names of the refs that moved there.
    pub refs: Vec<String>,
    /// The branch was pushed too. Where neither it nor other commits are, the repository's `pre-push`
    /// hook does not run.
    pub with_branch: bool,
    /// Commits that leave beside the branch: the log cites them, and the branch does not hold them.
    pub kept_commits: u64,
    /// The same that stay here (`--no-keep`): what rests on them alone nobody elsewhere can verify.
    pub withheld_commits: u64,
    /// Transitions that become public.
    pub transitions: u64,
    /// Bytes of their files, before compression.
    pub bytes: u64,
    /// Exchanges with agents among them.
    pub exchanges: u64,
    /// Messages of the user among them.
    pub messages: u64,
    /// Fingerprint of the key that signed the log's newest transition (`--sign`).
    pub key: Option<String>,
}

impl PushAnswer {
    pub(crate) fn from_plan(remote: String, plan: &Plan, contents: &Contents) -> Self {
        Self {
            remote,
            pushed: false,
            operation: plan.to.clone(),
            refs: Vec::new(),
            with_branch: plan.with_branch,
            kept_commits: plan.kept.commits.len() as u64,
            withheld_commits: plan.withheld,
            transitions: contents.transitions,
            bytes: contents.bytes,
            exchanges: contents.exchanges,
            messages: contents.messages,
            key: None,
        }
    }

    /// What becomes public, in a line.
    pub(crate) fn summary(&self) -> String {
        format!(
            "a push to `{}` makes public: {}, {}, {} with agents, {} of the user{}{}",
            self.remote,
            count_noun(self.transitions, "transition"),
            count_noun(self.bytes, "byte"),
            count_noun(self.exchanges, "exchange"),
            count_noun(self.messages, "message"),
            match self.with_branch {
                true => ", and the branch",
                false => "",
            },
            self.tell_kept()
                .map_or_else(String::new, |kept| format!(", and {kept}"))
        )
    }
}

impl PushAnswer {
    /// What leaves beside the branch, which nobody sees among its commits.
    fn tell_kept(&self) -> Option<String> {
        (self.kept_commits > 0).then(|| {
            format!(
                "{} that the log cites and the branch does not hold",
                count_noun(self.kept_commits, "commit")
            )
        })
    }
}

impl Show for PushAnswer {
    fn human(&self, page: &mut Page) {
        if let Some(key) = &self.key {
            page.row("signed by", key);
        }
        if !self.pushed
            && self.transitions == 0
            && self.refs.is_empty()
            && !self.with_branch
            && self.kept_commits == 0
        {
            page.line(&format!("`{}` has everything already", self.remote));
            return;
        }
        match self.pushed {
            true => page.add_toned(Tone::Good, "pushed"),
            false => page.add_toned(Tone::Warn, "not pushed (dry run)"),
        }
        page.line(&format!(
            "  {}: {}, {} ({}, {})",
            self.remote,
            count_noun(self.transitions, "transition"),
            count_noun(self.bytes, "byte"),
            count_noun(self.exchanges, "exchange"),
            count_noun(self.messages, "message")
        ));
        if let Some(kept) = self.tell_kept() {
            page.line(&format!("  {kept}"));
        }
        for name in &self.refs {
            page.line(&format!("  {name}"));
        }
        if self.withheld_commits > 0 {
            page.line(&format!(
                "  {} that the log cites and the branch does not hold: kept here, and what rests on them alone nobody elsewhere can verify; `cook push` without `--no-keep` sends them",
                count_noun(self.withheld_commits, "commit")
            ));
        }
        if self.pushed && !self.with_branch && self.kept_commits == 0 {
            page.line("  the log alone: the repository's `pre-push` hook was not run");
        }
    }
}

/// What a pull took in.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PullAnswer {
    /// Its name or address.
    pub remote: String,
    /// Whose log it is.
    pub branch: String,
    /// The log's newest transition, by its commit.
    pub operation: String,
    /// Its number.
    pub seq: u64,
    /// Transitions that are new here.
    pub transitions: u64,
    /// There was no log here before.
    pub is_fresh: bool,
    /// The ref of the log that keeps transitions which the remote lacks; null where there are none.
    pub set_aside: Option<String>,
    /// Who signed the newest transition, of those whom the base branch lists; null where nobody did, or
    /// nobody is listed.
    pub signer: Option<String>,
    pub findings: Vec<Finding>,
}

impl PullAnswer {
    pub(crate) fn of(
        place: &Place,
        remote: String,
        branch: String,
        pulled: Pulled,
        head: Option<&str>,
    ) -> Self {
        let mut findings = pulled.findings;
        let set_aside = pulled.set_aside.map(|aside| {
            let log = quote_word(&place.log_dir().display().to_string());
            findings.push(Finding::new(
                Code::TransitionsSetAside,
                format!(
                    "{} of this clone that `{remote}` lacks are kept: `git --git-dir={log} log {}`",
                    count_noun(aside.transitions, "transition"),
                    aside.name
                ),
            ));
            aside.name
        });
        let (from, of) = (shell_words::quote(&remote), shell_words::quote(&branch));
        if let Some(there) = pulled.branch.filter(|there| Some(there.as_str()) != head) {
            findings.push(Finding::new(
                Code::BranchElsewhere,
                format!(
                    "branch `{branch}` of `{remote}` stands at {}, and HEAD does not: `git pull --no-rebase {from} {of}`, or `cook push`; where it was rewritten there and nothing here is yours: `git fetch {from} {of}`, then `git reset --keep FETCH_HEAD`",
                    there.get(..12).unwrap_or(&there),
                ),
            ));
        }
        Self {
            remote,
            branch,
            operation: pulled.tip.commit,
            seq: pulled.tip.seq,
            transitions: pulled.transitions,
            is_fresh: pulled.is_fresh,
            set_aside,
            signer: None,
            findings,
        }
    }
}

impl Show for PullAnswer {
    fn human(&self, page: &mut Page) {
        if let Some(who) = &self.signer {
            page.row("signed by", who);
        }
        if self.transitions == 0 && self.set_aside.is_none() {
            page.line(&format!(
                "the log of `{}` is up to date with `{}` (#{})",
                self.branch, self.remote, self.seq
            ));
            return;
        }
        page.add_toned(Tone::Good, &format!("pulled #{}", self.seq));
        page.line(&format!(
            "  {} from `{}` for branch `{}`",
            count_noun(self.transitions, "transition"),
            self.remote,
            self.branch
        ));
        if self.is_fresh {
            page.line("  this clone has the log now: `cook status` shows where the work stands");
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}
