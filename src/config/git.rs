//! Diffs between two commits, read with git's plumbing and compared by our own code.
//!
//! No command that is used here runs a program that a repository's configuration names, and no
//! attribute, filter or setting changes the bytes of a diff: they depend on the two commits alone.
//! A repository counts only if it is the folder's own; nothing is fetched.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use similar::{Algorithm, TextDiff, TextDiffConfig};

use super::programs::find;
use super::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::sanitize::harmless_line;

/// The most that git may print, and the largest diff, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Comparing one file takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest file of git that names a folder, in bytes.
const LARGEST_POINTER: u64 = 64 * 1024;
/// Git follows alternates of alternates this far.
const MOST_ALTERNATES: usize = 5;
/// The mode of a file that is not there.
const NO_FILE: &str = "000000";
const SUBMODULE: &str = "160000";

/// A repository whose git folder belongs to the folder it was found for.
struct Repository {
    /// The folder that holds `.git`.
    top: PathBuf,
    git_dir: PathBuf,
    /// The folder it was looked for from, below `top`.
    prefix: PathBuf,
}

struct Change {
    modes: [String; 2],
    blobs: [String; 2],
    path: Vec<u8>,
}

/// Returns the commits that a range names, as `BASE..HEAD`, and what changed between them.
///
/// # Errors
/// When it is no range, its repository is refused, a commit is unknown, nothing changed, or a file is not
/// UTF-8 text.
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
    let mut content = String::new();
    let mut blobs = Blobs::open(&repository)?;
    for change in repository.changes(&from, &to, paths)? {
        blobs.describe(&change, &mut content)?;
        if content.len() as u64 > LARGEST {
            return Err(git_problem(&format!("more than {LARGEST} bytes")).hint("name fewer paths"));
        }
    }
    if content.is_empty() {
        return Err(Diagnostic::new(format!("nothing changed in `{range}`"))
            .hint("name other commits or other paths"));
    }
    Ok((format!("{from}..{to}"), content))
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
        check_objects(&common.join("objects"), &[top, &common], 0)?;
        let prefix = real.strip_prefix(top).unwrap_or(Path::new("")).to_owned();
        Ok(Self { top: top.to_owned(), git_dir, prefix })
    }

    fn commit(&self, name: &str) -> Result<String, Diagnostic> {
        let name = if name.is_empty() { "HEAD" } else { name };
        let wanted = format!("{name}^{{commit}}");
        let found = self.text(&["rev-parse", "--verify", "--end-of-options", &wanted]);
        found.map(|id| id.trim().to_owned()).map_err(|problem| {
            let is_unknown = problem.message.contains("Needed a single revision");
            let hint = "name a branch, a tag or a commit; a shallow clone holds few of them";
            if is_unknown { Diagnostic::new(format!("unknown commit `{name}`")).hint(hint) } else { problem }
        })
    }

    /// Lists the changed files in the order of their paths.
    fn changes(&self, from: &str, to: &str, paths: &[String]) -> Result<Vec<Change>, Diagnostic> {
        let paths: Vec<String> = paths.iter().map(|path| self.path_in_repository(path)).collect();
        let mut arguments =
            vec!["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=all"];
        arguments.extend([from, to, "--"]);
        arguments.extend(paths.iter().map(String::as_str));
        let listed = self.run(&arguments)?;
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
        self.run(arguments).map(|out| String::from_utf8_lossy(&out).into_owned())
    }

    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, Diagnostic> {
        let failed = |said: &str| git_problem(&format!("{}: {}", arguments[0], said.trim()));
        let mut child = self.spawn(arguments, Stdio::null(), Stdio::piped())?;
        let mut out = Vec::new();
        let mut said = Vec::new();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let read = std::thread::scope(|scope| {
            // Git would wait for ever for somebody to read its complaints.
            scope.spawn(|| stderr.map(|stderr| stderr.take(LARGEST_POINTER).read_to_end(&mut said)));
            stdout.map_or(Ok(0), |stdout| stdout.take(LARGEST + 1).read_to_end(&mut out))
        });
        let status = child.wait().and_then(|status| read.map(|_| status));
        let status = status.map_err(|error| failed(&error.to_string()))?;
        if out.len() as u64 > LARGEST {
            return Err(failed(&format!("more than {LARGEST} bytes")).hint("name fewer paths"));
        }
        if !status.success() {
            return Err(failed(&String::from_utf8_lossy(&said)));
        }
        Ok(out)
    }

    fn spawn(&self, arguments: &[&str], stdin: Stdio, stderr: Stdio) -> Result<Child, Diagnostic> {
        // A relative folder of `PATH`, or one in the repository, could hold a program of its own.
        let git = find("git", &self.top).ok_or_else(|| {
            git_problem("not on PATH; folders of PATH inside the repository are skipped")
                .hint("install git, or pipe the diff in")
        })?;
        let mut git = Command::new(git);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            git.env_remove(name);
        }
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
            .env("LC_ALL", "C")
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .map_err(|error| git_problem(&error.to_string()))
    }
}

/// Contents of files, read from one `git cat-file`.
struct Blobs {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Blobs {
    fn open(repository: &Repository) -> Result<Self, Diagnostic> {
        let mut child = repository.spawn(&["cat-file", "--batch"], Stdio::piped(), Stdio::null())?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(ask), Some(out)) => Ok(Self { child, ask, answers: BufReader::new(out) }),
            _ => Err(git_problem("cat-file: no pipe")),
        }
    }

    fn read(&mut self, id: &str) -> Result<Vec<u8>, Diagnostic> {
        let failed = |error: std::io::Error| git_problem(&format!("cat-file: {error}"));
        writeln!(self.ask, "{id}").map_err(failed)?;
        let mut head = String::new();
        self.answers.read_line(&mut head).map_err(failed)?;
        let size = head.trim().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
        let Some(size) = size.filter(|_| head.contains(" blob ")) else {
            let hint = "fetch it first: a partial clone holds few contents";
            return Err(git_problem(&format!("the content {id} is missing")).hint(hint));
        };
        if size > LARGEST {
            return Err(
                git_problem(&format!("a file has more than {LARGEST} bytes")).hint("name fewer paths")
            );
        }
        let mut content = vec![0; size as usize];
        self.answers.read_exact(&mut content).map_err(failed)?;
        self.answers.read_exact(&mut [0]).map_err(failed)?;
        Ok(content)
    }

    /// Writes what changed in one file, as `git diff` shows it, without the line `index`.
    fn describe(&mut self, change: &Change, out: &mut String) -> Result<(), Diagnostic> {
        if change.modes.iter().any(|mode| mode == SUBMODULE) {
            return Ok(());
        }
        let path = harmless_line(&String::from_utf8_lossy(&change.path));
        let mut sides: [Vec<u8>; 2] = Default::default();
        for (side, content) in sides.iter_mut().enumerate() {
            if change.modes[side] != NO_FILE {
                *content = self.read(&change.blobs[side])?;
            }
        }
        let _ = writeln!(out, "diff --git a/{path} b/{path}");
        let names = match &change.modes {
            [before, mode] if before == NO_FILE => {
                let _ = writeln!(out, "new file mode {mode}");
                ["/dev/null".to_owned(), format!("b/{path}")]
            }
            [mode, after] if after == NO_FILE => {
                let _ = writeln!(out, "deleted file mode {mode}");
                [format!("a/{path}"), "/dev/null".to_owned()]
            }
            [before, after] => {
                if before != after {
                    let _ = writeln!(out, "old mode {before}\nnew mode {after}");
                }
                [format!("a/{path}"), format!("b/{path}")]
            }
        };
        if sides.iter().any(|content| content.contains(&0)) {
            let _ = writeln!(out, "Binary files {} and {} differ", names[0], names[1]);
            return Ok(());
        }
        let text = |content| {
            std::str::from_utf8(content)
                .map_err(|_| Diagnostic::new(format!("`{path}` is not UTF-8 text")).hint("name fewer paths"))
        };
        let (old, new) = (text(&sides[0])?, text(&sides[1])?);
        let diff = line_diff(old, new).ok_or_else(|| {
            Diagnostic::new(format!("`{path}` changed in too many places")).hint("name fewer paths")
        })?;
        let _ = write!(out, "{}", diff.unified_diff().header(&names[0], &names[1]));
        Ok(())
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Compares two texts by lines that end with a line feed; none where that takes too long, since the
/// lines must not depend on time.
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

/// Returns the git folder of the repository at `top` and the folder that holds its objects.
fn own_git_dir(top: &Path) -> Result<(PathBuf, PathBuf), Diagnostic> {
    let dot_git = top.join(".git");
    let leads_out = |to: &Path| {
        let message =
            format!("`{}` leads to the repository of another folder: `{}`", dot_git.display(), to.display());
        Diagnostic::new(message).hint("clone the repository here, or pipe the diff in")
    };
    let kind = dot_git.symlink_metadata().map_err(|error| git_problem(&error.to_string()))?.file_type();
    if kind.is_symlink() {
        return Err(leads_out(&dot_git.read_link().unwrap_or_default()));
    }
    if kind.is_dir() {
        // Only a worktree's git folder has its objects elsewhere.
        return match dot_git.join("commondir").symlink_metadata() {
            Ok(_) => Err(leads_out(&dot_git.join("commondir"))),
            Err(_) => Ok((dot_git.clone(), dot_git)),
        };
    }
    let text = read_text(&dot_git, LARGEST_POINTER)?;
    let named = Path::new(text.strip_prefix("gitdir:").unwrap_or_default().trim());
    let git_dir = top.join(named).canonicalize().map_err(|_| leads_out(named))?;
    if let Ok(back) = read_text(&git_dir.join("gitdir"), LARGEST_POINTER) {
        let names_top = git_dir.join(back.trim()).canonicalize().is_ok_and(|back| back == dot_git);
        let common = read_text(&git_dir.join("commondir"), LARGEST_POINTER)
            .ok()
            .and_then(|common| git_dir.join(common.trim()).canonicalize().ok());
        // A worktree's folder is `worktrees/NAME` in the folder it shares.
        return match common {
            Some(common) if names_top && git_dir.parent() == Some(&common.join("worktrees")) => {
                Ok((git_dir, common))
            }
            _ => Err(leads_out(&git_dir)),
        };
    }
    let is_submodule = submodule_folder(&git_dir).is_some_and(|folder| folder == top);
    if is_submodule && git_dir.join("commondir").symlink_metadata().is_err() {
        return Ok((git_dir.clone(), git_dir));
    }
    Err(leads_out(&git_dir))
}

/// Returns the folder that a submodule's configuration names as its own.
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

/// Refuses objects that lie outside the folders of the repository, those of its alternates included.
fn check_objects(objects: &Path, inside: &[&Path], nested: usize) -> Result<(), Diagnostic> {
    let outside = |path: &Path| {
        let path = path.read_link().unwrap_or_else(|_| path.to_owned());
        let message =
            format!("`{}` takes objects from outside the project: `{}`", objects.display(), path.display());
        Diagnostic::new(message).hint("make the clone whole with `git repack -a -d`, or pipe the diff in")
    };
    let mut folders = vec![(objects.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if folder.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
            return Err(outside(&folder));
        }
        let Ok(entries) = folder.read_dir() else { continue };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => return Err(outside(&entry.path())),
                Ok(kind) if kind.is_dir() && depth < 2 => folders.push((entry.path(), depth + 1)),
                _ => {}
            }
        }
    }
    let alternates = objects.join("info/alternates");
    if alternates.symlink_metadata().is_err() {
        return Ok(());
    }
    for line in read_text(&alternates, LARGEST_POINTER)?.lines().filter(|line| !line.starts_with('#')) {
        let named = objects.join(line.trim_matches('"'));
        let real = named.canonicalize().map_err(|_| outside(&named))?;
        if nested == MOST_ALTERNATES || !inside.iter().any(|folder| real.starts_with(folder)) {
            return Err(outside(&real));
        }
        check_objects(&real, inside, nested + 1)?;
    }
    Ok(())
}

fn git_problem(said: &str) -> Diagnostic {
    Diagnostic::new(format!("git: {said}"))
}
