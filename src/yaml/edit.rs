//! Changing one entry of a map in a text, and no other byte of it: comments, order and style stay.
//!
//! It finds its way by the places the reader kept, and by the plainest rules of lines and brackets.
//! Whoever uses it reads the result again, and takes it only where it says what was wanted.

use serde_json::Value as Json;

use super::reader::{MapKey, Node, Value};
use super::write::{Out, is_plain};

/// The text with the entry `key` of a map in it set to `value`; none where that is not simple.
pub fn with_entry(text: &str, map: &Node, key: &str, value: &Json) -> Option<String> {
    let Value::Map(entries) = &map.value else { return None };
    let start = offset(text, map.line, map.column)?;
    let known = entries.iter().find(|(known, _)| known.text == key).map(|(key, _)| key);
    let last = entries.last().map(|(key, _)| key)?;
    let (from, to, new) = if text[start..].starts_with('{') {
        in_brackets(text, start, known, key, value)?
    } else {
        on_lines(text, last, known, key, value)?
    };
    let new = if text.contains("\r\n") { new.replace('\n', "\r\n") } else { new };
    Some(format!("{}{new}{}", &text[..from], &text[to..]))
}

/// From where to where a text is replaced, and by what.
type Change = (usize, usize, String);

/// The byte of a line and a column, which count from 1 and in characters.
fn offset(text: &str, line: u64, column: u64) -> Option<usize> {
    let before: usize = text.split_inclusive('\n').take(usize::try_from(line).ok()? - 1).map(str::len).sum();
    let rest = text.get(before..)?;
    let column = usize::try_from(column).ok()? - 1;
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(column).map(|at| before + at)
}

/// Where the value of a key begins: behind its colon, and the spaces after that.
fn value_start(text: &str, key: &MapKey) -> Option<usize> {
    let at = offset(text, key.line, key.column)?;
    let behind = match text[at..].chars().next()? {
        '"' | '\'' => scalar_end(text, at, true)?,
        _ => at + key.text.len(),
    };
    let colon = behind + text[behind..].find(|c: char| c != ' ')?;
    let value = text[colon..].strip_prefix(':')?;
    Some(text.len() - value.trim_start_matches(' ').len())
}

/// Where a scalar on one line ends.
fn scalar_end(text: &str, at: usize, is_in_brackets: bool) -> Option<usize> {
    let rest = &text[at..];
    let line = rest.split(['\n', '\r']).next()?;
    let Some(quote @ ('"' | '\'')) = line.chars().next() else {
        let end = if is_in_brackets { line.find([',', ']', '}']) } else { None };
        let line = &line[..end.unwrap_or(line.len())];
        let line = if line.starts_with('#') { "" } else { line.split(" #").next().unwrap_or(line) };
        return Some(at + line.trim_end().len());
    };
    let mut skips = false;
    let mut inner = line.char_indices().skip(1).peekable();
    while let Some((index, c)) = inner.next() {
        match c {
            _ if skips => skips = false,
            '\\' if quote == '"' => skips = true,
            '\'' if quote == '\'' && inner.peek().is_some_and(|(_, c)| *c == '\'') => skips = true,
            c if c == quote => return Some(at + index + 1),
            _ => {}
        }
    }
    None
}

/// An entry of a map that stands on lines of its own.
fn on_lines(text: &str, last: &MapKey, known: Option<&MapKey>, key: &str, value: &Json) -> Option<Change> {
    let at = known.unwrap_or(last);
    let indent = usize::try_from(at.column).ok()? - 1;
    let start = offset(text, at.line, at.column)?;
    if known.is_some() && !value.is_object() {
        let from = value_start(text, at)?;
        let to = scalar_end(text, from, false)?;
        let space = if text[..from].ends_with(' ') { "" } else { " " };
        return Some((from, to, format!("{space}{}", scalar(value, false))));
    }
    let mut new = String::new();
    Out::write_entries(&[(key.into(), Out::json(value, true))], indent, &mut new);
    let end = entry_end(text, start, indent);
    if known.is_some() {
        return Some((start, end, new.trim_start_matches(' ').to_owned()));
    }
    let break_before = if text[..end].ends_with('\n') { "" } else { "\n" };
    Some((end, end, format!("{break_before}{new}")))
}

/// Where the entry that begins at `start` ends: before the next line that stands no deeper than its key.
fn entry_end(text: &str, start: usize, indent: usize) -> usize {
    let mut at = start;
    let mut end = start;
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        let body = line.trim_start_matches(' ');
        let is_blank = body.trim().is_empty();
        // A list may stand no deeper than the key it belongs to.
        let is_item = line.len() - body.len() == indent && (body.starts_with("- ") || body.trim_end() == "-");
        let belongs = number == 0 || is_blank || line.len() - body.len() > indent || is_item;
        if !belongs {
            break;
        }
        at += line.len();
        if !is_blank {
            end = at;
        }
    }
    end
}

/// An entry of a map in brackets, as in JSON.
fn in_brackets(text: &str, start: usize, known: Option<&MapKey>, key: &str, value: &Json) -> Option<Change> {
    let is_json = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).starts_with('{');
    if let Some(known) = known {
        let from = value_start(text, known)?;
        let to = if text[from..].starts_with(['{', '[']) {
            brackets_end(text, from)?
        } else {
            scalar_end(text, from, true)?
        };
        return Some((from, to, scalar(value, is_json)));
    }
    let inner = text[..brackets_end(text, start)? - 1].trim_end();
    let comma = if inner.ends_with(',') { "" } else { "," };
    let key = if is_json { format!("\"{key}\"") } else { key.to_owned() };
    Some((inner.len(), inner.len(), format!("{comma} {key}: {}", scalar(value, is_json))))
}

/// Where the brackets that open at `start` are closed.
fn brackets_end(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    // Quotes and comments begin where a value may; elsewhere they are letters of a word.
    let mut before = '{';
    while let Some(c) = text[at..].chars().next() {
        let is_free = before.is_whitespace() || matches!(before, '{' | '[' | ',' | ':' | '}' | ']');
        let is_comment = c == '#' || text[at..].starts_with("//");
        match c {
            '"' | '\'' if is_free => {
                at = scalar_end(text, at, true)?;
                before = '"';
                continue;
            }
            _ if is_free && is_comment => {
                at += text[at..].find('\n')?;
                continue;
            }
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        at += c.len_utf8();
        if depth == 0 {
            return Some(at);
        }
        before = c;
    }
    None
}

/// A value on one line.
fn scalar(value: &Json, is_json: bool) -> String {
    match value.as_str() {
        Some(word) if !is_json && is_plain(word) => word.to_owned(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::yaml::{read, read_json};

    /// The second item of the list `tasks` with a status and evidence set.
    fn marked(text: &str) -> Option<String> {
        let is_json = text.starts_with('{');
        let mut text = text.to_owned();
        for (key, value) in
            [("status", json!("DONE")), ("evidence", json!({"Files changed": "a: b", "ok": "yes"}))]
        {
            let node = if is_json { read_json(&text, "f") } else { read(&text, "f") }.unwrap();
            let Value::Map(root) = &node.value else { panic!("a map") };
            let Value::List(items) = &root[0].1.value else { panic!("a list") };
            text = with_entry(&text, &items[1], key, &value)?;
        }
        Some(text)
    }

    #[test]
    fn only_the_entries_change() {
        let new = "evidence:\n      \"Files changed\": \"a: b\"\n      ok: \"yes\"\n";
        let cases = [
            // Both are new, and go behind the last entry.
            (
                "# top\ntasks:\n  - id: A # a\n    status: OPEN\n\n  - id: B\n    title: \"it's\"\n    steps:\n    - one # 1\n\n# between\n  - id: C\n",
                format!(
                    "# top\ntasks:\n  - id: A # a\n    status: OPEN\n\n  - id: B\n    title: \"it's\"\n    steps:\n    - one # 1\n    status: DONE\n    {new}\n# between\n  - id: C\n"
                ),
            ),
            // Both are there, with a comment behind the status and lines below the evidence.
            (
                "tasks:\n  - {id: A}\n  - status: 'OPEN'  # by hand\n    evidence:\n      old: 1\n      # why\n    id: B\n",
                format!("tasks:\n  - {{id: A}}\n  - status: DONE  # by hand\n    {new}    id: B\n"),
            ),
            // The last line is not ended, and the status is empty.
            (
                "tasks:\n  - {id: A}\n  - status:\n    id: B",
                format!("tasks:\n  - {{id: A}}\n  - status: DONE\n    id: B\n    {new}"),
            ),
            // Lines that end with CR LF.
            (
                "tasks:\r\n  - {id: A}\r\n  - id: B\r\n",
                format!("tasks:\n  - {{id: A}}\n  - id: B\n    status: DONE\n    {new}").replace('\n', "\r\n"),
            ),
            // In brackets.
            (
                "tasks:\n  - {id: A}\n  - {id: B, status: OPEN, title: don't, steps: [\"a}\", 'b''}'], } # end\n",
                "tasks:\n  - {id: A}\n  - {id: B, status: DONE, title: don't, steps: [\"a}\", 'b''}'], evidence: {\"Files changed\":\"a: b\",\"ok\":\"yes\"} } # end\n".to_owned(),
            ),
            (
                "{\"tasks\": [{\"id\": \"A\"},\n  // a } here\n  {\"id\": \"\u{e9}B\", // and }\n   \"evidence\": {\"a\": [\"}\"]}, \"status\": \"OPEN\"}]}",
                "{\"tasks\": [{\"id\": \"A\"},\n  // a } here\n  {\"id\": \"\u{e9}B\", // and }\n   \"evidence\": {\"Files changed\":\"a: b\",\"ok\":\"yes\"}, \"status\": \"DONE\"}]}".to_owned(),
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(marked(text).as_deref(), Some(wanted.as_str()), "{text}");
        }
    }
}
