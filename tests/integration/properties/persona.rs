//! Personas: a name, and round trips with any line ends.

use std::borrow::Cow;

use roundtable::persona::{Persona, is_name};
use roundtable::yaml::Out;
use serde_json::{Value, json};

use super::{is_within, text};

pub fn persona(data: &[u8]) {
    let text = text(data);
    match Persona::parse(text, "f.md") {
        Ok(persona) => holds(&persona, text),
        Err(problem) => {
            assert!(!problem.message.is_empty());
            assert!(is_within(problem.place.as_ref(), text, "f.md"), "{problem:?}");
        }
    }
}

fn holds(persona: &Persona, text: &str) {
    assert!(is_name(&persona.name), "{}", persona.name);
    assert!(!persona.author_tag().is_empty());
    assert!(persona.text.ends_with('\n'));
    if !text.contains('\r') {
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(Persona::parse(&crlf, "f.md").as_ref(), Ok(persona), "with other line ends");
    }
    let again = Persona::parse(&as_file(persona), "f.md").expect("what was written loads");
    let expected = Persona { notices: Vec::new(), ..persona.clone() };
    assert_eq!(again, expected, "{}", as_file(persona));
}

fn as_file(persona: &Persona) -> String {
    let mut map = json!({
        "name": persona.name,
        "description": persona.description,
        "tools": persona.tools,
        "tags": persona.tags,
    });
    if let Some(model) = &persona.model {
        map["model"] = Value::from(model.as_str());
    }
    let Value::Object(map) = map else { unreachable!() };
    let entries: Vec<(Cow<'_, str>, Out<'_>)> =
        map.iter().map(|(key, value)| (key.as_str().into(), Out::json(value, false))).collect();
    let mut out = "---\n".to_owned();
    Out::write_entries(&entries, 0, &mut out);
    out + "---\n" + &persona.text
}
