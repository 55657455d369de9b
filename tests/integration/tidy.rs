//! House rules, checked on the source: dependencies, purity, sizes, documents.

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::files_in;

/// The modules from left to right; a module may name only modules to its left.
const ROOMS: &str = "\
    diagnostic sanitize tokens words yaml tally ballot round persona workflow history handoff core \
    clock signals participants journal engine insight report remote config launch tui cli main";
/// Modules without I/O, async, clock and randomness.
const PURE: &str = "\
    diagnostic sanitize tokens words yaml tally ballot round persona workflow history handoff core \
    insight report";
const IMPURE: &str = "\
    thread tokio reqwest ratatui crossterm getrandom std::fs std::env std::net std::process SystemTime \
    Instant";

struct Source {
    path: PathBuf,
    room: String,
    /// The module's row in `tests/size.tsv`: its folder, or `files` for the files of `src` itself.
    folder: String,
    /// Code without comments, up to the first test module.
    lines: Vec<(usize, String)>,
    /// Number of production lines, with comments.
    length: usize,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rust = files_in(&root).into_iter().filter(|path| path.extension() == Some("rs".as_ref()));
    let sources: Vec<Source> = rust.map(|path| source(&root, path)).collect();
    assert!(sources.len() > 50, "the source is there");
    sources
}

fn source(root: &Path, path: PathBuf) -> Source {
    let text = fs::read_to_string(&path).expect("source is readable");
    let inside = path.strip_prefix(root).expect("inside src");
    let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    let name = path.file_name().expect("a name").to_string_lossy();
    let is_test = name.ends_with("tests.rs")
        || name.starts_with("test_")
        || ["testing.rs", "properties.rs"].contains(&&*name)
        || inside.components().any(|part| part.as_os_str() == "tests");
    let all: Vec<&str> = text.lines().collect();
    let is_inline_test = |pair: &[&str]| {
        let module = pair[1].trim_start();
        pair[0].trim() == "#[cfg(test)]" && module.starts_with("mod ") && module.ends_with('{')
    };
    let end = all.windows(2).position(is_inline_test).unwrap_or(all.len());
    let length = if is_test { 0 } else { end };
    let code = (1..).zip(all[..length].iter().map(|line| (*line).to_owned()));
    let lines = code.filter(|(_, line)| !line.trim_start().starts_with("//")).collect();
    let folder = if inside.parent() == Some(Path::new("")) { "files" } else { &*first };
    let module = first.trim_end_matches(".rs").to_owned();
    Source { room: module, folder: folder.to_owned(), path, lines, length }
}

fn place(room: &str) -> Option<usize> {
    ROOMS.split(' ').position(|known| known == room)
}

fn named<'a>(line: &'a str) -> Vec<&'a str> {
    let name = |rest: &'a str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    line.split("crate::").skip(1).filter_map(name).collect()
}

#[test]
fn every_room_is_known_and_no_arrow_runs_back() {
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| source.room != "lib") {
        let Some(own) = place(&source.room) else {
            found.push(format!("{}: the room `{}` has no place", source.path.display(), source.room));
            continue;
        };
        for (number, line) in &source.lines {
            for room in named(line) {
                let allowed = place(room).is_some_and(|place| place <= own);
                // Neither of these two may name the other.
                let apart = source.room == "journal" && room == "participants";
                if !allowed || apart {
                    found.push(format!("{}:{number}: names `{room}`", source.path.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "arrows that run back:\n{}", found.join("\n"));
}

#[test]
fn pure_rooms_name_nothing_impure() {
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| PURE.split(' ').any(|pure| pure == source.room)) {
        for (number, line) in &source.lines {
            for word in IMPURE.split(' ') {
                // The schema validator recurses and gets a thread with a deep stack.
                if word == "thread" && source.path.ends_with("workflow/lang/schema.rs") {
                    continue;
                }
                let hit = line.match_indices(word).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    let after = line[at + word.len()..].chars().next();
                    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
                    !is_word(before) && !is_word(after)
                });
                if hit {
                    found.push(format!("{}:{number}: {word}", source.path.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "pure rooms must not name these:\n{}", found.join("\n"));
}

#[test]
fn only_http_rs_speaks_http() {
    let speaks = |source: &&Source| source.lines.iter().any(|(_, line)| line.contains("reqwest::"));
    let names: Vec<_> = sources().iter().filter(speaks).map(|source| source.path.clone()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].ends_with("participants/http/mod.rs"), "{names:?}");
}

/// Enums that grow. A match over one names every variant, so that the compiler finds missing ones.
const GROWING: [&str; 3] = ["BallotKind::", "Ballot::", "Event::"];

/// Returns the lines of catch-all arms after arms that name a growing enum; rustfmt indents all arms alike.
fn catch_alls(lines: &[(usize, String)]) -> Vec<usize> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let names = |line: &str| {
        let arm = line.split(" =>").next().unwrap_or(line);
        let pattern = arm.split(" if ").next().unwrap_or(arm);
        let is_name = |(at, _)| !pattern[..at].ends_with(|c: char| c.is_alphanumeric());
        GROWING.iter().any(|name| pattern.match_indices(name).any(is_name))
    };
    let is_catch_all = |line: &str| {
        let pattern = line.split_once(" =>").map(|(pattern, _)| pattern.trim().trim_matches(['(', ')']));
        let is_any = |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.');
        pattern.is_some_and(|pattern| !pattern.is_empty() && pattern.split(", ").all(is_any))
    };
    let is_found = |at: usize| {
        let (line, own) = (&lines[at].1, indent(&lines[at].1));
        let above = lines[..at].iter().rev().map(|(_, above)| above);
        let mut arms = above.take_while(|above| indent(above) >= own || above.is_empty());
        is_catch_all(line) && arms.any(|above| indent(above) == own && names(above))
    };
    (0..lines.len()).filter(|at| is_found(*at)).map(|at| lines[at].0).collect()
}

#[test]
fn no_match_over_kinds_or_events_has_a_catch_all_arm() {
    let text = "match kind {\n    Event::Paused => 1,\n    _ => 2,\n}\nmatch word {\n    \"a\" => 1,\n    _ => 2,\n}";
    assert_eq!(catch_alls(&numbered(text)), [3], "what is looked for is found");
    let found = places(catch_alls);
    assert!(found.is_empty(), "name every variant:\n{}", found.join("\n"));
}

fn numbered(text: &str) -> Vec<(usize, String)> {
    (1..).zip(text.lines().map(str::to_owned)).collect()
}

/// Returns the places of the lines that `find` returns.
fn places(find: fn(&[(usize, String)]) -> Vec<usize>) -> Vec<String> {
    let of_source = |Source { path, lines, .. }: Source| {
        find(&lines).into_iter().map(move |line| format!("{}:{line}", path.display()))
    };
    sources().into_iter().flat_map(of_source).collect()
}

/// Number of functions with a tuple parameter; may only fall.
const TUPLE_PARAMETERS: usize = 22;

fn tuple_parameters(lines: &[(usize, String)]) -> Vec<usize> {
    let (mut found, mut depth, mut head) = (Vec::new(), 0_i32, String::new());
    for (number, line) in lines {
        let is_start = line.trim_start().split(' ').take(3).any(|word| word == "fn");
        if head.is_empty() && !is_start {
            continue;
        }
        head.push_str(line);
        depth += line.chars().map(|c| i32::from(c == '(') - i32::from(c == ')')).sum::<i32>();
        if depth == 0 {
            let parameters = head.split(") -> ").next().unwrap_or(&head);
            let is_tuple = |(at, _)| !parameters[at + 3..].starts_with(')');
            if parameters.match_indices(": (").any(is_tuple) || parameters.contains(": &(") {
                found.push(*number);
            }
            head.clear();
        }
    }
    found
}

#[test]
fn no_parameter_is_a_tuple() {
    let text = "fn one(a: u8, b: (u8, u8)) -> u8 {\nfn two(\n    (a, b): (u8, u8),\n) {\nfn three(a: &str) -> (u8, u8) {";
    assert_eq!(tuple_parameters(&numbered(text)), [1, 4], "what is looked for is found");
    let found = places(tuple_parameters);
    let (count, list) = (found.len(), found.join("\n"));
    assert!(count <= TUPLE_PARAMETERS, "{count} take a tuple; name a struct, or pass two:\n{list}");
}

/// Number of keys in a definition; may only fall (`choose` was added last).
const DEFINITION_KEYS: usize = 143;

#[test]
fn a_definition_has_no_more_keys() {
    fn names(node: &serde_json::Value, found: &mut BTreeSet<String>) {
        if let Some(keys) = node.get("properties").and_then(serde_json::Value::as_object) {
            found.extend(keys.keys().cloned());
        }
        let below = node.as_object().into_iter().flat_map(|map| map.values());
        below.chain(node.as_array().into_iter().flatten()).for_each(|child| names(child, found));
    }
    let schema = include_str!("../../docs/definition.schema.json");
    let mut found = BTreeSet::new();
    names(&serde_json::from_str(schema).expect("JSON"), &mut found);
    assert_eq!(found.len(), DEFINITION_KEYS, "a new key? does a shorter definition say it as well?");
}

/// Ceilings are in `tests/size.tsv`; `UPDATE_CEILINGS=1 tests/size.sh` lowers them to the current sizes.
#[test]
fn no_room_has_more_lines_than_its_ceiling() {
    let mut lines = BTreeMap::<String, usize>::new();
    for source in sources() {
        *lines.entry(source.folder).or_default() += source.length;
    }
    let page = include_str!("../../CONTRIBUTING.md");
    for row in include_str!("../size.tsv").lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = row.split('\t').collect();
        let shown = format!("| `{}` | {} | {} |", cells[0], cells[1], cells[2]);
        assert!(page.contains(&shown), "CONTRIBUTING.md does not show {shown}");
        let (found, ceiling) = (lines.remove(cells[0]).unwrap_or(0), cells[1].parse().expect("a number"));
        let what = "cut, or raise the ceiling and say why in the commit";
        assert!(found <= ceiling, "{}: {found} lines, ceiling {ceiling}: {what}", cells[0]);
    }
    assert!(lines.is_empty(), "rooms without a ceiling: {lines:?}");
}

#[test]
fn every_file_says_what_it_is() {
    for source in sources() {
        let text = fs::read_to_string(&source.path).expect("source is readable");
        assert!(text.starts_with("//! "), "{} does not open with `//!`", source.path.display());
    }
}

#[test]
fn every_promise_names_a_test_that_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let words = include_str!("../../docs/TRUST.md").split('`');
    let names: Vec<&str> = words.filter(|word| word.contains("::") && !word.contains(' ')).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let (of, called) = name.split_once("::").expect("room and test");
        // A unit test is named by its file in `src`.
        let folder = if of.contains('/') { "src" } else { "tests/integration" };
        let file = root.join(folder).join(format!("{of}.rs"));
        let source = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let is_test = source.contains(&format!("fn {called}("));
        assert!(is_test, "{name} is no test in {}", file.display());
    }
}

/// Returns the prose of a Markdown text by paragraph, without code, tables and headings; list items are
/// paragraphs.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_code = false;
    for line in text.lines().map(str::trim) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        let is_item =
            line.starts_with("- ") || line.split_once(". ").is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        let is_prose = !is_code && !is_fence && !line.is_empty() && !line.starts_with(['|', '#']);
        if is_item || !is_prose {
            found.push(String::new());
        }
        if let (true, Some(last)) = (is_prose, found.last_mut()) {
            last.extend([line, " "]);
        }
    }
    found
}

#[test]
fn readme_is_short_and_names_the_two_commands_of_a_fresh_clone() {
    let readme = include_str!("../../README.md");
    let prose = paragraphs(readme);
    assert!(prose.len() > 20 && readme.lines().count() <= 150, "{} lines", readme.lines().count());
    let long: Vec<&String> = prose.iter().filter(|text| text.trim().chars().count() > 400).collect();
    assert!(long.is_empty(), "over 400 characters:\n{long:#?}");
    // One command does the main job in a fresh clone; the other is the test command of `.ci/run`.
    let has = |text: &str, command: &str| text.lines().any(|line| line.contains(command));
    assert!(has(readme, "cargo run -- --batch sessions/context-passing.yaml "));
    assert!(has(readme, "cargo test --locked ") && has(include_str!("../../.ci/run"), "cargo test --locked"));
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
}

/// Returns the documents and their texts.
pub fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(root.join("docs")).expect("docs/").map(|entry| entry.expect("a file").path());
    let pages = docs
        .chain(["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name)));
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| (path.clone(), fs::read_to_string(path).expect("a page"))).collect()
}

/// Words for which the glossary has a standard term.
const AVOIDED: &str = "\
    anew, at work, beside, came of, comes to, film, gone on, goes on, hand on, hand out, handed on, \
    handed out, lacks, looked at, of its own, of one's own, put away, reckon, reckoned, rests, stands for, \
    stands in, tells, the table's, told, unless given";
#[test]
fn documents_and_comments_use_standard_terms() {
    let comment = |line: &str| line.trim_start().strip_prefix("//").unwrap_or_default().to_owned() + "\n";
    let comments = sources().into_iter().map(|source| {
        let text = fs::read_to_string(&source.path).expect("source is readable");
        (source.path, text.lines().map(comment).collect())
    });
    let mut found = Vec::new();
    for (page, text) in pages().into_iter().chain(comments) {
        let mut is_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            is_code ^= line.starts_with("```");
            // Every other piece is code, such as a test's name.
            let prose = line.split('`').step_by(2).collect::<Vec<_>>().join(" . ").to_lowercase();
            let words: Vec<_> = prose.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
            let words = format!(" {} ", words.join(" "));
            let hits = AVOIDED.split(", ").filter(|word| !is_code && words.contains(&format!(" {word} ")));
            found.extend(hits.map(|hit| format!("{}:{number}:{hit}", page.display())));
        }
    }
    assert!(found.is_empty(), "write these in the words of the glossary:\n{}", found.join("\n"));
}

#[test]
fn every_link_of_the_documents_leads_to_a_file_and_a_heading() {
    let (mut checked, mut broken) = (0, Vec::new());
    for (page, text) in pages() {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(to, _)| to);
        for target in targets.filter(|target| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let linked = if path.is_dir() { Some(String::new()) } else { fs::read_to_string(&path).ok() };
            let is_there = linked.is_some_and(|text| {
                let headings = text.lines().filter(|line| line.starts_with('#'));
                heading.is_empty()
                    || headings.map(|line| anchor(line.trim_start_matches('#').trim())).any(|a| a == heading)
            });
            checked += 1;
            if !is_there {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(checked > 20 && broken.is_empty(), "{checked} links, broken:\n{}", broken.join("\n"));
}

/// Variables of the system, variables set for other programs, and variables set only by tests.
const UNDOCUMENTED: &str =
    "HOME SUDO_UID ROUNDTABLE_WORK_ITEM ROUNDTABLE_STOP_AT ROUNDTABLE_CONNECT_MS ROUNDTABLE_ACK_WAIT_MS";

#[test]
fn the_variables_that_are_documented_are_those_that_are_read() {
    let lines = sources().into_iter().flat_map(|source| source.lines);
    let source: String = lines.map(|(_, line)| line + "\n").collect();
    let help = crate::program::Desk::new().run(["--help"]).out;
    let listed =
        help.split("Environment:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    let names = listed.lines().filter_map(|line| line.trim().split("  ").next());
    let documented: Vec<&str> = names.flat_map(|names| names.split(", ")).collect();
    // Libraries read the proxies; seats and providers have generated names.
    let is_own = |name: &&&str| !["…", "_MODEL", "_URL", "_PROXY"].iter().any(|end| name.ends_with(end));
    for name in documented.iter().filter(is_own) {
        assert!(source.contains(&format!("\"{name}\"")), "{name} is documented and not read");
    }
    let calls = ["var(\"", "var_os(\"", " set(\"", "named(\"", "xdg(\"", ": &str = \"ROUNDTABLE_"];
    let read =
        calls.iter().flat_map(|call| source.split(call).skip(1).filter_map(|rest| rest.split('"').next()));
    let is_name = |name: &&str| name.len() > 3 && name.bytes().all(|c| c.is_ascii_uppercase() || c == b'_');
    let is_known =
        |name: &&str| documented.iter().any(|known| known.ends_with(name)) || UNDOCUMENTED.contains(name);
    let unknown: Vec<&str> = read.filter(is_name).filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "read and not documented: {unknown:?}");
}
