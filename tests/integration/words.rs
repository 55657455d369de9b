//! What newcomers write: command lines and definitions with the words and habits of other tools. Each is
//! taken for what it means or gets its cure, and one mistake brings one error.

use crate::program::Desk;

const TABLE: &str = include_str!("../fixtures/words.tsv");
const BASE: [&str; 5] = [
    "participants: [qa-lead, skeptic]",
    "question: Which?",
    "ballot: {kind: choice, options: [a, b]}",
    "rule: majority",
    "",
];

/// What is written and what its answer must hold, of the rows of a kind; without those that have no cure yet.
fn rows(kind: &str) -> Vec<(&'static str, &'static str)> {
    let cells =
        TABLE.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix('\t')?.split_once('\t'));
    cells.filter(|(_, cure)| !cure.starts_with('?')).collect()
}

#[test]
fn command_lines_of_other_tools_get_their_cure() {
    let desk = Desk::new();
    let cache = "question: Which cache first?\nballot: {kind: score, options: [a, b]}\nrule: score\n";
    desk.write("cache.yaml", format!("participants: [qa-lead, skeptic]\n{cache}"));
    desk.run(["run", "cache.yaml", "--rehearse"]);
    let rows = rows("line");
    assert!(rows.len() >= 61, "fewer than before are cured");
    for (line, cure) in rows {
        let ran = desk.run(line.split(' '));
        let errors = ran.err.matches("error: ").count();
        assert_eq!(errors, usize::from(ran.code == 2), "{line}: {}", ran.err);
        assert!(ran.out.contains(cure) || ran.err.contains(cure), "{line}: {cure}\n{}", ran.err);
    }
}

#[test]
fn definitions_in_words_of_other_tools_load_or_get_their_cure() {
    let (desk, rows) = (Desk::new(), rows("file"));
    assert!(rows.len() >= 81, "fewer than before are cured");
    let names: Vec<String> = (0..rows.len()).map(|number| format!("{number}.yaml")).collect();
    for ((written, _), name) in rows.iter().zip(&names) {
        let parts: Vec<&str> = written.split(" | ").collect();
        let part = |at: usize| parts.get(at).copied().filter(|part| *part != "=").unwrap_or(BASE[at]);
        let whole = || [0, 1, 2, 3, 4].map(part).join("\n");
        let text = written.strip_prefix('!').map_or_else(whole, str::to_owned);
        desk.write(name, text.replace('¶', "\n"));
    }
    let found = desk.run(["check"].into_iter().chain(names.iter().map(String::as_str))).out;
    let found: Vec<&str> = found.lines().collect();
    for ((written, cure), name) in rows.iter().zip(&names) {
        let place = format!("{name}:");
        let is_its = |lines: &&[&str]| lines[0].starts_with(&place) && lines[0].contains(" error: ");
        let errors: Vec<_> = found.windows(2).filter(is_its).map(<[&str]>::concat).collect();
        assert_eq!(errors.len(), usize::from(!cure.is_empty()), "{written}: {errors:#?}");
        assert!(errors.iter().all(|said| said.contains(cure)), "{written}: {cure}\n{errors:#?}");
        let follows = |line: &&str| line.starts_with(&place) && line.contains(" has no rule");
        assert!(errors.is_empty() || !found.iter().any(follows), "{written}");
    }
}
