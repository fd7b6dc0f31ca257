//! The ways in which an agent misbehaves.

/// Who can misbehave in a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    All,
    /// Everybody but the implementer.
    Readers,
    Only(&'static str),
}

/// Name, who, and what it does.
pub type Kind = (&'static str, Who, &'static str);

/// What a session is called that does what it should.
pub const BEHAVES: &str = "behaves";

/// All of them. Those that come to nothing wrong are here too: cook has to bear them.
pub const KINDS: [Kind; 47] = [
    ("silent", Who::All, "exit 0 without a byte"),
    ("crash", Who::All, "half an event, exit code 3"),
    ("half_line", Who::All, "half an event, exit code 0"),
    ("hang", Who::All, "no output, no flow of TERM"),
    ("lingers", Who::All, "its report, then it does not leave"),
    ("flood", Who::All, "32 MB of lines that are not events"),
    ("flood_line", Who::All, "32 MB without a line end"),
    (
        "bad_utf8",
        Who::All,
        "bytes that are not UTF-8, and no report",
    ),
    (
        "bad_utf8_beside",
        Who::All,
        "bytes that are not UTF-8, then its report",
    ),
    ("error", Who::All, "an error event, exit code 0"),
    (
        "endless",
        Who::All,
        "its report, and no event that it is done",
    ),
    ("malformed", Who::All, "a report without most fields"),
    ("chatter", Who::All, "prose in place of a report"),
    ("other_mission", Who::All, "a report for another mission"),
    ("other_role", Who::All, "a report of another role"),
    (
        "closes_pipes",
        Who::All,
        "stdout and stderr closed, then it works on",
    ),
    (
        "settings",
        Who::All,
        "an agent and a gate of its own in cook.toml",
    ),
    (
        "other_branch",
        Who::All,
        "a commit on another branch, which stays checked out",
    ),
    (
        "side_branch",
        Who::All,
        "a commit on another branch, then back",
    ),
    ("rewrite", Who::All, "history rewritten"),
    ("elsewhere", Who::All, "its work from another directory"),
    ("daemon", Who::All, "a child in a session of its own"),
    ("bare_daemon", Who::All, "the same, without any mark"),
    ("state", Who::All, "state.json says done"),
    ("criteria", Who::All, "a criterion of plan.json weakened"),
    (
        "history",
        Who::All,
        "a record in slice-history.jsonl forged",
    ),
    ("verifier", Who::All, "the stop verifier disarmed"),
    ("hide", Who::All, "changes hidden by assume-unchanged"),
    ("stash", Who::All, "the user's stash dropped"),
    ("tag", Who::All, "the user's tag moved"),
    ("branch_gone", Who::All, "the user's branch deleted"),
    ("config", Who::All, "the user's name in .git/config changed"),
    ("hook", Who::All, "a git hook installed"),
    ("pause", Who::All, "`cook pause` from inside the session"),
    (
        "command",
        Who::All,
        "`cook resume --as-user` and `cook record` from inside",
    ),
    ("gone", Who::All, "what cook keeps in the git dir deleted"),
    ("view_gone", Who::All, "`.agent/` deleted"),
    ("rewinds", Who::All, "the log set back by one transition"),
    ("locks", Who::All, "lock files that no git holds"),
    ("edit", Who::Readers, "a tracked file edited"),
    ("litter", Who::Readers, "an untracked file left"),
    ("commit", Who::Readers, "a commit"),
    ("red", Who::Only("implementer"), "a red gate called green"),
    (
        "no_commit",
        Who::Only("implementer"),
        "a commit reported that is not there",
    ),
    (
        "yes_with_fail",
        Who::Only("reviewer"),
        "acceptable, with a fail in the rubric",
    ),
    (
        "weakens",
        Who::Only("regrounder"),
        "a plan with a reworded criterion",
    ),
    (
        "early",
        Who::Only("regrounder"),
        "accepted and stopped out of turn, with made-up proof",
    ),
];

/// Those that a role can take.
pub fn of_role(role: &str) -> Vec<&'static str> {
    let can = |who: Who| match who {
        Who::All => true,
        Who::Readers => role != "implementer",
        Who::Only(only) => role == only,
    };
    KINDS
        .iter()
        .filter(|(_, who, _)| can(*who))
        .map(|(name, _, _)| *name)
        .collect()
}
