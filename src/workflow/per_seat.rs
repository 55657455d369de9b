//! One number for each of several seats: the same for all, dealt from a list, or spread evenly.

use super::load::entries::Entries;
use crate::yaml::{Node, Value};

/// How a number is given to seats.
#[derive(Debug, Clone, PartialEq)]
pub enum PerSeat {
    /// To all the same.
    Same(f64),
    /// From this list in turn, from its start again when it is used up.
    Dealt(Vec<f64>),
    /// Evenly from the first to the last.
    Even(f64, f64),
}

impl PerSeat {
    /// The number of the seat `nth`, from 0, of `total`.
    pub fn value_for(&self, nth: usize, total: usize) -> f64 {
        match self {
            Self::Same(number) => *number,
            Self::Dealt(numbers) => numbers[nth % numbers.len()],
            Self::Even(from, _) if total < 2 => *from,
            Self::Even(from, to) => {
                let exact = from + (to - from) * nth as f64 / (total - 1) as f64;
                // What is recorded is what is sent: no longer than a person would write it.
                (exact * 1e4).round() / 1e4
            }
        }
    }
}

/// Reads temperatures: `0.7`, `[0, 0.7, 1]` or `{from: 0, to: 1}`.
pub fn spread(entries: Entries<'_>, key: &str) -> Option<PerSeat> {
    let node = entries.node(key)?;
    let number = |node: &Node| if let Value::Number(number) = &node.value { number.as_f64() } else { None };
    match &node.value {
        Value::List(items) if items.is_empty() => {
            entries.refuse(node, format!("`{key}` is empty"), format!("write `{key}: 0.7`"));
            None
        }
        Value::List(items) => items.iter().map(number).collect::<Option<Vec<f64>>>().map(PerSeat::Dealt),
        Value::Map(_) => {
            let ends = entries.map(key)?;
            Some(PerSeat::Even(ends.number("from")?, ends.number("to")?))
        }
        _ => number(node).map(PerSeat::Same),
    }
}

#[cfg(test)]
mod tests {
    use super::PerSeat;

    #[test]
    fn each_seat_has_its_number() {
        let of =
            |spread: PerSeat, total| (0..total).map(|nth| spread.value_for(nth, total)).collect::<Vec<_>>();
        assert_eq!(of(PerSeat::Same(0.7), 2), [0.7, 0.7]);
        assert_eq!(of(PerSeat::Dealt(vec![0.0, 1.0]), 3), [0.0, 1.0, 0.0]);
        assert_eq!(of(PerSeat::Even(0.2, 1.0), 5), [0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(of(PerSeat::Even(0.0, 1.0), 4), [0.0, 0.3333, 0.6667, 1.0]);
        assert_eq!(of(PerSeat::Even(0.2, 1.0), 1), [0.2]);
    }
}
