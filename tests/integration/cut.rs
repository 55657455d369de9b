//! Interrupted sessions: files cut at every byte, 200 kills, simulated power cuts.
//!
//! Whole documents are read, torn bytes are set aside. No seat is asked twice, and the outcome is the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use roundtable::core::ExitCode;
use roundtable::history::{Event, SeatStatus, Session};
use roundtable::journal::{Disk, Journal, OpenJournalError, StorageOp, fold, read_log, verify};

use crate::cases;
use crate::oracle::Dice;
use crate::patience::{PATIENCE, pause};
use crate::program::{Desk, files_in, is_sound};
use crate::seats::{Diary, ONE_ROUND, Place, RoundOutcome, TWO_ROUNDS, WORKFLOW, outcome};
use crate::server::{Answer, Request, Server};

/// Returns the ends of the documents.
pub fn ends(bytes: &[u8]) -> Vec<usize> {
    let log = read_log(bytes).expect("whole");
    let mut ends = Vec::new();
    let mut at = 0;
    for line in &log.lines {
        let tail = format!("\nhash: {}\n", line.hash);
        let found = bytes[at..].windows(tail.len()).position(|window| window == tail.as_bytes());
        at += found.expect("every document has its hash") + tail.len();
        ends.push(at);
    }
    assert_eq!(at, bytes.len());
    ends
}

fn cut_to(dir: &Path, bytes: &[u8]) -> Place {
    let place = Place::new(Disk::default(), dir);
    std::fs::create_dir_all(place.file().parent().expect("a folder")).expect("made");
    std::fs::write(place.file(), bytes).expect("written");
    place
}

/// Reads the file cut at each of these bytes: everything up to the last whole document, no more.
fn reads_cut(bytes: &[u8], cuts: impl Iterator<Item = usize>) {
    let all = read_log(bytes).expect("whole");
    let ends = ends(bytes);
    for cut in cuts {
        let log = read_log(&bytes[..cut]).unwrap_or_else(|damage| panic!("cut at {cut}: {damage}"));
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let good = whole.checked_sub(1).map_or(0, |last| ends[last]);
        assert_eq!((log.good, log.torn), (good, cut - good), "cut at {cut}");
        assert_eq!(log.lines, all.lines[..whole], "cut at {cut}");
    }
}

#[test]
fn a_file_cut_at_every_byte_reads_up_to_its_last_whole_document() {
    let bytes = Place::finished(ONE_ROUND).bytes();
    let ends = ends(&bytes);
    // A sample takes every 31st byte, and all bytes near the ends of documents.
    let is_sampled = |cut: &usize| cut.is_multiple_of(31) || ends.iter().any(|end| end.abs_diff(*cut) < 3);
    reads_cut(&bytes, (0..=bytes.len()).filter(|cut| cases(is_sampled(cut), true)));
}

#[test]
fn a_cut_file_is_repaired_and_reaches_the_same_outcome() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = Place::finished(TWO_ROUNDS);
    let (bytes, expected) = (place.bytes(), outcome(&place.session()));
    let ends = ends(&bytes);
    // Every document's end, and two places inside of every second document.
    let mut cuts: Vec<usize> = ends.clone();
    cuts.extend(ends.windows(2).step_by(2).flat_map(|pair| [pair[0] + 1, usize::midpoint(pair[0], pair[1])]));
    assert!(cuts.len() > 40, "{}", cuts.len());
    let mut lost_once = 0;
    for cut in cuts.into_iter().step_by(cases(4, 1)) {
        let place = cut_to(&dir.path().join(cut.to_string()), &bytes[..cut]);
        let good = ends.iter().copied().filter(|end| *end <= cut).max().expect("the header is whole");
        let before = place.session();
        let ran = place.resume(false);
        if cut > good {
            let aside = place.file().with_file_name(format!("s.s2s.torn-{good}"));
            assert_eq!(std::fs::read(aside).expect("kept aside"), bytes[good..cut], "cut at {cut}");
        }
        let sealed = before.open_round().map_or(0, roundtable::history::RoundRun::sealed);
        if sealed > 0 {
            // The round had been closed before the cut, so its key is gone.
            lost_once += 1;
            assert_eq!(ran.done, Ok(ExitCode::Waiting), "cut at {cut}");
            let lost = place.session().open_round().expect("still open").key_lost.clone();
            assert_eq!(lost.len(), sealed);
            assert_eq!(place.resume(true).done, Ok(ExitCode::Finished), "cut at {cut}");
            let found = verify(&place.bytes(), None);
            let names = |note: &&String| lost.iter().all(|name| note.contains(name.as_str()));
            assert!(found.notes.iter().any(|note| names(&note)), "{:?}", found.notes);
        } else {
            assert_eq!(ran.done, Ok(ExitCode::Finished), "cut at {cut}");
        }
        let after = place.bytes();
        assert_eq!(after[..good], bytes[..good], "cut at {cut}: whole documents never change");
        assert_eq!(outcome(&place.session()), expected, "cut at {cut}");
        assert_eq!(verify(&after, None).findings, [], "cut at {cut}");
        let closed = read_log(&after).expect("whole").lines.pop().expect("an end");
        assert!(matches!(closed.stamped.event, Event::SessionClosed(_)));
    }
    assert!(lost_once > cases(0, 3));
}

#[test]
fn two_torn_writes_at_one_place_are_both_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = Place::finished(ONE_ROUND).bytes();
    let end = ends(&bytes)[1];
    let place = cut_to(&dir.path().join("s"), &[&bytes[..end], b"---\none"].concat());
    let torn = |bytes: &[u8]| {
        std::fs::write(place.file(), [&bytes[..end], b"---\nanother"].concat()).expect("written");
        Journal::open(&place.disk, &place.file()).expect("opens").torn.expect("torn")
    };
    let first = Journal::open(&place.disk, &place.file()).expect("opens").torn.expect("torn");
    let (second, again) = (torn(&bytes), torn(&bytes));
    assert_eq!(std::fs::read(first).expect("kept"), b"---\none");
    assert_eq!(std::fs::read(&second).expect("kept"), b"---\nanother");
    assert_eq!(second, again);
    assert_eq!(place.bytes(), bytes[..end]);
}

/// Power cuts and full disks leave such endings; this program never writes them.
#[test]
fn what_holds_no_whole_hash_line_is_torn_whatever_its_bytes() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = Place::finished(ONE_ROUND).bytes();
    let hash = format!("hash: {}", "0".repeat(64));
    let begun = &bytes[bytes.len() - 200..bytes.len() - 71];
    let tails: [&[u8]; 15] = [
        b"\0",
        &[0; 4096],
        b"\n",
        b"\n\n---\n",
        b"\r\n",
        b"-",
        b"x",
        b"\xff\xfe",
        b"hash: 00\n",
        hash.as_bytes(),
        &[b"---\nseq: 9\n".as_slice(), hash.as_bytes()].concat(),
        &[b"\0\0".as_slice(), hash.as_bytes(), b"\r\n"].concat(),
        begun,
        &[b"\0".as_slice(), begun].concat(),
        b" ",
    ];
    for (number, tail) in tails.iter().enumerate() {
        for end in [*ends(&bytes).last().expect("an end"), ends(&bytes)[2]] {
            let place = cut_to(&dir.path().join(format!("{number}-{end}")), &[&bytes[..end], *tail].concat());
            let log = read_log(&place.bytes()).expect("torn, not damaged");
            assert_eq!((log.good, log.torn), (end, tail.len()), "tail {number}");
            let opened = Journal::open(&place.disk, &place.file()).expect("opens");
            let kept = std::fs::read(opened.torn.expect("kept beside")).expect("kept");
            assert_eq!((kept.as_slice(), opened.log.torn), (*tail, tail.len()), "tail {number}");
            // The resumed session repeats the events of the last decision, byte for byte.
            let mended = place.bytes();
            assert!(mended.len() >= end && bytes.starts_with(&mended), "tail {number}");
        }
    }
}

#[test]
fn a_whole_document_that_does_not_fit_is_damage_wherever_it_stands() {
    let dir = tempfile::tempdir().expect("a folder");
    let bytes = Place::finished(ONE_ROUND).bytes();
    let ends = ends(&bytes);
    let last = &bytes[ends[ends.len() - 2]..];
    let hash = format!("hash: {}\n", "0".repeat(64)).into_bytes();
    let mut flipped = bytes.clone();
    flipped[ends[ends.len() - 2] + 20] ^= 1;
    let files = [
        [&bytes[..], last].concat(),
        [&bytes[..], &hash].concat(),
        [&bytes[..], b"\n", &hash].concat(),
        [&bytes[..], &[0; 100], b"\n", &hash].concat(),
        [&bytes[..], b"\0", last].concat(),
        [&bytes[..ends[1]], &bytes[ends[2]..]].concat(),
        [&bytes[..ends[1]], b"\n", &bytes[ends[1]..]].concat(),
        flipped,
    ];
    for (number, file) in files.iter().enumerate() {
        let place = cut_to(&dir.path().join(number.to_string()), file);
        assert!(read_log(file).is_err(), "file {number}");
        let opened = Journal::open(&place.disk, &place.file());
        assert!(matches!(opened, Err(OpenJournalError::Damage(_))), "file {number}");
        assert_eq!(place.bytes(), *file, "file {number}: nothing is cut");
        assert_eq!(std::fs::read_dir(place.file().parent().expect("a folder")).expect("listed").count(), 1);
    }
}

const DEFINITION: &str = "\
id: crash
goal: \"Pick one\"
participants:
  - {persona: software-architect, model: openai/test}
  - {persona: security-champion, model: openai/test}
  - {persona: product-manager, model: openai/test}
  - {persona: qa-lead, model: openai/test}
  - {persona: technical-lead, model: openai/test}
  - {persona: skeptic, model: openai/test}
steps:
  - {id: first, type: round, question: \"Which first?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
  - {id: second, type: round, question: \"Which then?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
";

struct Asked {
    seat: String,
    round: u32,
    /// Everything before the addressed lines.
    shared: String,
}

fn asked(request: &Request) -> Asked {
    let user = request.user_text();
    let (shared, _) = user.split_once("  your_role: ").expect("an address");
    let round = shared.lines().find_map(|line| line.strip_prefix("  current_round: ")).expect("a round");
    Asked { seat: request.seat(), round: round.parse().expect("a number"), shared: shared.to_owned() }
}

/// Starts a service whose answers depend only on seat and round, and take 0 to 30 ms.
fn service() -> (Server, Receiver<()>) {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let server = Server::start(move |request| {
        let Asked { seat, round, .. } = asked(request);
        let _ = tell.lock().expect("a sender").send(());
        let number = seat.bytes().map(u64::from).sum::<u64>() + u64::from(round);
        let vote = if ["skeptic", "qa-lead"].contains(&&*seat) { "beta" } else { "alpha" };
        let text = format!("vote: {vote}\nrationale: [\"{seat} in round {round}\"]\n");
        Answer::chat(&text).after(Duration::from_millis(number * 7 % 31))
    });
    (server, told)
}

struct Expected {
    shared: BTreeMap<u32, String>,
    outcome: Vec<RoundOutcome>,
}

fn undisturbed() -> Expected {
    let desk = Desk::with(DEFINITION);
    let (server, _told) = service();
    desk.hold(&server, &["decide.yaml", "--save", "s.s2s"]).code(0);
    let requests = server.requests();
    assert_eq!(requests.len(), 12);
    let mut shared = BTreeMap::new();
    for asked in requests.iter().map(asked) {
        assert_eq!(*shared.entry(asked.round).or_insert_with(|| asked.shared.clone()), asked.shared);
    }
    Expected { shared, outcome: outcome(&desk.state("s.s2s")) }
}

/// Returns whether a seat was settled at the kill, so that resuming must not ask it.
fn is_settled(session: &Session, asked: &Asked) -> bool {
    let round = session.rounds.iter().find(|round| round.opened.number == asked.round);
    round.is_some_and(|round| {
        round.closed.is_some()
            || round.seat(&asked.seat).is_some_and(|seat| matches!(seat.status, SeatStatus::Sealed(_)))
    })
}

/// Kills a run and resumes it; returns the number of sealed seats of the open round at the kill.
fn kill_and_resume(moment: usize, expected: &Expected) -> Option<usize> {
    let desk = Desk::with(DEFINITION);
    let (server, told) = service();
    let mut child = desk.begin(&server, &["decide.yaml", "--save", "s.s2s"]);
    // One in eight is killed before the first request, the others after it.
    let window = if moment.is_multiple_of(8) {
        60
    } else {
        told.recv_timeout(PATIENCE).expect("a request");
        90
    };
    pause(Duration::from_micros(Dice(moment as u64).below(window * 1000) as u64));
    child.kill().expect("killed");
    child.wait().expect("gone");
    drop(server);

    let (server, _told) = service();
    let bytes = std::fs::read(desk.path("s.s2s")).unwrap_or_default();
    let log = read_log(&bytes).unwrap_or_else(|damage| panic!("moment {moment}: {damage}"));
    if log.lines.is_empty() {
        desk.hold(&server, &["s.s2s"]).code(2);
        desk.hold(&server, &["decide.yaml", "--save", "anew.s2s"]).code(0);
        return None;
    }
    let at_kill = roundtable::journal::fold(&log);
    desk.hold(&server, &["s.s2s"]).code(0);
    let mut again = Vec::new();
    for asked in server.requests().iter().map(asked) {
        assert!(!is_settled(&at_kill, &asked), "moment {moment}: {} is asked again", asked.seat);
        assert_eq!(expected.shared.get(&asked.round), Some(&asked.shared), "moment {moment}");
        again.push((asked.seat, asked.round));
    }
    let count = again.len();
    again.sort();
    again.dedup();
    assert_eq!(again.len(), count, "moment {moment}: asked twice after the kill");
    let after = desk.bytes("s.s2s");
    assert_eq!(after[..log.good], bytes[..log.good], "moment {moment}: whole documents never change");
    assert_eq!(outcome(&desk.state("s.s2s")), expected.outcome, "moment {moment}");
    is_sound(&after);
    assert_eq!(desk.keys(), Vec::<std::path::PathBuf>::new(), "moment {moment}");
    at_kill.open_round().map(roundtable::history::RoundRun::sealed)
}

#[test]
fn a_session_killed_at_any_moment_comes_to_the_same_end() {
    let moments = cases(16, 200);
    let expected = undisturbed();
    let next = AtomicUsize::new(0);
    let open = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let moment = next.fetch_add(1, Ordering::SeqCst);
                    if moment >= moments {
                        return;
                    }
                    if let Some(sealed) = kill_and_resume(moment, &expected) {
                        open.lock().expect("a list").push(sealed);
                    }
                }
            });
        }
    });
    let open = open.into_inner().expect("a list");
    let between = open.iter().filter(|sealed| (1..6).contains(*sealed)).count();
    assert!(open.len() > cases(1, 50), "only {} kills hit an open round", open.len());
    assert!(between >= cases(0, 20), "only {between} kills hit a round with some of its seats sealed");
}

pub type Tree = BTreeMap<PathBuf, Vec<u8>>;

struct Moment {
    op: StorageOp,
    path: PathBuf,
    files: Tree,
    shown: usize,
}

pub fn files(dir: &Path) -> Tree {
    let read = |path: PathBuf| (path.clone(), fs::read(path).expect("readable"));
    files_in(dir).into_iter().map(read).collect()
}

fn recorded(dir: &Path) -> (Place, Vec<Moment>, Vec<String>) {
    let moments: Arc<Mutex<Vec<Moment>>> = Arc::default();
    let diary = Diary::default();
    let gate = {
        let (moments, diary, dir) = (Arc::clone(&moments), diary.clone(), dir.to_owned());
        move |op: StorageOp, path: &Path| {
            let shown = diary.entries().iter().filter(|entry| *entry == "shown").count();
            let moment = Moment { op, path: path.to_owned(), files: files(&dir), shown };
            moments.lock().unwrap_or_else(PoisonError::into_inner).push(moment);
            None
        }
    };
    let place = Place { diary, ..Place::new(Disk::with_injector(Arc::new(gate)), dir) };
    let ran = place.start(WORKFLOW);
    assert_eq!(ran.done, Ok(ExitCode::Finished));
    let moments = std::mem::take(&mut *moments.lock().unwrap_or_else(PoisonError::into_inner));
    (place, moments, ran.seen.into_iter().map(|line| line.hash).collect())
}

/// A disk: current names and contents, and those that survive a power cut at least.
#[derive(Default)]
struct Model {
    names: BTreeMap<PathBuf, usize>,
    kept_names: BTreeMap<PathBuf, usize>,
    contents: Vec<Vec<u8>>,
    kept_contents: Vec<Vec<u8>>,
}

impl Model {
    /// Applies an operation; `after` is the tree after it.
    fn done(&mut self, op: StorageOp, path: &Path, after: &Tree) {
        let now = |path: &Path| after.get(path).cloned().unwrap_or_default();
        match op {
            StorageOp::Open if !self.names.contains_key(path) && after.contains_key(path) => {
                self.names.insert(path.to_owned(), self.contents.len());
                self.contents.push(Vec::new());
                self.kept_contents.push(Vec::new());
            }
            StorageOp::Open | StorageOp::Write | StorageOp::Truncate => {
                if let Some(file) = self.names.get(path) {
                    self.contents[*file] = now(path);
                }
            }
            StorageOp::Sync => {
                let file = self.names[path];
                self.kept_contents[file].clone_from(&self.contents[file]);
            }
            StorageOp::Rename => {
                let start = format!("{}.", path.display());
                let is_beside = |name: &&PathBuf| {
                    let name = name.to_string_lossy();
                    name.starts_with(&start) && name.ends_with(".new")
                };
                let beside = self.names.keys().find(is_beside).expect("renamed").clone();
                let file = self.names.remove(&beside).expect("renamed");
                self.names.insert(path.to_owned(), file);
            }
            StorageOp::SyncDir => {
                self.kept_names.retain(|name, _| name.parent() != Some(path));
                let inside = self.names.iter().filter(|(name, _)| name.parent() == Some(path));
                self.kept_names.extend(inside.map(|(name, file)| (name.clone(), *file)));
            }
            StorageOp::Remove => {
                // A key is overwritten and synced before its name is removed.
                if let Some(file) = self.names.remove(path) {
                    let zeros = vec![0; self.contents[file].len()];
                    (self.contents[file], self.kept_contents[file]) = (zeros.clone(), zeros);
                }
            }
            StorageOp::MakeDir | StorageOp::Lock | StorageOp::Read => {}
        }
    }

    fn outcomes(&self) -> Vec<Tree> {
        let mut found: Vec<Tree> = Vec::new();
        let mut offer = |names: &BTreeMap<PathBuf, usize>, contents: &[&Vec<u8>]| {
            let tree = names.iter().map(|(name, file)| (name.clone(), contents[*file].clone()));
            let tree: Tree = tree.collect();
            if !found.contains(&tree) {
                found.push(tree);
            }
        };
        let half = |(now, kept): (&Vec<u8>, &Vec<u8>)| match now.strip_prefix(&kept[..]) {
            Some(more) => [&kept[..], &more[..more.len() / 2]].concat(),
            None => kept.clone(),
        };
        let halves: Vec<Vec<u8>> = self.contents.iter().zip(&self.kept_contents).map(half).collect();
        for names in [&self.names, &self.kept_names] {
            for contents in [&self.contents, &self.kept_contents, &halves] {
                offer(names, &contents.iter().collect::<Vec<_>>());
            }
            // The content of one file may reach the disk before earlier writes of another.
            for early in 0..self.contents.len() {
                let mut mixed: Vec<&Vec<u8>> = self.kept_contents.iter().collect();
                mixed[early] = &self.contents[early];
                offer(names, &mixed);
            }
        }
        found
    }
}

pub fn laid_out(tree: &Tree, from: &Path, to: &Path) {
    for (path, bytes) in tree {
        let path = to.join(path.strip_prefix(from).expect("inside"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }
}

#[test]
fn whenever_the_power_fails_and_whatever_was_synced_first_nothing_shown_is_lost() {
    let dir = tempfile::tempdir().expect("a folder");
    let (expected, moments, shown) = recorded(&dir.path().join("clean"));
    let (mut model, mut cuts, mut in_round) = (Model::default(), 0, 0);
    for at in 0..moments.len() {
        let moment = &moments[at];
        let outcomes = if cases(at.is_multiple_of(3), true) { model.outcomes() } else { Vec::new() };
        for (way, tree) in outcomes.into_iter().enumerate() {
            let op = format!("{:?} {}", moment.op, moment.path.display());
            let what = format!("before operation {at} ({op}), way {way}");
            let place = Place::new(Disk::default(), &dir.path().join(format!("{at}-{way}")));
            laid_out(&tree, &expected.dir, &place.dir);
            let bytes = fs::read(place.file()).unwrap_or_default();
            let log = read_log(&bytes).unwrap_or_else(|damage| panic!("{what}: {damage}"));
            let held = log.lines.iter().map(|line| &line.hash).take(moment.shown);
            assert!(held.eq(&shown[..moment.shown]), "{what}: shown and not in the file");
            in_round += usize::from(fold(&log).open_round().is_some());
            place.reaches(WORKFLOW, &outcome(&expected.session()), &what);
            fs::remove_dir_all(&place.dir).expect("removed");
            cuts += 1;
        }
        let after = moments.get(at + 1).map_or_else(|| files(&expected.dir), |next| next.files.clone());
        model.done(moment.op, &moment.path, &after);
    }
    assert!(cuts > moments.len() / cases(3, 1) && in_round > cases(3, 10), "{cuts} {in_round}");
}
