//! Hostile clones: nothing runs, redirects or reads before consent.
//!
//! Keys are sent only to their service.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::patience::{Patient as _, wait_for};
use crate::program::{Desk, Ran, has};
use crate::pty::Screen;
use crate::server::{Answer, Server};
use crate::stopping::a_second;

const ROUND: &str = "question: Which?\nparticipants: [qa-lead]\n\
                     ballot: {kind: choice, options: [red, blue]}\nrule: plurality\n";
const KEY: &str = "sk-usual-k3y";

fn service() -> Server {
    Server::start(|_| Answer::chat("vote: red\n"))
}

fn project(config: &str) -> Desk {
    let desk = Desk::with(ROUND).set("OPENAI_API_KEY", KEY).set("PROJECT_KEY", "sk-project");
    desk.write(".s2s/config.yaml", config);
    desk
}

fn left(mut screen: Screen) {
    screen.send("\u{3}\u{3}");
    screen.end();
}

#[track_caller]
fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 2, "{}\n{}", ran.out, ran.err);
    for word in words.iter().chain(&["nobody has agreed to this yet", "--trust"]) {
        ran.tells(word);
    }
}

#[test]
fn a_project_runs_and_redirects_nothing_until_that_is_agreed_to() {
    let server = service();
    let url = server.url();
    let desk = project(&format!(
        "model: cmd/x\nproviders:\n  cmd: {{base_url: \"{url}/v1\", key_command: [sh, -c, \"echo x >> RAN; echo sk\"]}}\n  \
         openai: {{base_url: \"{url}/v1\"}}\n  exfil: {{base_url: \"{url}/v1\", key_env: AWS_SECRET}}\n"
    ));
    let run = ["--batch", "decide.yaml"];
    let told = ["asks `cmd` at http://127.0.0.1", "[\"sh\", \"-c\", \"echo x >> RAN; echo sk\"]"];
    refused(&desk.run(run), &told);
    let openai = desk.run(["--batch", "decide.yaml", "--model", "openai/m"]);
    refused(&openai, &["asks `openai` at http://127.0.0.1"]);
    refused(&desk.run(["doctor", "cmd"]), &told);
    for looking in [&["check", "decide.yaml"][..], &["--batch", "decide.yaml", "--dry-run"]] {
        desk.run(looking).code(0).says(told[0]).says(told[1]);
    }
    assert!(desk.run(["doctor"]).code(0).out.contains("nobody has agreed to this yet"));
    assert!(desk.sessions().is_empty(), "nothing was begun");
    assert!(!desk.path("RAN").exists() && server.connections() == 0, "nothing ran, nothing was sent");
    // Providers that a run does not need are ignored with a message.
    let ran = desk.run(["--batch", "decide.yaml", "--rehearse"]).code(0);
    ran.tells("`cmd`, `openai`, `exfil` is not needed here: ignored");
    assert_eq!(server.connections(), 0);
    // With `--trust` the named key is sent; its command runs once.
    desk.run(["--batch", "decide.yaml", "--trust"]).code(0);
    assert_eq!(desk.read("RAN"), "x\n");
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer sk"));
    refused(&desk.run(run), &told);
}

#[test]
fn a_usual_key_is_sent_to_no_address_of_a_project() {
    let server = service();
    let url = server.url();
    let desk = project(&format!("providers: {{openai: {{base_url: \"{url}/v1\"}}}}\n"));
    let run = ["--batch", "decide.yaml", "--trust", "--model"];
    let with = |desk: &Desk, model: &str| desk.run(run.into_iter().chain([model]));
    with(&desk, "openai/m").code(0);
    assert_eq!(server.requests()[0].header("authorization"), None, "no key at all");
    // Not even if the project names it, under whatever name.
    for provider in ["openai", "lab"] {
        let said = format!("{provider}: {{base_url: \"{url}/v1\", key_env: OPENAI_API_KEY}}");
        let ran = with(&project(&format!("providers: {{{said}}}\n")), &format!("{provider}/m")).code(2);
        ran.tells("OPENAI_API_KEY is the key of `openai`");
    }
    // The project's key is sent, the user's key for that provider is not.
    let said = format!("openai: {{base_url: \"{url}/v1\", key_env: PROJECT_KEY}}");
    let desk = project(&format!("providers: {{{said}}}\n"))
        .configured("providers: {openai: {key_env: OPENAI_API_KEY}}\n");
    with(&desk, "openai/m").code(0);
    assert_eq!(server.requests()[1].header("authorization"), Some("Bearer sk-project"));
    // If the user's environment or configuration redirects it, the usual key is sent without a question.
    let desk = project("").set("OPENAI_BASE_URL", &format!("{url}/v1"));
    desk.run(["--batch", "decide.yaml", "--model", "openai/m"]).code(0);
    let desk = project("providers: {openai: {max_in_flight: 3}}\n")
        .configured(format!("providers: {{openai: {{base_url: \"{url}/v1\"}}}}\n"));
    desk.run(["--batch", "decide.yaml", "--model", "openai/m"]).code(0);
    let sent = |nth: usize| server.requests()[nth].header("authorization").map(str::to_owned);
    assert_eq!([sent(2), sent(3)], [(); 2].map(|()| Some(format!("Bearer {KEY}"))));
}

#[test]
fn a_program_of_a_definition_is_run_once_it_is_agreed_to() {
    let program = "participants: [{name: abe, command: [sh, -c, \"echo x >> RAN; echo done\"]}]\n\
                   steps: [{id: a, type: agent, agent: abe, prompt: Go.}, {id: ok, type: approval, message: m}]\n";
    let desk = Desk::with(program);
    let told = ["decide.yaml: ", "runs [\"sh\", \"-c\", \"echo x >> RAN; echo done\"] with PATH, HOME"];
    refused(&desk.run(["--batch", "decide.yaml"]), &told);
    refused(&desk.pipe(["--batch", "-"], program), &["runs [\"sh\""]);
    assert!(!desk.path("RAN").exists());
    let ran = desk.run(["--batch", "decide.yaml", "--trust", "--save", "s.s2s", "--json"]).code(4);
    assert!(!ran.out.contains("agreed"), "a session says nothing of it: {}", ran.out);
    // A foreign session is trusted no more than a definition.
    let cut = desk.read("s.s2s").split("---\n").take(2).collect::<Vec<_>>().join("---\n");
    desk.write("stranger.s2s", cut);
    refused(&desk.run(["resume", "stranger.s2s"]), &["runs [\"sh\""]);
    assert_eq!(desk.read("RAN"), "x\n");
    desk.run(["resume", "stranger.s2s", "--trust"]).code(4);
    assert_eq!(desk.read("RAN"), "x\nx\n");
}

#[test]
fn a_folder_counts_in_its_repository_and_if_it_is_the_users() {
    let desk = Desk::with(ROUND);
    desk.write(".s2s/CONTEXT.md", "Outer words.\n");
    desk.write("inner/decide.yaml", ROUND);
    let shown = |desk: &Desk, args: &[&str]| {
        let mut command = desk.command(args);
        crate::program::ran(command.current_dir(desk.path("inner")).output_soon().expect("it runs"))
    };
    let snapshot = ["snapshot", "decide.yaml"];
    assert!(!shown(&desk, &snapshot).code(0).out.contains("Outer words"), "no repository, no folder above");
    fs::create_dir(desk.path(".git")).expect("a folder");
    assert!(shown(&desk, &snapshot).code(0).out.contains("Outer words"));
    desk.write("inner/.git", "gitdir: elsewhere\n");
    assert!(!shown(&desk, &snapshot).code(0).out.contains("Outer words"), "another repository's");
    fs::remove_file(desk.path("inner/.git")).expect("gone");

    if !rustix::process::geteuid().is_root() {
        println!("only root can give a folder away: not shown here");
        return;
    }
    chown(desk.path(".s2s"), Some(4242), None).expect("given away");
    let ran = shown(&desk, &snapshot).code(0);
    assert!(!ran.out.contains("Outer words"), "{}", ran.out);
    ran.tells(".s2s` belongs to another user: it is ignored");
    assert!(shown(&desk, &["run", "decide.yaml", "--dry-run", "--trust"]).out.contains("Outer words"));
    let called = desk.set("SUDO_UID", "4242");
    assert!(shown(&called, &snapshot).out.contains("Outer words"), "under sudo it is the caller's");
}

#[test]
fn files_of_a_project_that_lead_out_are_not_read() {
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("config.yaml");
    fs::write(&secret, "model: s3cret/m\n").expect("a file");
    let told = |desk: &Desk, why: &str| {
        for args in [&["check", "decide.yaml"][..], &["--batch", "decide.yaml"], &["doctor"]] {
            let ran = desk.run(args).code(2);
            assert!(ran.err.contains(why) && !(ran.out + &ran.err).contains("s3cret"), "{why}: {}", ran.err);
        }
    };
    let desk = project("");
    fs::remove_file(desk.path(".s2s/config.yaml")).expect("gone");
    symlink(&secret, desk.path(".s2s/config.yaml")).expect("a link");
    told(&desk, "is outside the project");
    fs::remove_file(desk.path(".s2s/config.yaml")).expect("gone");
    desk.write(".git/config", "model: s3cret/m\n");
    symlink("../.git/config", desk.path(".s2s/config.yaml")).expect("a link");
    told(&desk, "leads into `.git`");
    let desk = Desk::with(ROUND);
    symlink(outside.path(), desk.path(".s2s")).expect("a link");
    let ran = desk.run(["doctor"]).code(0);
    ran.tells("is outside the project: it is ignored");
    assert!(!ran.out.contains("s3cret"), "{}", ran.out);
}

#[test]
fn a_project_does_not_say_how_the_screen_is_worked() {
    let desk = project("screen: {ascii: true}\n");
    let ran = desk.run(["--batch", "decide.yaml", "--dry-run"]).code(0);
    ran.tells("`screen` counts in your own configuration alone: ignored");
}

#[test]
fn a_key_command_has_an_end_a_bound_and_the_usual_variables() {
    let server = service();
    let url = server.url();
    let with = |command: &str| {
        let said = format!("lab: {{base_url: \"{url}/v1\", key_command: [sh, -c, \"{command}\"]}}");
        Desk::with(ROUND).set("SECRET", "hidden").configured(format!("providers: {{{said}}}\n"))
    };
    let run = ["--batch", "decide.yaml", "--model", "lab/m"];
    with("env > ENV; echo sk-1").run(run).code(0);
    let desk = with("env > ENV; echo sk-1");
    desk.run(run).code(0);
    assert!(!desk.read("ENV").contains("hidden"), "{}", desk.read("ENV"));
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer sk-1"));
    with("yes").run(run).code(5).shows("it printed more than 65536 bytes");
    with("exit 3").run(run).code(5).shows("gives no key: it ended with exit status: 3");
    // It is stopped with the round that needed it, including its child processes.
    for args in [&run[..], &["doctor", "lab"]] {
        let desk = with("echo $$ > PID; sleep 1000");
        let mut child = desk.start(args);
        let id = || fs::read_to_string(desk.path("PID")).ok()?.trim().parse::<i32>().ok();
        let pid = wait_for("the id of the key command", id);
        let signalled = Instant::now();
        kill_process(Pid::from_child(&child), Signal::TERM).expect("signalled");
        wait_for("the end of the program", || child.try_wait().expect("it can be waited for"));
        assert!(signalled.elapsed() < a_second(), "{args:?}: {:?}", signalled.elapsed());
        let pid = Pid::from_raw(pid).expect("an id");
        wait_for("the end of the key command", || test_kill_process(pid).is_err().then_some(()));
    }
}

#[test]
fn the_screen_asks_once_and_again_when_what_would_run_has_changed() {
    let desk = Desk::new();
    desk.write("tool.sh", "echo x >> RAN; echo done\n");
    let agent = "{id: a, type: agent, agent: abe, prompt: Go.}, {id: ok, type: approval, message: Well?}";
    let of = |name: &str, more: &str| {
        let seat = format!("{{name: abe, command: [sh, ./tool.sh{more}], env: [SHOWN]}}");
        desk.write(name, format!("participants: [{seat}]\nsteps: [{agent}]\n"));
    };
    of("run.yaml", "");
    let ran = || fs::read_to_string(desk.path("RAN")).map_or(0, |text| text.lines().count());
    let begun = |screen: &mut Screen| screen.press("o", &["Your decision"]);
    let asked = ["Allow this?", "runs [\"sh\", \"./tool.sh\"] with PATH, HOME", "SHOWN", "named by run.yaml"];
    // The draft shows it; on a small screen `y` works only after scrolling to the end.
    let mut screen = Screen::open(&desk, (60, 10), &["run.yaml"]);
    screen.wait_for(&["runs and asks", "agreed to yet"]);
    screen.press("o", &["Allow this?", "more lines"]);
    screen.press("y", &["more lines"]);
    screen.press("n", &["nothing was run or sent"]);
    screen.press("o", &["Allow this?", "more lines"]);
    assert_eq!(ran(), 0);
    screen.press("jjjjjjjjjjjjjjj", &["y agree"]);
    screen.press("y", &["Your decision"]);
    assert_eq!(ran(), 1);
    left(screen);
    // The consent is stored as text, and also valid headless and for resumed sessions.
    let mut kept = fs::read_dir(desk.home().join("state/agreed")).expect("kept");
    let text = fs::read_to_string(kept.next().expect("one").expect("one").path()).expect("readable");
    has(&text, &["runs [\"sh\", \"./tool.sh\"]", "named by run.yaml"]);
    let mut screen = Screen::open(&desk, (100, 40), &["run.yaml"]);
    screen.wait_for(&["first step"]);
    begun(&mut screen);
    left(screen);
    desk.run(["--batch", "run.yaml", "--save", "s.s2s"]).code(4);
    assert_eq!(ran(), 3);
    // Another argument, variable, content or folder needs another consent.
    of("run.yaml", ", again");
    refused(&desk.run(["--batch", "run.yaml"]), &["\"again\""]);
    desk.write("run.yaml", desk.read("run.yaml").replace(", again", "").replace("SHOWN", "OTHER"));
    refused(&desk.run(["--batch", "run.yaml"]), &["OTHER"]);
    of("run.yaml", "");
    desk.run(["--batch", "run.yaml"]).code(4);
    desk.write("tool.sh", "echo x >> RAN; echo something else\n");
    refused(&desk.run(["--batch", "run.yaml"]), &["./tool.sh"]);
    // A resumed replay asks the same, and so does a fork before it is written.
    let sessions = desk.sessions().len();
    let mut screen = Screen::open(&desk, (160, 40), &["s.s2s"]);
    screen.press("", &["Resume this session?"]);
    screen.press("y", &asked);
    screen.press("n", &["nothing was run or sent"]);
    screen.press("F", &["Fork the session here?"]);
    screen.press("y", &asked);
    screen.press("n", &["nothing was run or sent"]);
    screen.press("o", &asked);
    assert_eq!((ran(), desk.sessions().len()), (4, sessions));
    screen.press("y", &["Enter answer"]);
    left(screen);
    fs::remove_dir_all(desk.home().join("state/agreed")).expect("taken back");
    refused(&desk.run(["--batch", "run.yaml"]), &["./tool.sh"]);
}
