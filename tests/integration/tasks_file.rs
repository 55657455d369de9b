//! Tasks in a file: their state is written next to it.

use std::fs;

use roundtable::history::Event;
use roundtable::journal::read_log;

use crate::cut::ends;
use crate::program::{Desk, Ran, arg, has, named, ran};

const LOOP: &str = r#"
goal: "Work off the list"
tracker: {file: .s2s/tasks.yaml}
steps:
  - {id: status, type: agent, agent: tracker, prompt: "Get status and next issue details", next: any-left}
  - {id: any-left, type: condition, condition: "context.status.next_issue !== null", then: issue}
  - {id: issue, type: transform, transform: context.status.next_issue, next: build}
  - {id: build, type: agent, agent: coder, input: issue, completeness: off, prompt: "Build {{issue.issue_id}}.", next: done}
  - id: done
    type: agent
    agent: tracker
    completeness: off
    prompt: |-
      Mark issue {{context.issue.issue_id}} as Done with the following evidence:
      Tests: {{context.build.result}}
    next: status
"#;
const TASKS: &str = "\
# Ours. Keep the order.
tasks:
  - id: A-1
    title: Sign in
    status: DONE  # before us
  - id: A-2  # urgent
    title: \"It's a page\"
    priority: 1

  # Ask Ann first.
  - {id: A-3, title: Reset, labels: [x, y]}
";
const FILE: &str = ".s2s/tasks.yaml";
const STATE: &str = ".s2s/tasks.state.yaml";

fn done(tasks: &[&str]) -> String {
    let head = "# Written by roundtable: the tracker's state of the tasks in the file next to it.\n";
    let task = |task: &&str| format!("{task}:\n  status: DONE\n  evidence:\n    Tests: \"4 passed\"\n");
    head.to_owned() + &tasks.iter().map(task).collect::<String>()
}

fn desk() -> Desk {
    let desk = Desk::with(LOOP);
    desk.write(FILE, TASKS);
    desk.write("answers.yaml", "build: \"4 passed\"\n");
    desk
}

fn run(desk: &Desk, save: &str) -> Ran {
    desk.run(["--batch", "--json", "--answers", "answers.yaml", "decide.yaml", "--save", save])
}

#[test]
fn the_next_session_continues_from_the_state() {
    let desk = desk();
    // The first session has time for one task.
    desk.write("one.yaml", format!("max_iterations: 5\n{LOOP}"));
    desk.run(["--batch", "--answers", "answers.yaml", "one.yaml", "--save", "first.s2s"]).code(3);
    let half = done(&["A-2"]);
    assert_eq!((desk.read(FILE).as_str(), desk.read(STATE)), (TASKS, half.clone()));
    let lines = run(&desk, "second.s2s").code(0).lines();
    assert_eq!((desk.read(FILE).as_str(), desk.read(STATE)), (TASKS, done(&["A-2", "A-3"])));
    // It gets the results of the first one.
    let returned = named(&lines, "work_item_returned");
    assert_eq!(returned[0]["data"]["done"], 2, "{}", returned[0]);
    assert_eq!(returned[0]["data"]["next_issue"]["issue_id"], "A-3");
    // A third has nothing to do.
    run(&desk, "third.s2s").code(0);
    assert_eq!(desk.read(STATE), done(&["A-2", "A-3"]));
    // The session contains the tasks, so the files are not needed.
    fs::remove_file(desk.path(FILE)).expect("it");
    fs::remove_file(desk.path(STATE)).expect("it");
    for file in ["first.s2s", "second.s2s", "third.s2s"] {
        desk.is_sound(file);
    }
    let opened = &desk.log("second.s2s")[0];
    assert_eq!((&opened["tasks_file"], &opened["tasks_state"]), (&TASKS.into(), &half.into()));
}

#[test]
fn check_dry_run_and_rehearsal_write_nothing() {
    let desk = desk();
    desk.run(["check", "decide.yaml"]).code(0).tells("0 errors, 0 warnings");
    desk.run(["--batch", "--dry-run", "--answers", "answers.yaml", "decide.yaml"]).code(0);
    // A rehearsal is no evidence.
    desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]).code(0);
    desk.is_sound("s.s2s");
    desk.run(["resume", "s.s2s"]).code(0);
    assert!(!desk.path(STATE).exists());
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_with_its_place() {
    let refused = |change: &dyn Fn(&Desk), parts: &[&str]| {
        let desk = desk();
        change(&desk);
        let before = desk.path(FILE).is_file().then(|| desk.read(FILE));
        for args in ["check decide.yaml", "--batch decide.yaml", "--batch --dry-run decide.yaml"] {
            let ran = desk.run(args.split(' ')).code(2);
            has(&(ran.out + &ran.err), parts);
        }
        assert!(desk.sessions().is_empty());
        assert_eq!(desk.path(FILE).is_file().then(|| desk.read(FILE)), before);
    };
    let named = |name: &'static str| move |desk: &Desk| desk.write("decide.yaml", LOOP.replace(FILE, name));
    let tasks = |text: &'static str| move |desk: &Desk| desk.write(FILE, text);
    let changed = |from: &'static str, to: &'static str| {
        move |desk: &Desk| desk.write("decide.yaml", LOOP.replacen(from, to, 1))
    };
    let both = ["decide.yaml:3:10: ", "both `tasks` and `tracker.file`", "leave `tracker` out"];
    refused(&changed("\n", "tasks: [{id: A, title: t}]\n"), &both);
    let none = ["decide.yaml:3:10: ", "there is no file", ".s2s/none.yaml", "write it: `tasks:`"];
    refused(&named(".s2s/none.yaml"), &none);
    refused(&named("{}"), &["decide.yaml:3:", "`file` of `tracker` must be text"]);
    refused(&changed("{file: .s2s/tasks.yaml}", "{}"), &["`tracker` has no `file`"]);
    refused(&changed("file:", "path:"), &["unknown key `path` in `tracker`"]);
    let unknown = [".s2s/tasks.yaml:2:13: ", "unknown key `titel`", "did you mean `title`"];
    refused(&tasks("tasks:\n  - {id: A, titel: t}\n"), &unknown);
    let twice = [".s2s/tasks.yaml:3:5: ", "duplicate task id `A`"];
    refused(&tasks("tasks:\n  - {id: A}\n  - {id: A}\n"), &twice);
    refused(&tasks("tasks: [\n"), &[".s2s/tasks.yaml:"]);
    refused(&tasks("- id: A\n"), &[".s2s/tasks.yaml:1:1: ", "must be a map of keys"]);
    refused(&named(".s2s"), &["this is a folder"]);
    let state = [".s2s/tasks.state.yaml:1:1: ", "no state of tasks", "remove the file"];
    refused(&|desk| desk.write(STATE, "A-2: DONE\n"), &state);
    // A file of another kind is refused, and so never written to.
    refused(&named("answers.yaml"), &["answers.yaml:1:1: ", "unknown key `build`"]);
}

#[cfg(unix)]
#[test]
fn it_is_neither_read_nor_written_outside_the_project_or_through_a_link() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().expect("a folder");
    let theirs = outside.path().join("tasks.yaml");
    fs::write(&theirs, TASKS).expect("a file");
    let folder = arg(&outside.path().canonicalize().expect("it"));
    let of = |name: &str| {
        let desk = desk();
        symlink(outside.path(), desk.path("linked")).expect("a link");
        symlink(desk.path(FILE), desk.path("inside.yaml")).expect("a link");
        desk.write("decide.yaml", LOOP.replace(FILE, name));
        desk
    };
    let absolute = format!("{folder}/tasks.yaml");
    let up = format!("{}{}", "../".repeat(20), absolute.trim_start_matches('/'));
    for name in [absolute.as_str(), up.as_str(), "linked/tasks.yaml"] {
        run(&of(name), "s.s2s").code(2).tells("is outside the project");
    }
    run(&of("inside.yaml"), "s.s2s").code(2).tells("it is a link");
    assert_eq!(fs::read_to_string(&theirs).expect("theirs"), TASKS);

    // A state that becomes a link while the session runs is not written through either.
    let desk = of(FILE);
    desk.write("decide.yaml", program("ln -sf ../answers.yaml .s2s/tasks.state.yaml; echo 4 passed"));
    desk.run(["--batch", "--trust", "decide.yaml", "--save", "s.s2s"]).code(1).tells("it is a link");
    assert_eq!(desk.read("answers.yaml"), "build: \"4 passed\"\n");
}

fn program(script: &str) -> String {
    LOOP.replace("steps:", &format!("participants: [{{name: coder, command: [sh, -c, {script:?}]}}]\nsteps:"))
}

#[cfg(unix)]
#[test]
fn the_tasks_are_only_read_and_a_state_that_cannot_be_read_is_told() {
    let desk = desk();
    // Somebody edits the tasks and damages the state while they are in use.
    let script = "grep -q 'Build A-2' && { echo '# mine' >> .s2s/tasks.yaml; echo A-3 > .s2s/tasks.state.yaml; }; echo 4 passed";
    desk.write("decide.yaml", program(script));
    let told = desk.run(["--batch", "--trust", "decide.yaml", "--save", "s.s2s"]).code(1);
    let warning = "cannot write the status of a task to `.s2s/tasks.state.yaml`: .s2s/tasks.state.yaml:1:1: ";
    assert_eq!(told.err.matches(warning).count(), 1, "{}", told.err);
    told.tells("this is no state of tasks");
    assert_eq!((desk.read(FILE), desk.read(STATE).as_str()), (TASKS.to_owned() + "# mine\n", "A-3\n"));
    desk.is_sound("s.s2s");
    // The damaged state stays, and is written once it is repaired.
    desk.run(["resume", "--trust", "s.s2s"]).code(1).tells("this is no state of tasks");
    fs::remove_file(desk.path(STATE)).expect("it");
    desk.run(["resume", "--trust", "s.s2s"]).code(0);
    assert_eq!(desk.read(STATE), done(&["A-2", "A-3"]));
}

#[test]
fn a_session_cut_between_the_log_and_the_state_catches_up() {
    let desk = desk();
    run(&desk, "whole.s2s").code(0);
    let whole = fs::read(desk.path("whole.s2s")).expect("a session");
    let lines = read_log(&whole).expect("whole").lines;
    let ends = ends(&whole);
    let states = [String::new(), done(&["A-2"]), done(&["A-2", "A-3"])];
    let (mut marked, mut written, mut cuts) = (0, 0, 0);
    for (line, end) in lines.iter().zip(ends) {
        match &line.stamped.event {
            Event::WorkItemReturned(back) if back.step == "done" => marked += 1,
            Event::StepFinished(done) if done.step == "done" => written += 1,
            _ => {}
        }
        // Killed before the file was written, or after it.
        for state in states.iter().take(marked + 1).skip(written).filter(|_| marked > written) {
            desk.write("cut.s2s", &whole[..end]);
            desk.write(STATE, state);
            desk.run(["resume", "cut.s2s", "--answers", "answers.yaml"]).code(0);
            assert_eq!(desk.read(STATE), done(&["A-2", "A-3"]), "{}", line.seq);
            desk.is_sound("cut.s2s");
            cuts += 1;
        }
    }
    assert!(cuts >= 4, "{cuts}");
}

#[test]
fn of_two_sessions_on_one_state_neither_loses_an_update() {
    const EACH: usize = 25;
    let desk = Desk::new();
    let mut tasks = "tasks:\n".to_owned();
    for team in ["a", "b"] {
        let steps = (0..EACH).map(|number| {
            tasks.push_str(&format!("  - id: {team}-{number}\n    title: t\n"));
            format!("  - {{id: s{number}, type: agent, agent: tracker, prompt: \"Mark issue {team}-{number} as Done\"}}\n")
        });
        let head = "goal: g\ntracker: {file: tasks.yaml}\nsteps:\n";
        desk.write(&format!("{team}.yaml"), head.to_owned() + &steps.collect::<String>());
    }
    desk.write("tasks.yaml", &tasks);
    let runs = [["a.yaml", "a.s2s"], ["b.yaml", "b.s2s"]]
        .map(|[file, save]| desk.start(["--batch", file, "--save", save]));
    for run in runs {
        ran(run.wait_with_output().expect("ends")).code(0);
    }
    assert_eq!(desk.read("tasks.yaml"), tasks);
    assert_eq!(desk.read("tasks.state.yaml").matches("\n  status: DONE\n").count(), 2 * EACH);
    for file in ["a.s2s", "b.s2s"] {
        desk.is_sound(file);
    }
}
