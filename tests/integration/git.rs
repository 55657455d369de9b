//! Diffs as evidence in hostile repositories: nothing runs, nothing leads out, and the bytes depend on
//! the two commits alone.

use std::process::Command;

use crate::program::{Desk, has, named, rows};
use crate::seat_programs::with_program;

/// Two commits in `$PWD`; the second changes `src/a.txt`.
const COMMITS: &str = "git init -q .; mkdir -p src; printf 'one\\ntwo\\n' > src/a.txt; git add .; \
                       git commit -qm 1; printf 'one\\n2\\n' > src/a.txt; git commit -qam 2";
const DEFINITION: &str = "participants: [{persona: qa-lead, model: rehearsal}, {persona: skeptic, model: rehearsal}]\n\
                          artifacts: [{id: CHANGE, diff: \"HEAD~1..HEAD\", numbers: off}]\n\
                          question: \"Merge it?\"\nballot: {kind: choice, options: [yes-please, no]}\n";

/// A desk after a script of bash. `$RAN` is a command that leaves a mark.
fn desk(script: &str) -> Desk {
    let desk = Desk::with(DEFINITION);
    let done = Command::new("bash")
        .args(["-ec", script])
        .current_dir(desk.path(""))
        .env("RAN", format!("touch {}; cat", desk.path("RAN").display()))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs([("GIT_AUTHOR_DATE", "2026-01-01T00:00Z"), ("GIT_COMMITTER_DATE", "2026-01-01T00:00Z")])
        .env("GIT_CONFIG_COUNT", "5")
        .envs([("GIT_CONFIG_KEY_0", "user.name"), ("GIT_CONFIG_VALUE_0", "t")])
        .envs([("GIT_CONFIG_KEY_1", "user.email"), ("GIT_CONFIG_VALUE_1", "t@localhost")])
        .envs([("GIT_CONFIG_KEY_2", "init.defaultBranch"), ("GIT_CONFIG_VALUE_2", "main")])
        .envs([("GIT_CONFIG_KEY_3", "protocol.file.allow"), ("GIT_CONFIG_VALUE_3", "always")])
        .envs([("GIT_CONFIG_KEY_4", "core.autocrlf"), ("GIT_CONFIG_VALUE_4", "false")])
        .output()
        .expect("bash is there");
    assert!(done.status.success(), "{script}\n{}", String::from_utf8_lossy(&done.stderr));
    let _ = std::fs::remove_file(desk.path("RAN"));
    desk
}

/// What is said of the definition in a folder, its snapshot if it has one; no program has run.
#[track_caller]
fn run(desk: &Desk, folder: &str, code: i32) -> String {
    let file = format!("{folder}/decide.yaml");
    desk.write(&file, DEFINITION);
    let verbs: [&[&str]; 3] = [&["check"], &["--batch", "--dry-run"], &["snapshot"]];
    let mut said = String::new();
    for verb in verbs {
        let mut command = desk.command(verb.iter().chain(&["decide.yaml"]));
        let output = command.current_dir(desk.path(folder)).output().expect("the program starts");
        let ran = crate::program::ran(output).code(code);
        said = ran.out + &ran.err;
        assert!(!desk.path("RAN").exists(), "{verb:?} has run a program\n{said}");
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
    let plain = run(&desk(COMMITS), ".", 0);
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
        assert_eq!(run(&desk(&format!("{COMMITS}; {settings}")), ".", 0), plain, "{settings}");
    }
}

/// A user's own settings and the environment count as little.
#[test]
fn neither_the_environment_nor_the_users_settings_change_the_bytes() {
    let other = desk(COMMITS);
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
    // The third to the sixth are git folders of one's own whose objects are another's.
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
        let desk = desk(&format!("mkdir private zip; cd private; {COMMITS}; git gc -q; cd ../zip; {lead}"));
        let said = run(&desk, "zip", 2);
        assert!(said.contains(named) && !said.contains("+2"), "{lead}\n{said}");
    }
}

#[test]
fn worktrees_submodules_and_alternates_inside_the_project_are_read() {
    let tree = desk(&format!("mkdir main; cd main; {COMMITS}; git worktree add -q ../tree"));
    assert_shows_the_change(&run(&tree, "tree", 0));
    let sub = desk(&format!(
        "mkdir lib app; cd lib; {COMMITS}; cd ../app; git init -q .; git submodule --quiet add ../lib lib 2>&1; git commit -qm sub"
    ));
    assert_shows_the_change(&run(&sub, "app/lib", 0));
    let shared = desk(&format!(
        "{COMMITS}; git clone -q --bare . .git/pool; git repack -adq; echo ../pool/objects > .git/objects/info/alternates"
    ));
    assert_shows_the_change(&run(&shared, ".", 0));
    // Another folder cannot take a worktree's or a submodule's place.
    for (desk, folder) in [(tree, "tree"), (sub, "app/lib")] {
        desk.write("thief/.git", std::fs::read(desk.path(&format!("{folder}/.git"))).expect("a file"));
        std::fs::rename(desk.path("thief"), desk.path(&format!("{folder}-thief"))).expect("moved");
        assert!(run(&desk, &format!("{folder}-thief"), 2).contains("another folder"));
        // It has to be named in the section for it.
        let config = desk.path("app/.git/modules/lib/config");
        if let Ok(settings) = std::fs::read_to_string(&config) {
            std::fs::write(config, settings + "[other]\n\tworktree = ../../../lib-thief\n").expect("written");
            assert!(run(&desk, &format!("{folder}-thief"), 2).contains("another folder"));
        }
    }
}

/// A change of many files starts no program for each of them.
#[cfg(unix)]
#[test]
fn one_git_reads_the_contents_of_all_files() {
    let path = std::env::var("PATH").expect("a path");
    let script = format!("echo \"$*\" >> $HOME/asked; PATH='{path}' exec git \"$@\"");
    let desk = desk(&format!("{COMMITS}; touch 1 2 3 4; git add .; git commit -q --amend --no-edit"));
    let desk = with_program(desk, "git", &script);
    let bin = desk.path("../bin").canonicalize().expect("a folder");
    let desk = desk.set("PATH", &format!("{}:{path}", bin.display()));
    desk.run(["snapshot", "decide.yaml"]).code(0).shows("b/4");
    let asked = std::fs::read_to_string(desk.home().join("asked")).expect("a file");
    // Two diffs are made of it: for the check and for the snapshot.
    assert_eq!(asked.matches("cat-file").count(), 2, "{asked}");
}

#[test]
fn a_diff_is_that_of_two_commits_and_its_lines_can_be_cited() {
    let desk = desk(COMMITS);
    desk.write("decide.yaml", DEFINITION.replace(", numbers: off", ""));
    let cites = "{vote: no, references: [\"src/a.txt:2\", \"src/a.txt:20\"]}";
    let answers = format!("decide: {{qa-lead: {cites}, skeptic: {cites}}}\n");
    let ran = desk.answered(answers, &["--json"]).code(0);
    let opened = named(&ran.lines(), "round_opened").remove(0);
    has(opened["snapshot"].as_str().expect("text"), &["6| -two\n", "7| +2\n", "commits: \""]);
    let seat = &desk.report("s.s2s")["rounds"][0]["seats"][0];
    assert_eq!(seat["unresolved_references"], serde_json::json!(["src/a.txt:20"]));
    desk.run(["--batch", "decide.yaml", "--diff", "nosuch...HEAD"]).code(2).tells("unknown commit `nosuch`");
}

#[test]
fn paths_are_seen_from_the_definitions_folder() {
    let other = "git checkout -q --orphan other; git commit -qm 3; git checkout -q main";
    let desk =
        desk(&format!("{COMMITS}; echo x > b.txt; git add b.txt; git commit -q --amend --no-edit; {other}"));
    desk.write("decide.yaml", DEFINITION.replace("HEAD~1..HEAD", "HEAD...other"));
    desk.run(["check", "decide.yaml"]).code(2).says("have none in common here");
    desk.write("decide.yaml", DEFINITION);
    let definition = DEFINITION.replace("HEAD\", ", "HEAD\", paths: [a.txt], ");
    desk.write("src/sub.yaml", definition);
    desk.run(["snapshot", "decide.yaml"]).code(0).shows("b/b.txt").shows("b/src/a.txt");
    let mut command = desk.command(["snapshot", "sub.yaml"]);
    let ran =
        crate::program::ran(command.current_dir(desk.path("src")).output().expect("it starts")).code(0).out;
    assert!(!ran.contains("b.txt"), "{ran}");
    assert_shows_the_change(&ran);
}

#[test]
fn line_ends_of_a_session_that_git_has_changed_are_named() {
    let desk = Desk::with("question: q\nparticipants: [qa-lead]\n");
    desk.run(["--batch", "decide.yaml", "--rehearse", "--save", "s.s2s"]).code(0);
    desk.write("s.s2s", desk.read("s.s2s").replace('\n', "\r\n"));
    desk.run(["verify", "s.s2s"]).code(2).says("its line ends were changed: write `*.s2s -text`");
    desk.run(["init"]).code(0);
    assert_eq!(desk.read(".gitattributes"), "*.s2s -text\n");
}

/// Additions, deletions, modes, links, binary files, names, and a last line without an end.
#[test]
fn every_kind_of_change_is_told_as_git_tells_it() {
    let desk = desk(
        "git init -q .; echo gone > gone; echo run > run; printf 'no end' > end; printf 'a\\0b' > bin; ln -s gone link; \
         seq 1 40 > long; echo same > same; git add .; git commit -qm 1; \
         rm gone; chmod +x run; printf 'no end\\nmore' > end; printf 'a\\0c' > bin; rm link; echo text > link; \
         sed -i 's/^2$/two/; s/^30$/thirty/' long; echo ü > 'naïve-\"ü\".txt'; touch empty; git add -A; git commit -qm 2",
    );
    let text = run(&desk, ".", 0);
    let start = text.find("diff --git").expect("a diff");
    let shown: Vec<&str> = text[start..].lines().map(|line| line.trim_start_matches("        ")).collect();
    let expected = Command::new("git")
        .args(["-c", "core.quotePath=false", "diff", "--no-renames", "HEAD~1", "HEAD"])
        .current_dir(desk.path(""))
        .output()
        .expect("git is there");
    let expected = String::from_utf8(expected.stdout).expect("UTF-8");
    let wanted: Vec<&str> = expected.lines().filter(|line| !line.starts_with("index ")).collect();
    for line in wanted {
        let line = line
            .replace("\"b/naïve-\\\"ü\\\".txt\"", "b/naïve-\"ü\".txt")
            .replace("\"a/naïve-\\\"ü\\\".txt\"", "a/naïve-\"ü\".txt");
        // A link that becomes a file is one change here, and two for git.
        let is_of_link = line.contains("link")
            || ["-gone", "new file mode 100644", "deleted file mode 120000"].contains(&line.as_str());
        // Git adds the line before a hunk to its head.
        let end = line.rfind(" @@").filter(|_| line.starts_with("@@"));
        let head = end.map_or(line.as_str(), |end| &line[..end + 3]);
        assert!(is_of_link || shown.contains(&head), "{line}\n{}", shown.join("\n"));
    }
}
