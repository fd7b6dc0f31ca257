//! The files of a crate name one another in one direction: none depends, over whatever many
//! others, on a file that depends on it.
//!
//! A file depends on another when it names an item that the other one defines. A re-export is
//! followed to the file that defines the item; it is no dependency itself, and neither is the
//! declaration of a module.

use super::size::describe_place;
use super::source::{
    paths, root, rust_files, skip, strip_comments, strip_tests, test_only_files, word,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Words before the name of an item.
const ITEMS: [&str; 10] = [
    "fn",
    "struct",
    "enum",
    "trait",
    "type",
    "const",
    "static",
    "union",
    "mod",
    "macro_rules",
];

/// One `use`: the name it brings, the whole path, and whether others may name it here.
struct Import {
    name: String,
    path: String,
    public: bool,
}

/// A file of a crate, as its module.
struct Module {
    /// Where it stands in the repository.
    place: String,
    /// Names of the items it defines.
    items: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths that its code names, those of its private imports among them.
    names: BTreeSet<String>,
}

impl Module {
    fn read(place: String, source: &str) -> Self {
        let (code, _) = strip_tests(&strip_comments(source));
        let (imports, body) = split_imports(&code);
        let private = imports.iter().filter(|import| !import.public);
        let private: Vec<String> = private.map(|import| import.path.clone()).collect();
        let mut names = paths(&without_own_names(&body));
        names.extend(private);
        Self {
            place,
            items: items(&body),
            imports,
            names,
        }
    }
}

/// The `use` statements of the code, and the code without them.
fn split_imports(code: &str) -> (Vec<Import>, String) {
    let chars: Vec<char> = code.chars().collect();
    let mut imports = Vec::new();
    let mut body = String::new();
    let mut i = 0;
    while i < chars.len() {
        let starts = i == 0 || !word(chars[i - 1]);
        if starts && chars[i..].starts_with(&['u', 's', 'e', ' ']) {
            let end = skip(&chars, i, |i| chars[i] == ';');
            let tree: String = chars[i + 4..end].iter().collect();
            let before = body.trim_end();
            let public = before.ends_with("pub") || before.ends_with(')');
            for (name, path) in leaves("", &tree) {
                imports.push(Import { name, path, public });
            }
            i = end;
        } else {
            body.push(chars[i]);
            i += 1;
        }
    }
    (imports, body)
}

/// Every name that a `use` tree brings, with its path.
fn leaves(prefix: &str, tree: &str) -> Vec<(String, String)> {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let prefix = format!("{prefix}{}", without_blanks(&tree[..open]));
        let inside = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
        let branches = branches(inside);
        return branches
            .flat_map(|branch| leaves(&prefix, branch))
            .collect();
    }
    if tree.is_empty() {
        return Vec::new();
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim())),
        None => (tree, None),
    };
    let path = format!("{prefix}{}", without_blanks(path));
    let path = path.strip_suffix("::self").unwrap_or(&path).to_owned();
    let last = path.rsplit("::").next().unwrap_or(&path);
    vec![(alias.unwrap_or(last).to_owned(), path)]
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The branches of a group, split at the commas that stand in no inner group.
fn branches(group: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    group.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Code without what names nothing that another file defines: fields, methods, labels, and the
/// names of items where they are declared.
fn without_own_names(code: &str) -> String {
    let chars: Vec<char> = code.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or(' ');
    let mut kept = String::new();
    let mut declared = false;
    let mut i = 0;
    while i < chars.len() {
        let end = skip(&chars, i, |i| !word(chars[i]));
        if end == i {
            let one = at(i) == '.' && at(i + 1) != '.' && (i == 0 || at(i - 1) != '.');
            kept.push(at(i));
            i += 1;
            if one {
                i = skip(&chars, i, |i| !word(chars[i]));
            }
            continue;
        }
        let label = at(end) == ':' && at(end + 1) != ':' && !kept.ends_with(':');
        if !label && !declared {
            kept.extend(&chars[i..end]);
        }
        let name: String = chars[i..end].iter().collect();
        declared = ITEMS.contains(&name.as_str());
        i = end;
    }
    kept
}

/// Names of the items that stand in no block.
fn items(body: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut depth = 0usize;
    let mut item = false;
    for part in body.split_inclusive(|c| !word(c)) {
        let name = part.trim_end_matches(|c| !word(c));
        if depth == 0 && item && !name.is_empty() && name != "mut" {
            found.insert(name.to_owned());
        }
        if !name.is_empty() {
            item = ITEMS.contains(&name) || (item && name == "mut");
        }
        match part.chars().last() {
            Some('{') => depth += 1,
            Some('}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

/// The modules of a crate by their paths from its root.
struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
}

impl Crate {
    fn read(sources: &Path) -> Self {
        let files = rust_files(sources);
        let test_only = test_only_files(&files);
        let mut modules = BTreeMap::new();
        for file in files.iter().filter(|file| !test_only.contains(*file)) {
            let inside = file.strip_prefix(sources).unwrap().with_extension("");
            let parts = inside.components();
            let mut parts: Vec<String> = parts
                .map(|part| part.as_os_str().to_str().unwrap().to_owned())
                .collect();
            if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
                parts.pop();
            }
            let source = std::fs::read_to_string(file).unwrap();
            modules.insert(parts, Module::read(describe_place(file), &source));
        }
        Self { modules }
    }

    fn of(files: &[(&str, &str)]) -> Self {
        let modules = files.iter().map(|(path, source)| {
            let parts = path.split("::").filter(|part| !part.is_empty());
            let module = Module::read((*path).to_owned(), source);
            (parts.map(str::to_owned).collect(), module)
        });
        Self {
            modules: modules.collect(),
        }
    }

    /// The module whose file defines what a path names, seen from a module.
    fn definer(&self, from: &[String], path: &str) -> Option<Vec<String>> {
        self.resolve(from, path, &mut BTreeSet::new())
    }

    fn resolve(
        &self,
        from: &[String],
        path: &str,
        seen: &mut BTreeSet<(Vec<String>, String)>,
    ) -> Option<Vec<String>> {
        if !seen.insert((from.to_vec(), path.to_owned())) {
            return None;
        }
        let mut module = from.to_vec();
        let mut rest: Vec<&str> = path.split("::").collect();
        let mut inside = false;
        while let Some(first) = rest.first().copied() {
            match first {
                "crate" => module.clear(),
                "self" => {}
                "super" => {
                    module.pop();
                }
                _ => break,
            }
            inside = true;
            rest.remove(0);
        }
        loop {
            let first = *rest.first()?;
            let here = self.modules.get(&module)?;
            if rest.len() > 1 {
                let child: Vec<String> = [&module[..], &[first.to_owned()]].concat();
                if self.modules.contains_key(&child) {
                    module = child;
                    inside = true;
                    rest.remove(0);
                    continue;
                }
            }
            if let Some(import) = here.imports.iter().find(|import| import.name == first) {
                let path = [&[import.path.as_str()], &rest[1..]].concat().join("::");
                return self.resolve(&module, &path, seen);
            }
            if here.items.contains(first) && !self.is_module(&module, first) {
                return Some(module);
            }
            // What a glob brings is defined where it leads.
            let globs = here.imports.iter().filter(|import| import.name == "*");
            let is_of_crate =
                |path: &str| path.starts_with("super::") || path.starts_with("crate::");
            for glob in globs.filter(|glob| is_of_crate(&glob.path)) {
                let path = [&[glob.path.trim_end_matches("::*")], &rest[..]].concat();
                let found = self.resolve(&module, &path.join("::"), seen);
                if found.is_some() {
                    return found;
                }
            }
            // What a macro of the module writes is not seen, and its own all the same.
            let is_other = !inside || self.is_module(&module, first);
            return if is_other { None } else { Some(module) };
        }
    }

    fn is_module(&self, parent: &[String], name: &str) -> bool {
        let child = [parent, &[name.to_owned()]].concat();
        self.modules.contains_key(&child)
    }

    /// The modules on which each one depends, with a path that says why.
    fn edges(&self) -> BTreeMap<&[String], BTreeMap<Vec<String>, &str>> {
        let mut edges = BTreeMap::new();
        for (own, module) in &self.modules {
            let mut on = BTreeMap::new();
            for path in &module.names {
                if let Some(other) = self.definer(own, path).filter(|other| other != own) {
                    on.entry(other).or_insert(path.as_str());
                }
            }
            edges.insert(own.as_slice(), on);
        }
        edges
    }

    /// Every circle: its files, each with the files of the circle on which it depends.
    fn circles(&self) -> Vec<BTreeMap<String, Vec<String>>> {
        let edges = self.edges();
        let reach = |from: &[String]| {
            let mut reached = BTreeSet::new();
            let mut open = vec![from.to_vec()];
            while let Some(module) = open.pop() {
                for next in edges[module.as_slice()].keys() {
                    if reached.insert(next.clone()) {
                        open.push(next.clone());
                    }
                }
            }
            reached
        };
        let reached: BTreeMap<&[String], _> = edges
            .keys()
            .map(|module| (*module, reach(module)))
            .collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for (module, from) in &reached {
            if !from.contains(*module) || seen.contains(*module) {
                continue;
            }
            let back = |other: &&Vec<String>| reached[other.as_slice()].contains(*module);
            let members: BTreeSet<&Vec<String>> = from.iter().filter(back).collect();
            seen.extend(members.iter().map(|member| member.to_vec()));
            let describe = |member: &&Vec<String>| {
                let on = edges[member.as_slice()].iter();
                let on = on.filter(|(other, _)| members.contains(other));
                let on = on.map(|(other, path)| format!("{}: {path}", self.modules[other].place));
                (self.modules[*member].place.clone(), on.collect())
            };
            circles.push(members.iter().map(describe).collect());
        }
        circles
    }
}

#[test]
fn the_files_of_a_crate_name_one_another_in_one_direction() {
    let mut sources = vec![root().join("src")];
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        sources.push(entry.unwrap().path().join("src"));
    }
    let circles: Vec<_> = sources
        .iter()
        .flat_map(|sources| Crate::read(sources).circles())
        .collect();
    assert!(circles.is_empty(), "circles: {circles:#?}");
}

/// The files of each circle.
fn find_circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let circles = Crate::of(files).circles();
    circles
        .iter()
        .map(|circle| circle.keys().cloned().collect())
        .collect()
}

#[test]
fn a_circle_is_seen_over_re_exports_aliases_and_parents() {
    let root = ("", "mod a;\nmod b;\npub use a::Shown;\n");
    let two = [
        root,
        ("a", "use crate::b::f;\npub struct Shown;\n"),
        ("b", "pub fn f() -> super::Shown { super::Shown }\n"),
    ];
    assert_eq!(find_circles(&two), [["a", "b"]]);

    let parent = [
        ("", "mod a;\npub struct Type;\npub fn f() { a::g() }\n"),
        ("a", "pub fn g() { let _ = super::Type; }\n"),
    ];
    assert_eq!(find_circles(&parent), [["", "a"]]);

    let named_otherwise = [
        (
            "",
            "mod a;\npub use a::{g as h, k};\npub struct Type;\npub fn f() { h() }\n",
        ),
        (
            "a",
            "use super::Type;\npub fn g() {}\npub fn k() -> Type { Type }\n",
        ),
    ];
    assert_eq!(find_circles(&named_otherwise), [["", "a"]]);

    let by_glob = [
        ("", "mod a;\nmod b;\nmod c;\n"),
        ("a", "use super::b::*;\npub struct Type;\nfn f() { g() }\n"),
        ("b", "pub use super::c::g;\n"),
        ("c", "pub fn g() { let _ = super::a::Type; }\n"),
    ];
    assert_eq!(find_circles(&by_glob), [["a", "c"]]);

    let three = [
        ("", ""),
        ("a", "use super::b;\nfn f() { b::f() }\n"),
        (
            "b",
            "use super::c::{self, g as h};\npub fn f() { h(); c::i() }\n",
        ),
        ("c", "pub fn g() { crate::a::f() }\n"),
        ("d", "use super::a::f;\n"),
    ];
    assert_eq!(find_circles(&three), [["a", "b", "c"]]);
}

#[test]
fn what_is_no_circle_is_not_taken_for_one() {
    let declared = [
        (
            "",
            "mod f;\npub use f::{f, Shown};\npub struct Type { f: u8 }\n",
        ),
        (
            "f",
            "use super::Type;\npub struct Shown;\npub fn f(_: Type) {}\n",
        ),
    ];
    assert_eq!(find_circles(&declared), [[""; 0]; 0]);

    let beside = [
        ("", "mod a;\nmod b;\npub use a::f;\npub use b::Type;\n"),
        ("a", "use super::Type;\npub fn f(_: Type) {}\n"),
        (
            "b",
            "pub struct Type { f: u8 }\nfn g(t: &Type) -> u8 { t.f }\n",
        ),
    ];
    assert_eq!(find_circles(&beside), [[""; 0]; 0]);

    let for_tests = [
        (
            "",
            "mod a;\npub fn f() {}\n#[cfg(test)]\nmod tests { use crate::a::g; }\n",
        ),
        ("a", "//! See [`super::f`].\npub fn g() { super::f() }\n"),
    ];
    assert_eq!(find_circles(&for_tests), [[""; 0]; 0]);
}
