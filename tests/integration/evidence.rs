//! Evidence from the project: files, lines, diffs, pipes, references.
//!
//! A diff of a hostile repository runs nothing and reads nothing outside. Its bytes depend only on the two
//! commits.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::program::{Desk, has, named, rows};
use crate::pty::Screen;
use crate::seat_programs::with_program;

const REVIEW: &str = r#"
id: review
question: "What is wrong here?"
participants: [skeptic, qa-lead, technical-lead]
artifacts:
  - {id: SRC-1, file: src/cache.rs, lines: 2-3}
"#;
const SOURCE: &str = "fn get() {\n    stale(\n        60)\n}\n";

fn desk(definition: &str) -> Desk {
    let desk = Desk::rehearsing(definition);
    desk.write("src/cache.rs", SOURCE);
    desk
}

fn snapshot(lines: &[Value]) -> String {
    named(lines, "round_opened")[0]["snapshot"].as_str().expect("text").to_owned()
}

#[test]
fn lines_of_a_file_are_in_the_snapshot_and_references_to_them_are_checked() {
    let desk = desk(REVIEW);
    let content = "review:\n  \
         skeptic: {position: Stale., references: [\"SRC-1:2-3\", \"stale( 60)\"]}\n  \
         qa-lead: {position: Stale., references: [REQ-999, \"SRC-1:4\"]}\n  \
         technical-lead: {position: Stale., references: []}\n";
    let text = snapshot(&desk.answered(content, &["--json"]).code(0).lines());
    let lines = ["lines: \"2-3\"", "   2|     stale(\n", "   3|         60)\n"];
    has(&text, &[&lines[..], &["source: \"src/cache.rs\"", "bytes: 36"]].concat());
    assert!(!text.contains("fn get"), "{text}");
    let report = desk.report("s.s2s");
    let unresolved = |name: &str| {
        let mut seats = report["rounds"][0]["seats"].as_array().expect("seats").iter();
        seats.find(|seat| seat["participant"] == name).expect("a seat")["unresolved_references"].clone()
    };
    assert_eq!(unresolved("skeptic"), serde_json::json!([]));
    assert_eq!(unresolved("qa-lead"), serde_json::json!(["REQ-999", "SRC-1:4"]));
    let report = desk.run(["report", "s.s2s", "--format", "md"]).code(0).out;
    let told = "Unresolved references, which lead nowhere in the snapshot: REQ-999 · SRC-1:4";
    assert!(report.contains(told), "{report}");
    desk.run(["report", "s.s2s", "--format", "csv"]).code(0).shows("\"REQ-999⏎SRC-1:4\"");
}

/// The first draft includes the evidence, so the round opens exactly as shown.
#[test]
fn the_screen_opens_a_round_with_evidence_at_once() {
    let desk = desk(REVIEW);
    let run = ["decide.yaml", "--model", "rehearsal", "--evidence", "src/cache.rs:4"];
    let mut screen = Screen::open(&desk, (160, 60), &run);
    screen.wait_for(&["quit"]);
    screen.press("s", &["2|     stale(", "EV-1"]);
    screen.press("o", &["accept"]);
    screen.kill();
    desk.write("src/cache.rs", SOURCE.replace("60", "61"));
    let mut screen = Screen::open(&desk, (160, 60), &run);
    screen.wait_for(&["quit"]);
    desk.write("src/cache.rs", SOURCE.replace("60", "62"));
    // The screen shows the change, and opens the round after the person has seen it.
    let changed = ["evidence changed on disk; review the snapshot again", "-", "61)", "62)"];
    screen.press("o", &changed);
    screen.press("o", &["accept"]);
    screen.kill();
}

#[test]
fn unusable_evidence_stops_before_any_request() {
    for (artifact, said) in [
        ("file: src/none.rs", "src/none.rs"),
        ("file: src/cache.rs, lines: 3-9", "ends at line 4"),
        ("file: src/binary", "UTF-8"),
        ("file: ../outside.rs", "outside the project"),
        ("file: src/key.txt", "line 2: this looks like an AWS access key"),
        ("file: src/linked", "line 1: this looks like a file of keys and passwords"),
        ("diff: main...HEAD", "git"),
        ("diff: main", "no range of commits"),
        ("file: \"src/cache.rs:3-1\"", "`3-1` is no range of lines"),
    ] {
        let definition = REVIEW.replace("file: src/cache.rs, lines: 2-3", artifact);
        let desk = desk(&definition);
        fs::write(desk.path("src/binary"), [0xff, 0xfe]).expect("written");
        desk.write(".env", "A=1\n");
        std::os::unix::fs::symlink(desk.path(".env"), desk.path("src/linked")).expect("a link");
        desk.write("src/key.txt", format!("key\nAKIA{}\n", "A".repeat(16)));
        fs::write(desk.path("../outside.rs"), "x").expect("written");
        for verb in ["--batch decide.yaml", "check decide.yaml", "--batch --dry-run decide.yaml"] {
            desk.run(verb.split(' ')).code(2).says("decide.yaml:6:5: ").says("SRC-1").says(said);
        }
    }
}

#[test]
fn the_command_line_adds_evidence_of_its_own() {
    let desk = desk("question: \"What is wrong here?\"\nparticipants: [skeptic, qa-lead]\n");
    desk.write("notes.txt", "first\nsecond\n");
    let flags = ["--evidence", "notes.txt:2", "--evidence", "-", "--save", "s.s2s", "--json"];
    let run = ["--batch", "decide.yaml"].into_iter().chain(flags);
    let ran = desk.pipe(run, "error[E0308]: mismatched types\n");
    let text = snapshot(&ran.code(0).lines());
    has(
        &text,
        &[
            "id: EV-1",
            "summary: \"notes.txt:2-2\"",
            "   2| second",
            "id: EV-2",
            "source: \"standard input\"",
            "   1| error[E0308]",
        ],
    );
    desk.is_sound("s.s2s");
    desk.write("key.txt", format!("hf_{}\n", "a".repeat(34)));
    let refused = desk.run(["--batch", "decide.yaml", "--evidence", "key.txt"]).code(2);
    refused.tells("looks like a Hugging Face token");
    desk.run(["--batch", "decide.yaml", "--evidence", "key.txt", "--secrets", "allow"]).code(0);
}

#[test]
fn a_definition_that_sends_secrets_is_agreed_to_first() {
    let desk = desk(&REVIEW.replace("id: review", "id: review\nsecrets: allow").replace(", lines: 2-3", ""));
    let write = |letter: &str| desk.write("src/cache.rs", format!("x = 1;\nhf_{}\n", letter.repeat(34)));
    write("a");
    let question =
        "sends `src/cache.rs`, whose line 2 looks like a Hugging Face token (named by decide.yaml)";
    for run in [&["check", "decide.yaml"][..], &["--batch", "--dry-run", "decide.yaml"]] {
        desk.run(run).code(0).says(question).says("not agreed to yet");
    }
    let refused = desk.run(["--batch", "decide.yaml"]).code(2).err;
    assert!(refused.contains("nobody has agreed to this yet") && desk.sessions().is_empty(), "{refused}");
    desk.run(["--batch", "decide.yaml", "--trust"]).code(0);
    desk.run(["--batch", "decide.yaml", "--secrets", "allow"]).code(0);
    // The screen asks, and the consent is valid only for this content.
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["asks you first", "Hugging Face token"]);
    screen.press("o", &["Allow this?", "looks like a Hugging Face token"]);
    screen.press("y", &["3 of 3 answered"]);
    screen.send("\u{3}\u{3}");
    screen.end();
    let newest = desk.sessions().into_iter().max().expect("a session");
    assert!(std::fs::read_to_string(newest).expect("text").contains("hf_aaa"));
    desk.run(["--batch", "decide.yaml"]).code(0);
    write("b");
    desk.run(["--batch", "decide.yaml"]).code(2);
    // The user's definition, and one without secrets, need no consent.
    desk.write("src/cache.rs", "x = 1;\n");
    desk.run(["--batch", "decide.yaml"]).code(0);
}

#[test]
fn a_snapshot_over_its_limit_is_not_sent() {
    let desk = desk(&REVIEW.replace("id: review", "id: review\nmax_snapshot_bytes: 1000"));
    desk.write("src/cache.rs", "x = 1;\n".repeat(1000));
    desk.write("decide.yaml", desk.read("decide.yaml").replace(", lines: 2-3", ""));
    let ran = desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]).code(2);
    ran.tells("`max_snapshot_bytes` is 1000").tells("artifact SRC-1 (");
    // Nothing is lost: the session continues with a smaller file.
    desk.write("src/cache.rs", "x = 1;\n");
    desk.run(["resume", "s.s2s"]).code(0);
}

#[test]
fn only_ballots_that_cite_something_are_counted_when_asked() {
    let desk = desk(
        "id: review\nquestion: \"Which?\"\nparticipants: [skeptic, qa-lead, technical-lead]\n\
         ballot: {kind: choice, options: [a, b]}\nrule: majority\n\
         artifacts: [{id: SRC-1, file: src/cache.rs}]\n",
    );
    let text = "review:\n  skeptic: {vote: a, references: [\"SRC-1:1\"]}\n  \
         qa-lead: {vote: b, references: [REQ-999]}\n  technical-lead: {vote: b}\n";
    desk.answered(text, &[]).code(0);
    desk.run(["tally", "s.s2s", "--supported"]).code(0).shows("cite the snapshot: 1 of 3");
    let json = desk.run(["tally", "s.s2s", "--supported", "--json"]).code(0).lines();
    assert_eq!(json[0]["winners"], serde_json::json!(["a"]));
    assert_eq!(json[0]["recorded"]["winners"], serde_json::json!(["b"]));
}

/// Two commits in `$PWD`; the second changes `src/a.txt`.
const COMMITS: &str = "git init -q .; mkdir -p src; printf 'one\\ntwo\\n' > src/a.txt; git add .; \
                       git commit -qm 1; printf 'one\\n2\\n' > src/a.txt; git commit -qam 2";
const CHANGE: &str = "participants: [{persona: qa-lead, model: rehearsal}, {persona: skeptic, model: rehearsal}]\n\
                          artifacts: [{id: CHANGE, diff: \"HEAD~1..HEAD\", numbers: off}]\n\
                          question: \"Merge it?\"\nballot: {kind: choice, options: [yes-please, no]}\n";

/// Returns a repository made by a bash script. `$RAN` is a command that leaves a mark.
fn repository(script: &str) -> Desk {
    let repository = Desk::with(CHANGE);
    let mut bash = repository.shell("exec bash -ec \"$1\"", &[script]);
    bash.env("RAN", format!("touch {}; cat", repository.path("RAN").display()))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs([("GIT_AUTHOR_DATE", "2026-01-01T00:00Z"), ("GIT_COMMITTER_DATE", "2026-01-01T00:00Z")])
        .env("GIT_CONFIG_COUNT", "5")
        .envs([("GIT_CONFIG_KEY_0", "user.name"), ("GIT_CONFIG_VALUE_0", "t")])
        .envs([("GIT_CONFIG_KEY_1", "user.email"), ("GIT_CONFIG_VALUE_1", "t@localhost")])
        .envs([("GIT_CONFIG_KEY_2", "init.defaultBranch"), ("GIT_CONFIG_VALUE_2", "main")])
        .envs([("GIT_CONFIG_KEY_3", "protocol.file.allow"), ("GIT_CONFIG_VALUE_3", "always")])
        .envs([("GIT_CONFIG_KEY_4", "core.autocrlf"), ("GIT_CONFIG_VALUE_4", "false")]);
    crate::program::run(&mut bash).code(0);
    let _ = std::fs::remove_file(repository.path("RAN"));
    repository
}

/// Returns the messages about the definition in a folder, and its snapshot; fails if a program ran.
#[track_caller]
fn run(repository: &Desk, folder: &str, code: i32) -> String {
    let file = format!("{folder}/decide.yaml");
    repository.write(&file, CHANGE);
    let verbs: [&[&str]; 3] = [&["check"], &["--batch", "--dry-run"], &["snapshot"]];
    let mut said = String::new();
    for verb in verbs {
        let mut command = repository.command(verb.iter().chain(&["decide.yaml"]));
        let output = command.current_dir(repository.path(folder)).output().expect("the program starts");
        let ran = crate::program::ran(output).code(code);
        said = ran.out + &ran.err;
        assert!(!repository.path("RAN").exists(), "{verb:?} has run a program\n{said}");
    }
    said
}

#[track_caller]
fn assert_shows_the_change(text: &str) {
    for line in
        ["diff --git a/src/a.txt b/src/a.txt\n", "--- a/src/a.txt\n", "+++ b/src/a.txt\n", "-two\n", "+2\n"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn no_setting_of_a_repository_runs_a_program_or_changes_the_bytes() {
    let plain = run(&repository(COMMITS), ".", 0);
    assert_shows_the_change(&plain);
    for settings in [
        "git config diff.external \"$RAN\"",
        "echo '*.txt diff=evil' > .git/info/attributes; git config diff.evil.textconv \"$RAN\"; \
         git config diff.evil.command \"$RAN\"; git config diff.evil.xfuncname '^o'",
        "echo '*.txt filter=evil -text eol=crlf' > .git/info/attributes; git config filter.evil.smudge \"$RAN\"; \
         git config filter.evil.clean \"$RAN\"; git config filter.evil.process \"$RAN\"; git config filter.evil.required true",
        "git config core.fsmonitor \"$RAN\"; git config core.pager \"$RAN\"; git config pager.diff \"$RAN\"",
        "mkdir hooks; for hook in post-index-change reference-transaction; do printf '#!/bin/sh\\n%s\\n' \"$RAN\" > hooks/$hook; \
         chmod +x hooks/$hook; done; git config core.hooksPath $PWD/hooks",
        "printf '[diff]\\n\\texternal = \"%s\"\\n' \"$RAN\" > evil.config; git config include.path ../evil.config",
        "git config diff.noprefix true; git config diff.mnemonicPrefix true; git config diff.context 9; \
         git config diff.algorithm patience; git config diff.renames copies; git config diff.orderFile /dev/null; \
         git config diff.interHunkContext 9; git config core.quotePath true; git config core.abbrev 40; git config color.ui always",
        "git config alias.diff-tree \"!$RAN\"; git config alias.cat-file \"!$RAN\"; git config alias.rev-parse \"!$RAN\"",
        "git config core.autocrlf true; git config core.eol crlf; git config core.ignoreCase true",
        "git config core.worktree /; git config core.sshCommand \"$RAN\"; git config credential.helper \"!$RAN\"",
        "git replace HEAD~1 $(git commit-tree -m x $(git write-tree)); git replace $(git rev-parse HEAD:src/a.txt) \
         $(echo replaced | git hash-object -w --stdin)",
        "git commit-graph write --reachable",
    ] {
        assert_eq!(run(&repository(&format!("{COMMITS}; {settings}")), ".", 0), plain, "{settings}");
    }
}

#[test]
fn neither_the_environment_nor_the_users_settings_change_the_bytes() {
    let other = repository(COMMITS);
    let plain = run(&other, ".", 0);
    other.write("other/.git/HEAD", "ref: refs/heads/none\n");
    let mut command = other.command(["snapshot", "decide.yaml"]);
    other.write("../home/.gitconfig", "[diff]\n\tnoprefix = true\n\texternal = false\n");
    command
        .env("HOME", other.home())
        .env("GIT_DIR", other.path("other/.git"))
        .env("GIT_EXTERNAL_DIFF", "false");
    command
        .env("GIT_DIFF_OPTS", "-u9")
        .env("GIT_TRACE", "1")
        .env("GIT_WORK_TREE", "/")
        .env("GIT_INDEX_FILE", "/none");
    let ran = crate::program::ran(command.output().expect("the program starts")).code(0);
    assert_eq!(ran.out + &ran.err, plain);
}

#[test]
fn a_git_file_that_leads_to_another_repository_is_refused() {
    // The third to the sixth are regular git folders with another repository's objects.
    for (lead, named) in rows(
        r#"echo 'gitdir: ../private/.git' > .git => private/.git
           ln -s ../private/.git .git => private/.git
           mkdir -p .git; cp ../private/.git/HEAD .git/; echo ../../private/.git > .git/commondir => commondir
           mkdir -p fake; cp ../private/.git/HEAD fake/; echo ../../private/.git > fake/commondir; echo 'gitdir: fake' > .git; echo $PWD/.git > fake/gitdir => fake
           git init -q .; rm -rf .git/objects; ln -s $PWD/../private/.git/objects .git/objects => private/.git/objects
           git init -q .; rmdir .git/objects/pack; ln -s $PWD/../private/.git/objects/pack .git/objects/pack => pack
           git init -q .; echo $PWD/../private/.git/objects > .git/objects/info/alternates; cp -r ../private/.git/refs .git/ => private/.git/objects
           git init -q .; mkdir -p mid/info; echo ../mid > .git/objects/info/alternates; echo ../../private/.git/objects > mid/info/alternates; mv mid .git/mid => private/.git/objects
           git init -q .; echo ../../../private/.git/objects > .git/objects/info/alternates => private/.git/objects
           git init -q .; echo '"../../../private/.git/objects"' > .git/objects/info/alternates => private/.git/objects
           echo 'gitdir: /nowhere' > .git => /nowhere
           git init -q .; mkfifo .git/refs/heads/main => heads/main
           mkfifo .git => .git"#,
    ) {
        let repository =
            repository(&format!("mkdir private zip; cd private; {COMMITS}; git gc -q; cd ../zip; {lead}"));
        let said = run(&repository, "zip", 2);
        assert!(said.contains(named) && !said.contains("+2"), "{lead}\n{said}");
    }
}

#[test]
fn worktrees_submodules_and_alternates_inside_the_project_are_read() {
    let tree = repository(&format!("mkdir main; cd main; {COMMITS}; git worktree add -q ../tree"));
    assert_shows_the_change(&run(&tree, "tree", 0));
    let sub = repository(&format!(
        "mkdir lib app; cd lib; {COMMITS}; cd ../app; git init -q .; git submodule --quiet add ../lib lib 2>&1; git commit -qm sub"
    ));
    assert_shows_the_change(&run(&sub, "app/lib", 0));
    let shared = repository(&format!(
        "{COMMITS}; git clone -q --bare . .git/pool; git repack -adq; echo ../pool/objects > .git/objects/info/alternates"
    ));
    assert_shows_the_change(&run(&shared, ".", 0));
    // Another folder cannot use the git folder of a worktree or submodule.
    for (repository, folder) in [(tree, "tree"), (sub, "app/lib")] {
        repository
            .write("thief/.git", std::fs::read(repository.path(&format!("{folder}/.git"))).expect("a file"));
        std::fs::rename(repository.path("thief"), repository.path(&format!("{folder}-thief")))
            .expect("moved");
        assert!(run(&repository, &format!("{folder}-thief"), 2).contains("another folder"));
        // Only a `worktree` entry in the right section counts.
        let config = repository.path("app/.git/modules/lib/config");
        if let Ok(settings) = std::fs::read_to_string(&config) {
            std::fs::write(config, settings + "[other]\n\tworktree = ../../../lib-thief\n").expect("written");
            assert!(run(&repository, &format!("{folder}-thief"), 2).contains("another folder"));
        }
    }
}

#[cfg(unix)]
#[test]
fn one_git_reads_the_contents_of_all_files() {
    let path = std::env::var("PATH").expect("a path");
    let script = format!("echo \"$*\" >> $HOME/asked; PATH='{path}' exec git \"$@\"");
    let repository =
        repository(&format!("{COMMITS}; touch 1 2 3 4; git add .; git commit -q --amend --no-edit"));
    let repository = with_program(repository, "git", &script);
    let bin = repository.path("../bin").canonicalize().expect("a folder");
    let repository = repository.set("PATH", &format!("{}:{path}", bin.display()));
    repository.run(["snapshot", "decide.yaml"]).code(0).shows("b/4");
    let asked = std::fs::read_to_string(repository.home().join("asked")).expect("a file");
    // Two diffs are made: for the check and for the snapshot.
    assert_eq!(asked.matches("cat-file").count(), 2, "{asked}");
}

#[test]
fn a_diff_is_that_of_two_commits_and_its_lines_can_be_cited() {
    let repository = repository(COMMITS);
    repository.write("decide.yaml", CHANGE.replace(", numbers: off", ""));
    let cites = "{vote: no, references: [\"src/a.txt:2\", \"src/a.txt:20\"]}";
    let answers = format!("decide: {{qa-lead: {cites}, skeptic: {cites}}}\n");
    let ran = repository.answered(answers, &["--json"]).code(0);
    let opened = named(&ran.lines(), "round_opened").remove(0);
    has(opened["snapshot"].as_str().expect("text"), &["6| -two\n", "7| +2\n", "commits: \""]);
    let seat = &repository.report("s.s2s")["rounds"][0]["seats"][0];
    assert_eq!(seat["unresolved_references"], serde_json::json!(["src/a.txt:20"]));
    repository
        .run(["--batch", "decide.yaml", "--diff", "nosuch...HEAD"])
        .code(2)
        .tells("unknown commit `nosuch`");
}

#[test]
fn paths_are_seen_from_the_definitions_folder() {
    let other = "git checkout -q --orphan other; git commit -qm 3; git checkout -q main";
    let repository = repository(&format!(
        "{COMMITS}; echo x > b.txt; git add b.txt; git commit -q --amend --no-edit; {other}"
    ));
    repository.write("decide.yaml", CHANGE.replace("HEAD~1..HEAD", "HEAD...other"));
    repository.run(["check", "decide.yaml"]).code(2).says("have none in common here");
    repository.write("decide.yaml", CHANGE);
    let definition = CHANGE.replace("HEAD\", ", "HEAD\", paths: [a.txt], ");
    repository.write("src/sub.yaml", definition);
    repository.run(["snapshot", "decide.yaml"]).code(0).shows("b/b.txt").shows("b/src/a.txt");
    let mut command = repository.command(["snapshot", "sub.yaml"]);
    let ran = crate::program::ran(command.current_dir(repository.path("src")).output().expect("it starts"))
        .code(0)
        .out;
    assert!(!ran.contains("b.txt"), "{ran}");
    assert_shows_the_change(&ran);
}

#[test]
fn line_ends_of_a_session_that_git_has_changed_are_named() {
    let repository = Desk::with("question: q\nparticipants: [qa-lead]\n");
    repository.run(["--batch", "decide.yaml", "--rehearse", "--save", "s.s2s"]).code(0);
    repository.write("s.s2s", repository.read("s.s2s").replace('\n', "\r\n"));
    repository.run(["verify", "s.s2s"]).code(2).says("its line ends were changed: write `*.s2s -text`");
    repository.run(["init"]).code(0);
    assert_eq!(repository.read(".gitattributes"), "*.s2s -text\n");
}

/// Additions, deletions, modes, links, binary files, names, and a last line without a line end.
#[test]
fn every_kind_of_change_matches_the_diff_of_git() {
    let repository = repository(
        "git init -q .; echo gone > gone; echo run > run; printf 'no end' > end; printf 'a\\0b' > bin; ln -s gone link; \
         seq 1 40 > long; echo same > same; git add .; git commit -qm 1; \
         rm gone; chmod +x run; printf 'no end\\nmore' > end; printf 'a\\0c' > bin; rm link; echo text > link; \
         sed -i 's/^2$/two/; s/^30$/thirty/' long; echo ü > 'naïve-\"ü\".txt'; touch empty; git add -A; git commit -qm 2",
    );
    let text = run(&repository, ".", 0);
    let start = text.find("diff --git").expect("a diff");
    let shown: Vec<&str> = text[start..].lines().map(|line| line.trim_start_matches("        ")).collect();
    let expected = Command::new("git")
        .args(["-c", "core.quotePath=false", "diff", "--no-renames", "HEAD~1", "HEAD"])
        .current_dir(repository.path(""))
        .output()
        .expect("git is there");
    let expected = String::from_utf8(expected.stdout).expect("UTF-8");
    let wanted: Vec<&str> = expected.lines().filter(|line| !line.starts_with("index ")).collect();
    for line in wanted {
        let line = line
            .replace("\"b/naïve-\\\"ü\\\".txt\"", "b/naïve-\"ü\".txt")
            .replace("\"a/naïve-\\\"ü\\\".txt\"", "a/naïve-\"ü\".txt");
        // A link that becomes a file is one change here, but two for git.
        let is_of_link = line.contains("link")
            || ["-gone", "new file mode 100644", "deleted file mode 120000"].contains(&line.as_str());
        // Git adds the line before a hunk to its header.
        let end = line.rfind(" @@").filter(|_| line.starts_with("@@"));
        let head = end.map_or(line.as_str(), |end| &line[..end + 3]);
        assert!(is_of_link || shown.contains(&head), "{line}\n{}", shown.join("\n"));
    }
}
