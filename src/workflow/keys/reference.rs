//! The key table as the reference page `docs/DEFINITION.md`.

use std::fmt::Write as _;

use super::spec::{KeySpec, KeyType, MapSpec};
use super::tables::DEFINITION;
use crate::workflow::steps::types::{SHARED_KEYS, STEP_KEYS, TYPES};

const INTRODUCTION: &str = "# Definition format

Every key of a definition. [WORKFLOW.md](WORKFLOW.md) explains how steps work together. This page \
is generated from the table of keys that the program checks files with.

A definition is YAML, or JSON in which comments and trailing commas are allowed. The shortest one is a round:

```yaml
question: \"Which cache do we build first?\"
ballot: {kind: choice, options: [in-process, redis]}
rule: majority
```

- A file with `steps` is a workflow of these steps. A file without is one step: a round, or the step that its \
`type` names, whose keys are then at the top level.
- An unknown key is an error. A key whose value is empty counts as absent.
- A whole number is accepted where a text is expected. One text is accepted where a list of texts is expected.
- `roundtable check FILE` finds all errors of a file. `roundtable schema` prints a JSON Schema for editors.
";

/// The keys that most files need; the other tables leave them out.
const FIRST: &str = "question exploration ballot rule participants goal constraints artifacts deadline quorum max_usd \
                     steps id type next";

pub fn definition_reference() -> String {
    let mut page = Page { text: INTRODUCTION.to_owned(), maps: Vec::new() };
    let of_steps = || STEP_KEYS.iter().chain(TYPES.iter().flat_map(|of| of.keys));
    let find = |name| DEFINITION.keys.iter().chain(of_steps()).find(|key| key.name == name);
    let first: Vec<_> = FIRST.split(' ').filter_map(find).collect();
    page.table(
        "The keys that most files need",
        "Keys of the file, of a round, or of every step.",
        first.clone(),
    );
    let rest = |key: &&KeySpec| !first.iter().any(|first| std::ptr::eq(*first, *key));
    page.table("Top level", "The other keys of the file.", DEFINITION.keys.iter().filter(rest));
    page.table("Steps", "The other keys of every step.", STEP_KEYS.iter().filter(rest));
    for of in TYPES {
        let about = if of.shared.is_empty() {
            of.about.to_owned()
        } else {
            let shared: Vec<String> = of.shared.iter().map(|key| format!("`{key}`")).collect();
            format!("{} Also {}, see [shared keys](#shared-keys).", of.about, shared.join(", "))
        };
        page.table(&format!("`{}`", of.name), &about, of.keys.iter().filter(rest));
    }
    page.table(
        "Shared keys",
        "Keys of several step types; each type lists those it has.",
        SHARED_KEYS.iter(),
    );
    let mut done = 0;
    while let Some(of) = page.maps.get(done).copied() {
        page.table(&heading(of), &format!("The keys of {}.", of.what), of.keys.iter());
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

struct Page {
    text: String,
    /// The maps that have been named so far.
    maps: Vec<&'static MapSpec>,
}

impl Page {
    fn table(&mut self, heading: &str, about: &str, keys: impl IntoIterator<Item = &'static KeySpec>) {
        let mut text = format!("\n## {heading}\n\n{about}\n\n");
        text.push_str("| key | type | default | meaning | example |\n|---|---|---|---|---|\n");
        for key in keys {
            let kind = self.kind(&key.kind);
            let (name, default, about) = (key.name, key.default, key.about);
            let _ = writeln!(text, "| `{name}` | {kind} | {default} | {about} | `{}` |", key.example);
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
