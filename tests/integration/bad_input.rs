//! Bad input: a clear error with its place, soon, with little memory, and nothing lost.

use std::fmt::Write as _;
use std::time::Instant;

use crate::patience::PATIENCE;
use crate::program::{Desk, sha256};

const SECRET: &str = "sk-0123456789-do-not-tell";

/// Runs a definition and wants these words in the error, soon even in a build without optimisation.
#[track_caller]
fn refused(desk: &Desk, definition: impl AsRef<[u8]>, words: &[&str]) {
    desk.write("decide.yaml", definition);
    let started = Instant::now();
    let ran = desk.run(["--batch", "decide.yaml"]).code(2);
    assert!(started.elapsed() < PATIENCE, "it takes {:?}", started.elapsed());
    for word in words {
        ran.tells(word);
    }
    assert!(!ran.err.contains("panicked") && ran.err.len() < 10_000, "{}", ran.err.len());
    assert_eq!((ran.out.as_str(), desk.sessions().len()), ("", 0));
}

#[test]
fn a_definition_that_is_no_text_or_too_large_is_refused() {
    let desk = Desk::new();
    refused(&desk, b"question: \"a\xff\"\n", &["decide.yaml:1", "not UTF-8"]);
    refused(&desk, format!("question: {}\n", "x".repeat(10 << 20)), &["4 MiB"]);
    refused(&desk, "x".repeat(60 << 20), &["decide.yaml", "larger than"]);
    refused(&desk, format!("question: {}\n", "[".repeat(100_000)), &["decide.yaml"]);
}

#[test]
fn a_bomb_of_aliases_is_refused_soon() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..30 {
        let all = vec![format!("*a{}", n - 1); 10].join(", ");
        writeln!(bomb, "a{n}: &a{n} [{all}]").expect("written");
    }
    bomb.push_str("question: x\n");
    refused(&Desk::new(), bomb, &["decide.yaml:"]);
    let items = "- *a\n".repeat(20_000);
    let long = format!("question: x\na: &a {}\nb:\n{items}", "y".repeat(60_000));
    refused(&Desk::new(), long, &["decide.yaml"]);
}

#[test]
fn a_key_in_a_file_is_refused_by_its_field_and_never_shown() {
    let desk = Desk::new();
    let field = "secret in file: `api_key`";
    let hint = "environment variable";
    let seat = format!("question: x\nparticipants: [{{persona: qa-lead, api_key: {SECRET}}}]\n");
    refused(&desk, seat, &["decide.yaml:2:35", field, hint]);
    let deep = format!("question: x\ninput: {{a: [{{api_key: {SECRET}}}]}}\n");
    refused(&desk, deep, &["decide.yaml:2:14", field]);
    refused(&desk, format!("question: x\nparticipants: [{{persona: a, token: {SECRET}}}]\n"), &["`token`"]);
    let persona = format!("---\nname: lab\ndescription: x\napi_key: {SECRET}\n---\n\nText.\n");
    desk.write(".s2s/personas/lab.md", persona);
    refused(&desk, "question: x\nparticipants: [lab]\n", &["personas/lab.md:4:1", field]);
    desk.write("decide.yaml", "question: x\nparticipants: [qa-lead]\n");
    desk.write(".s2s/config.yaml", format!("providers:\n  lab:\n    api_key: {SECRET}\n"));
    for verb in [&["--batch", "decide.yaml", "--json"][..], &["doctor"]] {
        let ran = desk.run(verb).code(2);
        ran.tells(".s2s/config.yaml:3:5: ").tells(field);
        assert!(!ran.err.contains(SECRET) && !ran.out.contains(SECRET));
    }
    desk.write(".s2s/config.yaml", "");
    let all = desk.run(["personas"]).code(0);
    assert!(all.err.contains(field) && !all.err.contains(SECRET), "{}", all.err);
}

#[test]
fn a_persona_that_cannot_sit_is_refused_and_says_why() {
    let desk = Desk::new();
    let odd = "question: x\nparticipants: [odd]\n";
    let front = "---\nname: odd\ndescription: x\n";
    let persona = |text: &str| desk.write(".s2s/personas/odd.md", text);
    persona(&format!("{front}tools: [Read, Bash]\n---\nText.\n"));
    refused(&desk, odd, &["decide.yaml:2:16", "persona `odd` declares tool `Read`", "tools: none"]);
    persona(front);
    refused(&desk, odd, &["odd.md:1:1", "no closing `---`"]);
    persona("Text.\n");
    refused(&desk, odd, &["odd.md:1:1", "no front matter"]);
    persona(&format!("{front}tags: {{a: 1}}\n---\n"));
    refused(&desk, odd, &["odd.md:4:", "`tags` must be a list"]);
    persona(&format!("{front}---\n{}", "x".repeat(2 << 20)));
    refused(&desk, odd, &["odd.md", "larger than"]);
    refused(&desk, "question: x\nparticipants: [../../../etc/passwd]\n", &["decide.yaml:2:16"]);
    refused(&desk, "question: x\nparticipants: [{name: a, persona: ../x}]\n", &["decide.yaml:2:16"]);
    #[cfg(unix)]
    {
        desk.write("../elsewhere.md", format!("{front}---\nStolen.\n"));
        std::fs::remove_file(desk.path(".s2s/personas/odd.md")).expect("removed");
        let link = desk.path(".s2s/personas/odd.md");
        std::os::unix::fs::symlink(desk.path("../elsewhere.md"), link).expect("linked");
        refused(&desk, odd, &["odd.md", "leads out of the persona folder"]);
    }
}

/// A saved session's bytes, its first document changed and hashed anew.
fn forged(desk: &Desk, change: impl Fn(&str) -> String) -> String {
    desk.write("decide.yaml", "question: x\nparticipants: [qa-lead]\n");
    desk.run(["--batch", "decide.yaml"]);
    let log = std::fs::read_to_string(desk.session()).expect("a file");
    let head = &log[..=log.find("\nhash: ").expect("a hash")];
    let head = change(head);
    let hash = sha256(&head);
    format!("{head}hash: {hash}\n")
}

#[test]
fn a_file_that_is_no_session_of_ours_is_refused_and_left_alone() {
    let newer = forged(&Desk::new(), |head| head.replace("\nformat: 3\n", "\nformat: 99\n"));
    let good = forged(&Desk::new(), str::to_owned);
    let twisted = good.replace("question", "quest\0on");
    for (name, bytes, code, word) in [
        ("newer", newer.as_bytes(), 2, "version"),
        ("empty", b"".as_slice(), 2, "header"),
        ("picture", b"\x89PNG\r\n\x1a\n\0\0".as_slice(), 2, ""),
        ("text", b"Dear diary,\n".as_slice(), 2, ""),
        ("yaml", b"---\nquestion: x\n".as_slice(), 2, ""),
        ("nul", twisted.as_bytes(), 6, "document 0"),
        ("latin", b"---\nseq: 0\nprev: \xff\nhash: 00\n".as_slice(), 2, ""),
    ] {
        let desk = Desk::new();
        desk.write("odd.s2s", bytes);
        for verb in ["replay", "verify", "trace", "report", "resume"] {
            let ran = desk.run([verb, "odd.s2s"]);
            let is_fine =
                ran.code == code || (ran.code == 6 && verb == "verify") || (name == "nul" && ran.code == 2);
            assert!(is_fine && !ran.err.contains("panicked"), "{verb} {name}: {ran:?}");
            assert!(
                verb == "verify" || [word, "odd.s2s"].iter().all(|word| ran.err.contains(word)),
                "{ran:?}"
            );
        }
        assert_eq!(std::fs::read(desk.path("odd.s2s")).expect("a file"), bytes, "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_100_megabytes_costs_no_more_memory_than_it_must() {
    let desk = Desk::new();
    let mut text = b"---\nseq: 0\nprev: ".to_vec();
    text.resize(100 << 20, b'x');
    desk.write("long.s2s", text);
    for verb in ["replay", "verify", "resume"] {
        let (ran, peak) = crate::memory::peak(desk.start([verb, "long.s2s"]));
        assert!(ran.code == 2 || ran.code == 6, "{verb}: {ran:?}");
        assert!(peak > 0 && peak < 200 << 20, "{verb}: {peak} bytes");
        assert!(ran.err.len() < 2000 && ran.out.len() < 2000);
    }
}

#[test]
fn answers_are_checked_before_anything_runs() {
    let desk = Desk::with(
        "participants: [qa-lead]\nsteps:\n  - {id: pick, question: x, ballot: {kind: choice, options: [a, b]}, ties: ask, \
         rule: majority}\n  - {id: ok, type: approval, message: \"Ok?\"}\n",
    );
    for (answers, words) in [
        ("ok: [{aproved: true}]\n", "answers.yaml:1:7: unknown key `aproved`"),
        ("ok: maybe\n", "must be a map of keys, found text"),
        ("ok: {comment: x}\n", "has no `approved`"),
        ("pick: [a]\n", "must be a map of seats, found text"),
        ("pick: {tie: c}\n", "cannot go to `c`"),
        ("- a\n", "a map of step ids"),
        ("ok: [\n", "answers.yaml:"),
    ] {
        desk.write("answers.yaml", answers);
        let ran = desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml"]).code(2);
        ran.tells(words).tells("hint: ");
        assert!(desk.sessions().is_empty());
    }
    desk.run(["--batch", "decide.yaml", "--input", "{\"a\": 1"]).tells("warning: --input begins like JSON");
}

#[test]
fn a_context_that_cannot_be_read_stops_the_round() {
    let desk = Desk::with("question: Which?\n");
    desk.run(["init"]).code(0);
    desk.write(".s2s/CONTEXT.md", b"caf\xe9".as_slice());
    for args in ["--batch decide.yaml", "snapshot decide.yaml", "--batch decide.yaml --dry-run"] {
        desk.run(args.split(' ')).code(2).tells("CONTEXT.md").tells("not UTF-8");
    }
    desk.write(".s2s/CONTEXT.md", "A shop.");
    assert!(desk.run(["snapshot", "decide.yaml"]).code(0).out.contains("project_summary: \"A shop.\""));
}
