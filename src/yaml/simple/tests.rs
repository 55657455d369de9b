//! Whatever is read here the reader for all of YAML reads alike: texts made of pieces, simple texts,
//! simple texts with a change, and files of this project.

use proptest::prelude::*;

use crate::yaml::reader::tests::read_in_full;

/// What the reader makes of a text too; `None` where it is not simple.
fn same(text: &str) -> Option<()> {
    let node = super::read(text)?;
    assert_eq!(Ok(node), read_in_full(text), "{text:?}");
    Some(())
}

/// Pieces of simple texts, and some that make them less simple.
const PIECES: [&str; 64] = [
    "vote",
    "a",
    "b_c",
    "key-1",
    "rationale",
    "x y",
    "true",
    "no",
    "null",
    "Infinity",
    "~",
    "1",
    "0.8",
    "-3",
    "017",
    "1e3",
    "0x1F",
    "-0.0",
    "1.",
    ".5",
    "12345678901234567",
    "+1",
    ":",
    ": ",
    ":\n",
    ":\n  ",
    ":\n    ",
    ": [",
    "]",
    "]\n",
    "[",
    ", ",
    ",",
    "- ",
    "-",
    "\n- ",
    "\n  - ",
    "\n    - ",
    "\n",
    "\n  ",
    "\n    ",
    "\n\n",
    " ",
    "  ",
    "\"",
    "\"",
    "'",
    "'",
    "\\n",
    "#",
    " #",
    "&a ",
    "*a",
    "!t ",
    "|\n  ",
    ">-\n ",
    "{",
    "}",
    "é",
    "“",
    "\u{a0}",
    "\t",
    "---\n",
    "<<",
];

/// A scalar on one line, most of them simple, fit for a list on one line.
fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z][a-z é“.()/;'_+-]{0,12}[a-z.]",
        "\"[ -!#-\\[\\]-~é]{0,12}\"",
        "'[ -&(-~é]{0,12}'",
        "-?[0-9]{1,4}(\\.[0-9]{1,4})?",
        "[ -~]{1,6}",
    ]
}

/// The lines of a map at an indent: keys with scalars, lists of either style, maps within maps.
fn map(indent: usize, depth: u32) -> BoxedStrategy<String> {
    let before = " ".repeat(indent);
    let key = move || {
        let before = before.clone();
        "[a-z]{1,3}(_[a-c])?".prop_map(move |key| format!("{before}{key}:"))
    };
    let one = (key(), " {1,2}", scalar()).prop_map(|(key, space, value)| format!("{key}{space}{value}\n"));
    let flow = (key(), proptest::collection::vec(scalar(), 1..4), " ?").prop_map(|(key, items, space)| {
        format!("{key} [{space}{}{space}]\n", items.join(&format!(",{space}")))
    });
    let list = (key(), 0_usize..3, proptest::collection::vec(scalar(), 1..4)).prop_map(
        move |(key, deeper, items)| {
            let dash = format!("{}- ", " ".repeat(indent + deeper));
            let items: Vec<_> = items.iter().map(|item| format!("{dash}{item}\n")).collect();
            format!("{key}\n{}", items.concat())
        },
    );
    let entry = if depth == 0 {
        prop_oneof![one, flow, list].boxed()
    } else {
        let inner = (1_usize..4).prop_flat_map(move |deeper| map(indent + deeper, depth - 1));
        let nested = (key(), inner).prop_map(|(key, inner)| format!("{key}\n{inner}"));
        prop_oneof![3 => one, 1 => flow, 1 => list, 1 => nested].boxed()
    };
    proptest::collection::vec(entry, 1..5).prop_map(|entries| entries.concat()).boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(400, 4_000)))]

    #[test]
    fn pieces_are_read_alike(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..24)) {
        same(&pieces.concat());
    }

    #[test]
    fn simple_texts_are_read_alike(text in map(0, 2), at in any::<proptest::sample::Index>(), put in "[ -~\né]") {
        same(&text);
        same(text.trim_end());
        let at = text.char_indices().nth(at.index(text.chars().count())).map_or(0, |(at, _)| at);
        same(&format!("{}{put}{}", &text[..at], &text[at..]));
        same(&format!("{}{}", &text[..at], text[at..].chars().skip(1).collect::<String>()));
    }
}

#[test]
fn answers_are_simple() {
    for text in [
        "vote: in-process\nrationale: [nothing new to run]\nconfidence: 0.8\n",
        "vote: b\nrationale:\n  - it is cheap, and “quick”\n  - \"what: of two?\"\nconfidence: 1",
        "vote: b\nconcerns:\n- one\n- 'two'\ntrade_offs:\n  optimizing_for: speed\n  risks: [a, \"b, c\", 7]\n",
    ] {
        assert!(same(text).is_some(), "{text}");
    }
    let deep = (0..12).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<Vec<_>>().concat();
    let long = (0..70).map(|key| format!("k{key}: 1\n")).collect::<Vec<_>>().concat();
    for text in [
        "",
        "a",
        "a:",
        "a: 1\na: 2\n",
        "a: no\n",
        "a: b: c\n",
        "a: b #c\n",
        "a: b\n  c\n",
        "a: |\n  b\n",
        &deep,
        &long,
    ] {
        assert!(same(text).is_none(), "{text}");
    }
}

#[test]
fn files_of_this_project_are_read_alike() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut simple = 0;
    for folder in ["sessions", "tests/fixtures/replies", "tests/corpus", "personas", "docs"] {
        for file in std::fs::read_dir(root.join(folder)).expect("a folder") {
            let Ok(text) = std::fs::read_to_string(file.expect("listed").path()) else { continue };
            // Documents of a session, blocks of a page, inputs of a corpus with one a line.
            let parts = text.split("---\n").chain(text.split("```\n")).chain(text.split("\n\n"));
            simple += parts.filter_map(same).count();
            simple += text.lines().filter_map(|line| same(&line.replace("\\n", "\n"))).count();
        }
    }
    assert!(simple > 100, "{simple}");
}
