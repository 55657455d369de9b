//! Imports between files: from `use` items and paths, with re-exports resolved.
//!
//! No files import each other, directly or indirectly.

use std::collections::{BTreeMap, BTreeSet};

use super::sources;

type Path = Vec<String>;

/// Names in a module.
#[derive(Default)]
struct Names {
    /// Origins of imported and re-exported names; `None` for another crate.
    passed_on: BTreeMap<String, Option<Path>>,
    /// All paths except re-exports.
    named: BTreeSet<Path>,
}

/// Modules by path, starting with `crate`.
struct Modules(BTreeMap<Path, Names>);

impl Modules {
    fn read<'a>(files: impl Iterator<Item = (Path, &'a str)> + Clone) -> Self {
        let mut modules = Self(files.clone().map(|(module, _)| (module, Names::default())).collect());
        for (module, text) in files {
            let (uses, rest) = uses(text);
            let absolute = |path: &[String]| modules.absolute(&module, path);
            let passed_on = uses.iter().map(|(_, path, name)| (name.clone(), absolute(path))).collect();
            let imported = uses.iter().filter(|(is_export, ..)| !is_export).map(|(_, path, _)| path.clone());
            let named = imported.chain(paths(&rest)).filter_map(|path| absolute(&path)).collect();
            modules.0.insert(module, Names { passed_on, named });
        }
        modules
    }

    /// Returns a path of the crate in absolute form, or `None` for another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Path> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let rest = &path[ups..];
        let of = |base: &[String], rest: &[String]| Some([base, rest].concat());
        match path.first()?.as_str() {
            "crate" => Some(path.to_vec()),
            "self" => of(module, &path[1..]),
            "super" => of(module.get(..module.len().checked_sub(ups)?)?, rest),
            child => {
                let child = [module, &[child.to_owned()]].concat();
                self.0.contains_key(&child).then(|| of(module, path))?
            }
        }
    }

    /// Returns the module that defines the path's name, or `None` for another crate.
    fn definer(&self, path: &[String]) -> Option<&Path> {
        let (mut path, mut steps) = (path.to_vec(), 0);
        loop {
            let known = (1..=path.len()).rev().find_map(|end| self.0.get_key_value(&path[..end]));
            let (module, Names { passed_on, .. }) = known?;
            match path.get(module.len()).and_then(|name| passed_on.get(name)) {
                Some(to) if steps < 10 => path = [to.as_ref()?, &path[module.len() + 1..]].concat(),
                _ => return Some(module),
            }
            steps += 1;
        }
    }

    fn imports(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let of = |names: &Names, module: &Path| {
            let found = names.named.iter().filter_map(|path| self.definer(path));
            found.filter(|other| *other != module).collect()
        };
        self.0.iter().map(|(module, names)| (module, of(names, module))).collect()
    }

    fn circles(&self) -> Vec<Vec<String>> {
        let imports = self.imports();
        let reach = |from: &Path| {
            let (mut seen, mut todo) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = todo.pop() {
                let next = imports[&module].iter().filter(|next| seen.insert(**next));
                todo.extend(next.map(|next| (*next).clone()).collect::<Vec<_>>());
            }
            seen
        };
        let reached: BTreeMap<&Path, BTreeSet<&Path>> =
            imports.keys().map(|module| (*module, reach(module))).collect();
        let (mut circles, mut done) = (Vec::new(), BTreeSet::new());
        for (module, reach) in &reached {
            let circle: Vec<_> = reach.iter().filter(|other| reached[**other].contains(module)).collect();
            if !circle.is_empty() && done.insert(circle.clone()) {
                circles.push(circle.iter().map(|module| module.join("::")).collect());
            }
        }
        circles
    }
}

/// Returns the leaves of all `use` items, with re-export flag and name, and the remaining text.
fn uses(text: &str) -> (Vec<(bool, Path, String)>, String) {
    let (mut found, mut rest, mut item) = (Vec::new(), String::new(), None::<(bool, String)>);
    for line in text.lines().map(str::trim) {
        let (vis, body) = line.split_once("use ").unwrap_or(("-", line));
        let is_use = vis.is_empty() || vis == "pub " || vis.starts_with("pub(") && vis.ends_with(") ");
        match &mut item {
            Some((_, text)) => text.push_str(line),
            None if is_use => item = Some((!vis.is_empty(), body.to_owned())),
            None => rest.extend([line, "\n"]),
        }
        if let Some((is_export, text)) = item.take_if(|(_, text)| text.ends_with(';')) {
            for leaf in leaves(text.trim_end_matches(';')) {
                let (path, name) = leaf.split_once(" as ").unwrap_or((&leaf, ""));
                let path: Path = path.split("::").map(|part| part.trim().to_owned()).collect();
                let path: Path = path.into_iter().filter(|part| part != "*").collect();
                let is_own = path.len() > 1 && path.last().is_some_and(|last| last == "self");
                let path = if is_own { path[..path.len() - 1].to_vec() } else { path };
                let name =
                    if name.is_empty() { path.last().cloned().unwrap_or_default() } else { name.to_owned() };
                found.push((is_export, path, name));
            }
        }
    }
    (found, rest)
}

/// Expands `a::{b, c::{d, e}}` to `a::b`, `a::c::d`, `a::c::e`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((head, inner)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let (mut depth, mut items) = (0, vec![String::new()]);
    for c in inner.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match items.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => items.push(String::new()),
        }
    }
    let items = items.iter().filter(|item| !item.trim().is_empty());
    items.flat_map(|item| leaves(item)).map(|leaf| format!("{}{leaf}", head.trim())).collect()
}

fn paths(code: &str) -> Vec<Path> {
    // A visibility imports nothing.
    let code = code.replace("pub(in crate::", "pub(in ");
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let words = words.filter(|word| word.contains("::") && !word.starts_with(':'));
    let parts = |word: &str| word.split("::").map(str::to_owned).filter(|part| !part.is_empty()).collect();
    words.map(parts).collect()
}

fn module(path: &str) -> Path {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let parts = path.split('/').filter(|part| *part != "lib");
    std::iter::once("crate").chain(parts).map(str::to_owned).collect()
}

#[test]
fn circles_are_found_through_reexports_and_at_any_distance() {
    let files = [
        ("lib.rs", "pub mod a;\n"),
        ("a/mod.rs", "mod b;\nmod c;\npub use b::{B, More as Many};\npub(crate) use c::d::D;\n"),
        ("a/b.rs", "use std::fmt;\nuse super::c::{self, d::{D, E}};\nfn f() { crate::a::c::x() }\n"),
        ("a/c/mod.rs", "pub mod d;\nfn x() {}\n"),
        ("a/c/d.rs", "use crate::sanitize;\npub struct D(super::super::e::E);\n"),
        ("a/e.rs", "use crate::a::{\n    Many,\n};\n"),
        ("f.rs", "use crate::a::B;\n"),
    ];
    let modules = Modules::read(files.iter().map(|(path, text)| (module(path), *text)));
    let circle = ["crate::a::b", "crate::a::c::d", "crate::a::e"].map(str::to_owned).to_vec();
    assert_eq!(modules.circles(), [circle]);
}

#[test]
fn no_two_files_import_each_other() {
    let sources = sources();
    let code = sources.iter().filter(|source| !source.lines.is_empty()).map(|source| {
        let path = source.path.to_string_lossy();
        let path = path.rsplit_once("/src/").expect("inside src").1.to_owned();
        let lines: Vec<&str> = source.lines.iter().map(|(_, line)| line.as_str()).collect();
        (path, lines.join("\n"))
    });
    let code: Vec<(String, String)> = code.collect();
    let modules = Modules::read(code.iter().map(|(path, text)| (module(path), text.as_str())));
    assert!(modules.imports().values().map(BTreeSet::len).sum::<usize>() > 1000, "imports are found");
    let circles = modules.circles();
    assert!(circles.is_empty(), "files that import each other:\n{circles:#?}");
}
