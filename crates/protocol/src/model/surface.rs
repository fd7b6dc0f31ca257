//! Whether a path lies within a surface: a file, a directory, or a glob, as
//! `implementation_surfaces` and `protected` write them.
//!
//! Pure, and linear enough for hostile input: no pattern makes it backtrack
//! over more than (pattern segments x path segments) steps.

/// True when `pattern` names `path` or a directory above it.
///
/// Both are relative to the worktree's root and use `/`; a leading `/` or `./`
/// of the pattern means that root. Within a segment `*` stands for any text, a
/// segment `**` for any number of segments, also none; every other character
/// stands for itself (`[id].tsx` is a file name). Whatever a pattern names it
/// names with everything below, so `src`, `src/`, `src/*` and `src/**` all hold
/// `src/a/b.rs`. Patterns are anchored: `*.lock` is the root's, `**/*.lock` is
/// any directory's. `.` is the whole worktree. An empty pattern, and one with a
/// `..` segment, hold nothing.
pub fn surface_matches(pattern: &str, path: &str) -> bool {
    let wanted: Vec<&str> = segments(pattern).collect();
    let found: Vec<&str> = segments(path).collect();
    if pattern.is_empty() || wanted.contains(&"..") {
        return false;
    }
    // reached[i]: the pattern's first `taken` segments can end before found[i].
    let mut reached = vec![false; found.len() + 1];
    reached[0] = true;
    for segment in wanted {
        let mut next = vec![false; found.len() + 1];
        for (at, _) in reached.iter().enumerate().filter(|(_, here)| **here) {
            if segment == "**" {
                next[at..].fill(true);
                break;
            }
            if found
                .get(at)
                .is_some_and(|name| name_matches(segment, name))
            {
                next[at + 1] = true;
            }
        }
        reached = next;
    }
    reached.contains(&true)
}

/// False for a pattern that can hold no path at all.
pub(super) fn is_pattern(pattern: &str) -> bool {
    !pattern.trim().is_empty() && !segments(pattern).any(|segment| segment == "..")
}

/// True when `pattern` matches `path` and says so: its first segment is the path's own, so
/// neither `.` nor `**` names a protected path.
pub fn surface_names(pattern: &str, path: &str) -> bool {
    segments(pattern).next() == segments(path).next() && surface_matches(pattern, path)
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter(|segment| !segment.is_empty() && *segment != ".")
}

/// `*` against one segment: the last star is the only one worth going back to.
fn name_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p) == Some(&name[n]) {
            p += 1;
            n += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_directories_and_globs() {
        for (pattern, path, holds) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/a.rsx", false),
            ("src", "src/a/b.rs", true),
            ("src/", "src/a/b.rs", true),
            ("./src/", "src/a.rs", true),
            ("/src", "src/a.rs", true),
            ("src", "srcs/a.rs", false),
            ("src/a.rs", "src", false),
            ("src/*", "src/a/b.rs", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("src/**/*.rs", "src/b.rs", true),
            ("src/**/*.rs", "src/a/c/b.rs", true),
            ("src/**", "src", true),
            ("*.lock", "Cargo.lock", true),
            ("*.lock", "sub/Cargo.lock", false),
            ("**/*.lock", "sub/Cargo.lock", true),
            ("**/*.lock", "Cargo.lock", true),
            ("packages/*/src/", "packages/a/src/x.ts", true),
            ("packages/*/src/", "packages/a/test/x.ts", false),
            ("app/[id].tsx", "app/[id].tsx", true),
            ("app/[id].tsx", "app/i.tsx", false),
            (".", "anything/at/all", true),
            ("**", "anything/at/all", true),
            ("", "a", false),
            ("../a", "a", false),
            ("src/../a", "a", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("größe/*", "größe/ä.txt", true),
        ] {
            assert_eq!(surface_matches(pattern, path), holds, "{pattern} {path}");
        }
    }

    #[test]
    fn a_hostile_pattern_ends_soon() {
        let pattern = "**/a*".repeat(400);
        let path = "a/".repeat(400);
        let name = format!("{}b", "*a".repeat(400));
        let started = std::time::Instant::now();
        surface_matches(&pattern, &path);
        assert!(!surface_matches(&name, &"a".repeat(4000)));
        assert!(started.elapsed().as_secs() < 5);
    }
}
