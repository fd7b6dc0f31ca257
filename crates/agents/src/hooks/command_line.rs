//! A simple parser of shell command lines. Pure.
//!
//! A line is split into simple commands; commands that run another command (`env`, `timeout`, `bash -c`) are replaced
//! by or followed by that command. A line that cannot be parsed yields no commands: it is allowed, and its effects are
//! detected afterwards.

use cook_repo::git::path_text;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::path::{Component, Path, PathBuf};
use std::str::Chars;
use std::sync::LazyLock;

/// The maximum length of a command line that is parsed, in bytes.
const MAX_LINE: usize = 64 * 1024;
/// The maximum nesting depth of command lines in command lines.
const DEEP: usize = 4;

/// A simple command: the name of its program without the path, and its other words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub words: Vec<String>,
    /// Files that it writes, moves or deletes, as far as its words name them.
    pub writes: Vec<String>,
}

/// Names that are significant to shells, git and agents' tools.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    /// Members of a tool's input that hold a file path.
    pub(super) path_fields: Vec<String>,
    /// Tools that run a command line.
    pub(super) shell_tools: Vec<String>,
    /// Parts of the name of an unknown tool that writes files.
    pub(super) writing: Vec<String>,
    runners: BTreeMap<String, Runner>,
    /// Programs that run a command line, and their options that take a value.
    shells: Vec<String>,
    shell_options: Vec<String>,
    /// Reserved words of a shell that may precede a command.
    reserved: Vec<String>,
    /// Options of git that take a value.
    git_options: Vec<String>,
    /// git commands that create commits or move HEAD.
    git_commits: Vec<String>,
}

/// A program that runs another one: its options that take a value, and the number of words between the options and that
/// program.
#[derive(Debug, Default, Deserialize)]
struct Runner {
    options: Vec<String>,
    words: usize,
}

/// The tests below fail if the file cannot be parsed.
pub(super) static WORDS: LazyLock<Words> =
    LazyLock::new(|| serde_json::from_str(include_str!("words.json")).unwrap_or_default());

impl Segment {
    /// Whether it is a git command that changes history.
    pub fn writes_history(&self) -> bool {
        let from = behind_options(&self.words, &WORDS.git_options);
        let word = self.words.get(from);
        self.program == "git" && word.is_some_and(|word| WORDS.git_commits.contains(word))
    }

    /// Whether it is `cook` with this subcommand.
    pub fn is_cook(&self, command: &str) -> bool {
        self.program == "cook" && subcommand(&self.words, &[command]).is_some()
    }
}

/// Finds one of the wanted subcommands and the words after it. A word after an option may be the option's value: then
/// the next word is examined too.
fn subcommand<'s>(words: &'s [String], wanted: &[&str]) -> Option<(&'s str, &'s [String])> {
    let is_option = |at: usize| words[at].starts_with('-');
    for at in (0..words.len()).filter(|at| !is_option(*at)) {
        if wanted.contains(&words[at].as_str()) {
            return Some((&words[at], &words[at + 1..]));
        }
        if at == 0 || !is_option(at - 1) || words[at - 1].contains('=') {
            return None;
        }
    }
    None
}

/// The simple commands of a line, including those that they run; empty if the line cannot be parsed.
pub fn segments(line: &str) -> Vec<Segment> {
    let mut found = Vec::new();
    look_into(line, 0, &mut String::new(), &mut found);
    found
}

/// The files that the commands of a line write, move or delete.
pub(super) fn list_written(line: &str) -> Vec<String> {
    let found = segments(line).into_iter();
    found.flat_map(|segment| segment.writes).collect()
}

/// Parses a line. `dir` is the directory to which its `cd` commands have led.
fn look_into(line: &str, depth: usize, dir: &mut String, found: &mut Vec<Segment>) {
    if line.len() > MAX_LINE || depth > DEEP {
        return;
    }
    for command in simple_commands(line) {
        let Simple {
            words,
            writes,
            input,
            ..
        } = command;
        let mut segment = segment(words);
        let named = writes.into_iter().chain(list_changed_files(&segment));
        segment.writes = named.map(|path| below(dir, &path)).collect();
        if let ("cd", [.., to]) = (segment.program.as_str(), segment.words.as_slice()) {
            *dir = below(dir, to);
        }
        let inner = inner_line(&segment, input);
        found.push(segment);
        if let Some(inner) = inner {
            look_into(&inner, depth + 1, &mut dir.clone(), found);
        }
    }
}

fn below(dir: &str, path: &str) -> String {
    match dir.is_empty() || path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{dir}/{path}"),
    }
}

/// The program that is finally run, and its words.
fn segment(words: Vec<String>) -> Segment {
    let mut rest = words.as_slice();
    loop {
        let is_before = |word: &&String| is_setting(word) || WORDS.reserved.contains(word);
        rest = &rest[rest.iter().take_while(is_before).count()..];
        let Some((first, others)) = rest.split_first() else {
            return make_named("", &[]);
        };
        let name = base(first);
        let Some(runner) = WORDS.runners.get(name) else {
            return make_named(name, others);
        };
        let from = behind_options(others, &runner.options);
        let asks = others[..from]
            .iter()
            .any(|word| ["-v", "-V"].contains(&word.as_str()));
        let settings = others[from..]
            .iter()
            .take_while(|word| is_setting(word))
            .count();
        let from = from + settings + runner.words;
        // `command -v git` runs nothing, and `env` alone prints the environment.
        if (name == "command" && asks) || from >= others.len() {
            return make_named(name, others);
        }
        rest = &others[from..];
    }
}

fn make_named(program: &str, words: &[String]) -> Segment {
    Segment {
        program: program.to_owned(),
        words: words.to_vec(),
        writes: Vec::new(),
    }
}

fn base(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// The number of leading words that are options and their values.
fn behind_options(words: &[String], with_value: &[String]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with(['-', '+'])) {
        at += 1 + usize::from(with_value.contains(word));
        if word == "--" {
            break;
        }
    }
    at.min(words.len())
}

/// The command line that is passed to a shell or `eval`.
fn inner_line(segment: &Segment, input: Option<String>) -> Option<String> {
    let words = &segment.words;
    if segment.program == "eval" {
        return Some(words.join(" "));
    }
    if !WORDS.shells.contains(&segment.program) {
        return None;
    }
    let from = behind_options(words, &WORDS.shell_options);
    let is_line =
        |word: &&String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    match (words[..from].iter().find(is_line), words.get(from)) {
        (Some(_), line) => line.cloned(),
        // A shell reads its standard input if no file is named.
        (None, None) => input,
        (None, Some(_)) => input.filter(|_| words[..from].iter().any(|word| word == "-s")),
    }
}

/// The files that a command changes by its purpose.
fn list_changed_files(segment: &Segment) -> Vec<String> {
    let plain = || segment.words.iter().filter(|word| !word.starts_with('-'));
    let in_place = || {
        segment
            .words
            .iter()
            .any(|word| word.starts_with("-i") || word.starts_with("--in-place"))
    };
    match segment.program.as_str() {
        "tee" | "rm" | "unlink" | "truncate" | "mv" | "touch" => plain().cloned().collect(),
        "cp" | "ln" | "install" => plain().next_back().cloned().into_iter().collect(),
        "sed" | "perl" if in_place() => plain().skip(1).cloned().collect(),
        "dd" => {
            let words = segment.words.iter();
            words
                .filter_map(|word| word.strip_prefix("of="))
                .map(str::to_owned)
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Finds a subcommand of the issue tracker, called directly or through `cook issue`, if it is one of the wanted ones.
/// Returns it and the words after it.
pub fn issue_call<'s>(segment: &'s Segment, wanted: &[&str]) -> Option<(&'s str, &'s [String])> {
    match segment.program.as_str() {
        "br" | "bd" => subcommand(&segment.words, wanted),
        "cook" => subcommand(subcommand(&segment.words, &["issue"])?.1, wanted),
        _ => None,
    }
}

/// The maximum nesting depth of command substitutions.
const NESTED: usize = 8;

/// A simple command while it is parsed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    /// Its words, without redirections.
    pub words: Vec<String>,
    /// Files to which its output is redirected.
    pub writes: Vec<String>,
    /// The content of its here-document or here-string.
    pub input: Option<String>,
    /// Here-documents that begin after its line: the delimiter, and whether leading tabs are stripped.
    documents: Vec<(String, bool)>,
}

/// The meaning of the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Next {
    #[default]
    Word,
    Write,
    Input,
    Document(bool),
    Nothing,
}

/// The simple commands of a line, in order.
pub(super) fn simple_commands(line: &str) -> Vec<Simple> {
    let mut reader = Reader {
        characters: line.chars().peekable(),
        done: Vec::new(),
        now: Simple::default(),
        word: None,
        next: Next::Word,
        waiting: Vec::new(),
    };
    reader.read(0);
    reader.done
}

struct Reader<'l> {
    characters: Peekable<Chars<'l>>,
    done: Vec<Simple>,
    now: Simple,
    word: Option<String>,
    next: Next,
    /// Here-documents that begin at the end of the line, each with the index of its command.
    waiting: Vec<(usize, String, bool)>,
}

impl Reader<'_> {
    /// Reads to the end of the line, or with `depth` to the closing parenthesis. `None` if a quote is not closed.
    fn read(&mut self, depth: usize) -> Option<()> {
        let mut open = 0;
        while let Some(c) = self.characters.next() {
            match c {
                '\\' => match self.characters.next() {
                    Some('\n') | None => {}
                    Some(c) => self.word().push(c),
                },
                '\'' => self.single()?,
                '"' => self.double(depth)?,
                '#' if self.word.is_none() => {
                    while self.characters.next_if(|c| *c != '\n').is_some() {}
                }
                '$' if self.characters.peek() == Some(&'(') => self.read_nested(depth)?,
                '(' => {
                    open += 1;
                    self.end_command();
                }
                ')' if depth > 0 && open == 0 => break,
                ')' => {
                    open = usize::saturating_sub(open, 1);
                    self.end_command();
                }
                '\n' => {
                    self.end_command();
                    self.documents();
                }
                '&' if self.characters.peek() == Some(&'>') => {}
                ';' | '|' | '&' | '`' | '\r' => self.end_command(),
                '<' | '>' => self.redirect(c),
                c if c.is_whitespace() => self.end_word(),
                c => self.word().push(c),
            }
        }
        self.end_command();
        Some(())
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn single(&mut self) -> Option<()> {
        loop {
            match self.characters.next()? {
                '\'' => break,
                c => self.word().push(c),
            }
        }
        self.word();
        Some(())
    }

    fn double(&mut self, depth: usize) -> Option<()> {
        self.word();
        loop {
            match self.characters.next()? {
                '"' => return Some(()),
                '\\' => match self.characters.next()? {
                    '\n' => {}
                    c @ ('"' | '\\' | '$' | '`') => self.word().push(c),
                    c => self.word().extend(['\\', c]),
                },
                '$' if self.characters.peek() == Some(&'(') => self.read_nested(depth)?,
                c => self.word().push(c),
            }
        }
    }

    /// Reads `$(…)`: its commands count as commands of the line, and its output is unknown.
    fn read_nested(&mut self, depth: usize) -> Option<()> {
        self.characters.next();
        if self.characters.next_if_eq(&'(').is_some() {
            // An arithmetic expression, in which `<<` does not begin a here-document.
            let mut last = ' ';
            for c in self.characters.by_ref() {
                if (last, c) == (')', ')') {
                    break;
                }
                last = c;
            }
            self.word().push_str("$()");
            return Some(());
        }
        if depth >= NESTED {
            return None;
        }
        let outer = (
            std::mem::take(&mut self.now),
            self.word.take(),
            std::mem::take(&mut self.next),
        );
        self.read(depth + 1)?;
        (self.now, self.word, self.next) = outer;
        self.word().push_str("$()");
        Some(())
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match std::mem::take(&mut self.next) {
            Next::Word => self.now.words.push(word),
            Next::Write => self.now.writes.push(word),
            Next::Input => self.now.input = Some(word),
            Next::Document(tabs) => self.now.documents.push((word, tabs)),
            Next::Nothing => {}
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.next = Next::Word;
        let mut command = std::mem::take(&mut self.now);
        if command == Simple::default() {
            return;
        }
        let at = self.done.len();
        for (end, tabs) in command.documents.drain(..) {
            self.waiting.push((at, end, tabs));
        }
        self.done.push(command);
    }

    /// Reads a redirection: `>`, `>>`, `>|`, `>&`, `2>`, `&>`, `<`, `<<`, `<<-`, `<<<`, `<&`, `<>`.
    fn redirect(&mut self, first: char) {
        let is_number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
        self.word.take_if(|word| is_number(word));
        self.end_word();
        let mut sign = String::from(first);
        while let Some(c) = self.characters.next_if(|c| "<>&|".contains(*c)) {
            sign.push(c);
        }
        let is_descriptor = |c: &char| c.is_ascii_digit() || *c == '-';
        self.next = match sign.as_str() {
            "<<" => Next::Document(self.characters.next_if_eq(&'-').is_some()),
            "<<<" => Next::Input,
            "<" | "<&" => Next::Nothing,
            ">&" if self.characters.peek().is_some_and(is_descriptor) => Next::Nothing,
            _ => Next::Write,
        };
    }

    /// Reads the here-documents below the line of their commands.
    fn documents(&mut self) {
        for (command, end, tabs) in std::mem::take(&mut self.waiting) {
            let mut text = String::new();
            while self.characters.peek().is_some() {
                let mut line = String::new();
                while let Some(c) = self.characters.next_if(|c| *c != '\n') {
                    line.push(c);
                }
                self.characters.next();
                let held = match tabs {
                    true => line.trim_start_matches('\t'),
                    false => &line,
                };
                if held.trim_end_matches('\r') == end {
                    break;
                }
                text.push_str(held);
                text.push('\n');
            }
            self.done[command].input = Some(text);
        }
    }
}

// Conversion of the paths in events to paths of the worktree. A path that leads outside, even through a link, is
// dropped.

/// The directory in which an event happened: the named one or its nearest existing parent, otherwise the directory in
/// which cook was called.
pub fn find_directory(named: Option<&str>, called: &Path) -> PathBuf {
    let Some(named) = named else {
        return called.to_owned();
    };
    called
        .join(named)
        .ancestors()
        .find(|dir| dir.is_dir())
        .unwrap_or(called)
        .to_owned()
}

/// A path relative to `root`, with `/` as separator; `None` if it is not below `root`.
pub fn find_inside(root: &Path, dir: &Path, named: &str) -> Option<String> {
    let mut path = PathBuf::new();
    for part in dir.join(named).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    // The file may not exist, so the nearest existing parent directory is resolved.
    let holder = path.ancestors().skip(1).find_map(|holder| {
        let real = holder.canonicalize().ok()?;
        Some((real, path.strip_prefix(holder).ok()?.to_owned()))
    });
    let (real, rest) = holder?;
    let real = real.join(rest);
    let relative = real.strip_prefix(root).ok()?;
    let parts: Vec<String> = relative
        .components()
        .map(|part| path_text(part.as_os_str().as_encoded_bytes()))
        .collect();
    (!parts.is_empty() && parts[0] != ".git").then(|| parts.join("/"))
}

#[cfg(test)]
mod words_tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<String>> {
        let commands = simple_commands(line).into_iter();
        commands.map(|command| command.words).collect()
    }

    #[test]
    fn a_line_is_cut_as_a_shell_cuts_it() {
        for (line, wanted) in [
            (
                "a b && c||d;e|f\ng & h",
                vec!["a b", "c", "d", "e", "f", "g", "h"],
            ),
            ("a 'b && c' \"d;e\" f\\;g", vec!["a b && c d;e f;g"]),
            ("a # b; c\nd", vec!["a", "d"]),
            (
                "git -C $(pwd; x) commit",
                vec!["pwd", "x", "git -C $() commit"],
            ),
            ("a \"$(b \"c d\")\" e", vec!["b c d", "a $() e"]),
            ("a $((1 << 2)) b\nc", vec!["a $() b", "c"]),
            ("(cd x && `a`)", vec!["cd x", "a"]),
            ("a 2>&1 >/dev/null <b c", vec!["a c"]),
            ("a b\\\nc", vec!["a bc"]),
            ("a '' b", vec!["a  b"]),
            ("echo 'open; a", vec![]),
            ("echo $(a 'open) b", vec![]),
            ("", vec![]),
            (") ) a", vec!["a"]),
        ] {
            let found: Vec<String> = words(line).iter().map(|words| words.join(" ")).collect();
            assert_eq!(found, wanted, "{line}");
        }
        assert!(words(&"$(".repeat(100_000)).is_empty());
    }

    #[test]
    fn documents_are_data_of_the_command_that_reads_them() {
        let line = "cat <<'E' > out && b\ngit commit\nE\nbash <<-X\n\ta\n\tX\nd <<< 'in put'\nopen <<N\nrest";
        let found = simple_commands(line);
        let of = |index: usize| (found[index].words.join(" "), found[index].input.clone());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of(0), ("cat".to_owned(), some("git commit\n")));
        assert_eq!(found[0].writes, ["out"]);
        assert_eq!(of(1), ("b".to_owned(), None));
        assert_eq!(of(2), ("bash".to_owned(), some("a\n")));
        assert_eq!(of(3), ("d".to_owned(), some("in put")));
        assert_eq!(of(4), ("open".to_owned(), some("rest\n")));
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn what_is_written_is_told_from_what_is_read() {
        for (line, wanted) in [
            ("a > b", vec!["b"]),
            ("a >> 'b c' 2>d", vec!["b c", "d"]),
            ("a &> b", vec!["b"]),
            ("a >| b; c >& d", vec!["b", "d"]),
            ("a 2>&1 1>&- < b", vec![]),
            ("a <> b", vec!["b"]),
            ("> b", vec!["b"]),
            ("a '> b' \\> c", vec![]),
        ] {
            let commands = simple_commands(line);
            let found: Vec<&String> = commands.iter().flat_map(|c| &c.writes).collect();
            assert_eq!(found, wanted, "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(line: &str) -> Vec<String> {
        segments(line).into_iter().map(|s| s.program).collect()
    }

    #[test]
    fn what_runs_another_command_is_looked_through() {
        assert_eq!(programs("FOO=1 BAR='x y' /usr/bin/git commit"), ["git"]);
        assert_eq!(programs("(cd x && git commit)"), ["cd", "git"]);
        assert_eq!(
            programs("env -u A B=1 timeout -k 5 10 nice -n 3 git x"),
            ["git"]
        );
        assert_eq!(
            programs("command -v git; env; timeout 5"),
            ["command", "env", "timeout"]
        );
        assert_eq!(
            programs("bash -lc 'sh -c \"git commit\" && b'"),
            ["bash", "sh", "git", "b"]
        );
        assert_eq!(programs("bash -o errexit -c 'a' b"), ["bash", "a"]);
        assert_eq!(
            programs("eval git commit; bash x.sh -c y"),
            ["eval", "git", "bash"]
        );
        assert_eq!(
            programs("bash <<E\ngit x\nE\ncat <<E\ngit x\nE"),
            ["bash", "git", "cat"]
        );
        assert_eq!(programs("if a; then ! b; fi"), ["a", "b", "fi"]);
        assert!(segments(&"x".repeat(MAX_LINE + 1)).is_empty());
        let deep = (0..9).fold("git x".to_owned(), |line, _| format!("eval {line}"));
        assert!(programs(&deep).len() <= DEEP + 1);
    }

    #[test]
    fn files_that_a_line_changes_are_named_from_where_it_stands() {
        for (line, wanted) in [
            ("echo x > .agent/a", vec![".agent/a"]),
            ("cd .agent && echo x >> a", vec![".agent/a"]),
            ("bash -c 'cd b; tee -a c d'", vec!["b/c", "b/d"]),
            (
                "(cd b; cat x) > c; cp a -f d; mv e f",
                vec!["b/c", "b/d", "b/e", "b/f"],
            ),
            ("sed -i 's/a/b/' c; sed 's/a/b/' d", vec!["c"]),
            ("dd if=a of=b; rm -rf /c", vec!["b", "/c"]),
            ("cat <<E\n> a\nE", vec![]),
            ("grep '> a' b", vec![]),
        ] {
            assert_eq!(list_written(line), wanted, "{line}");
        }
    }

    #[test]
    fn history_is_written_whatever_stands_before_the_word() {
        for line in [
            "git commit -qm x",
            "git -C sub -c a=b commit",
            "git --git-dir x --work-tree y commit",
            "cd x && git --no-pager commit --amend",
            "git rebase main",
            "GIT_EDITOR=true git merge x",
            "bash -lc 'git commit -m x'",
            "env A=1 bash -ec \"git commit -m 'x y'\"",
            "sh <<E\ngit commit\nE",
            "x=$(git commit -m y)",
        ] {
            assert!(segments(line).iter().any(Segment::writes_history), "{line}");
        }
        for line in [
            "git log --grep commit",
            "git status",
            "echo git commit",
            "git -c commit=x diff",
            "cat > notes <<'E'\ngit commit\nE",
            "bash -c 'echo git commit'",
            "git -C commit status",
            "bash script.sh git commit",
        ] {
            assert!(
                !segments(line).iter().any(Segment::writes_history),
                "{line}"
            );
        }
    }
}
