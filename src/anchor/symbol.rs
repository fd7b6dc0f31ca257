//! Anchors at a symbol: what stands there is the line that names it and what belongs to that line.

use super::answer::Placed;
use super::named::list_contexts;
use super::place::{report_gone, unreadable};
use super::sources::{Sources, Text};
use super::text::{body, find_name, has_word, join};
use super::then::Then;
use cook_core::diagnostic::Failure;
use cook_core::machine::AnchorQuestion;
use cook_core::model::Verdict;
use cook_git::{Comparison, Found, Text as Lines, is_telling};
use std::ops::Range;

impl Sources<'_> {
    /// `path:symbol`, fresh.
    pub(super) fn symbol_now(
        &self,
        head: &str,
        path: &str,
        symbol: &str,
    ) -> Result<Placed, Failure> {
        let text = self.text(head, path)?;
        let lines = match &*text {
            Text::Lines(lines) => lines,
            Text::Gone => return Ok(report_gone(path)),
            Text::No(why) => return Ok(unreadable(path, why)),
        };
        Ok(match find_symbol(lines, symbol) {
            Some(here) => {
                let why = format!("`{symbol}` stands in line {}", here.start + 1);
                let first = here.start + 1;
                Placed::at(Verdict::Verified, why, path, first, &lines[here])
            }
            None => Placed::not(
                Verdict::Missing,
                format!("`{path}` does not name `{symbol}`"),
            ),
        })
    }

    /// `path:symbol`, as it was then: its lines are followed as any others are.
    pub(super) fn place_symbol_from(
        &self,
        question: &AnchorQuestion,
        then: &Then,
        head: &str,
        path: &str,
        symbol: &str,
    ) -> Result<Placed, Failure> {
        let Some(was) = find_symbol(&then.lines, symbol) else {
            let why = format!("`{path}` did not name `{symbol}` in {}", then.describe());
            return Ok(Placed::not(Verdict::Unverifiable, why));
        };
        let (before, replaced) = self.before(question, path, was.clone())?;
        let lines = (was.start + 1, was.end);
        let placed = self.place_lines_from(then, head, path, lines, (&before, replaced))?;
        if let Some((other, ..)) = &placed.found
            && other != path
            && let Some(stub) = self.find_stub(&then.lines[was.start], head, path, symbol)?
        {
            return Ok(stub);
        }
        if placed.verdict != Verdict::Missing {
            return Ok(placed);
        }
        if let Some(rest) = self.find_rest(then, head, path, was.clone(), &before)? {
            return Ok(rest);
        }
        let moved = self.find_named(question, then, head, path, &then.lines[was.start])?;
        Ok(moved.unwrap_or(placed))
    }

    /// What bears its name in its file in just its way, while its lines stand in another one: nobody can say
    /// which of the two is called.
    fn find_stub(
        &self,
        line: &str,
        head: &str,
        path: &str,
        symbol: &str,
    ) -> Result<Option<Placed>, Failure> {
        let Text::Lines(now) = &*self.text(head, path)? else {
            return Ok(None);
        };
        let Some(name) = find_name(now, symbol) else {
            return Ok(None);
        };
        let contexts = list_contexts(line, name);
        let bears = |line: &String| {
            list_contexts(line, name)
                .iter()
                .any(|it| contexts.contains(it))
        };
        Ok(now.iter().position(bears).map(|at| {
            let why = format!("`{path}` holds another `{name}` there");
            let here = trim_end(now, body(now, at));
            Placed::at(Verdict::Changed, why, path, here.start + 1, &now[here])
        }))
    }

    /// Lines of it that are left below the one that names it, and did not stand there at the basis.
    fn find_rest(
        &self,
        then: &Then,
        head: &str,
        path: &str,
        was: Range<usize>,
        before: &[Lines],
    ) -> Result<Option<Placed>, Failure> {
        let renamed = match (&*self.text(head, path)?, &then.commit) {
            (Text::Gone, Some(commit)) => self.find_renamed(commit, head, path)?,
            _ => None,
        };
        let path = renamed.as_deref().unwrap_or(path);
        let now = self.text(head, path)?;
        let Text::Lines(now) = &*now else {
            return Ok(None);
        };
        let (Some(old), Some(new)) = (join(&then.lines), join(now)) else {
            return Ok(None);
        };
        let compared = Comparison::new(&old, &new, before)?;
        let here = compared.find_outcome(was, &(0..0))?.now;
        let mut kept = Vec::new();
        for at in here.start + 1..here.end {
            if compared.is_kept(at)? {
                kept.extend(now.get(at));
            }
        }
        let lines = now.get(here.clone()).unwrap_or_default();
        Ok(is_telling(&kept).then(|| {
            let why = format!("only a part of it stands in `{path}`");
            Placed::at(Verdict::Changed, why, path, here.start + 1, lines)
        }))
    }

    /// The one other file that names it by the same line now, where that holds some of the work.
    fn find_named(
        &self,
        question: &AnchorQuestion,
        then: &Then,
        head: &str,
        path: &str,
        line: &String,
    ) -> Result<Option<Placed>, Failure> {
        let line = std::slice::from_ref(line);
        let (Some(work), Some(commit)) = (&question.work, &then.commit) else {
            return Ok(None);
        };
        if !is_telling(line) {
            return Ok(None);
        }
        let Found::One(path, at) = self.elsewhere(commit, head, path, line)? else {
            return Ok(None);
        };
        let text = self.text(head, &path)?;
        let Text::Lines(now) = &*text else {
            return Ok(None);
        };
        let here = trim_end(now, body(now, at.start));
        let below = here.start + 1..here.end;
        if !self.is_work(work, &path, &below)? {
            return Ok(None);
        }
        let why = format!("it stands in `{path}` now, and says something else");
        let first = here.start + 1;
        Ok(Some(Placed::at(
            Verdict::Changed,
            why,
            &path,
            first,
            &now[here],
        )))
    }

    /// The lines of HEAD's tree that the symbol names.
    pub(super) fn find_symbol_now(
        &self,
        path: &str,
        symbol: &str,
    ) -> Result<Option<Range<usize>>, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(None);
        };
        Ok(match &*self.text(head, path)? {
            Text::Lines(lines) => find_symbol(lines, symbol),
            _ => None,
        })
    }
}

/// The lines of what has this name: the first place where something belongs to it, else the first
/// that names it.
pub(super) fn find_symbol(lines: &[String], symbol: &str) -> Option<Range<usize>> {
    let name = find_name(lines, symbol)?;
    let named = (0..lines.len()).filter(|at| has_word(&lines[*at], name));
    let mut all = named.map(|at| trim_end(lines, body(lines, at)));
    let first = all.next()?;
    match first.len() {
        1 => Some(all.find(|found| found.len() > 1).unwrap_or(first)),
        _ => Some(first),
    }
}

/// Without the empty lines before what comes next.
fn trim_end(lines: &[String], range: Range<usize>) -> Range<usize> {
    let here = lines.get(range.clone()).unwrap_or_default().iter();
    let last = here.rev().position(|line| !line.trim().is_empty());
    range.start..range.end - last.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_what_belongs_to_the_line_that_names_it() {
        let find = |text: &str, symbol: &str| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            find_symbol(&lines, symbol)
        };
        let called = "// works\nworks();\n\ndef works():\n    x()\n\n\ndef other():\n    y()\n";
        assert_eq!(find(called, "works"), Some(3..5));
        assert_eq!(find("a = 1\nworks = 2\nb = works\n", "works"), Some(1..2));
        assert_eq!(find("a = 1\n", "works"), None);
    }
}
