//! The rules of the leak scan, over words: what counts as a name, and when a text says who it is.

use super::leak::{Hit, LeakKind, LeakScanner, Named};
use super::patterns::{
    AFTER_AI, AI, FILES, FILLERS, INTRODUCTIONS, MADE, ME, MOST_FILLERS, NOT_ITSELF, SAYS, THEIRS,
};
use super::tokenize::{Word, words};
use super::vendors::{any, belongs, strong};

impl LeakScanner {
    /// Everything found in a text, in its order, none over another.
    pub fn hits(&self, text: &str) -> Vec<Hit> {
        let (words, rest) = words(text);
        let reader = PatternMatcher { scan: self, words: &words, rest: &rest };
        let mut found: Vec<NameMatch> = Vec::new();
        for at in 0..words.len() {
            found.extend(reader.itself(at));
        }
        let selves = found.len();
        for at in 0..words.len() {
            let maker = reader.maker(at, &found[..selves]);
            found.extend(maker);
        }
        for at in 0..words.len() {
            found.extend(reader.name(at).filter(|name| !reader.is_known(name)));
        }
        let hits = found.into_iter().map(|found| reader.hit(found)).collect();
        apart(hits)
    }
}

/// In the order of the text; of two that overlap the one that says who speaks, else the longer.
fn apart(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.kind != LeakKind::Itself, std::cmp::Reverse(hit.end - hit.start), hit.start));
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        if kept.iter().all(|other| hit.end <= other.start || other.end <= hit.start) {
            kept.push(hit);
        }
    }
    kept.sort_by_key(|hit| hit.start);
    kept
}

/// A name among the words: the first, how many, and of these how many are the bare name.
#[derive(Debug, Clone, Copy)]
struct NameMatch {
    kind: LeakKind,
    named: Named,
    at: usize,
    len: usize,
    bare: usize,
}

/// How closely a seat's name must be written as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// With its own hyphens; a name of one plain word does not count.
    Strict,
    /// With spaces for hyphens too.
    Loose,
}

struct PatternMatcher<'a> {
    scan: &'a LeakScanner,
    words: &'a [Word],
    rest: &'a str,
}

impl PatternMatcher<'_> {
    fn text(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.text)
    }

    /// What stands before the word at `at`; at the end, what follows the last word.
    fn gap(&self, at: usize) -> &str {
        self.words.get(at).map_or(self.rest, |word| &word.gap)
    }

    fn ends_sentence(&self, at: usize) -> bool {
        self.gap(at).contains(['.', '!', '?', '\n', ';'])
    }

    fn is(&self, at: usize, sequence: &[&str]) -> bool {
        sequence
            .iter()
            .enumerate()
            .all(|(i, word)| self.text(at + i) == *word && (i == 0 || !self.ends_sentence(at + i)))
    }

    fn hit(&self, found: NameMatch) -> Hit {
        let (start, end) = (self.words[found.at].start, self.words[found.at + found.len - 1].end);
        Hit { kind: found.kind, named: found.named, start, end }
    }

    /// Whether the facilitator's own material names it.
    fn is_known(&self, found: &NameMatch) -> bool {
        let name: Vec<&str> = (0..found.bare).map(|i| self.text(found.at + i)).collect();
        self.scan.is_known(&name)
    }

    /// A name that counts wherever it stands.
    fn name(&self, at: usize) -> Option<NameMatch> {
        let seat = self
            .seat(at, Spelling::Strict)
            .or_else(|| self.seat(at, Spelling::Loose).filter(|found| self.is_spoken_of(found)));
        seat.or_else(|| self.roster_model(at)).or_else(|| self.of_table(at, strong))
    }

    /// A name of the tables, with what belongs to it; none of a person, a path or a file.
    fn of_table(&self, at: usize, look: fn(&[&str]) -> Option<(Named, usize)>) -> Option<NameMatch> {
        let joined = (1..4).take_while(|i| matches!(self.gap(at + i), " " | "-" | "." | "/" | "")).count();
        let run: Vec<&str> =
            (at..=at + joined).map(|i| self.text(i)).filter(|word| !word.is_empty()).collect();
        let (named, bare) = look(&run)?;
        if self.is_path(at, bare) || (run[0] == "claude" && self.is_person(at)) {
            return None;
        }
        let more = match named {
            Named::Model => run[bare..].iter().take_while(|word| belongs(word)).count(),
            _ => 0,
        };
        let kind = if named == Named::Model { LeakKind::Model } else { LeakKind::Vendor };
        Some(NameMatch { kind, named, at, len: bare + more, bare })
    }

    /// `~/.claude/agents`, `docs/claude/x`, `CLAUDE.md`.
    fn is_path(&self, at: usize, len: usize) -> bool {
        let (before, after) = (self.gap(at), self.gap(at + len));
        let is_hidden = before.ends_with('.') && (before.len() > 1 || at == 0);
        let is_inside = before.ends_with('/') && after.starts_with('/');
        let is_file = after == "." && FILES.contains(&self.text(at + len));
        is_hidden || is_inside || is_file || before.ends_with("./")
    }

    /// Claude Shannon, Jean-Claude.
    fn is_person(&self, at: usize) -> bool {
        let is_first_name = at > 0 && matches!(self.gap(at), "-" | " ") && self.text(at - 1) == "jean";
        let next = self.words.get(at + 1).filter(|next| next.gap == " ");
        let names_more = strong(&[self.text(at + 1)]).is_some();
        let is_surname = |next: &Word| {
            next.capital
                && next.text.len() > 2
                && !belongs(&next.text)
                && !["code", "and", "the"].contains(&next.text.as_str())
        };
        is_first_name || !names_more && next.is_some_and(is_surname)
    }

    /// A model of the roster, by its whole name or by the part that is nobody else's word.
    fn roster_model(&self, at: usize) -> Option<NameMatch> {
        let longest =
            self.scan.models.iter().filter(|name| self.begins(at, name)).max_by_key(|name| name.len())?;
        let len = longest.len();
        Some(NameMatch { kind: LeakKind::Model, named: Named::Model, at, len, bare: len })
    }

    fn begins(&self, at: usize, name: &[String]) -> bool {
        let same = |(i, word): (usize, &String)| {
            self.text(at + i) == word && (i == 0 || matches!(self.gap(at + i), "-" | "." | "/" | ":" | "@"))
        };
        !name.is_empty() && name.iter().enumerate().all(same)
    }

    fn seat(&self, at: usize, spelling: Spelling) -> Option<NameMatch> {
        let fits = |seat: &&(usize, Vec<Word>)| {
            let name = &seat.1;
            let is_plain = name.len() == 1 && !name[0].text.contains(|c: char| c.is_ascii_digit());
            if name.is_empty() || (is_plain && spelling == Spelling::Strict) {
                return false;
            }
            name.iter().enumerate().all(|(i, word)| {
                let gap = self.gap(at + i);
                let is_joined = i == 0
                    || gap == word.gap
                    || (spelling == Spelling::Loose && matches!(gap, " " | "-" | ""));
                self.text(at + i) == word.text && is_joined
            })
        };
        let (index, name) =
            self.scan.seats.get(self.text(at))?.iter().filter(fits).max_by_key(|(_, name)| name.len())?;
        let len = name.len();
        if self.gap(at) == "-" || self.gap(at + len) == "-" && at + len < self.words.len() {
            return None;
        }
        Some(NameMatch { kind: LeakKind::Seat, named: Named::Seat(*index), at, len, bare: len })
    }

    /// Whether a plain name stands where somebody is spoken of: `@skeptic`, "agree with skeptic",
    /// "skeptic said", "skeptic's vote".
    fn is_spoken_of(&self, found: &NameMatch) -> bool {
        let (at, after) = (found.at, found.at + found.len);
        let before = |back: usize| at.checked_sub(back).map_or("", |at| self.text(at));
        let is_quoted = ['\'', '"'].iter().any(|quote| {
            self.gap(at).ends_with(*quote) && self.gap(after).starts_with(*quote) && self.text(after) != "s"
        });
        if self.gap(at).ends_with('@') || is_quoted {
            return true;
        }
        // "A skeptic said" is anyone.
        if self.text(at).len() < 2 || matches!(before(1), "a" | "an" | "any" | "every" | "some") {
            return false;
        }
        let is_met =
            matches!((before(2), before(1)), ("agree" | "disagree" | "side", "with") | ("according", "to"));
        let is_owner =
            self.gap(after) == "'" && self.text(after) == "s" && THEIRS.contains(&self.text(after + 1));
        let is_said = self.gap(after) == " " && SAYS.contains(&self.text(after));
        (is_met && self.gap(at) == " ") || is_owner || is_said
    }

    /// What a text says at this word that it is itself.
    fn itself(&self, at: usize) -> Option<NameMatch> {
        let found = match INTRODUCTIONS.iter().find(|words| self.is(at, words)) {
            Some(words) => self.introduced(at + words.len()),
            None if self.text(at) == "as" => self.as_itself(at),
            None => None,
        };
        found.map(|found| NameMatch { kind: LeakKind::Itself, ..found })
    }

    /// A name after an introduction, with words between that say nothing.
    fn introduced(&self, from: usize) -> Option<NameMatch> {
        for at in from..=from + MOST_FILLERS {
            if self.ends_sentence(at) || at >= self.words.len() {
                return None;
            }
            if let Some(found) = self.own_name(at) {
                return Some(found);
            }
            if !FILLERS.contains(&self.text(at)) {
                return None;
            }
        }
        None
    }

    fn own_name(&self, at: usize) -> Option<NameMatch> {
        let model = || self.of_table(at, any).filter(|found| found.named == Named::Model);
        let is_word = FILLERS.contains(&self.text(at));
        let seat = self.seat(at, Spelling::Loose).filter(|found| found.len > 1 || !is_word);
        seat.or_else(|| self.roster_model(at)).or_else(model).or_else(|| self.ai(at))
    }

    /// "As Claude, …", "as the qa lead, I …", "As an AI developed by …".
    fn as_itself(&self, at: usize) -> Option<NameMatch> {
        if at > 0 && NOT_ITSELF.contains(&self.text(at - 1)) && !self.ends_sentence(at) {
            return None;
        }
        let name = if matches!(self.text(at + 1), "a" | "an" | "the") { at + 2 } else { at + 1 };
        if self.ends_sentence(name) {
            return None;
        }
        let found = self.own_name(name)?;
        let after = found.at + found.len;
        let is_own = self.gap(after).starts_with(',') || self.text(after) == "i" && self.gap(after) == " ";
        let begins = at == 0
            || !matches!(self.gap(at), " ")
            || matches!(self.text(at - 1), "but" | "and" | "because" | "since");
        match found.named {
            Named::Ai => begins.then_some(found),
            _ => is_own.then_some(found),
        }
    }

    /// "an AI language model": words for what is no participant's name and gives it away all the same.
    fn ai(&self, at: usize) -> Option<NameMatch> {
        let len = (at..self.words.len())
            .take_while(|i| AI.contains(&self.text(*i)) && (*i == at || matches!(self.gap(*i), " " | "-")))
            .count();
        let group: Vec<&str> = (at..at + len).map(|i| self.text(i)).collect();
        let tells = group.contains(&"ai")
            || group.contains(&"llm")
            || group
                .windows(2)
                .any(|two| matches!(two, ["language", "model"] | ["artificial", "intelligence"]));
        let after = at + len;
        let ends = after >= self.words.len() || !matches!(self.gap(after), " " | "-");
        (tells && (ends || AFTER_AI.contains(&self.text(after)))).then_some(NameMatch {
            kind: LeakKind::Itself,
            named: Named::Ai,
            at,
            len,
            bare: len,
        })
    }

    /// "I was trained by Google": the maker, where the sentence speaks of its author.
    fn maker(&self, at: usize, selves: &[NameMatch]) -> Option<NameMatch> {
        if !MADE.contains(&self.text(at)) {
            return None;
        }
        let by = (at + 1..at + 6).take_while(|i| !self.ends_sentence(*i)).find(|i| self.text(*i) == "by")?;
        let skip = ["the", "team", "teams", "at", "researchers", "people", "folks", "company"];
        let name = (by + 1..by + 5)
            .take_while(|i| !self.ends_sentence(*i))
            .find(|i| !skip.contains(&self.text(*i)))?;
        let found = self.of_table(name, any)?;
        let begin = (0..=at)
            .rev()
            .take(16)
            .find(|i| *i == 0 || self.ends_sentence(*i))
            .unwrap_or(at.saturating_sub(16));
        let speaks = (begin..at).any(|i| ME.contains(&self.text(i)));
        let is_self = selves.iter().any(|own| (begin..at).contains(&own.at));
        (speaks || is_self).then_some(NameMatch { kind: LeakKind::Itself, named: Named::Vendor, ..found })
    }
}
