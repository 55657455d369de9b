//! Personas: Markdown files with YAML front matter, and built-in ones.
//!
//! A persona is data: its text reaches the model unchanged and is never a template. No I/O: callers pass the
//! text of files.

mod builtin;

pub use builtin::{BUILTIN, builtin};

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::yaml::{Map, Node, Value, literal_keys, read};

/// Largest accepted front matter, in bytes.
const MAX_FRONT_MATTER: usize = 64 * 1024;
/// Largest accepted persona file, in bytes.
pub const MAX_PERSONA: usize = 1024 * 1024;

/// Role description of a participant: its stance and interests, with the text for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    /// Kebab-case name, unique in its folder.
    pub name: String,
    pub description: String,
    /// `provider/model`, if the persona sets one.
    pub model: Option<String>,
    /// Tools that the persona requests; with any, it cannot join a blind round.
    pub tools: Vec<String>,
    /// Words that describe its work to others.
    pub tags: Vec<String>,
    /// Body of the file; reaches the model unchanged.
    pub text: String,
    /// Notices about keys without effect.
    pub notices: Vec<String>,
}

impl Persona {
    /// Creates a persona with a name and nothing else.
    pub fn with_name(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: String::new(),
            model: None,
            tools: Vec::new(),
            tags: Vec::new(),
            text: String::new(),
            notices: Vec::new(),
        }
    }

    /// Creates the persona of a participant with its own text.
    pub fn with_text(name: &str, text: &str) -> Self {
        Self { text: format!("{}\n", text.trim_end()), ..Self::with_name(name) }
    }

    /// Parses a persona file; `file` names it in errors. Fails without front matter, closing `---` or name, and
    /// on a value of the wrong type; each error has its line.
    pub fn parse(source: &str, file: &str) -> Result<Self, Diagnostic> {
        if source.len() > MAX_PERSONA {
            return Err(Diagnostic::new("persona is larger than 1 MiB").with_file(file));
        }
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        // Uniform line ends prevent a leftover CR from merging with a later LF.
        let source = source.replace("\r\n", "\n").replace('\r', "\n");
        let (front, body) = split_front_matter(&source, file)?;
        let (node, is_loose) = match read(front, file) {
            Ok(node) => (node, false),
            Err(problem) => (loose(front, file).ok_or_else(|| shift_line(problem))?, true),
        };
        if let Some(problem) = literal_keys(&node, file, &["key", "token"]).into_iter().next() {
            return Err(shift_line(problem));
        }
        let Value::Map(map) = &node.value else {
            return Err(Diagnostic::new("front matter must be a map of keys")
                .hint("start with `name: …` and `description: …`")
                .at(file, 2, 1));
        };
        let mut persona = Self {
            name: String::new(),
            description: String::new(),
            model: None,
            tools: Vec::new(),
            tags: Vec::new(),
            text: body.trim().to_owned() + "\n",
            notices: Vec::new(),
        };
        persona.fill(map, file).map_err(shift_line)?;
        persona.notices.extend(is_loose.then(|| "its front matter is no YAML: read by its keys".to_owned()));
        if persona.name.is_empty() {
            return Err(Diagnostic::new("persona has no `name`").hint("add `name: …`").at(file, 2, 1));
        }
        if !is_name(&persona.name) {
            return Err(Diagnostic::new(format!("`{}` is not a persona name", persona.name))
                .hint("use letters, digits, `-`, `_` and dots inside")
                .at(file, 2, 1));
        }
        Ok(persona)
    }

    fn fill(&mut self, map: &Map, file: &str) -> Result<(), Diagnostic> {
        for (key, node) in map.iter().filter(|(_, node)| node.value != Value::Null) {
            match key.text.as_str() {
                "name" => self.name = text(node, "name", file)?,
                "description" => self.description = text(node, "description", file)?,
                "model" => self.model = Some(text(node, "model", file)?),
                "tools" => self.tools = read_words(node, "tools", file)?,
                "tags" => self.tags = read_words(node, "tags", file)?,
                "color" => {}
                other => self.notices.push(format!("`{other}` has no effect here")),
            }
        }
        Ok(())
    }

    /// Returns the pseudonym for its work: the first two tags, sorted, or `participant`.
    pub fn author_tag(&self) -> String {
        let mut tags: Vec<&str> = self.tags.iter().take(2).map(String::as_str).collect();
        tags.sort_unstable();
        if tags.is_empty() { "participant".to_owned() } else { tags.join(" / ") }
    }
}

/// Returns whether `name` is valid for a persona, a participant or a file in a persona folder.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !name.starts_with('.')
        && !name.ends_with('.')
}

/// Returns the error for an unknown persona name.
pub fn unknown(name: &str, known: &[&str]) -> Diagnostic {
    Diagnostic::new(format!("no persona `{name}`")).hint(did_you_mean(name, known))
}

/// Parses front matter in the looser style of Claude Code. A line that begins with a known key starts its
/// text, which ends at the next such line. The first use of a key counts.
fn loose(front: &str, file: &str) -> Option<Node> {
    const KEYS: [&str; 9] =
        ["name", "description", "model", "tools", "color", "tags", "skills", "priorities", "permissionMode"];
    let mut texts: Vec<(&str, String)> = Vec::new();
    for line in front.lines() {
        let key = line.split_once(':').map(|(key, _)| key);
        let key = key.and_then(|key| KEYS.into_iter().find(|known| *known == key));
        match (key.filter(|key| texts.iter().all(|(known, _)| known != key)), texts.last_mut()) {
            (Some(key), _) => texts.push((key, line[key.len() + 1..].to_owned())),
            (None, Some((_, text))) => {
                text.push('\n');
                text.push_str(line);
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => return None,
        }
    }
    let strict = texts.into_iter().map(|(key, text)| {
        let whole = format!("{key}:{text}\n");
        // A value that is valid YAML stays YAML; any other becomes a text.
        let is_yaml = read(&whole, file).is_ok();
        if is_yaml { whole } else { format!("{key}: {}\n", serde_json::Value::from(text.trim())) }
    });
    read(&strict.collect::<String>(), file).ok()
}

/// Splits a file at its two `---` lines, which may end with blanks.
fn split_front_matter<'a>(source: &'a str, file: &str) -> Result<(&'a str, &'a str), Diagnostic> {
    let problem = |message: &str, hint: &str| Diagnostic::new(message).hint(hint).at(file, 1, 1);
    let mut lines = source.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---").ok_or_else(|| {
        let hint = "start the file with `---`, `name: …`, `description: …`, `---`";
        problem("persona has no front matter", hint)
    })?;
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Ok((&source[first.len()..end], &source[end + line.len()..]));
        }
        end += line.len();
        if end > MAX_FRONT_MATTER {
            return Err(problem("front matter is larger than 64 KiB", "shorten it"));
        }
    }
    Err(problem("front matter has no closing `---`", "close it with a line `---`"))
}

/// Adds one to the line, because front matter starts on the file's second line.
fn shift_line(mut problem: Diagnostic) -> Diagnostic {
    if let Some(place) = &mut problem.place {
        place.line += u64::from(place.line > 0);
    }
    problem
}

fn text(node: &Node, key: &str, file: &str) -> Result<String, Diagnostic> {
    match &node.value {
        Value::Text(text) => Ok(text.trim().to_owned()),
        _ => Err(node.problem(file, format!("`{key}` must be text, found {}", node.kind()))),
    }
}

/// Reads a list of words, or one text with commas between them.
fn read_words(node: &Node, key: &str, file: &str) -> Result<Vec<String>, Diagnostic> {
    match &node.value {
        Value::Text(text) => {
            Ok(text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect())
        }
        Value::List(items) => items.iter().map(|item| text(item, key, file)).collect(),
        _ => Err(node.problem(file, format!("`{key}` must be a list, found {}", node.kind()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "---\nname: qa-lead\ndescription: Tests things\ntools: []\ntags: [qa, risk]\n\
                        skills: [x]\n---\n\nYou test.\n";

    #[test]
    fn front_matter_and_body_are_parsed() {
        let persona = Persona::parse(GOOD, "qa.md").unwrap();
        assert_eq!((persona.name.as_str(), persona.text.as_str()), ("qa-lead", "You test.\n"));
        assert_eq!(persona.notices, ["`skills` has no effect here"]);
        assert_eq!(persona.author_tag(), "qa / risk");
        let dos = GOOD.replace("---\n", "--- \n").replace('\n', "\r\n");
        assert_eq!(Persona::parse(&format!("\u{feff}{dos}"), "qa.md").unwrap(), persona);
    }

    #[test]
    fn front_matter_in_the_style_of_claude_code_is_parsed() {
        let quoted = "name: brand.keeper\ndescription: Use it. Examples:\\n\\nuser: \"Is it: us?\"\\n</example>\ncolor: #f00\nmodel: sonnet\ntools: Read, Grep";
        let unindented = "name: agent-maker\ndescription: Use it: often\n<example>\nContext: A user\nname: \"Make me\"\n</example>\nmodel: inherit\ntools:\n  - Read\n  - Grep";
        for (front, name, model, ends) in [
            (quoted, "brand.keeper", "sonnet", "</example>"),
            (unindented, "agent-maker", "inherit", "name: \"Make me\"\n</example>"),
        ] {
            let persona = Persona::parse(&format!("---\n{front}\n---\nYou act.\n"), "x.md").unwrap();
            assert_eq!((persona.name.as_str(), persona.model.as_deref()), (name, Some(model)));
            assert_eq!(
                (persona.tools.join(" ").as_str(), persona.text.as_str()),
                ("Read Grep", "You act.\n")
            );
            assert!(persona.description.ends_with(ends), "{}", persona.description);
            assert_eq!(persona.notices, ["its front matter is no YAML: read by its keys"]);
        }
        for odd in ["<x>\nname: a", "name: [\n", "name: ..\ndescription: a: b: c"] {
            assert!(Persona::parse(&format!("---\n{odd}\n---\n"), "x.md").is_err(), "{odd}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let open = Persona::parse("---\nname: x\n", "x.md").unwrap_err();
        assert!(open.message.contains("closing"));
        let wrong = Persona::parse("---\nname: x\ntags: 3\n---\n", "x.md").unwrap_err();
        assert_eq!(wrong.place.unwrap().line, 3);
        assert!(Persona::parse("---\nname: ../x\n---\n", "x.md").is_err());
    }
}
