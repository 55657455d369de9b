//! Reference page `docs/DEFINITION.md`, generated from the key table.

use std::fmt::Write as _;

use super::spec::{KeySpec, KeyType, MapSpec};
use crate::workflow::definition::Definition;
use crate::workflow::steps::step::{EVERY, Step, TYPES, shared_keys, step_keys};

const INTRODUCTION: &str = "# Definition format

Every key of a definition. [WORKFLOW.md](WORKFLOW.md) explains how steps work together. This page \
is generated from the table of keys that the program checks files with.

A definition is YAML, or JSON in which comments and trailing commas are allowed. The shortest one is a round:

```yaml
question: \"Which cache do we build first?\"
ballot: {kind: choice, options: [in-process, redis]}
rule: majority
```

- A file with `steps` is a workflow of these steps. A file without is one step: a round, or the \
step that its `type` names. Its keys are at the top level.
- An unknown key is an error. A key whose value is empty counts as absent.
- Below, each key has an example; then its type and, after a semicolon, its default.
- A whole number is accepted where a text is expected. One text is accepted where a list of texts is expected.
- A time is `90s`, `2m` or `500ms`, a share `60%`.
- `roundtable check FILE` finds all errors of a file. `roundtable schema` prints a JSON Schema for editors.
";

/// Keys that most files need; the other tables omit them.
const FIRST: &str = "question exploration ballot rule participants goal constraints artifacts deadline quorum max_usd \
                     steps id type next";

pub fn definition_reference() -> String {
    let mut page = ReferencePage { text: INTRODUCTION.to_owned(), shown: Vec::new(), maps: Vec::new() };
    let of_steps = || Step::KEYS.iter().chain(TYPES.iter().flat_map(|of| of.keys));
    let find = |name| Definition::KEYS.iter().chain(of_steps()).find(|key| key.name == name);
    page.section("The keys that most files need", FIRST.split(' ').filter_map(find));
    page.other_keys("Top level", "The other keys of the file.", Definition::KEYS);
    page.other_keys("Steps", "The other keys of every step.", EVERY);
    let about = "Keys of several types of step; each type names those it has.";
    page.other_keys("Shared keys", about, shared_keys().map(|(key, _)| key));
    for of in &TYPES {
        let keys = step_keys(Some(of)).into_iter().skip(EVERY.len());
        let also: Vec<String> =
            keys.filter(|key| page.has(key)).map(|key| format!("`{}`", key.name)).collect();
        let also = if also.is_empty() { String::new() } else { format!(" Also {}.", also.join(", ")) };
        page.other_keys(&format!("`{}`", of.name), &format!("{}{also}", of.about), of.keys);
    }
    let mut done = 0;
    while let Some(of) = page.maps.get(done).copied() {
        let others = of.others.map(|others| format!("\n\n{others}")).unwrap_or_default();
        page.section(&(heading(of) + &others), of.keys);
        done += 1;
    }
    page.text
}

fn heading(of: &MapSpec) -> String {
    let words = of.name.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(" map".chars()).collect()
}

struct ReferencePage {
    text: String,
    /// Keys printed so far; later tables omit them.
    shown: Vec<&'static KeySpec>,
    /// Maps named so far; each gets a section.
    maps: Vec<&'static MapSpec>,
}

impl ReferencePage {
    fn has(&self, key: &KeySpec) -> bool {
        self.shown.iter().any(|shown| (shown.name, shown.about) == (key.name, key.about))
    }

    fn other_keys(&mut self, heading: &str, about: &str, keys: impl IntoIterator<Item = &'static KeySpec>) {
        let keys: Vec<_> = keys.into_iter().filter(|key| !self.has(key)).collect();
        self.section(&format!("{heading}\n\n{about}"), keys);
    }

    fn section(&mut self, heading: &str, keys: impl IntoIterator<Item = &'static KeySpec>) {
        let mut text = format!("\n## {heading}\n\n");
        for key in keys {
            let kind = self.kind(&key.kind);
            let default = if key.default.is_empty() { String::new() } else { format!("; {}", key.default) };
            let _ = writeln!(text, "- `{}: {}` ({kind}{default}): {}", key.name, key.example, key.about);
            self.shown.push(key);
        }
        self.text.push_str(&text);
    }

    fn kind(&mut self, kind: &'static KeyType) -> String {
        match kind {
            KeyType::Texts => "list of texts".to_owned(),
            KeyType::Whole(0, u64::MAX) => "whole number".to_owned(),
            KeyType::Whole(least, u64::MAX) => format!("whole number from {least}"),
            KeyType::Map(of) => {
                if self.maps.iter().all(|known| known.name != of.name) {
                    self.maps.push(of);
                }
                let heading = heading(of);
                format!("[map](#{})", heading.to_lowercase().replace(' ', "-"))
            }
            KeyType::List(KeyType::Any) => "list".to_owned(),
            KeyType::List(item @ KeyType::Map(_)) => {
                format!("list of {}", self.kind(item).replacen("map", "maps", 1))
            }
            KeyType::List(item) => format!("list of {}", self.kind(item)),
            KeyType::Duration => "time".to_owned(),
            KeyType::Quorum => "seats, or a share of them".to_owned(),
            KeyType::Steps => "list of [steps](#steps)".to_owned(),
            KeyType::Either(kinds) => {
                kinds.iter().map(|kind| self.kind(kind)).collect::<Vec<_>>().join(" or ")
            }
            other => {
                let words = super::check::wanted(other);
                words.trim_start_matches("a ").to_owned()
            }
        }
    }
}
