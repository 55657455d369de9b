//! The power fails before any operation of a session, on a disk that keeps what was synced and does
//! with the rest what it likes: nothing, half or all of a write, a new name before its content or
//! never. What was shown is in the file all the same, and going on comes to the same end.
//! Blocks of one write that arrive in another order are not played: see `docs/TRUST.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use roundtable::core::ExitCode;
use roundtable::journal::{Disk, StorageOp, fold, read_log};

use crate::cases;
use crate::program::files_in;
use crate::seats::{Diary, Place, WORKFLOW, outcome};

type Tree = BTreeMap<PathBuf, Vec<u8>>;

struct Moment {
    op: StorageOp,
    path: PathBuf,
    files: Tree,
    shown: usize,
}

fn files(dir: &Path) -> Tree {
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
    let place = Place { diary, ..Place::new(Disk::with_gate(Arc::new(gate)), dir) };
    let ran = place.start(WORKFLOW);
    assert_eq!(ran.done, Ok(ExitCode::Finished));
    let moments = std::mem::take(&mut *moments.lock().unwrap_or_else(PoisonError::into_inner));
    (place, moments, ran.seen.into_iter().map(|line| line.hash).collect())
}

/// A disk: names and contents as programs see them, and as they are after a power cut at the latest.
#[derive(Default)]
struct Model {
    names: BTreeMap<PathBuf, usize>,
    kept_names: BTreeMap<PathBuf, usize>,
    contents: Vec<Vec<u8>>,
    kept_contents: Vec<Vec<u8>>,
}

impl Model {
    /// Takes in an operation; `after` is how the files stand then.
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
                // A key is written over and synced before its name goes.
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
            // One file's content arrives before another's that was written earlier.
            for early in 0..self.contents.len() {
                let mut mixed: Vec<&Vec<u8>> = self.kept_contents.iter().collect();
                mixed[early] = &self.contents[early];
                offer(names, &mixed);
            }
        }
        found
    }
}

fn laid_out(tree: &Tree, from: &Path, to: &Path) {
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
            place.comes_to(WORKFLOW, &outcome(&expected.session()), &what);
            fs::remove_dir_all(&place.dir).expect("removed");
            cuts += 1;
        }
        let after = moments.get(at + 1).map_or_else(|| files(&expected.dir), |next| next.files.clone());
        model.done(moment.op, &moment.path, &after);
    }
    assert!(cuts > moments.len() / cases(3, 1) && in_round > cases(3, 10), "{cuts} {in_round}");
}
