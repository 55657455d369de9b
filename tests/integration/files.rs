//! Files and folders: what the program writes is its owner's alone, it writes through no link, and
//! no file of a project leads it out of the project.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use roundtable::journal::{Disk, KeyStore};
use roundtable::round::seal::RoundKey;

use crate::patience::{NEVER, Patient as _, wait_for};
use crate::program::{Desk, KEY, Ran, arg, ran};
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

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

/// Every folder and file below the desk and the home that was not there before.
fn made(desk: &Desk, before: &[PathBuf]) -> Vec<PathBuf> {
    let mut todo = vec![desk.path(""), desk.home()];
    let mut found = Vec::new();
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path.clone());
            }
            if !before.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

#[track_caller]
fn all_owner_only(paths: &[PathBuf]) {
    for path in paths {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), wanted, "{} is {:o}", path.display(), mode(path));
    }
}

/// Runs the program where nothing is left out of the modes that it asks for.
fn unmasked(desk: &Desk, args: &[&str]) -> Command {
    let plain = desk.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(plain.get_program()).args(args);
    command.current_dir(desk.path("")).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn all_that_is_written_is_its_owners_alone() {
    let server = Server::start(|request| match request.seat().as_str() {
        "first" => Answer::chat("vote: red"),
        _ => Answer::chat("vote: red").after(NEVER),
    });
    let desk = Desk::with(TABLE).served_by(&server).set("ROUNDTABLE_LOG", "debug.log");
    desk.write("tight.yaml", TABLE.replace("model: lab/m", "model: rehearsal"));
    let before = made(&desk, &[]);
    let run = |args: &[&str]| ran(unmasked(&desk, args).output_soon().expect("it runs"));
    assert_eq!(run(&["init"]).code, 0);
    assert_eq!(run(&["--batch", "tight.yaml"]).code, 4);
    let session = desk.session();
    let torn = fs::read(&session).expect("the session");
    fs::write(&session, [&torn[..], b"---\nseq: "].concat()).expect("torn");
    assert_eq!(run(&["--batch", &arg(&session)]).code, 4);
    for format in ["md", "html", "csv", "json", "madr"] {
        let report = ["report", &arg(&session), "--format", format, "-o", &format!("r.{format}")];
        let even = (format == "madr").then_some("--even-undecided");
        assert_eq!(run(&report.into_iter().chain(even).collect::<Vec<_>>()).code, 0);
    }
    // With a round open there is its key, too.
    let mut child =
        unmasked(&desk, &["--batch", "decide.yaml", "--save", "new/open.s2s"]).start().expect("it starts");
    let keys = desk.home().join("state/keys");
    let is_key = |entry: &fs::DirEntry| entry.path().extension() == Some("key".as_ref());
    wait_for("a key", || fs::read_dir(&keys).ok()?.flatten().find(is_key));
    let found = made(&desk, &before);
    child.kill().expect("killed");
    child.wait().expect("ended");
    let names: Vec<String> =
        found.iter().map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    for wanted in
        ["sessions", "CONTEXT.md", "config.yaml", "keys", "debug.log", "open.s2s", "new", "r.html", "r.csv"]
    {
        assert!(names.iter().any(|name| name == wanted), "{wanted}: {names:?}");
    }
    assert!(names.iter().any(|name| name.contains(".1.key")), "{names:?}");
    assert!(names.iter().any(|name| name.contains(".torn-")), "{names:?}");
    all_owner_only(&found);
    for path in found.iter().filter(|path| path.is_file()) {
        let text = String::from_utf8_lossy(&fs::read(path).expect("a file")).into_owned();
        assert!(!text.contains(KEY), "{}", path.display());
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
    // The folder was open to others: it is not afterwards.
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o777)).expect("a mode");
    symlink(&victim, keys.join("s.1.key")).expect("a link");
    symlink(&victim, keys.join("s.1.key.new")).expect("a link");
    assert!(store.find("s", 1).expect_err("a link").to_string().contains("it is a link"));
    store.keep("s", 1, &key).expect("kept");
    assert_eq!(mode(&keys), 0o700);
    let path = keys.join("s.1.key");
    assert!(fs::symlink_metadata(&path).expect("it").is_file() && mode(&path) == 0o600);
    assert!(store.find("s", 1).expect("read").is_some_and(|found| found.publish() == key.publish()));
    store.erase("s", 1).expect("erased");
    symlink(&victim, &path).expect("a link");
    store.erase("s", 1).expect("the link is gone");
    assert!(fs::symlink_metadata(&path).is_err());
    assert_eq!(fs::read_to_string(&victim).expect("untouched"), SECRET);

    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    symlink(&elsewhere, dir.path().join("linked")).expect("a link");
    let store = KeyStore::new(Disk::default(), &dir.path().join("linked"));
    assert!(store.keep("s", 1, &key).expect_err("a link").to_string().contains("it is a link"));
    assert_eq!(fs::read_dir(&elsewhere).expect("it").count(), 0);
}

#[test]
fn a_session_is_not_written_through_a_link() {
    let desk = Desk::with(&TABLE.replace("model: lab/m", "model: rehearsal"));
    desk.run(["--batch", "decide.yaml", "--save", "real.s2s"]).code(4);
    let before = desk.read("real.s2s");
    symlink(desk.path("real.s2s"), desk.path("link.s2s")).expect("a link");
    let answers = "ok: {approved: true}";
    desk.write("answers.yaml", answers);
    desk.run(["resume", "link.s2s", "--answers", "answers.yaml"]).code(2).tells("it is a link");
    assert_eq!(desk.read("real.s2s"), before);
    // To look is free, and a new file goes through no link that waits for it.
    desk.run(["verify", "link.s2s"]).code(0);
    symlink(desk.path("caught"), desk.path("new.s2s")).expect("a link");
    desk.run(["--batch", "decide.yaml", "--save", "new.s2s"]).code(2);
    symlink(desk.path("caught"), desk.path("report.md")).expect("a link");
    desk.run(["report", "real.s2s", "-o", "report.md"]);
    assert!(!desk.path("caught").exists());
    // What was torn off is not written through one either.
    fs::write(desk.path("real.s2s"), format!("{before}---\nseq: ")).expect("torn");
    symlink(desk.path("caught"), desk.path(&format!("real.s2s.torn-{}.new", before.len()))).expect("a link");
    desk.run(["resume", "real.s2s", "--answers", "answers.yaml"]).code(3);
    assert!(!desk.path("caught").exists());
}

#[test]
fn a_folder_of_sessions_that_leads_out_is_not_written_to_and_pipes_hold_nobody_up() {
    let desk = Desk::with(&TABLE.replace("model: lab/m", "model: rehearsal"));
    let outside = tempfile::tempdir().expect("a folder");
    fs::create_dir(desk.path(".s2s")).expect("a folder");
    symlink(outside.path(), desk.path(".s2s/sessions")).expect("a link");
    desk.run(["--batch", "decide.yaml"]).code(2).tells("is outside the project");
    assert_eq!(fs::read_dir(outside.path()).expect("it").count(), 0);

    fs::remove_file(desk.path(".s2s/sessions")).expect("a link");
    fs::create_dir(desk.path(".s2s/sessions")).expect("a folder");
    desk.run(["--batch", "decide.yaml", "--save", "real.s2s"]).code(4);
    symlink(desk.path("real.s2s"), desk.path(".s2s/sessions/linked.s2s")).expect("a link");
    let piped = Command::new("mkfifo").arg(desk.path(".s2s/sessions/pipe.s2s")).status().expect("mkfifo");
    assert!(piped.success());
    let listed = desk.run(["sessions"]).code(0);
    assert!(!listed.out.contains("linked") && !listed.out.contains("pipe"), "{}", listed.out);
}

/// A desk with a secret beside it, and one inside.
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

    fn run(&self, args: &[&str]) -> Ran {
        self.desk.run(args)
    }

    #[track_caller]
    fn refuses(&self, args: &[&str]) {
        let ran = self.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        ran.tells("is outside the project");
        ran.tells("ROUNDTABLE_ALLOWED_DIRS");
        assert!(!ran.err.contains(SECRET) && !ran.out.contains(SECRET), "{args:?}");
    }

    /// The same, with the folder outside allowed.
    fn allowed(self) -> Self {
        let folder = self.outside.path().canonicalize().expect("it");
        Self { desk: self.desk.set("ROUNDTABLE_ALLOWED_DIRS", &arg(&folder)), ..self }
    }
}

#[test]
fn context_and_tasks_that_lead_out_are_not_read() {
    let project = Project::new("question: \"Which?\"\n");
    symlink(project.secret(), project.desk.path(".s2s/CONTEXT.md")).expect("a link");
    project.refuses(&["snapshot", "decide.yaml"]);
    project.refuses(&["--batch", "--dry-run", "decide.yaml"]);
    assert_ne!(project.run(&["--batch", "decide.yaml"]).code, 0);
    // Tasks that are not read stop nothing.
    let project = Project::new("question: \"Which?\"\n");
    symlink(project.secret(), project.desk.path(".s2s/tasks.yaml")).expect("a link");
    for args in [&["snapshot", "decide.yaml"][..], &["--batch", "--dry-run", "decide.yaml"]] {
        let ran = project.run(args).code(0);
        assert!(!format!("{}{}", ran.out, ran.err).contains(SECRET), "{}{}", ran.out, ran.err);
        ran.tells("is outside the project");
    }
    let project = Project::new("question: \"Which?\"\n");
    symlink(project.secret(), project.desk.path(".s2s/CONTEXT.md")).expect("a link");
    project.allowed().run(&["snapshot", "decide.yaml"]).code(0).shows(SECRET);
    // A link that stays inside is none of it.
    let project = Project::new("question: \"Which?\"\n");
    project.desk.write("NOTES.md", "A shop.\n");
    symlink("../NOTES.md", project.desk.path(".s2s/CONTEXT.md")).expect("a link");
    assert!(project.run(&["snapshot", "decide.yaml"]).code(0).out.contains("A shop."));
}

#[test]
fn paths_of_a_definition_that_lead_out_are_refused() {
    let seat = |more: &str| {
        format!(
            "participants: [{{name: abe, {more}}}]\nsteps:\n  - {{id: a, type: agent, agent: abe, prompt: \"Go.\"}}\n"
        )
    };
    let project = Project::new("question: q\n");
    let folder = arg(project.outside.path());
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/context-passing.s2s"),
        project.outside.path().join("old.s2s"),
    )
    .expect("a copy");
    symlink(project.outside.path(), project.desk.path("inside")).expect("a link");
    for (name, text) in [
        ("recorded", seat(&format!("model: \"recorded/{folder}/old.s2s\", prompt: \"You paint.\""))),
        ("recorded-link", seat("model: recorded/inside/old.s2s, prompt: \"You paint.\"")),
    ] {
        project.desk.write(&format!("{name}.yaml"), text);
        project.refuses(&["--batch", &format!("{name}.yaml")]);
    }
    // Of a linked session nothing is handed over, and that is said.
    let linked = format!(
        "question: \"Which?\"\nlinks: [{{id: l, fromId: \"{folder}/old.s2s\", toId: linked, type: basic, createdAt: 2026-01-01}}]\n"
    );
    project.desk.write("linked.yaml", linked);
    let told = project.run(&["--batch", "linked.yaml", "--model", "rehearsal"]);
    told.tells("is outside the project").tells("nothing of it");
    assert!(!told.err.contains("linked: "), "{}", told.err);
    // What a person names on the command line is theirs; so is what they allow.
    let by_flag = project.run(&[
        "--batch",
        "--dry-run",
        "decide.yaml",
        "--model",
        &format!("recorded/{folder}/old.s2s"),
    ]);
    assert!(!by_flag.err.contains("outside the project"), "{}", by_flag.err);
    let project = project.allowed();
    project.run(&["--batch", "linked.yaml", "--model", "rehearsal"]).tells("linked: ");
}

#[test]
fn personas_are_read_from_their_folders_alone() {
    let project = Project::new("question: q\nparticipants: [sneaky]\n");
    fs::write(project.secret(), format!("---\nname: sneaky\ndescription: d\n---\n{SECRET}\n"))
        .expect("a file");
    fs::create_dir(project.desk.path(".s2s/personas")).expect("a folder");
    symlink(project.secret(), project.desk.path(".s2s/personas/sneaky.md")).expect("a link");
    let refused = project.run(&["--batch", "decide.yaml"]).code(2);
    refused.tells("leads out of the persona folder");
    for name in ["../secret", "/etc/passwd", "..%2fsecret", "personas/sneaky"] {
        let text = format!("question: q\nparticipants: [{{persona: \"{name}\", name: abe}}]\n");
        project.desk.write("other.yaml", text);
        let refused = project.run(&["--batch", "other.yaml"]).code(2);
        assert!(!refused.err.contains(SECRET) && !refused.err.contains("root:"), "{}", refused.err);
    }
}

#[test]
fn a_session_file_that_is_taken_away_under_way_is_never_called_saved() {
    for moved in [false, true] {
        let desk = Desk::new();
        let (file, away) = (desk.path("gone.s2s"), desk.path("elsewhere.s2s"));
        let server = Server::start(move |_| {
            let _ = if moved { fs::rename(&file, &away) } else { fs::remove_file(&file) };
            Answer::chat("vote: red")
        });
        let desk = desk.served_by(&server);
        desk.write("decide.yaml", TABLE);
        let ran = desk.run(["--batch", "decide.yaml", "--save", "gone.s2s"]).code(1);
        ran.tells("it was removed, moved or replaced meanwhile");
        assert!(!ran.err.contains("saved: ") && ran.out.is_empty(), "{}{}", ran.out, ran.err);
        if moved {
            desk.run(["resume", "elsewhere.s2s"]).code(4);
            desk.run(["verify", "elsewhere.s2s"]).code(0);
        }
    }
}
