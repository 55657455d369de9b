//! One number for each of several seats: the same for all, dealt from a list, or spread evenly.

use super::load::map_reader::Fields;
use crate::yaml::{Node, Value};

/// No service takes a higher temperature.
const HOTTEST: f64 = 2.0;

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
pub fn spread(fields: &mut Fields<'_>, key: &'static str) -> Option<PerSeat> {
    let node = fields.node(key)?;
    let wanted = "a number from 0 to 2, a list of such, or `{from: 0, to: 1}`";
    let read = match &node.value {
        Value::List(items) if !items.is_empty() => {
            items.iter().map(number).collect::<Option<Vec<f64>>>().map(PerSeat::Dealt)
        }
        Value::Map(_) => ends(node, fields),
        _ => number(node).map(PerSeat::Same),
    };
    if read.is_none() {
        fields.wrong(node, key, wanted);
    }
    read
}

fn ends(node: &Node, fields: &mut Fields<'_>) -> Option<PerSeat> {
    let mut inner = Fields::from_node(node, "a `temperature`", fields.file()).ok()?;
    let (from, to) = (inner.node("from").and_then(number), inner.node("to").and_then(number));
    fields.problems.extend(inner.finish(&[]));
    Some(PerSeat::Even(from?, to?))
}

fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Number(number) => number.as_f64().filter(|number| (0.0..=HOTTEST).contains(number)),
        _ => None,
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
