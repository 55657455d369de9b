//! User's consent to what a project starts or redirects.
//!
//! Each consent is a file in the user's state. Its name is a hash of the project's path, argument vector,
//! variable names and address. The hash includes the content of the project files that the arguments name. After
//! a change, the user must consent again. If the arguments name no project file, as in `make`, consent lasts for
//! one run. Refusals are not stored.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::json;

use super::dirs::Dirs;
use super::need::{KeySource, Need, NeedKind};
use crate::diagnostic::Diagnostic;
use crate::journal::Disk;
use crate::participants::lock;
use crate::round::snapshot::sha256_hex;

/// Limit of a hashed file, in bytes; a command that names a larger one needs `--trust`.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Limit of files that a command names; with more of them, consent lasts for one run.
const MOST_FILES: usize = 2000;

#[derive(Debug, Default)]
pub struct Trust {
    /// Allows everything in this run.
    all: bool,
    project: PathBuf,
    /// Folder that program arguments are relative to.
    folder: PathBuf,
    kept: PathBuf,
    agreed: Mutex<HashSet<String>>,
}

impl Trust {
    /// Opens the consents of a project; with `all`, everything is allowed in this run.
    pub fn open(folders: &Dirs, all: bool) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self {
            all,
            project: real(&folders.project),
            folder: real(Path::new(".")),
            kept: folders.state.join("agreed"),
            agreed: Mutex::default(),
        }
    }

    /// Returns trust in everything, for previews that start and send nothing.
    pub fn for_preview() -> Self {
        Self { all: true, ..Self::default() }
    }

    pub fn allows(&self, need: &Need) -> bool {
        if need.named_by.is_none() || self.all {
            return true;
        }
        let Some(print) = self.fingerprint(need) else { return false };
        let is_agreed = lock(&self.agreed).contains(&print);
        is_agreed || Disk::default().read_own(&self.path(&print), 1).is_ok()
    }

    pub fn unagreed(&self, needs: Vec<Need>) -> Vec<Need> {
        needs.into_iter().filter(|need| !self.allows(need)).collect()
    }

    pub fn check(&self, need: &Need) -> Result<(), Diagnostic> {
        let file = need.named_by.as_deref().unwrap_or_default();
        if self.allows(need) {
            return Ok(());
        }
        let problem = Diagnostic::new(format!("nobody has agreed to this yet: it {}", need.description()));
        let hint = "look at it first; --trust agrees for this run, the screen asks and keeps the answer";
        Err(problem.with_file(file).hint(hint))
    }

    /// Returns an error for each need without consent.
    pub fn check_all(&self, needs: &[Need]) -> Result<(), Vec<Diagnostic>> {
        let problems: Vec<Diagnostic> = needs.iter().filter_map(|need| self.check(need).err()).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Records consent for this run.
    pub fn agree(&self, needs: &[Need]) {
        let prints = needs.iter().filter_map(|need| self.fingerprint(need));
        lock(&self.agreed).extend(prints);
    }

    /// Stores consent for this project.
    pub fn keep(&self, needs: &[Need]) -> Result<(), Diagnostic> {
        self.agree(needs);
        let disk = Disk::default();
        let kept =
            |error: crate::journal::DiskError| Diagnostic::new(format!("the answer is not kept: {error}"));
        for need in needs.iter().filter(|need| need.named_by.is_some() && self.lasts(need)) {
            let Some(print) = self.fingerprint(need) else { continue };
            let text = format!("{}\n{}\n", self.project.display(), need.description_with_file());
            disk.make_own_dir(&self.kept).map_err(kept)?;
            disk.write_whole(&self.path(&print), text.as_bytes()).map_err(kept)?;
        }
        Ok(())
    }

    fn path(&self, print: &str) -> PathBuf {
        self.kept.join(print)
    }

    /// Returns true if consent can be stored, because a changed file would be noticed.
    fn lasts(&self, need: &Need) -> bool {
        let (command, folder) = match &need.what {
            NeedKind::Program { command, folder, .. } => (command, folder.as_deref()),
            NeedKind::Service { key: KeySource::Command(command), .. } => (command, None),
            NeedKind::Service { .. } | NeedKind::Secret { .. } | NeedKind::Price { .. } => return true,
        };
        let files = self.files(command, folder);
        files.is_some_and(|files| !files.is_empty()) && !finds_its_own(command)
    }

    /// Returns the hash that identifies a consent; `None` if a file that it names cannot be read.
    fn fingerprint(&self, need: &Need) -> Option<String> {
        let what = match &need.what {
            NeedKind::Program { command, folder, env } => {
                json!(["program", command, folder, env, self.files(command, folder.as_deref())?])
            }
            NeedKind::Secret { source, secret } => json!(["secret", source, secret.sha256]),
            NeedKind::Price { model, price } => json!(["price", model, price]),
            NeedKind::Service { provider, address, key } => {
                let key = match key {
                    KeySource::Nowhere => json!([]),
                    KeySource::Variables(names) => json!(["variables", names]),
                    KeySource::Command(command) => json!(["command", command, self.files(command, None)?]),
                };
                json!(["service", provider, address, key])
            }
        };
        let path = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        Some(sha256_hex(json!([path(&self.project), path(&self.folder), what]).to_string()))
    }

    /// Returns the project files that a command names, with content hashes. A name may be a whole argument or
    /// part of one, and a folder means all its files. `None` if a file cannot be read; empty if there are too
    /// many.
    fn files(&self, command: &[String], folder: Option<&str>) -> Option<BTreeMap<String, String>> {
        let folder = folder.map_or(self.folder.clone(), |folder| self.folder.join(folder));
        let is_end = |c: char| c.is_whitespace() || "\"'`=:;,&|()<>{}$".contains(c);
        let parts = command.iter().flat_map(|word| std::iter::once(word.as_str()).chain(word.split(is_end)));
        let beside = parts.filter(|part| !part.is_empty()).map(|part| folder.join(part));
        let mut todo: Vec<PathBuf> = beside.chain(on_path(command.first()?, &folder)).collect();
        let (mut found, mut seen) = (BTreeMap::new(), HashSet::new());
        while let Some(path) = todo.pop() {
            let Ok(real) = path.canonicalize() else { continue };
            // Git and this program write no programs there.
            let is_ours = real.file_name().is_some_and(|name| name == ".git" || name == ".s2s");
            if is_ours || !real.starts_with(&self.project) || !seen.insert(real.clone()) {
                continue;
            }
            if real.is_dir() {
                todo.extend(std::fs::read_dir(&real).ok()?.filter_map(|entry| Some(entry.ok()?.path())));
            } else if real.is_file() {
                found.insert(real.display().to_string(), hash_of(&real)?);
            }
            if seen.len() > MOST_FILES {
                return Some(BTreeMap::new());
            }
        }
        Some(found)
    }
}

pub fn lines(needs: &[Need], trust: &Trust) -> Vec<String> {
    let open = |need: &Need| if trust.allows(need) { "" } else { ": not agreed to yet" };
    needs.iter().map(|need| format!("it {}{}", need.description_with_file(), open(need))).collect()
}

/// Returns true if the arguments do not name the files to run: `make`, `npm run`, `python3 -m`.
fn finds_its_own(command: &[String]) -> bool {
    let program = command.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    let is_module = program.starts_with("python") && command.iter().any(|word| word == "-m");
    is_module || ["make", "npm", "npx", "pnpm", "yarn", "just"].contains(&program)
}

fn on_path(program: &str, folder: &Path) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").filter(|_| !program.contains(['/', '\\']))?;
    std::env::split_paths(&folders).map(|dir| folder.join(dir).join(program)).find(|path| path.is_file())
}

fn hash_of(path: &Path) -> Option<String> {
    let bytes = Disk::default().read(path, MAX_FILE + 1).ok()?;
    (bytes.len() as u64 <= MAX_FILE).then(|| sha256_hex(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consent_covers_named_files_and_without_any_lasts_one_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let project = dir.path().canonicalize().expect("real").join("p");
        std::fs::create_dir_all(project.join("pkg/deep")).expect("made");
        let write = |text: &str| std::fs::write(project.join("pkg/deep/main.py"), text).expect("written");
        let kept = dir.path().join("kept");
        let trust = || Trust {
            project: project.clone(),
            folder: project.clone(),
            kept: kept.clone(),
            ..Trust::default()
        };
        let need = |command: &[&str]| Need {
            named_by: Some("d.yaml".to_owned()),
            what: NeedKind::Program {
                command: command.iter().map(|word| (*word).to_owned()).collect(),
                folder: None,
                env: Vec::new(),
            },
        };
        write("1");
        let (folder, make) = (need(&["python3", "pkg"]), need(&["make", "-s", "pkg"]));
        let first = trust();
        first.keep(&[need(&["python3", "pkg"]), need(&["make", "-s", "pkg"])]).expect("kept");
        assert!(first.allows(&folder) && first.allows(&make));
        assert!(trust().allows(&folder) && !trust().allows(&make));
        write("2");
        assert!(!trust().allows(&folder));
        write("1");
        std::fs::write(project.join("pkg/more.py"), "3").expect("written");
        assert!(!trust().allows(&folder));
        // A key command covers its files too, and each consent its working folder.
        let key = || Need {
            named_by: Some("d.yaml".to_owned()),
            what: NeedKind::Service {
                provider: "lab".to_owned(),
                address: "https://lab.example".to_owned(),
                key: KeySource::Command(vec!["pkg/deep/main.py".to_owned()]),
            },
        };
        first.keep(&[key()]).expect("kept");
        assert!(trust().allows(&key()));
        assert!(!Trust { folder: project.join("pkg"), ..trust() }.allows(&key()));
        write("2");
        assert!(!trust().allows(&key()));
        let mut elsewhere = need(&["python3", "deep/main.py"]);
        if let NeedKind::Program { folder, .. } = &mut elsewhere.what {
            *folder = Some("pkg".to_owned());
        }
        let here = need(&["python3", "deep/main.py"]);
        assert_ne!(first.fingerprint(&elsewhere), first.fingerprint(&here));
        // A bare name covers the program on `PATH`, if that is inside the project.
        let sh = on_path("sh", Path::new("/")).and_then(|sh| sh.canonicalize().ok()).expect("a shell");
        let around = Trust { project: sh.parent().expect("its folder").to_owned(), ..trust() };
        assert!(around.files(&["sh".to_owned()], None).is_some_and(|files| !files.is_empty()));
    }
}
