//! Reading the sources: where the files are, what of them is code, what of that is shipped, and
//! which paths it names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The code without comments, and with the contents of texts and characters left out.
pub fn strip_comments(source: &str) -> String {
    let source: Vec<char> = source.chars().collect();
    let at = |i: usize| source.get(i).copied().unwrap_or('\0');
    let mut code = String::new();
    let mut i = 0;
    while i < source.len() {
        match (at(i), at(i + 1)) {
            ('/', '/') => i = skip(&source, i, |i| at(i) == '\n'),
            ('/', '*') => i = find_end_of_comment(&source, i),
            ('r', '"' | '#') if !word(at(i.wrapping_sub(1))) && raw_text(&source, i) > 0 => {
                i = without_contents(&source, i, raw_text(&source, i), &mut code);
            }
            ('"', _) => i = without_contents(&source, i, find_end_of_text(&source, i), &mut code),
            ('\'', '\\') => i = skip(&source, i + 3, |i| at(i) == '\'') + 1,
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            (c, _) => {
                code.push(c);
                i += 1;
            }
        }
    }
    code
}

/// Leaves a text's marks on each of its lines, and returns where it ends.
fn without_contents(source: &[char], from: usize, end: usize, code: &mut String) -> usize {
    let text = &source[from..end.min(source.len())];
    code.push('"');
    for _ in text.iter().filter(|c| **c == '\n') {
        code.push_str("\n\"");
    }
    end
}

pub fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub fn skip(source: &[char], from: usize, stop: impl Fn(usize) -> bool) -> usize {
    (from..source.len())
        .find(|i| stop(*i))
        .unwrap_or(source.len())
}

fn find_end_of_comment(source: &[char], from: usize) -> usize {
    let mut depth = 0;
    let mut i = from;
    while i + 1 < source.len() {
        match (source[i], source[i + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
        if depth == 0 {
            return i;
        }
    }
    source.len()
}

fn find_end_of_text(source: &[char], from: usize) -> usize {
    let mut i = from + 1;
    while i < source.len() && source[i] != '"' {
        i += if source[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// The end of the raw text that begins here; 0 when none does.
fn raw_text(source: &[char], from: usize) -> usize {
    let marks = source[from + 1..].iter().take_while(|c| **c == '#').count();
    if source.get(from + 1 + marks) != Some(&'"') {
        return 0;
    }
    let end: Vec<char> = std::iter::once('"')
        .chain(std::iter::repeat_n('#', marks))
        .collect();
    let start = from + 2 + marks;
    (start..source.len())
        .find(|i| source[*i..].starts_with(&end))
        .map_or(source.len(), |i| i + end.len())
}

/// The code without what is compiled for tests only, and the modules that are.
pub fn strip_tests(code: &str) -> (String, Vec<String>) {
    let mut kept = String::new();
    let mut test_modules = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..start]);
        let item = &rest[start + "#[cfg(test)]".len()..];
        let stop = item.find([';', '{']).unwrap_or(item.len());
        if item[stop..].starts_with('{') {
            rest = &item[stop + block_length(&item[stop..])..];
        } else {
            let name = item[..stop].trim().rsplit(' ').next().unwrap_or_default();
            test_modules.push(name.to_owned());
            rest = item.get(stop + 1..).unwrap_or_default();
        }
    }
    kept.push_str(rest);
    (kept, test_modules)
}

fn block_length(block: &str) -> usize {
    let mut depth = 0usize;
    for (i, c) in block.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    block.len()
}

/// Every path the code names, with the groups of `use` spelled out.
pub fn paths(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let chars: Vec<char> = code.chars().collect();
    let mut i = 0;
    while i < chars.len() {
        if word(chars[i]) && (i == 0 || !word(chars[i - 1])) {
            i = path(&chars, i, "", &mut found);
        } else {
            i += 1;
        }
    }
    found
}

/// Reads one path or `use` tree and returns where it ends.
fn path(chars: &[char], from: usize, prefix: &str, found: &mut BTreeSet<String>) -> usize {
    let blank = |mut i: usize| {
        while i < chars.len() && chars[i].is_whitespace() {
            i += 1;
        }
        i
    };
    let mut path = prefix.to_owned();
    let mut i = from;
    loop {
        let end = skip(chars, i, |i| !word(chars[i]));
        path.extend(&chars[i..end]);
        i = end;
        let next = blank(i);
        if !chars[next.min(chars.len())..].starts_with(&[':', ':']) {
            found.insert(path);
            return i;
        }
        path.push_str("::");
        i = blank(next + 2);
        match chars.get(i) {
            Some('{') => break,
            Some(c) if word(*c) => {}
            _ => {
                found.insert(path);
                return i;
            }
        }
    }
    i += 1;
    while i < chars.len() && chars[i] != '}' {
        i = match chars[i] {
            c if word(c) => self::path(chars, i, &path, found),
            _ => i + 1,
        };
    }
    i + 1
}

/// Files that are compiled for tests only.
pub fn test_only_files(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for file in files {
        let (_, modules) = strip_tests(&strip_comments(&std::fs::read_to_string(file).unwrap()));
        let stem = file.file_stem().unwrap();
        let directory = match stem.to_str() {
            Some("mod" | "lib" | "main") => file.parent().unwrap().to_owned(),
            _ => file.with_extension(""),
        };
        for module in modules {
            found.insert(directory.join(format!("{module}.rs")));
            found.extend(
                files
                    .iter()
                    .filter(|file| file.starts_with(directory.join(&module)))
                    .cloned(),
            );
        }
    }
    found
}
