//! The answer to a push, ref by ref. The exit code says only that one of them failed.

use std::collections::BTreeMap;

/// What became of one ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was moved forward, made, or moved by a lease.
    Taken,
    /// It stood there already.
    Same,
    /// Why not.
    Refused(String),
}

/// By the ref's name on the remote.
pub(crate) fn parse(stdout: &str) -> BTreeMap<String, Outcome> {
    let mut found = BTreeMap::new();
    for line in stdout.lines() {
        let mut parts = line.splitn(3, '\t');
        let (Some(flag), Some(refs), Some(summary)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let Some((_, name)) = refs.rsplit_once(':') else {
            continue;
        };
        let outcome = match flag {
            " " | "*" | "+" => Outcome::Taken,
            "=" => Outcome::Same,
            _ => Outcome::Refused(reason(summary)),
        };
        found.insert(name.to_owned(), outcome);
    }
    found
}

/// `[remote rejected] (why)` → `why`.
fn reason(summary: &str) -> String {
    let inside = summary
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(summary).to_owned()
}

/// Whether a ref was refused because it, or one beside it, stood elsewhere.
pub(crate) fn is_lost_race(why: &str) -> bool {
    [
        "stale info",
        "fetch first",
        "non-fast-forward",
        "remote ref updated since checkout",
        "failed to update ref",
        "cannot lock ref",
        "incorrect old value",
        "reference already exists",
        "failed to lock",
    ]
    .iter()
    .any(|known| why.contains(known))
}

/// Refused for the sake of another ref.
pub(crate) fn is_for_another(why: &str) -> bool {
    [
        "atomic push failed",
        "atomic transaction failed",
        "transaction failed",
    ]
    .iter()
    .any(|known| why.contains(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ref_has_its_own_answer() {
        let found = parse(
            "To alias:r.git\n \tabc:refs/heads/main\t1..2\n!\tdef:refs/cook/log/main\t[rejected] (stale info)\n*\tabc:refs/x\t[new reference]\n=\tabc:refs/y\t[up to date]\nDone\n",
        );
        assert_eq!(found["refs/heads/main"], Outcome::Taken);
        assert_eq!(
            found["refs/cook/log/main"],
            Outcome::Refused("stale info".to_owned())
        );
        assert_eq!(found["refs/x"], Outcome::Taken);
        assert_eq!(found["refs/y"], Outcome::Same);
        assert_eq!(found.len(), 4);
    }
}
