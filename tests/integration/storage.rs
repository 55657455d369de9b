//! Failing storage: each operation fails once, nothing acknowledged is lost.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use roundtable::core::ExitCode;
use roundtable::journal::{Disk, InjectedFault, Journal, StorageOp, read_log, verify};

use crate::cases;
use crate::cut::{files, laid_out};
use crate::patience::{PATIENCE, pause};
use crate::program::{Desk, run};
use crate::seats::{Diary, ONE_ROUND, Place, Ran, WORKFLOW, outcome};
use crate::server::{Answer, Server};

struct Faulty {
    disk: Disk,
    ops: Arc<Mutex<Vec<StorageOp>>>,
}

fn faulty(at: usize, fault: fn() -> InjectedFault) -> Faulty {
    let count = AtomicUsize::new(0);
    let ops = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&ops);
    let gate = move |op: StorageOp, path: &Path| {
        // A round's key is read while the log is written, in any order.
        if op == StorageOp::Read && path.extension() == Some("key".as_ref()) {
            return None;
        }
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(op);
        (count.fetch_add(1, Ordering::SeqCst) == at).then(fault)
    };
    Faulty { disk: Disk::with_injector(Arc::new(gate)), ops }
}

fn ops(faulty: &Faulty) -> Vec<StorageOp> {
    faulty.ops.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn is_log(op: StorageOp, path: &Path) -> bool {
    op == StorageOp::Write && path.extension() == Some("s2s".as_ref())
}

fn full() -> InjectedFault {
    InjectedFault::Fail(ErrorKind::StorageFull)
}

/// Returns the possible faults of an operation: an error, or a partial write.
fn faults(op: StorageOp) -> Vec<fn() -> InjectedFault> {
    match op {
        StorageOp::Write => {
            vec![full, || InjectedFault::Tear(1), || InjectedFault::Tear(1500), || InjectedFault::Tear(9000)]
        }
        _ => vec![full],
    }
}

fn holds_what_was_shown(place: &Place, ran: &Ran, what: &str) {
    let Ok(bytes) = std::fs::read(place.file()) else {
        assert_eq!(ran.seen, [], "{what}: shown, and there is no file");
        return;
    };
    let log = read_log(&bytes).unwrap_or_else(|damage| panic!("{what}: {damage}"));
    let shown: Vec<&str> = ran.seen.iter().map(|line| line.hash.as_str()).collect();
    let written: Vec<&str> = log.lines.iter().map(|line| line.hash.as_str()).collect();
    let first = ran.seen.first().map_or(0, |line| line.seq as usize);
    let there = written.get(first..first + shown.len());
    assert_eq!(there, Some(&shown[..]), "{what}: shown and not in the file");
}

fn goes_on(dir: &Path, definition: &str, expected: &Place, what: &str) {
    let place = Place::new(Disk::default(), dir);
    place.reaches(definition, &outcome(&expected.session()), what);
    assert_eq!(place.keys(), Vec::<std::path::PathBuf>::new(), "{what}");
}

fn names_path_and_cause(message: &str, dir: &Path, what: &str) {
    let has_cause = ["no storage space", "write zero"].iter().any(|cause| message.contains(cause));
    assert!(has_cause && message.contains(&dir.display().to_string()), "{what}: {message}");
}

#[test]
fn any_operation_of_a_session_may_fail() {
    let dir = tempfile::tempdir().expect("a folder");
    let clean = faulty(usize::MAX, full);
    let expected = Place::new(clean.disk.clone(), &dir.path().join("clean"));
    assert_eq!(expected.start(WORKFLOW).done, Ok(ExitCode::Finished));
    let all = ops(&clean);
    let met: BTreeSet<String> = all.iter().map(|op| format!("{op:?}")).collect();
    for op in "MakeDir Open Lock Write Sync SyncDir Rename Remove".split(' ') {
        assert!(met.contains(op), "{op} is not part of a session");
    }
    // A sample takes the first operation of each kind, and every fourth of all.
    let is_sampled = |at: usize| at.is_multiple_of(4) || !all[..at].contains(&all[at]);
    for (at, op) in all.iter().enumerate().filter(|(at, _)| cases(is_sampled(*at), true)) {
        for (index, fault) in faults(*op).into_iter().enumerate() {
            let what = format!("operation {at} ({op:?}), fault {index}");
            let dir = dir.path().join(format!("{at}-{index}"));
            let faulty = faulty(at, fault);
            let place = Place::new(faulty.disk.clone(), &dir);
            let ran = place.start(WORKFLOW);
            assert_eq!(ops(&faulty)[..=at], all[..=at], "{what}: the operations are always the same");
            holds_what_was_shown(&place, &ran, &what);
            match (&ran.done, op) {
                (Ok(exit), StorageOp::Remove) => {
                    // The key is public by then, so its file may stay until later.
                    assert_eq!(*exit, ExitCode::Finished);
                    assert_eq!(place.keys().len(), 1, "{what}");
                }
                (Ok(_), _) => panic!("{what}: nothing was said"),
                (Err(message), _) => names_path_and_cause(message, &dir, &what),
            }
            goes_on(&dir, WORKFLOW, &expected, &what);
        }
    }
    for at in 0..4 {
        let (what, count) = (format!("read {at}"), AtomicUsize::new(0));
        let gate = move |op: StorageOp, _: &Path| {
            (op == StorageOp::Read && count.fetch_add(1, Ordering::SeqCst) == at).then(full)
        };
        let dir = dir.path().join(&what);
        let place = Place::new(Disk::with_injector(Arc::new(gate)), &dir);
        let ran = place.start(WORKFLOW);
        holds_what_was_shown(&place, &ran, &what);
        names_path_and_cause(&ran.done.expect_err("a key is not read"), &dir, &what);
        goes_on(&dir, WORKFLOW, &expected, &what);
    }
}

#[test]
fn nothing_is_shown_or_asked_before_it_is_on_disk() {
    let dir = tempfile::tempdir().expect("a folder");
    let diary = Diary::default();
    let gate = {
        let diary = diary.clone();
        move |op: StorageOp, path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.replace("20260101-000000-two-0000.", "");
            let beside = name.strip_suffix(".new").and_then(|name| name.rsplit_once('.'));
            diary.note(format!("{op:?} {}", beside.map_or(name.clone(), |(of, _)| format!("{of}.new"))));
            None
        }
    };
    let place = Place { diary: diary.clone(), ..Place::new(Disk::with_injector(Arc::new(gate)), dir.path()) };
    assert_eq!(place.start(ONE_ROUND).done, Ok(ExitCode::Finished));
    let entries = diary.entries();
    let first = |entry: &str| {
        let at = entries.iter().position(|found| found == entry);
        at.unwrap_or_else(|| panic!("no `{entry}` in {entries:?}"))
    };
    // The file's name, then its first document, then the first event that is shown.
    let opening = ["Open s.s2s", "Lock s.s2s", "SyncDir sessions", "Write s.s2s", "Sync s.s2s", "shown"];
    assert!(opening.map(first).is_sorted(), "{entries:?}");
    // The key is complete before anyone is asked, and removed only after the last event is on disk.
    let key = ["Write 1.key.new", "Sync 1.key.new", "Rename 1.key", "asked", "Remove 1.key"];
    assert!(key.map(first).is_sorted(), "{entries:?}");
    let after_rename = &entries[first("Rename 1.key")..first("asked")];
    assert!(after_rename.contains(&"SyncDir keys".to_owned()), "{entries:?}");
    // Every write is synced before the next event is shown or operation made.
    for (at, _) in entries.iter().enumerate().filter(|(_, entry)| *entry == "Write s.s2s") {
        let next = entries[at + 1..].iter().find(|entry| *entry != "asked");
        assert_eq!(next.map(String::as_str), Some("Sync s.s2s"), "{entries:?}");
    }
    let closing = &entries[..first("Remove 1.key")];
    assert_eq!(closing.last().map(String::as_str), Some("shown"), "the reveal is on disk: {entries:?}");
}

/// A file contains either an open round or all of its answers, however many seats it has.
#[test]
fn a_round_is_closed_and_revealed_in_one_write() {
    let count = cases(300, 1300);
    let dir = tempfile::tempdir().expect("a folder");
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let gate = {
        let sizes = Arc::clone(&sizes);
        move |op: StorageOp, path: &Path| {
            if is_log(op, path) {
                let size = std::fs::metadata(path).map_or(0, |file| file.len());
                sizes.lock().unwrap_or_else(PoisonError::into_inner).push(size as usize);
            }
            None
        }
    };
    let place = Place::new(Disk::with_injector(Arc::new(gate)), dir.path());
    let seats = (0..count).map(|n| format!("s{n}")).collect::<Vec<_>>().join(", ");
    let ran = place.start(&ONE_ROUND.replace("ann, bob, cyd", &seats));
    assert_eq!(ran.done, Ok(ExitCode::Finished));
    let bytes = std::fs::read(place.file()).expect("a file");
    let text = String::from_utf8(bytes.clone()).expect("text");
    let (close, last) = (text.find("\nevent: round_closed\n"), text.rfind("\nevent: answer_revealed\n"));
    let (close, last) = (close.expect("a close"), last.expect("an answer"));
    let sizes = sizes.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert_eq!(sizes.iter().filter(|begins| (close..last).contains(*begins)).count(), 0, "{sizes:?}");
    assert!(sizes.len() > 3, "answers come one after the other: {sizes:?}");
    assert_eq!(text.matches("\nevent: answer_revealed\n").count(), count);
    assert_eq!(verify(&bytes, None).findings, []);
    assert_eq!(place.keys(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_file_that_is_gone_moved_or_replaced_while_it_is_written_is_an_error() {
    type Away = fn(&Path);
    let aways: [(&str, Away); 3] = [
        ("removed", |path| std::fs::remove_file(path).expect("removed")),
        ("moved", |path| std::fs::rename(path, path.with_extension("moved")).expect("moved")),
        ("replaced", |path| {
            let copy = path.with_extension("copy");
            std::fs::copy(path, &copy).expect("copied");
            std::fs::rename(copy, path).expect("replaced");
        }),
    ];
    for (how, away) in aways {
        for at in [0, 1, 4] {
            let dir = tempfile::tempdir().expect("a folder");
            let writes = AtomicUsize::new(0);
            let gate = move |op: StorageOp, path: &Path| {
                if is_log(op, path) && writes.fetch_add(1, Ordering::SeqCst) == at {
                    away(path);
                }
                None
            };
            let place = Place::new(Disk::with_injector(Arc::new(gate)), dir.path());
            let error = place.start(ONE_ROUND).done.expect_err(how);
            assert!(error.contains("it was removed, moved or replaced meanwhile"), "{how}: {error}");
            assert!(error.contains(&place.file().display().to_string()), "{how}: {error}");
            assert_eq!(place.file().exists(), how == "replaced", "what is there now is not ours to remove");
        }
    }
}

#[test]
fn an_empty_file_is_taken_over_and_no_other() {
    let place = Place::fresh();
    std::fs::create_dir_all(place.file().parent().expect("a folder")).expect("made");
    std::fs::write(place.file(), "-").expect("written");
    assert!(place.start(ONE_ROUND).done.expect_err("not overwritten").contains("exists"));
    std::fs::write(place.file(), "").expect("written");
    let held = Disk::default().open_log(&place.file()).expect("opened");
    assert!(place.start(ONE_ROUND).done.expect_err("held").contains("has it open"));
    drop(held);
    assert_eq!(place.start(ONE_ROUND).done, Ok(ExitCode::Finished));
    let mode = std::os::unix::fs::PermissionsExt::mode;
    assert_eq!(mode(&std::fs::metadata(place.file()).expect("there").permissions()) & 0o777, 0o600);
}

/// After `kill -9`, the lock is released only when the process is gone.
#[test]
fn a_lock_that_is_about_to_go_is_waited_for() {
    let place = Place::fresh();
    assert_eq!(place.start(ONE_ROUND).done, Ok(ExitCode::Finished));
    let held = Disk::default().open_log(&place.file()).expect("opened");
    let (tell, told) = std::sync::mpsc::channel();
    let dying = std::thread::spawn(move || {
        let waits = told.recv_timeout(PATIENCE);
        pause(Duration::from_millis(300));
        drop(held);
        waits.expect("the lock is tried");
    });
    let gate = move |op: StorageOp, _: &Path| {
        if op == StorageOp::Lock {
            let _ = tell.send(());
        }
        None
    };
    let opened = Journal::open(&Disk::with_injector(Arc::new(gate)), &place.file());
    assert!(opened.is_ok(), "{:?}", opened.err());
    dying.join().expect("it let go");
}

#[test]
fn any_operation_of_a_resume_may_fail() {
    let dir = tempfile::tempdir().expect("a folder");
    let expected = Place::new(Disk::default(), &dir.path().join("clean"));
    assert_eq!(expected.start(ONE_ROUND).done, Ok(ExitCode::Finished));
    // A session torn in the middle of its second seal.
    let writes = Arc::new(AtomicUsize::new(0));
    let gate = {
        let writes = Arc::clone(&writes);
        move |op: StorageOp, path: &Path| {
            (is_log(op, path) && writes.fetch_add(1, Ordering::SeqCst) == 3)
                .then_some(InjectedFault::Tear(700))
        }
    };
    let torn = Place::new(Disk::with_injector(Arc::new(gate)), &dir.path().join("torn"));
    assert!(torn.start(ONE_ROUND).done.is_err());
    let session = torn.session();
    assert_eq!(session.rounds.last().expect("a round").sealed(), 1);
    assert_eq!(torn.keys().len(), 1);
    let bytes = std::fs::read(torn.file()).expect("a file");
    let tail = &bytes[read_log(&bytes).expect("torn, not damaged").good..];
    let is_kept = |dir: &Path| {
        let mut files = std::fs::read_dir(dir).expect("listed").map(|entry| entry.expect("an entry").path());
        files.any(|file| std::fs::read(file).is_ok_and(|bytes| bytes.ends_with(tail)))
    };

    let clean = faulty(usize::MAX, full);
    let copy = |to: &Path| laid_out(&files(&torn.dir), &torn.dir, to);
    copy(&dir.path().join("control"));
    let control = Place::new(clean.disk.clone(), &dir.path().join("control"));
    assert_eq!(control.resume(false).done, Ok(ExitCode::Finished));
    let all = ops(&clean);
    assert!(all.contains(&StorageOp::Truncate) && all.contains(&StorageOp::Read));
    for (at, op) in all.iter().enumerate() {
        for (index, fault) in faults(*op).into_iter().enumerate() {
            let what = format!("operation {at} ({op:?}), fault {index}");
            let dir = dir.path().join(format!("{at}-{index}"));
            copy(&dir);
            let place = Place::new(faulty(at, fault).disk, &dir);
            let ran = place.resume(false);
            holds_what_was_shown(&place, &ran, &what);
            assert!(is_kept(place.file().parent().expect("a folder")), "the torn write is lost: {what}");
            match &ran.done {
                Ok(exit) => assert_eq!((*exit, *op), (ExitCode::Finished, StorageOp::Remove), "{what}"),
                Err(message) => {
                    names_path_and_cause(message, &dir, &what);
                    goes_on(&dir, ONE_ROUND, &expected, &what);
                }
            }
        }
    }
}

const DEFINITION: &str = "\
goal: \"Pick one\"
participants: [{persona: qa-lead, model: openai/test, count: 5}]
steps:
  - {id: pick, type: round, question: \"Which?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
";

fn service() -> Server {
    Server::start(|_| Answer::chat("vote: alpha").after(Duration::from_millis(5)))
}

#[test]
fn a_place_that_cannot_be_written_to_is_named_before_anything_is_sent() {
    let (desk, server) = (Desk::with(DEFINITION), service());
    desk.write("file", "");
    for place in ["file/s.s2s", "file/deeper/s.s2s", "/proc/s.s2s", "/dev/null/s.s2s", "decide.yaml"] {
        desk.hold(&server, &["decide.yaml", "--save", place]).code(2).tells("hint: ");
    }
    assert_eq!(desk.read("decide.yaml"), DEFINITION);
    assert_eq!(server.requests().len(), 0);
}

/// Runs a shell on a small file system and returns its output; `None` if none can be mounted.
fn on_a_small_disk(size: &str, script: &str) -> Option<String> {
    let (desk, server) = (Desk::with(DEFINITION), service());
    let mount = format!("mkdir saved && mount -t tmpfs -o size={size} tmpfs saved || exit 77\n");
    let inner = "exec unshare --map-root-user --mount /bin/sh -c \"$1\"";
    let mut shell = desk.shell(inner, &[&(mount + script)]);
    shell.env("OPENAI_BASE_URL", server.url() + "/v1").env("PROGRAM", env!("CARGO_BIN_EXE_roundtable"));
    let ran = run(&mut shell);
    if ran.code == 0 {
        return Some(ran.out + &ran.err);
    }
    // The test runner captures the output of macros.
    let why = format!("NOT TESTED: no file system of {size} can be mounted here ({})\n", ran.code);
    std::io::Write::write_all(&mut std::io::stderr(), why.as_bytes()).expect("said");
    assert!(std::env::var_os("CI").is_none(), "{why}{ran:?}");
    None
}

#[cfg(target_os = "linux")]
#[test]
fn a_real_file_system_that_is_full_or_read_only_loses_nothing() {
    let script = "\
        \"$PROGRAM\" --batch decide.yaml --save saved/s.s2s 2>&1; echo first $?
        mount -o remount,size=8m saved
        test -e saved/s.s2s || \"$PROGRAM\" --batch decide.yaml --save saved/s.s2s --quiet > /dev/null
        \"$PROGRAM\" resume saved/s.s2s > /dev/null 2>&1; echo second $?
        \"$PROGRAM\" verify saved/s.s2s; echo third $?
        mount -o remount,ro saved
        \"$PROGRAM\" --batch decide.yaml --save saved/t.s2s 2>&1; echo fourth $?
        \"$PROGRAM\" verify saved/s.s2s > /dev/null; echo fifth $?\n";
    for size in ["4k", "16k", "28k"] {
        let Some(said) = on_a_small_disk(size, script) else { return };
        let (first, _) = said.split_once("first ").expect("run");
        assert!(first.contains("No space left") && first.contains("hint: "), "{size}: {said}");
        for word in ["first 1", "second 0", "third 0", "fourth 2", "fifth 0"] {
            assert!(said.contains(word), "{size}: {word}: {said}");
        }
        assert!(said.contains("Read-only file system"), "{size}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_file_that_does_not_fit_is_named_and_nothing_half_written_is_left() {
    let script = "\
        \"$PROGRAM\" --batch decide.yaml --save done.s2s > report.md 2> /dev/null
        head -c 1m /dev/zero > saved/filler 2> /dev/null; ls saved > before
        \"$PROGRAM\" report done.s2s > saved/stdout 2>&1; echo printed $?
        \"$PROGRAM\" report done.s2s 2>&1 > saved/filler2; echo plain $?
        rm -f saved/stdout saved/filler2
        \"$PROGRAM\" report done.s2s -o saved/report.md 2>&1; echo out $?
        ls saved | diff before - && echo nothing left
        head -c 1m /dev/zero >> saved/filler 2> /dev/null
        (cd saved && \"$PROGRAM\" init 2>&1); echo init $?
        find saved -name '*.new'\n";
    let Some(said) = on_a_small_disk("16k", script) else { return };
    for word in ["printed 1", "plain 1", "out 1", "nothing left", "init 1"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    for path in ["saved/filler2)", "saved/report.md", ".s2s"] {
        assert!(said.contains(path), "{path}: {said}");
    }
    assert!(!said.contains(".new"), "{said}");
}
