//! Diffs between two commits, by git plumbing and our own comparison.
//!
//! No command used here runs a program that the repository configures. Attributes, filters and settings do not
//! change the diff; it depends only on the two commits. The repository must belong to the folder itself. Nothing
//! is fetched.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use similar::{Algorithm, TextDiff, TextDiffConfig};

use super::programs::find;
use super::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::participants::external_program::{prepare_command, run, run_on_own_thread};
use crate::sanitize::harmless_line;

/// Limit of a file and of a diff, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;
/// Number of changed files read at a time.
const AT_ONCE: usize = 8;
/// Limit of git's output in bytes: both sides of `AT_ONCE` files.
const MOST: usize = 2 * AT_ONCE * LARGEST;
/// Time limit for comparing one file.
const PATIENCE: Duration = Duration::from_secs(10);
/// Limit of a git file that names a folder, in bytes.
const LARGEST_POINTER: u64 = 64 * 1024;
/// Mode of a file that does not exist.
const NO_FILE: &str = "000000";
const SUBMODULE: &str = "160000";

/// Repository whose git folder belongs to its own working folder.
struct Repository {
    /// Folder that contains `.git`.
    top: PathBuf,
    git_dir: PathBuf,
    /// Path of the requested folder below `top`.
    prefix: PathBuf,
}

struct Change {
    modes: [String; 2],
    blobs: [String; 2],
    path: Vec<u8>,
}

/// Returns the commits of a range as `BASE..HEAD`, and the diff between them.
///
/// # Errors
/// The range is invalid or empty, a commit is unknown, or a file is not UTF-8. Or the repository is refused.
pub fn diff_of_range(folder: &Path, range: &str, paths: &[String]) -> Result<(String, String), Diagnostic> {
    let Some((from, to)) = range.split_once("..") else {
        return Err(Diagnostic::new(format!("`{range}` is no range of commits")).hint(
            "write it as in `main...HEAD`; what is not committed comes by a pipe: \
             `git diff | roundtable … --evidence -`",
        ));
    };
    let repository = Repository::find(folder)?;
    let mut from = repository.commit(from)?;
    let to = if let Some(to) = to.strip_prefix('.') {
        let to = repository.commit(to)?;
        let base = repository.text(&["merge-base", &from, &to]).map_err(|_| {
            let hint = "fetch more of the history (`git fetch --unshallow`), or write `..` for `...`";
            Diagnostic::new(format!("the commits of `{range}` have none in common here")).hint(hint)
        })?;
        base.trim().clone_into(&mut from);
        to
    } else {
        repository.commit(to)?
    };
    let changes = repository.changes(&from, &to, paths)?;
    let mut content = String::new();
    for some in changes.chunks(AT_ONCE) {
        let ids = some.iter().flat_map(Change::contents).flatten();
        let contents = repository.run(&["cat-file", "--batch"], ids.flat_map(|id| [id, "\n"]).collect())?;
        let mut rest = &contents[..];
        for change in some {
            let sides = change.contents();
            let [old, new] = sides.map(|id| id.map_or(Ok(&[][..]), |id| next_content(id, &mut rest)));
            change.describe(old?, new?, &mut content)?;
            if content.len() > LARGEST {
                return Err(too_much(LARGEST));
            }
        }
    }
    if content.is_empty() {
        return Err(Diagnostic::new(format!("nothing changed in `{range}`"))
            .hint("name other commits or other paths"));
    }
    Ok((format!("{from}..{to}"), content))
}

/// Takes the next content from the output of `cat-file`: a line `ID KIND SIZE`, the bytes, a line feed.
fn next_content<'a>(id: &str, rest: &mut &'a [u8]) -> Result<&'a [u8], Diagnostic> {
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let head = String::from_utf8_lossy(&rest[..end]);
    let size = head.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
    let Some(size) = size.filter(|_| head.contains(" blob ")) else {
        let hint = "fetch it first: a partial clone has few contents";
        return Err(git_problem(&format!("the content {id} is missing")).hint(hint));
    };
    if size > LARGEST {
        return Err(git_problem(&format!("a file has more than {LARGEST} bytes")).hint("name fewer paths"));
    }
    let content = rest.get(end + 1..end + 1 + size).ok_or_else(|| git_problem("cat-file: cut short"))?;
    *rest = rest.get(end + size + 2..).unwrap_or_default();
    Ok(content)
}

impl Repository {
    fn find(folder: &Path) -> Result<Self, Diagnostic> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let real = folder.canonicalize().map_err(|error| git_problem(&error.to_string()))?;
        let top = real.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
        let top = top.ok_or_else(|| {
            git_problem("not a git repository").hint("name a folder of a repository, or pipe the diff in")
        })?;
        let (git_dir, common) = own_git_dir(top)?;
        for folder in [&git_dir, &common] {
            check_files(folder, &common.join("objects"))?;
        }
        check_objects(top, &common)?;
        let prefix = real.strip_prefix(top).unwrap_or(Path::new("")).to_owned();
        Ok(Self { top: top.to_owned(), git_dir, prefix })
    }

    fn commit(&self, name: &str) -> Result<String, Diagnostic> {
        let name = if name.is_empty() { "HEAD" } else { name };
        let wanted = format!("{name}^{{commit}}");
        let found = self.text(&["rev-parse", "--verify", "--end-of-options", &wanted]);
        found.map(|id| id.trim().to_owned()).map_err(|problem| {
            let is_unknown = problem.message.contains("Needed a single revision");
            let hint = "name a branch, a tag or a commit; a shallow clone has few of them";
            if is_unknown { Diagnostic::new(format!("unknown commit `{name}`")).hint(hint) } else { problem }
        })
    }

    /// Returns the changed files by path.
    fn changes(&self, from: &str, to: &str, paths: &[String]) -> Result<Vec<Change>, Diagnostic> {
        let paths: Vec<String> = paths.iter().map(|path| self.path_in_repository(path)).collect();
        let mut arguments =
            vec!["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=all"];
        arguments.extend([from, to, "--"]);
        arguments.extend(paths.iter().map(String::as_str));
        let listed = self.run(&arguments, String::new())?;
        let mut fields = listed.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        // `:MODE MODE BLOB BLOB STATUS`, then the path.
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let head = String::from_utf8_lossy(head);
            let mut words = head.trim_start_matches(':').split(' ').map(str::to_owned);
            let mut word = || words.next().unwrap_or_default();
            let (modes, blobs) = ([word(), word()], [word(), word()]);
            changes.push(Change { modes, blobs, path: path.to_owned() });
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(changes)
    }

    fn path_in_repository(&self, path: &str) -> String {
        if path.starts_with(':') || self.prefix.as_os_str().is_empty() {
            return path.to_owned();
        }
        self.prefix.join(path).to_string_lossy().into_owned()
    }

    fn text(&self, arguments: &[&str]) -> Result<String, Diagnostic> {
        self.run(arguments, String::new()).map(|out| String::from_utf8_lossy(&out).into_owned())
    }

    fn run(&self, arguments: &[&str], input: String) -> Result<Vec<u8>, Diagnostic> {
        let failed = |said: &str| git_problem(&format!("{}: {}", arguments[0], said.trim()));
        // A relative folder of `PATH`, or one in the repository, could contain a foreign `git`.
        let git = find("git", &self.top).ok_or_else(|| {
            git_problem("not on PATH; folders of PATH inside the repository are skipped")
                .hint("install git, or pipe the diff in")
        })?;
        let mut git = prepare_command(&git, &[], &[]);
        git.args(["--no-pager", "--no-replace-objects", "--git-dir"])
            .arg(&self.git_dir)
            .args(["-c", "safe.bareRepository=explicit"])
            .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
            .args(["-c", "core.commitGraph=false", "-c", "advice.graftFileDeprecated=false"])
            .args(arguments)
            .current_dir(&self.top)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_GRAFT_FILE", "/dev/null")
            .env("GIT_NO_LAZY_FETCH", "1")
            // Unlike `protocol.allow`, the repository's settings cannot override it.
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C");
        let ran =
            run_on_own_thread(run(git, input, MOST as u64, None, &|_| false)).map_err(|why| failed(&why))?;
        if ran.stdout.len() > MOST {
            return Err(too_much(MOST));
        }
        let is_done = ran.status.is_some_and(|status| status.success());
        is_done.then_some(ran.stdout).ok_or_else(|| failed(&String::from_utf8_lossy(&ran.stderr)))
    }
}

impl Change {
    /// Returns the ids of the contents before and after; `None` for a missing file and for a submodule.
    fn contents(&self) -> [Option<&str>; 2] {
        let has_content = !self.modes.iter().any(|mode| mode == SUBMODULE);
        let content = |at: usize| Some(&*self.blobs[at]).filter(|_| has_content && self.modes[at] != NO_FILE);
        [content(0), content(1)]
    }

    /// Writes the changes of one file in the format of `git diff`, without the `index` line.
    fn describe(&self, old: &[u8], new: &[u8], out: &mut String) -> Result<(), Diagnostic> {
        let [before, after] = &self.modes;
        if before == SUBMODULE || after == SUBMODULE {
            return Ok(());
        }
        let path = harmless_line(&String::from_utf8_lossy(&self.path));
        let _ = writeln!(out, "diff --git a/{path} b/{path}");
        let name = |mode: &str, side: char| {
            if mode == NO_FILE { "/dev/null".to_owned() } else { format!("{side}/{path}") }
        };
        let names = [name(before, 'a'), name(after, 'b')];
        let _ = match (&**before, &**after) {
            (NO_FILE, mode) => writeln!(out, "new file mode {mode}"),
            (mode, NO_FILE) => writeln!(out, "deleted file mode {mode}"),
            (before, after) if before != after => writeln!(out, "old mode {before}\nnew mode {after}"),
            _ => Ok(()),
        };
        if old.contains(&0) || new.contains(&0) {
            let _ = writeln!(out, "Binary files {} and {} differ", names[0], names[1]);
            return Ok(());
        }
        let text = |content| {
            std::str::from_utf8(content)
                .map_err(|_| Diagnostic::new(format!("`{path}` is not UTF-8 text")).hint("name fewer paths"))
        };
        let diff = line_diff(text(old)?, text(new)?).ok_or_else(|| {
            Diagnostic::new(format!("`{path}` changed in too many places")).hint("name fewer paths")
        })?;
        let _ = write!(out, "{}", diff.unified_diff().header(&names[0], &names[1]));
        Ok(())
    }
}

/// Compares two texts by lines; `None` after the time limit, because a partial result would depend on time.
fn line_diff<'a>(old: &'a str, new: &'a str) -> Option<TextDiff<'a, 'a, str>> {
    let lines = |text: &'a str| text.split_inclusive('\n').collect::<Vec<_>>();
    let end = Instant::now() + PATIENCE;
    let diff = TextDiffConfig::default()
        .algorithm(Algorithm::Myers)
        .deadline(end)
        .newline_terminated(true)
        .diff_slices(&lines(old), &lines(new));
    Some(diff).filter(|_| Instant::now() < end)
}

/// Returns the git folder of the repository at `top`, and that with its objects. Refuses foreign ones.
fn own_git_dir(top: &Path) -> Result<(PathBuf, PathBuf), Diagnostic> {
    let dot_git = top.join(".git");
    let leads_out = |to: &Path| {
        let message =
            format!("`{}` leads to the repository of another folder: `{}`", dot_git.display(), to.display());
        Diagnostic::new(message).hint("clone the repository here, or pipe the diff in")
    };
    let kind = dot_git.symlink_metadata().map_err(|error| git_problem(&error.to_string()))?.file_type();
    let git_dir = if kind.is_symlink() {
        return Err(leads_out(&dot_git.read_link().unwrap_or_default()));
    } else if kind.is_dir() {
        dot_git.clone()
    } else {
        let text = read_text(&dot_git, LARGEST_POINTER)?;
        let named = Path::new(text.strip_prefix("gitdir:").unwrap_or_default().trim());
        top.join(named).canonicalize().map_err(|_| leads_out(named))?
    };
    let pointer = |name: &str| {
        let text = read_text(&git_dir.join(name), LARGEST_POINTER).ok()?;
        git_dir.join(text.trim()).canonicalize().ok()
    };
    if git_dir.join("commondir").symlink_metadata().is_ok() {
        // Only a worktree has a `commondir`; its git folder is `worktrees/NAME` in the shared one.
        let is_shared =
            |common: &PathBuf| !kind.is_dir() && git_dir.parent() == Some(&common.join("worktrees"));
        let common =
            pointer("commondir").filter(is_shared).filter(|_| pointer("gitdir") == Some(dot_git.clone()));
        let common = common.ok_or_else(|| leads_out(&git_dir.join("commondir")))?;
        return Ok((git_dir, common));
    }
    if kind.is_dir() || submodule_folder(&git_dir).is_some_and(|folder| folder == top) {
        return Ok((git_dir.clone(), git_dir));
    }
    Err(leads_out(&git_dir))
}

/// Returns the working folder that a submodule's configuration names.
fn submodule_folder(git_dir: &Path) -> Option<PathBuf> {
    let config = read_text(&git_dir.join("config"), LARGEST_POINTER).ok()?;
    let mut worktree = None;
    let mut is_core = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line.eq_ignore_ascii_case("[core]");
        } else if let Some((key, value)) = line.split_once('=')
            && is_core
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            worktree = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    git_dir.join(worktree?).canonicalize().ok()
}

/// Refuses objects outside the repository's folders, those of alternates included.
fn check_objects(top: &Path, common: &Path) -> Result<(), Diagnostic> {
    let (mut stores, mut seen) = (vec![common.join("objects")], HashSet::new());
    while let Some(store) = stores.pop() {
        if !seen.insert(store.clone()) {
            continue;
        }
        check_files(&store, &store)?;
        let alternates = store.join("info/alternates");
        if alternates.symlink_metadata().is_err() {
            continue;
        }
        for line in read_text(&alternates, LARGEST_POINTER)?.lines().filter(|line| !line.starts_with('#')) {
            let named = store.join(line.trim_matches('"'));
            let real = named.canonicalize().map_err(|_| outside(&store, &named))?;
            if !real.starts_with(top) && !real.starts_with(common) {
                return Err(outside(&store, &real));
            }
            stores.push(real);
        }
    }
    Ok(())
}

fn outside(store: &Path, path: &Path) -> Diagnostic {
    let path = path.read_link().unwrap_or_else(|_| path.to_owned());
    let message =
        format!("`{}` takes objects from outside the project: `{}`", store.display(), path.display());
    Diagnostic::new(message).hint("make the clone whole with `git repack -a -d`, or pipe the diff in")
}

/// Refuses pipes and devices below a git folder, which git could wait for forever, and links among its objects.
fn check_files(folder: &Path, store: &Path) -> Result<(), Diagnostic> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link && path.starts_with(store) {
                return Err(outside(store, &path));
            }
            let Ok(meta) = path.metadata() else { continue };
            // Socket of git's file system monitor.
            if !meta.is_file() && !meta.is_dir() && !path.ends_with("fsmonitor--daemon.ipc") {
                let problem = git_problem(&format!("`{}` is a pipe or a device, not a file", path.display()));
                return Err(problem.hint("remove it, or pipe the diff in"));
            }
            if meta.is_dir() && !is_link {
                folders.push(path);
            }
        }
    }
    Ok(())
}

fn too_much(most: usize) -> Diagnostic {
    git_problem(&format!("more than {most} bytes")).hint("name fewer paths")
}

fn git_problem(said: &str) -> Diagnostic {
    Diagnostic::new(format!("git: {said}"))
}
