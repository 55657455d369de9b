//! Evidence from files, line ranges and diffs, read verbatim for a snapshot.
//!
//! Reads only the named files. Paths named by a project's file must be inside the project; a person may name any
//! path.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::dirs::Dirs;
use super::git::diff_of_range;
use super::path_policy::PathPolicy;
use super::read_file::read_text;
pub use super::secret_scan::SecretPolicy;
use super::secret_scan::{FoundSecret, first_secret};
use crate::diagnostic::Diagnostic;
use crate::round::material::{EvidencePlace, EvidenceSource};
use crate::round::snapshot::sha256_hex;

/// Limit of a file, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct EvidenceReader {
    project: PathBuf,
    /// Policy for paths; `None` if a person names them.
    bounds: Option<PathPolicy>,
    secrets: SecretPolicy,
}

struct ReadSource {
    shown: Value,
    first: u32,
    content: String,
    /// Its name marks it as a file of keys and passwords.
    is_env: bool,
}

impl ReadSource {
    fn secret(&self) -> Option<FoundSecret> {
        let env = self.is_env.then_some((1, "a file of keys and passwords"));
        let (line, what) = first_secret(&self.content).or(env)?;
        Some(FoundSecret { line: line + self.first as usize - 1, what, sha256: sha256_hex(&self.content) })
    }
}

impl EvidenceReader {
    pub fn of_project(dirs: &Dirs, secrets: SecretPolicy) -> Self {
        let bounds = Some(dirs.path_policy(None));
        Self { project: dirs.project.clone(), bounds, secrets }
    }

    /// Returns a reader for paths that a person names, relative to the current folder.
    pub fn of_person(secrets: SecretPolicy) -> Self {
        Self { project: PathBuf::new(), bounds: None, secrets }
    }

    /// Returns the snapshot's keys for a source: `source`, `lines`, `bytes` and `sha256` of the whole file, and
    /// `content`. A diff has `commits` in place of `lines` and `sha256`.
    ///
    /// # Errors
    /// The source is missing, outside the project, binary or empty. Or it ends before the requested lines, or
    /// contains a secret that is not allowed.
    pub fn read(&self, source: &EvidenceSource) -> Result<Map<String, Value>, Diagnostic> {
        self.shown(&source.place.name(), self.read_source(source)?, source.numbers)
    }

    /// Returns the first text in a source that looks like a secret.
    pub fn secret(&self, source: &EvidenceSource) -> Result<Option<FoundSecret>, Diagnostic> {
        Ok(self.read_source(source)?.secret())
    }

    fn read_source(&self, source: &EvidenceSource) -> Result<ReadSource, Diagnostic> {
        Ok(match &source.place {
            EvidencePlace::File { path, lines } => {
                let text = self.file(path)?.replace("\r\n", "\n");
                let (range, content) = cut(path, &text, lines.as_ref())?;
                let lines = format!("{}-{}", range.start(), range.end());
                let shown = json!({
                    "source": path, "lines": lines, "bytes": text.len(), "sha256": sha256_hex(&text),
                });
                let real = std::fs::canonicalize(self.project.join(path));
                let is_env = is_env(path) || real.is_ok_and(is_env);
                ReadSource { shown, first: *range.start(), content, is_env }
            }
            EvidencePlace::Diff { range, paths } => {
                let (commits, content) = diff_of_range(&self.project, range, paths)?;
                let shown =
                    json!({"source": source.place.name(), "commits": commits, "bytes": content.len()});
                let mut heads =
                    content.lines().filter(|line| line.starts_with("+++ b/") || line.starts_with("--- a/"));
                let is_env = heads.any(is_env);
                ReadSource { shown, first: 1, content, is_env }
            }
        })
    }

    /// Returns the snapshot's keys for piped text.
    pub fn piped(&self, text: &str) -> Result<Map<String, Value>, Diagnostic> {
        if text.trim().is_empty() {
            return Err(Diagnostic::new("there is no evidence on standard input")
                .hint("pipe something into it, such as `git diff`"));
        }
        let shown = json!({"source": "standard input", "bytes": text.len(), "sha256": sha256_hex(text)});
        let read = ReadSource { shown, first: 1, content: text.replace("\r\n", "\n"), is_env: false };
        self.shown("standard input", read, true)
    }

    /// Returns the snapshot's keys for evidence; numbers its lines if requested.
    fn shown(
        &self,
        name: &str,
        read: ReadSource,
        is_numbered: bool,
    ) -> Result<Map<String, Value>, Diagnostic> {
        let is_agreed = |secret: &FoundSecret| match &self.secrets {
            SecretPolicy::Refuse => false,
            SecretPolicy::Allow => true,
            SecretPolicy::Agreed(hashes) => hashes.contains(&secret.sha256),
        };
        if let Some(secret) = read.secret().filter(|secret| !is_agreed(secret)) {
            let message = format!("{name}, line {}: this looks like {}", secret.line, secret.what);
            return Err(Diagnostic::new(message).hint("take it out, or allow it with `--secrets allow`"));
        }
        let ReadSource { mut shown, first, content, .. } = read;
        shown["content"] = if is_numbered { numbered(&content, first) } else { content }.into();
        Ok(shown.as_object().cloned().unwrap_or_default())
    }

    fn file(&self, path: &str) -> Result<String, Diagnostic> {
        let file = self.project.join(path);
        if let Some((_, lines)) = path.rsplit_once(':')
            && lines.contains(|c: char| c.is_ascii_digit())
            && lines.chars().all(|c| c.is_ascii_digit() || c == '-')
            && !file.exists()
        {
            let problem = Diagnostic::new(format!("`{lines}` is no range of lines")).with_file(path);
            return Err(problem.hint("write it as in `src/cache.rs:10-80`"));
        }
        if let Some(bounds) = &self.bounds {
            bounds.check_named(&self.project, path)?;
        }
        read_text(&file, LARGEST).and_then(|text| {
            if text.contains('\0') {
                return Err(Diagnostic::new("is binary").with_file(path));
            }
            Ok(text)
        })
    }
}

/// Returns true for `.env` and its variants, such as `.env.local`, but not for samples.
fn is_env(path: impl AsRef<Path>) -> bool {
    let name = path.as_ref().file_name().unwrap_or_default().to_string_lossy();
    let is_sample = ["example", "sample", "template"].iter().any(|end| name.ends_with(end));
    name == ".env" || name.starts_with(".env.") && !is_sample
}

/// Returns the requested range, or that of all lines, and its text.
fn cut(
    name: &str,
    text: &str,
    wanted: Option<&RangeInclusive<u32>>,
) -> Result<(RangeInclusive<u32>, String), Diagnostic> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let last = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let problem = |message: String| Diagnostic::new(message).with_file(name);
    if last == 0 {
        return Err(problem("is empty".to_owned()));
    }
    let range = wanted.cloned().unwrap_or(1..=last);
    if *range.end() > last {
        let asked = format!("{}-{}", range.start(), range.end());
        return Err(problem(format!("ends at line {last}, and lines {asked} are asked for")));
    }
    let from = range.start().saturating_sub(1) as usize;
    let content = lines.get(from..*range.end() as usize).unwrap_or_default().concat();
    Ok((range, content))
}

/// Prefixes each line with its number: `  10| `.
fn numbered(content: &str, first: u32) -> String {
    let line = |(number, line): (u32, &str)| {
        let space = if line.trim_end().is_empty() { "" } else { " " };
        format!("{number:>4}|{space}{line}")
    };
    (first..).zip(content.split_inclusive('\n')).map(line).collect()
}
