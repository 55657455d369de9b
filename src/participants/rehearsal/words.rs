//! Words and their stems, for the rehearsal.
//!
//! A stem is a word without its usual English endings, so that `consistency`, `consistent` and
//! `inconsistent` can be seen to be about one thing. It is a rule of thumb, the same on every machine;
//! it knows no other language and no meaning.

/// Words of one sentence that are looked at; what follows them is not.
const MAX_WORDS: usize = 240;

/// Endings that are taken off once a plural `s` is gone, longest first.
const ENDINGS: [&str; 39] = [
    "mentation",
    "menting",
    "mented",
    "enting",
    "anting",
    "ented",
    "anted",
    "icated",
    "ication",
    "ability",
    "ibility",
    "icate",
    "icity",
    "ation",
    "istic",
    "iness",
    "ment",
    "ness",
    "ency",
    "ance",
    "ence",
    "able",
    "ible",
    "ated",
    "ity",
    "ism",
    "ing",
    "ent",
    "ant",
    "ate",
    "acy",
    "ion",
    "ily",
    "ful",
    "ed",
    "ic",
    "e",
    "y",
    "al",
];

/// Words too common to connect two sentences.
const COMMON: &str = "a about after all also an and any are as at be because been before being between both but by can \
    could do does during each every for from had has have here how if in into is it its itself just kept keep made \
    make may might more most must new no not of off on once one only or other our out over own per should so some \
    such than that the their them then there these they this those through to too two under until up us use used \
    uses using was we were what when where which while who will with within without would you your";

/// One word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Lower case, as it stands.
    pub raw: String,
    /// Without its ending.
    pub stem: String,
}

/// The words of a sentence, clause by clause: commas, colons, brackets and `but`, `and`, `because`,
/// `so` divide them.
pub(super) fn clauses(sentence: &str) -> Vec<Vec<Word>> {
    let mut clauses = vec![Vec::new()];
    let mut seen = 0;
    let mut raw = String::new();
    for c in sentence.chars().chain([' ']) {
        if c.is_alphanumeric() {
            raw.extend(c.to_lowercase());
            continue;
        }
        if matches!(c, '\'' | '\u{2019}') && !raw.is_empty() {
            raw.push('\'');
            continue;
        }
        if !raw.is_empty() {
            seen += 1;
            take(&mut clauses, &mut raw);
        }
        if matches!(c, ',' | ';' | ':' | '(' | ')' | '\u{2014}' | '\u{2013}') {
            clauses.push(Vec::new());
        }
        if seen >= MAX_WORDS {
            break;
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

fn take(clauses: &mut Vec<Vec<Word>>, raw: &mut String) {
    let word = std::mem::take(raw);
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix('\'')).unwrap_or(&word).to_owned();
    if matches!(word.as_str(), "but" | "and" | "because" | "so" | "however") {
        clauses.push(Vec::new());
    } else if let (Some(last), false) = (clauses.last_mut(), word.is_empty()) {
        let stem = stem(&word);
        last.push(Word { raw: word, stem });
    }
}

/// The words of a sentence without its clauses.
pub(super) fn words(sentence: &str) -> Vec<Word> {
    clauses(sentence).into_iter().flatten().collect()
}

/// A lower-case word without its ending; at least three letters stay.
pub(super) fn stem(word: &str) -> String {
    let single = singular(word);
    let adjective = single.strip_suffix("ly").filter(|rest| long(rest) && !rest.ends_with(['p', 'b']));
    let whole = adjective.unwrap_or(&single);
    let rest = ENDINGS.iter().find_map(|ending| whole.strip_suffix(ending).filter(|rest| long(rest)));
    let mut base = undouble(rest.unwrap_or(whole));
    while let Some(rest) = base.strip_suffix('e').filter(|rest| long(rest)) {
        base = rest;
    }
    base.to_owned()
}

fn long(rest: &str) -> bool {
    rest.chars().count() >= 3
}

/// `policies` is `policy`, `tests` is `test`; `access`, `status` and `basis` stay.
fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| long(rest)) {
        return format!("{rest}y");
    }
    let keeps = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    word.strip_suffix('s').filter(|rest| long(rest) && !keeps).unwrap_or(word).to_owned()
}

/// `stopp` is `stop`; `ll` and `ss` stay.
fn undouble(base: &str) -> &str {
    let mut back = base.chars().rev();
    match (back.next(), back.next()) {
        (Some(a), Some(b)) if a == b && !matches!(a, 'l' | 's' | 'e') && base.chars().count() > 3 => {
            &base[..base.len() - a.len_utf8()]
        }
        _ => base,
    }
}

/// Whether a word says nothing by itself.
pub(super) fn is_common(word: &Word) -> bool {
    word.raw.chars().count() < 3 || COMMON.split_whitespace().any(|common| common == word.raw)
}

/// Whether a word is of the family of `stem`, its negated forms (`in-`, `un-`, `non-`) included.
pub(super) fn is_kin(word: &Word, stem: &str) -> bool {
    word.stem == stem
        || ["in", "un", "non"]
            .iter()
            .any(|prefix| word.stem.strip_prefix(prefix).is_some_and(|rest| rest == stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_share_a_stem() {
        for family in [
            ["consistency", "consistent", "consistently"],
            ["isolation", "isolated", "isolate"],
            ["simplicity", "simple", "simply"],
            ["deterministic", "determinism", "determin"],
            ["costs", "cost", "costing"],
            ["policies", "policy", "policy"],
            ["stopped", "stop", "stops"],
            ["atomicity", "atomic", "atom"],
            ["agreement", "agree", "agreed"],
            ["duplication", "duplicate", "duplicated"],
            ["prevents", "prevent", "prevented"],
            ["documentation", "document", "documented"],
        ] {
            assert!(family.iter().all(|word| stem(word) == stem(family[0])), "{family:?}");
        }
        assert_eq!(
            (stem("access").as_str(), stem("bus").as_str(), stem("ß").as_str()),
            ("access", "bus", "ß")
        );
        let odd = &words("Inconsistent!")[0];
        assert!(is_kin(odd, &stem("consistency")));
    }

    #[test]
    fn clauses_divide_where_a_no_stops_reaching() {
        let found = clauses("no tests, and a slow rollback (don't ask)");
        let raw: Vec<Vec<&str>> = found.iter().map(|c| c.iter().map(|w| w.raw.as_str()).collect()).collect();
        assert_eq!(raw, [vec!["no", "tests"], vec!["a", "slow", "rollback"], vec!["don't", "ask"]]);
    }
}
