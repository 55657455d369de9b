//! Pseudonyms: by what names participants are shown to each other.
//!
//! Drawn once, by the seed alone, and written into the header; neither the number in a pseudonym nor
//! the order in which they are listed says where its seat stands in the roster.

use indexmap::IndexMap;

use crate::history::{PseudonymMap, Session};
use crate::round::snapshot::sha256_hex;

/// The first word of a pseudonym: the first of these that no seat's name begins with.
const WORDS: [&str; 4] = ["participant", "voice", "speaker", "table-voice"];

impl PseudonymMap {
    /// Draws the pseudonyms of a roster; the same seed and names give the same.
    pub fn draw<'a>(seed: u64, roster: impl Iterator<Item = &'a str>) -> Self {
        let roster: Vec<&str> = roster.collect();
        let mut order = roster.clone();
        order.sort_by_cached_key(|name| sha256_hex(format!("roundtable pseudonym 1\n{seed}\n{name}")));
        let is_free = |word: &&&str| !roster.iter().any(|name| name.to_lowercase().starts_with(**word));
        let word = WORDS.iter().find(is_free).copied().unwrap_or("anonymous-participant");
        let number = |name: &str| order.iter().position(|other| *other == name).map_or(0, |at| at + 1);
        let names = roster.iter().map(|name| ((*name).to_owned(), format!("{word}-{}", number(name))));
        Self { seed, names: names.collect() }
    }
}

impl Session {
    pub fn pseudonyms(&self) -> Option<&IndexMap<String, String>> {
        self.header.as_ref()?.pseudonyms.as_ref().map(|drawn| &drawn.names)
    }

    pub fn display_name<'a>(&'a self, seat: &'a str) -> &'a str {
        self.pseudonyms().and_then(|names| names.get(seat)).map_or(seat, String::as_str)
    }

    /// The place of a seat among those shown to others: by pseudonym, else by the roster.
    pub(crate) fn shown_at(&self, seat: &str) -> usize {
        let Some(names) = self.pseudonyms() else { return self.roster.get_index_of(seat).unwrap_or(0) };
        let number = |name: &String| name.rsplit('-').next().and_then(|digits| digits.parse().ok());
        names.get(seat).and_then(number).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use crate::history::PseudonymMap;

    #[test]
    fn they_are_drawn_by_the_seed_and_not_in_roster_order() {
        let roster = ["a", "b", "c", "d", "e"];
        let draw = |seed| PseudonymMap::draw(seed, roster.iter().copied());
        assert_eq!(draw(7), draw(7));
        let mut orders: Vec<Vec<String>> =
            (0..40).map(|seed| draw(seed).names.values().cloned().collect()).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort();
            assert_eq!(sorted, (1..=5).map(|n| format!("participant-{n}")).collect::<Vec<_>>());
        }
        orders.sort();
        orders.dedup();
        assert!(orders.len() > 25, "hardly any order differs: {}", orders.len());
        // A seat's name is the same whoever sits before it in the file.
        assert_eq!(
            draw(7).names["c"],
            PseudonymMap::draw(7, ["c", "e", "a", "d", "b"].into_iter()).names["c"]
        );
        let odd = PseudonymMap::draw(1, ["Participant-1", "voices"].into_iter());
        assert!(odd.names.values().all(|name| name.starts_with("speaker-")), "{odd:?}");
    }
}
