//! Texts that the program writes into sessions, from all scenarios: `tests/fixtures/texts.txt`.
//!
//! It also has the hashes of personas and strategies. `UPDATE_TEXTS=1` rewrites it and its compiled-in hash.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use roundtable::history::{Event, TEXTS, TimedEvent};
use roundtable::journal::verify;
use roundtable::round::snapshot::sha256_hex;

use crate::every_value::{Base, bases};
use crate::forge::{chained, leaves};
use crate::scenarios::folders;

fn settled(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('0') => {}
            '0'..='9' => out.push('0'),
            _ => out.push(c),
        }
    }
    out
}

fn words(text: &str) -> String {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn texts(bases: &[Base]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = folders()
        .into_iter()
        .flat_map(|folder| ["definition.yaml", "answers.yaml"].map(|name| folder.join(name)));
    // Texts of people are in a definition or an answers file.
    let people = words(&files.map(|file| fs::read_to_string(file).unwrap_or_default()).collect::<String>());
    let mut found = BTreeSet::new();
    for value in bases.iter().flat_map(|base| &base.values) {
        for pointer in leaves(value) {
            let is_whole = ["/snapshot", "/definition", "/prompt", "/text", "/address"]
                .iter()
                .any(|key| pointer.ends_with(key));
            if let Some(text) = value.pointer(&pointer).and_then(|value| value.as_str())
                && !is_whole
                && text.contains(' ')
                && !people.contains(&words(text))
            {
                found.insert(settled(text));
            }
        }
    }
    let mut all = found.into_iter().collect::<Vec<_>>().join("\n---\n") + "\n";
    for folder in ["personas", "sessions/strategies"] {
        let files = fs::read_dir(root.join(folder)).expect("a folder");
        for file in files.map(|entry| entry.expect("an entry").path()).collect::<BTreeSet<_>>() {
            let (name, text) =
                (file.file_name().expect("a name"), fs::read_to_string(&file).expect("a text"));
            writeln!(all, "{folder}/{} {}", name.to_string_lossy(), sha256_hex(&text)).expect("written");
        }
    }
    all
}

#[test]
fn the_hash_in_a_header_is_that_of_every_text_a_program_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = texts(&bases());
    let (golden, hash) = (root.join("tests/fixtures/texts.txt"), root.join("src/history/texts.sha256"));
    if std::env::var_os("UPDATE_TEXTS").is_some() {
        fs::write(&golden, &found).expect("writable");
        fs::write(&hash, sha256_hex(&found) + "\n").expect("writable");
        return;
    }
    let golden = fs::read_to_string(golden).unwrap_or_default();
    let first = golden.lines().zip(found.lines()).find(|(was, is)| was != is);
    assert!(golden == found, "UPDATE_TEXTS=1 writes the texts anew: {first:?}");
    assert_eq!(sha256_hex(&found), TEXTS);
}

#[test]
fn a_file_of_a_program_with_other_texts_is_checked_but_for_its_wording() {
    for base in
        bases().iter().filter(|base| base.name == "incomplete-hand-over" || base.name == "majority-decided")
    {
        let with = |texts: &str, change: fn(&mut Event)| {
            let mut events = base.events.clone();
            if let Event::SessionOpened(opened) = &mut events[0].event {
                texts.clone_into(&mut opened.texts);
            }
            // Seals are bound to the opening of their round, and that to the header.
            let end = events.iter().position(|stamped| matches!(stamped.event, Event::BallotSealed(_)));
            events.truncate(end.unwrap_or(events.len()));
            for TimedEvent { event, .. } in &mut events {
                change(event);
            }
            verify(&chained(&events), None)
        };
        let rewording: fn(&mut Event) = |event| {
            if let Event::Warning { message, .. } = event {
                message.push_str(", in other words");
            }
        };
        let recount: fn(&mut Event) = |event| {
            if let Event::WorkItemOffered(offered) = event {
                std::sync::Arc::make_mut(offered).participant.push('x');
            }
        };
        assert!(!with(TEXTS, recount).findings.is_empty(), "{}", base.name);
        let other = with("another", rewording);
        assert_eq!(other.findings, [], "{}", base.name);
        assert!(other.has_other_texts);
        assert!(!with("another", recount).findings.is_empty(), "{}", base.name);
    }
}
