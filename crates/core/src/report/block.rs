//! The regrounder's block as it is shown, key by key. A test reads it back.

/// Each key with what may stand there.
const KEYS: [(&str, &str); 12] = [
    (
        "reconcile",
        r#"{"slice_id": "<committed slice>", "decision": "accepted", "findings": ["<what the next attempt must fix; none when accepted>"]}"#,
    ),
    (
        "reopen",
        r#"[{"slice_id": "<done slice>", "why": "<what no longer holds>", "at": "<commit on HEAD that holds its work, if one does>"}]"#,
    ),
    (
        "plan",
        r#"{
    "plan_basis": "<what you read to make this plan>",
    "add": [
      {
        "slice_id": "<one word of letters, digits, . _ ->",
        "goal": "<what it is for>",
        "acceptance_criteria": ["<a condition that a command or a reader can check>"],
        "contract_ids": ["<contract id>"],
        "priority": 1,
        "why_now": "<why at this place>",
        "blocked_on": [],
        "implementation_surfaces": ["<path>"],
        "verification_commands": ["<command, no shell>"],
        "locked_notes": []
      }
    ],
    "change": [{"slice_id": "<open slice>", "priority": 2, "add_criteria": ["<one that was missing>"], "drop_criteria": [1]}],
    "cancel": [{"slice_id": "<open slice>", "reason": "<why nobody is to build it>"}],
    "order": ["<open slices, first to last>"]
  }"#,
    ),
    (
        "evidence",
        r#"[
    {"slice_id": "<slice>", "criterion": "<word for word>", "anchor": "<test:NAME, cmd:COMMAND#LINE, path:line>", "basis": "test"}
  ]"#,
    ),
    (
        "conclude",
        r#"{"decision": "go_on", "reason": "<what answers each point of each no: the slice that takes it up, or why it does not hold>"}"#,
    ),
    (
        "answers",
        r#"[{"no": "<id of an unanswered no>", "reason": "<what became of it>"}]"#,
    ),
    (
        "answers_to",
        r#"[{"answer": "<the user's answer: answer-NUMBER>", "slices": ["<slices that it concerns; none = every one>"]}]"#,
    ),
    ("select", r#""<slice id>""#),
    (
        "policy",
        r#"{"to": "await_user_input", "question": "<only when the user must decide>"}"#,
    ),
    ("release_blocker_ids", "[]"),
    ("high_value_gaps", "[]"),
    (
        "brief",
        r#"{
    "entries": [{"slot": "learned", "lesson": "<what the next session should know>", "source": "<where it was seen>"}],
    "reconciliation": [{"id": "<entry id>", "verdict": "retired", "by": "<entry id or user@ID>", "why": "<why>"}]
  }"#,
    ),
];

/// What stands below the block, with the keys that it speaks of.
const WORDS: [(&str, &str); 6] = [
    (ACCEPT, "`decision` is accepted or reopened."),
    (
        "plan",
        "A plan says what changes: `change` may hold any key of `add` but the criteria (and, of a slice in work, but the goal, which is locked), and `status` planned, or blocked with a `reason`; what is left out stays.",
    ),
    (
        "evidence",
        "`basis` is observed, test, output, user or doc, and follows from the anchor where it is left out.",
    ),
    (
        DROP,
        "What `drop_criteria` names needs `evidence` that it holds.",
    ),
    (STOP, r#"`conclude` may be {"decision": "stop"}."#),
    (
        "policy",
        r#"`policy` may be {"to": "blocked", "why": "…", "exit": "<command>"}."#,
    ),
];

/// What may stand below some keys, and has a name of its own where it may not: `reconcile` with
/// `accepted`, `conclude` with `stop`, `drop_criteria` in a plan.
pub const ACCEPT: &str = "accepted";
/// See [`ACCEPT`].
pub const STOP: &str = "stop";
/// See [`ACCEPT`].
pub const DROP: &str = "drop_criteria";

/// Every key.
pub(super) fn keys() -> Vec<&'static str> {
    KEYS.iter().map(|(key, _)| *key).collect()
}

/// The shape of a key's value, without what may not stand there.
fn describe_shape(key: &str, shape: &str, left_out: &[&str]) -> String {
    let is_out = |name| left_out.contains(&name);
    match key {
        "reconcile" if is_out(ACCEPT) => shape
            .replace("accepted\"", "reopened\"")
            .replace("; none when accepted", ""),
        "plan" if is_out(DROP) => shape.replace(r#", "drop_criteria": [1]"#, ""),
        _ => shape.to_owned(),
    }
}

/// What the block, or the value of one of its keys, must hold.
pub(super) fn describe_wanted(key: &str) -> String {
    let known = KEYS.iter().find(|(known, _)| *known == key);
    match known {
        Some((_, shape)) => {
            let shape = shape.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("for example `\"{key}\": {shape}`")
        }
        None => format!(
            "one JSON object with keys of {}; for example `{{\"select\": \"s2\"}}`",
            keys().join(", ")
        ),
    }
}

/// The block without these keys, and without what may stand below some.
pub(super) fn format(left_out: &[&str]) -> String {
    let shown = |key: &&(&str, &str)| !left_out.contains(&key.0);
    let rows: Vec<String> = KEYS
        .iter()
        .filter(shown)
        .map(|(key, value)| format!("  \"{key}\": {}", describe_shape(key, value, left_out)))
        .collect();
    let words: Vec<&str> = WORDS
        .iter()
        .filter(shown)
        .map(|(_, words)| *words)
        .collect();
    format!(
        "\n```json\n{{\n{}\n}}\n```\nLeave out every key that does not apply. {}\n",
        rows.join(",\n"),
        words.join(" ")
    )
}
