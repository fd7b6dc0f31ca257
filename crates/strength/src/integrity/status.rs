//! What the exit code of a shell script depends on, and what of that is gone.

use super::commands::runs_check;
use std::collections::BTreeSet;

/// Lines of a block that are looked at.
const LONGEST: usize = 40;

type Lines<'s> = &'s [(usize, &'s str)];

fn dense(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Lines, with their numbers, by which a failure goes unseen that was seen before.
pub(super) fn find_unseen(
    before: Lines,
    after: Lines,
    ends_on_error: bool,
) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if ends_well_in_trap(before).is_none() {
        found.extend(ends_well_in_trap(after));
    }
    // Where an error ends the script, its end is reached by what passed.
    let last = find_final(before, after);
    found.extend(last.filter(|(_, line)| !ends_on_error || line.contains("||")));
    found.extend(find_remarks(before, after));
    found.extend(find_dropped_count(before, after));
    found
}

/// Failures are counted where they ended the script, and nothing looks at the count.
pub(super) fn find_idle_count(after: Lines) -> Option<(usize, String)> {
    let counts = |line: &str| {
        let rest = line.split_once("||").map_or("", |(_, rest)| rest).trim();
        rest.contains("((")
            || rest
                .split_once('=')
                .is_some_and(|(name, _)| !name.contains(' '))
    };
    let ends = |line: &str| {
        decides(line)
            || line.contains("exit ") && !line.contains("exit 0")
            || line.contains("return ")
    };
    let (number, line) = after.iter().find(|(_, line)| counts(line))?;
    (!after.iter().any(|(_, line)| ends(line.trim()))).then(|| (*number, line.trim().to_owned()))
}

/// `wait "$pid"`: that one's exit code is seen. A bare `wait` sees none.
pub(super) fn waits_for_one(lines: Lines) -> bool {
    lines.iter().any(|(_, line)| {
        line.match_indices("wait ").any(|(at, _)| {
            let own = line[..at].chars().next_back();
            let rest = line[at + 5..].trim_start();
            !own.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
                && (rest.starts_with(['"', '$', '-', '%', '\'', '`'])
                    || rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    })
}

/// The handler of a trap ends the script well, however it came there.
fn ends_well_in_trap(lines: Lines) -> Option<(usize, String)> {
    let handlers: BTreeSet<&str> = lines
        .iter()
        .filter_map(|(_, line)| {
            let mut words = line
                .split_whitespace()
                .skip_while(|word| *word != "trap")
                .skip(1);
            let name = words.next()?.trim_matches(['"', '\'', ';']);
            let of_end =
                words.any(|word| matches!(word.trim_end_matches(';'), "EXIT" | "0" | "ERR"));
            of_end.then_some(name)
        })
        .collect();
    let mut inside = false;
    for (number, line) in lines {
        let own = line.trim();
        let name = own
            .trim_start_matches("function ")
            .split(['(', ' ', '{'])
            .next();
        if own.contains('{') && name.is_some_and(|name| handlers.contains(name)) {
            inside = true;
        }
        let ends = own
            .split([';', '{', '}'])
            .any(|part| part.trim() == "exit 0");
        if inside && ends {
            return Some((*number, own.to_owned()));
        }
        if line.starts_with('}') || inside && own.ends_with('}') {
            inside = false;
        }
    }
    None
}

/// Its end said whether all was well.
fn decides(line: &str) -> bool {
    let own = line.trim();
    let asks = [
        "[ ", "[[ ", "test ", "((", "! ", "exit $", "exit \"$", "exec ",
    ]
    .iter()
    .any(|start| own.starts_with(start));
    let or_says = own.rsplit_once("||").is_some_and(|(_, rest)| {
        !rest.contains("exit") && !rest.contains("return") && !rest.contains("false")
    });
    asks && !or_says
}

/// The last line decided, and now one does that always goes well.
fn find_final(before: Lines, after: Lines) -> Option<(usize, String)> {
    let (_, was) = before.last()?;
    let (number, is) = after.last()?;
    let own = is.trim();
    let says = ["echo", "printf", "true", ":", "cat ", "rm "]
        .iter()
        .any(|start| own.starts_with(start))
        || own.contains("|| echo")
        || own.contains("|| true");
    if !decides(was) || decides(is) || !says {
        return None;
    }
    let ends = |lines: Lines| {
        let exits = lines.iter().filter(|(_, line)| {
            ["exit ", "return ", "exec "]
                .iter()
                .any(|word| line.contains(word))
                && !line.contains("exit 0")
        });
        exits.count() + lines.iter().filter(|(_, line)| decides(line)).count()
    };
    (ends(after) < ends(before)).then(|| (*number, own.to_owned()))
}

/// What ended the script is only remarked now: `[ … ] || echo`, `if ! make test; then echo …; fi`.
fn find_remarks(before: Lines, after: Lines) -> Vec<(usize, String)> {
    let known: BTreeSet<String> = before.iter().map(|(_, line)| dense(line)).collect();
    let ended: BTreeSet<String> = before
        .iter()
        .filter(|(_, line)| {
            !line.contains("||") || line.contains("exit") || line.contains("return")
        })
        .map(|(_, line)| dense(line.split("||").next().unwrap_or(line)))
        .collect();
    let mut found = Vec::new();
    for (place, (number, line)) in after.iter().enumerate() {
        let own = line.trim();
        if let Some((condition, rest)) = own.split_once("||") {
            let asks = ["[", "test ", "(("]
                .iter()
                .any(|start| condition.starts_with(start));
            let says = ["echo", "printf", ":", "true"]
                .iter()
                .any(|word| rest.trim().starts_with(word));
            let ends = ["exit", "return", "=1", "false", "fail", "(("]
                .iter()
                .any(|word| rest.contains(word));
            if asks
                && says
                && !ends
                && ended.contains(&dense(condition))
                && !known.contains(&dense(own))
            {
                found.push((*number, own.to_owned()));
            }
            continue;
        }
        let Some(asked) = own.strip_prefix("if ") else {
            continue;
        };
        let command = asked
            .trim_start_matches("! ")
            .trim_end_matches("then")
            .trim_end()
            .trim_end_matches(';');
        if !runs_check(command) || !known.contains(&dense(command)) {
            continue;
        }
        let block = after[place + 1..].iter().take(LONGEST);
        let ends = block
            .map(|(_, line)| line.trim())
            .take_while(|line| *line != "fi")
            .filter(|line| !line.starts_with("echo") && !line.starts_with("printf"))
            .any(|line| {
                let words = ["exit", "return", "=", "false", "fail", "die", "((", "kill"];
                words.iter().any(|word| line.contains(word))
            });
        if !ends {
            found.push((*number, own.to_owned()));
        }
    }
    found
}

/// Failures were counted, and what decides at the end finds none any more.
fn find_dropped_count(before: Lines, after: Lines) -> Option<(usize, String)> {
    let counts = |lines: Lines, name: &str| {
        lines.iter().any(|(_, line)| {
            let own = dense(line);
            [
                format!("{name}=1"),
                format!("{name}=$(("),
                format!("(({name}"),
                format!("{name}+="),
                format!("{name}=$?"),
                format!("{name}=true"),
            ]
            .iter()
            .any(|mark| own.contains(mark.as_str()))
        })
    };
    let names = |lines: Lines| -> BTreeSet<String> {
        let deciding = lines
            .iter()
            .filter(|(_, line)| decides(line) || line.trim().starts_with("if ["))
            .take(LONGEST);
        deciding
            .flat_map(|(_, line)| line.split('$').skip(1))
            .filter_map(|rest| {
                let rest = rest.trim_start_matches('{');
                let end = rest
                    .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .unwrap_or(rest.len());
                let (name, _) = rest.split_at(end);
                (name.len() > 1).then(|| name.to_owned())
            })
            .take(LONGEST)
            .collect()
    };
    let lost = names(after)
        .into_iter()
        .find(|name| counts(before, name) && !counts(after, name))?;
    let (number, line) = after
        .iter()
        .rev()
        .find(|(_, line)| line.contains(lost.as_str()))?;
    Some((*number, line.trim().to_owned()))
}
