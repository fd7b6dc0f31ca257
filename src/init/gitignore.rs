//! The marked block in `.gitignore`: execution state stays out of git, the
//! contract stays in. Bytes in, bytes out; the user's own lines and line ends stay.

use cook_protocol::model::CONTRACT_FILES;

/// First line of the block.
const BEGIN: &str = "# >>> cook: the state of the work stays out of git, its contract stays in";
/// What the first line begins with in every version.
const BEGIN_MARK: &[u8] = b"# >>> cook";
/// Last line of the block.
const END: &str = "# <<< cook";

/// Files under `.agent/` that git tracks (`protocol/completion.md#files`).
pub const TRACKED: [&str; 6] = [
    CONTRACT_FILES[0],
    CONTRACT_FILES[1],
    CONTRACT_FILES[2],
    CONTRACT_FILES[3],
    CONTRACT_FILES[4],
    ".agent/cook.toml",
];

/// Files there that a user may add, and that are the repository's too: who may sign a log's tip.
const MAY_BE_TRACKED: [&str; 1] = [".agent/allowed_signers"];

/// The patterns. The directory itself is taken back in, because git looks at no
/// `!` line below a directory that an earlier pattern left out.
fn patterns() -> Vec<String> {
    let mut lines = vec!["!.agent/".to_owned(), ".agent/*".to_owned()];
    let tracked = TRACKED.iter().chain(&MAY_BE_TRACKED);
    lines.extend(tracked.map(|path| format!("!{path}")));
    lines.push("/CONTINUE.md".to_owned());
    lines
}

/// `.gitignore` with the block in it: where one stands it is brought up to date in
/// place, else it comes last. Equal to `existing` when nothing has to change.
pub fn with_block(existing: &[u8]) -> Vec<u8> {
    let end_of_line: &[u8] = if existing.windows(2).any(|pair| pair == b"\r\n") {
        b"\r\n"
    } else {
        b"\n"
    };
    let patterns = patterns();
    let mut out = Vec::with_capacity(existing.len() + 512);
    let mut placed = false;
    let lines: Vec<&[u8]> = existing.split_inclusive(|byte| *byte == b'\n').collect();
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].starts_with(BEGIN_MARK) {
            out.extend_from_slice(lines[at]);
            at += 1;
            continue;
        }
        let (length, kept) = block(&lines[at..], &patterns);
        at += length;
        if !placed {
            push_block(&mut out, &patterns, end_of_line);
            placed = true;
        }
        kept.iter().for_each(|line| out.extend_from_slice(line));
    }
    if !placed {
        if !out.is_empty() && !out.ends_with(b"\n") {
            out.extend_from_slice(end_of_line);
        }
        push_block(&mut out, &patterns, end_of_line);
    }
    out
}

fn push_block(out: &mut Vec<u8>, patterns: &[String], end_of_line: &[u8]) {
    for line in [BEGIN]
        .into_iter()
        .chain(patterns.iter().map(String::as_str))
        .chain([END])
    {
        out.extend_from_slice(line.as_bytes());
        out.extend_from_slice(end_of_line);
    }
}

/// How many lines the block that begins here has, and which of them somebody else
/// wrote into it; those are kept, after the block. A block that has lost its last
/// line ends before the first line that is not cook's.
fn block<'a>(lines: &[&'a [u8]], patterns: &[String]) -> (usize, Vec<&'a [u8]>) {
    let ours = |line: &[u8]| {
        let line = line.trim_ascii();
        line.is_empty() || patterns.iter().any(|pattern| pattern.as_bytes() == line)
    };
    let body = &lines[1..];
    let next = body
        .iter()
        .position(|line| line.starts_with(BEGIN_MARK))
        .unwrap_or(body.len());
    let is_end = |line: &&[u8]| line.trim_ascii() == END.as_bytes();
    match body[..next].iter().position(is_end) {
        Some(end) => {
            let kept = body[..end].iter().copied().filter(|line| !ours(line));
            (end + 2, kept.collect())
        }
        None => (
            1 + body.iter().take_while(|line| ours(line)).count(),
            Vec::new(),
        ),
    }
}
