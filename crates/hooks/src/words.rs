//! Command lines cut into simple commands, as a shell would: words, what they write, what they read.
//! Pure.
//!
//! Invariants: text in quotes and in a here-document is data; a command in `$(…)` is one of the line's;
//! what is cut off in the middle of a quote is left out.

use std::iter::Peekable;
use std::str::Chars;

/// How deep commands may stand in commands.
const DEEP: usize = 8;

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    /// Its words, without redirections.
    pub words: Vec<String>,
    /// Files that its output is sent to.
    pub writes: Vec<String>,
    /// What a here-document or a here-string gives it.
    pub input: Option<String>,
    /// Here-documents that begin after its line: where they end, and whether tabs are dropped.
    documents: Vec<(String, bool)>,
}

/// What the next word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Next {
    #[default]
    Word,
    Write,
    Input,
    Document(bool),
    Nothing,
}

/// The simple commands of a line, in its order.
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
    /// Here-documents that begin at the end of the line, each with its command.
    waiting: Vec<(usize, String, bool)>,
}

impl Reader<'_> {
    /// Reads to the end, or where `depth` says so to the bracket that closes. None = cut off in a quote.
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
                '>' => self.output(),
                '<' => self.input(),
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

    /// `$(…)`: its commands are the line's, and what they print is not known.
    fn read_nested(&mut self, depth: usize) -> Option<()> {
        self.characters.next();
        if self.characters.next_if_eq(&'(').is_some() {
            // A sum, whose `<<` begins no document.
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
        if depth >= DEEP {
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

    /// `>`, `>>`, `>|`, `>&`, `2>`, `&>`.
    fn output(&mut self) {
        let is_number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
        self.word.take_if(|word| is_number(word));
        self.end_word();
        let copies = self.characters.next_if(|c| ">|&".contains(*c)) == Some('&');
        let descriptor = |c: &char| c.is_ascii_digit() || *c == '-';
        self.next = match copies && self.characters.peek().is_some_and(descriptor) {
            true => Next::Nothing,
            false => Next::Write,
        };
    }

    /// `<`, `<<`, `<<-`, `<<<`, `<&`, `<>`, `<(`.
    fn input(&mut self) {
        self.end_word();
        let taken = |reader: &mut Self, c| reader.characters.next_if_eq(&c).is_some();
        self.next = if !taken(self, '<') {
            match taken(self, '>') {
                true => Next::Write,
                false => {
                    taken(self, '&');
                    Next::Nothing
                }
            }
        } else if taken(self, '<') {
            Next::Input
        } else {
            Next::Document(taken(self, '-'))
        };
    }

    /// What stands below the line of the commands that read it.
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

#[cfg(test)]
mod tests {
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
