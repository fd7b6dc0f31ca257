//! Anchors at text: lines of a file, a symbol, a section, and what is gone.

use super::section::find_section;
use super::sources::{NO_COMMIT, Sources, Text, answer};
use super::symbol::find_symbol;
use cook_protocol::diagnostic::{Failure, count_noun};
use cook_protocol::machine::{AnchorAnswer, AnchorQuestion, Required};
use cook_protocol::model::{Anchor, KeptProof, Verdict};
use cook_repo::git::{Entry, find_text, says_something};
use std::ops::Range;

impl Sources<'_> {
    /// Lines, a symbol or a section: as it stands at HEAD, or as it was accepted.
    pub(super) fn judge_place(
        &self,
        question: &AnchorQuestion,
        anchor: &Anchor,
        path: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(Verdict::Missing, NO_COMMIT, &question.anchor));
        };
        if let Required::Accepted(kept) = &question.required {
            return self.look_for_kept(question, anchor, (head, path), kept);
        }
        let text = self.text(head, path)?;
        let lines = match &*text {
            Text::Lines(lines) => lines,
            Text::Gone => {
                return Ok(answer(
                    Verdict::Missing,
                    report_gone(path),
                    &question.anchor,
                ));
            }
            Text::No(why) => {
                let why = format!("`{path}` cannot be anchored in: {why}");
                return Ok(answer(Verdict::Unverifiable, why, &question.anchor));
            }
        };
        let Some(range) = find_place(lines, anchor) else {
            let why = match anchor {
                Anchor::Symbol { symbol, .. } => format!("`{path}` does not name `{symbol}`"),
                Anchor::Doc { .. } => "the document has no such section".to_owned(),
                _ => format!(
                    "`{path}` has {} at HEAD",
                    count_noun(lines.len() as u64, "line")
                ),
            };
            return Ok(answer(Verdict::Missing, why, &question.anchor));
        };
        let shown = &lines[range.clone()];
        if !says_something(shown) {
            let why = "these lines hold no letter and no digit, so they prove nothing";
            return Ok(answer(Verdict::Unverifiable, why, &question.anchor));
        }
        let target = format!("{path}#{}-{}", range.start + 1, range.end);
        let mut answer = answer(Verdict::Verified, "it stands at HEAD", &target);
        if let Some(basis) = self.find_basis(question)? {
            answer.is_new = !self.repo.has_text(&basis, shown)?;
            if !answer.is_new {
                answer
                    .why
                    .push_str(", and stood in a file of the basis already");
            }
        }
        // A document as a whole proves no criterion.
        let is_part = !matches!(anchor, Anchor::Doc { section: None, .. });
        answer.text = is_part.then(|| shown.to_vec());
        Ok(answer)
    }

    /// The text that was accepted: in its file, else once in the file that git says was renamed.
    fn look_for_kept(
        &self,
        question: &AnchorQuestion,
        anchor: &Anchor,
        (head, path): (&str, &str),
        kept: &KeptProof,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(text) = &kept.text else {
            let why = "the log does not hold the text that was accepted";
            return Ok(answer(Verdict::Unverifiable, why, &question.anchor));
        };
        if let Text::Lines(lines) = &*self.text(head, path)? {
            let found = find_text(lines, text);
            if let Some(first) = found.first() {
                let near = find_place(lines, anchor).filter(|near| found.contains(near));
                let at = near.as_ref().unwrap_or(first);
                return Ok(answer_at(question, anchor, path, at, path));
            }
        }
        let then = self.repo.resolve(&kept.head_sha)?;
        let renamed = match (&then, self.find_linked(head, path)?) {
            (_, Some(linked)) => Some(linked),
            (Some(then), None) => self.repo.find_renamed(then, head, path)?,
            (None, None) => None,
        };
        if let Some(to) = &renamed
            && let Text::Lines(lines) = &*self.text(head, to)?
            && let [at] = &find_text(lines, text)[..]
        {
            return Ok(answer_at(question, anchor, to, at, path));
        }
        let why = match &renamed {
            Some(to) => format!("its text is gone from `{path}`, which is `{to}` now"),
            None => format!("its text is gone from `{path}`"),
        };
        Ok(answer(Verdict::Missing, why, &question.anchor))
    }

    /// The file in the tree that a link in its place leads to.
    fn find_linked(&self, head: &str, path: &str) -> Result<Option<String>, Failure> {
        let Entry::Symlink = self.repo.entry(head, path)? else {
            return Ok(None);
        };
        let target = match self.repo.tree_entry(head, path)? {
            Some(entry) => self.repo.blob(&entry.id)?,
            None => None,
        };
        let Some(target) = target.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(None);
        };
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
        for part in target.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_none() => return Ok(None),
                ".." => {}
                part => parts.push(part),
            }
        }
        let is_inside = !target.starts_with('/');
        Ok(is_inside.then(|| parts.join("/")))
    }

    /// `gone:PATH` and `gone:PATH#LINE`.
    pub(super) fn judge_gone(
        &self,
        question: &AnchorQuestion,
        path: &str,
        line: Option<&str>,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(Verdict::Missing, NO_COMMIT, &question.anchor));
        };
        if self.is_there(head, path, line)? {
            let why = match line {
                Some(_) => format!("`{path}` holds that line at HEAD"),
                None => format!("`{path}` is in HEAD's tree"),
            };
            return Ok(answer(Verdict::Missing, why, &question.anchor));
        }
        let mut answer = answer(Verdict::Verified, "it is gone at HEAD", &question.anchor);
        answer.text = Some(line.map(str::to_owned).into_iter().collect());
        if let Some(basis) = self.find_basis(question)?
            && !self.is_there(&basis, path, line)?
        {
            answer.is_new = false;
            answer.why.push_str(", and was not at the basis either");
        }
        Ok(answer)
    }

    fn is_there(&self, commit: &str, path: &str, line: Option<&str>) -> Result<bool, Failure> {
        let Some(line) = line else {
            return Ok(self.repo.entry(commit, path)? != Entry::Nothing);
        };
        let wanted = [line.to_owned()];
        Ok(match &*self.text(commit, path)? {
            Text::Lines(lines) => match says_something(&wanted) {
                true => !find_text(lines, &wanted).is_empty(),
                false => lines.iter().any(|other| other.trim() == line.trim()),
            },
            _ => false,
        })
    }

    /// `entry:PATH`: read where earlier records hold it.
    pub(super) fn judge_entry(
        &self,
        question: &AnchorQuestion,
        path: &str,
    ) -> Result<AnchorAnswer, Failure> {
        let Some(head) = &self.head.commit else {
            return Ok(answer(Verdict::Missing, NO_COMMIT, &question.anchor));
        };
        let entry = |commit: &str| -> Result<Option<String>, Failure> {
            let found = self.repo.tree_entry(commit, path)?;
            Ok(found.map(|entry| format!("{} {}", entry.mode, entry.id)))
        };
        let Some(now) = entry(head)? else {
            return Ok(answer(
                Verdict::Missing,
                report_gone(path),
                &question.anchor,
            ));
        };
        if let Required::Accepted(kept) = &question.required
            && kept.text.as_deref() != Some(std::slice::from_ref(&now))
        {
            let why = format!("`{path}` is another file now");
            return Ok(answer(Verdict::Missing, why, &question.anchor));
        }
        let mut answer = answer(
            Verdict::Verified,
            "it is in HEAD's tree",
            &format!("entry:{path}"),
        );
        if let Some(basis) = self.find_basis(question)? {
            answer.is_new = entry(&basis)?.as_ref() != Some(&now);
        }
        answer.text = Some(vec![now]);
        Ok(answer)
    }

    /// The commit against which a claim is new, with what was merged in since: what stands there is nobody's
    /// new work.
    pub(super) fn find_basis(&self, question: &AnchorQuestion) -> Result<Option<String>, Failure> {
        match &question.required {
            Required::Claimed { basis, .. } => self.repo.resolve(basis),
            Required::AtHead | Required::Accepted(_) => Ok(None),
        }
    }
}

/// The lines that an anchor names: of a symbol the one that defines it.
pub(super) fn find_place(lines: &[String], anchor: &Anchor) -> Option<Range<usize>> {
    match anchor {
        Anchor::Lines { first, last, .. } => (*last <= lines.len()).then(|| first - 1..*last),
        Anchor::Symbol { symbol, .. } => {
            let found = find_symbol(lines, symbol)?;
            Some(found.start..found.start + 1)
        }
        Anchor::Doc {
            section: Some(section),
            ..
        } => find_section(lines, section),
        Anchor::Doc { section: None, .. } => Some(0..lines.len()),
        _ => None,
    }
}

fn answer_at(
    question: &AnchorQuestion,
    anchor: &Anchor,
    path: &str,
    at: &Range<usize>,
    was: &str,
) -> AnchorAnswer {
    let (first, last) = (at.start + 1, at.end);
    let target = format!("{path}#{first}-{last}");
    let now = match anchor {
        Anchor::Lines { .. } if first == last => format!("{path}:{first}"),
        Anchor::Lines { .. } => format!("{path}:{first}-{last}"),
        Anchor::Symbol { symbol, .. } => format!("{path}:{symbol}"),
        Anchor::Doc {
            section: Some(section),
            ..
        } if path != was => format!("doc:{path}#{section}"),
        _ => question.anchor.clone(),
    };
    if now == question.anchor {
        return answer(Verdict::Verified, "its text stands at HEAD", &target);
    }
    let why = format!("its text stands at `{path}` line {first} now");
    let mut answer = answer(Verdict::Moved, why, &target);
    answer.now = Some(now);
    answer
}

fn report_gone(path: &str) -> String {
    format!("`{path}` is not in HEAD's tree")
}
