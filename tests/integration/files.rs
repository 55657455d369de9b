//! Files and folders: modes, links, and no access outside the project.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use roundtable::journal::{Disk, KeyStore};
use roundtable::round::seal::RoundKey;

use crate::patience::{NEVER, Patient as _, wait_for};
use crate::program::{Desk, KEY, arg, run};
use crate::server::{Answer, Server};

const TABLE: &str = "\
participants:
  - {name: first, prompt: \"You paint.\", model: lab/m}
  - {name: second, prompt: \"You paint.\", model: lab/m}
steps:
  - {id: pick, type: round, question: \"Which?\", ballot: {kind: choice, options: [red, blue]}, rule: plurality}
  - {id: ok, type: approval, message: \"Enough?\"}
";
const SECRET: &str = "nobody's business";

fn link(to: impl AsRef<Path>, at: impl AsRef<Path>) {
    symlink(to, at).expect("a link");
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("it").count() == 0
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

fn made(desk: &Desk, before: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = vec![desk.path(""), desk.home()];
    let mut at = 0;
    while at < found.len() {
        found.extend(fs::read_dir(&found[at]).into_iter().flatten().flatten().map(|entry| entry.path()));
        at += 1;
    }
    found.into_iter().skip(2).filter(|path| !before.contains(path)).collect()
}

#[test]
fn all_that_is_written_is_its_owners_alone() {
    let server = Server::start(|request| match request.seat().as_str() {
        "first" => Answer::chat("vote: red"),
        _ => Answer::chat("vote: red").after(NEVER),
    });
    let desk = Desk::with(TABLE).served_by(&server);
    desk.write("tight.yaml", TABLE.replace("model: lab/m", "model: rehearsal"));
    let before = made(&desk, &[]);
    // A cleared umask shows the modes that the program requests.
    let unmasked = |args: &[&str]| desk.shell("umask 000; exec \"$0\" \"$@\"", args);
    let run = |args: &[&str]| run(&mut unmasked(args));
    assert_eq!(run(&["init"]).code, 0);
    assert_eq!(run(&["--batch", "tight.yaml"]).code, 4);
    let session = desk.session();
    fs::write(&session, fs::read_to_string(&session).expect("read") + "---\nseq: ").expect("torn");
    assert_eq!(run(&["--batch", &arg(&session)]).code, 4);
    for format in ["md", "html", "csv", "json", "madr"] {
        let report = ["report", &arg(&session), "--format", format, "-o", &format!("r.{format}")];
        let even = (format == "madr").then_some("--even-undecided");
        assert_eq!(run(&report.into_iter().chain(even).collect::<Vec<_>>()).code, 0);
    }
    // An open round also has a key file.
    let mut child =
        unmasked(&["--batch", "decide.yaml", "--save", "new/open.s2s"]).start().expect("it starts");
    let keys = desk.home().join("state/keys");
    let is_key = |entry: &fs::DirEntry| entry.path().extension() == Some("key".as_ref());
    wait_for("a key", || fs::read_dir(&keys).ok()?.flatten().find(is_key));
    let found = made(&desk, &before);
    child.kill().expect("killed");
    child.wait().expect("ended");
    let names: String = found.iter().flat_map(|path| [path.to_str().expect("UTF-8"), "\n"]).collect();
    for wanted in "sessions CONTEXT.md config.yaml keys open.s2s new r.html r.csv".split(' ') {
        assert!(names.contains(&format!("/{wanted}\n")), "{wanted}: {names}");
    }
    assert!(names.contains(".1.key\n") && names.contains(".torn-"), "{names}");
    for path in &found {
        assert_eq!(mode(path), if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        let bytes = fs::read(path).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", path.display());
    }
}

#[test]
fn no_key_is_kept_found_or_erased_through_a_link() {
    let dir = tempfile::tempdir().expect("a folder");
    let victim = dir.path().join("victim");
    fs::write(&victim, SECRET).expect("a file");
    let keys = dir.path().join("keys");
    let store = KeyStore::new(Disk::default(), &keys);
    let key = RoundKey::new([7; 32]);
    fs::create_dir(&keys).expect("a folder");
    // The folder was open to others; the program closes it.
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o777)).expect("a mode");
    link(&victim, keys.join("s.1.key"));
    assert!(store.find("s", 1).expect("a link is no key").is_none());
    store.keep("s", 1, &key).expect("kept");
    assert_eq!(mode(&keys), 0o700);
    let path = keys.join("s.1.key");
    assert!(fs::symlink_metadata(&path).expect("it").is_file() && mode(&path) == 0o600);
    assert!(store.find("s", 1).expect("read").is_some_and(|found| found.publish() == key.publish()));
    store.erase("s", 1);
    link(&victim, &path);
    store.erase("s", 1);
    assert!(fs::symlink_metadata(&path).is_err());
    assert_eq!(fs::read_to_string(&victim).expect("untouched"), SECRET);

    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    link(&elsewhere, dir.path().join("linked"));
    let store = KeyStore::new(Disk::default(), &dir.path().join("linked"));
    assert!(store.keep("s", 1, &key).expect_err("a link").to_string().contains("it is a link"));
    assert!(is_empty(&elsewhere));
}

#[test]
fn a_session_is_not_written_through_a_link() {
    let desk = Desk::with(&TABLE.replace("model: lab/m", "model: rehearsal"));
    desk.run(["--batch", "decide.yaml", "--save", "real.s2s"]).code(4);
    let before = desk.read("real.s2s");
    link(desk.path("real.s2s"), desk.path("link.s2s"));
    desk.write("answers.yaml", "ok: {approved: true}");
    desk.run(["resume", "link.s2s", "--answers", "answers.yaml"]).code(2).tells("it is a link");
    assert_eq!(desk.read("real.s2s"), before);
    // Reading a link is allowed; a new file is never written through one.
    desk.run(["verify", "link.s2s"]).code(0);
    link(desk.path("caught"), desk.path("new.s2s"));
    desk.run(["--batch", "decide.yaml", "--save", "new.s2s"]).code(2);
    link(desk.path("caught"), desk.path("report.md"));
    desk.run(["report", "real.s2s", "-o", "report.md"]);
    assert!(!desk.path("caught").exists());
    // Torn bytes are not saved through a link either.
    desk.write("real.s2s", format!("{before}---\nseq: "));
    symlink(desk.path("caught"), desk.path(&format!("real.s2s.torn-{}", before.len()))).expect("a link");
    desk.run(["resume", "real.s2s", "--answers", "answers.yaml"]).code(3);
    assert!(!desk.path("caught").exists());
}

#[test]
fn a_folder_of_sessions_that_leads_out_is_not_written_to_and_pipes_hold_nobody_up() {
    let desk = Desk::with(&TABLE.replace("model: lab/m", "model: rehearsal"));
    let outside = tempfile::tempdir().expect("a folder");
    fs::create_dir(desk.path(".s2s")).expect("a folder");
    link(outside.path(), desk.path(".s2s/sessions"));
    desk.run(["--batch", "decide.yaml"]).code(2).tells("is outside the project");
    assert!(is_empty(outside.path()));

    fs::remove_file(desk.path(".s2s/sessions")).expect("a link");
    fs::create_dir(desk.path(".s2s/sessions")).expect("a folder");
    desk.run(["--batch", "decide.yaml", "--save", "real.s2s"]).code(4);
    link(desk.path("real.s2s"), desk.path(".s2s/sessions/linked.s2s"));
    fs::create_dir(desk.path(".s2s/personas")).expect("a folder");
    let pipes = [".s2s/sessions/pipe.s2s", ".s2s/personas/pipe.md"].map(|pipe| desk.path(pipe));
    assert!(Command::new("mkfifo").args(pipes).status().expect("mkfifo").success());
    desk.run(["personas"]).code(0).tells("pipe.md: it is a pipe");
    let listed = desk.run(["sessions"]).code(0);
    assert!(!listed.out.contains("linked") && !listed.out.contains("pipe"), "{}", listed.out);
    desk.run(["resume", ".s2s/sessions/pipe.s2s"]).code(2).tells("it is a pipe");
}

struct Project {
    desk: Desk,
    outside: tempfile::TempDir,
}

impl Project {
    fn new(definition: &str) -> Self {
        let desk = Desk::with(definition);
        let outside = tempfile::tempdir().expect("a folder");
        fs::create_dir(desk.path(".s2s")).expect("a folder");
        fs::write(outside.path().join("secret.md"), SECRET).expect("a file");
        Self { desk, outside }
    }

    fn secret(&self) -> PathBuf {
        self.outside.path().join("secret.md")
    }

    #[track_caller]
    fn refuses(&self, args: &[&str]) {
        let ran = self.desk.run(args).code(2);
        ran.tells("is outside the project");
        assert!(!ran.err.contains(SECRET) && !ran.out.contains(SECRET), "{args:?}");
    }
}

#[test]
fn context_and_tasks_that_lead_out_are_not_read() {
    let project = Project::new("question: \"Which?\"\n");
    link(project.secret(), project.desk.path(".s2s/CONTEXT.md"));
    project.refuses(&["snapshot", "decide.yaml"]);
    project.refuses(&["--batch", "--dry-run", "decide.yaml"]);
    assert_ne!(project.desk.run(["--batch", "decide.yaml"]).code, 0);
    // Tasks outside the project are ignored with a warning.
    let project = Project::new("question: \"Which?\"\n");
    link(project.secret(), project.desk.path(".s2s/tasks.yaml"));
    for args in [&["snapshot", "decide.yaml"][..], &["--batch", "--dry-run", "decide.yaml"]] {
        let ran = project.desk.run(args).code(0);
        assert!(!format!("{}{}", ran.out, ran.err).contains(SECRET), "{}{}", ran.out, ran.err);
        ran.tells("is outside the project");
    }
    // A link inside the project is allowed.
    let project = Project::new("question: \"Which?\"\n");
    project.desk.write("NOTES.md", "A shop.\n");
    link("../NOTES.md", project.desk.path(".s2s/CONTEXT.md"));
    assert!(project.desk.run(["snapshot", "decide.yaml"]).code(0).out.contains("A shop."));
    project.desk.write("NOTES.md", "A shop.\nUse `<!--` here.\n");
    project.desk.run(["check", "decide.yaml"]).code(2).shows("unclosed `<!--` in line 2");
}

#[test]
fn paths_of_a_definition_that_lead_out_are_refused() {
    let project = Project::new("question: q\n");
    let folder = arg(project.outside.path());
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/sessions/context-passing.s2s");
    fs::copy(shipped, project.outside.path().join("old.s2s")).expect("a copy");
    link(project.outside.path(), project.desk.path("inside"));
    for place in [&*folder, "inside"] {
        let seat = format!("{{name: abe, model: \"recorded/{place}/old.s2s\", prompt: \"You paint.\"}}");
        let step = "{id: a, type: agent, agent: abe, prompt: Go.}";
        project.desk.write("recorded.yaml", format!("participants: [{seat}]\nsteps: [{step}]\n"));
        project.refuses(&["--batch", "recorded.yaml"]);
    }
    // A linked session outside is not handed over, and a message says so.
    let old =
        format!("{{id: l, fromId: \"{folder}/old.s2s\", toId: linked, type: basic, createdAt: 2026-01-01}}");
    project.desk.write("linked.yaml", format!("question: q\nlinks: [{old}]\n"));
    let linked = project.desk.run(["--batch", "linked.yaml", "--model", "rehearsal"]);
    linked.tells("is outside the project").tells("nothing of it");
    // Paths on the command line are the person's choice.
    let old = format!("recorded/{folder}/old.s2s");
    let by_flag = project.desk.run(["--batch", "--dry-run", "decide.yaml", "--model", &old]);
    assert!(!by_flag.err.contains("outside the project"), "{}", by_flag.err);
}

#[test]
fn personas_are_read_from_their_folders_alone() {
    let project = Project::new("question: q\nparticipants: [sneaky]\n");
    fs::write(project.secret(), format!("---\nname: sneaky\ndescription: d\n---\n{SECRET}\n"))
        .expect("a file");
    fs::create_dir(project.desk.path(".s2s/personas")).expect("a folder");
    link(project.secret(), project.desk.path(".s2s/personas/sneaky.md"));
    let refused = project.desk.run(["--batch", "decide.yaml"]).code(2);
    refused.tells("sneaky.md").tells("leads out of the persona folder");
    assert_eq!((refused.out.as_str(), project.desk.sessions().len()), ("", 0));
}
