//! The reader of documents that this program wrote: as JSON, and within the memory that is left for them.
//!
//! No anchor and no alias is taken, so that nothing unfolds. What values weigh in memory is counted
//! while they are read; where there is no room for them the text is refused before they are there.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::reader::{MAX_DEPTH, explain, options};
use crate::diagnostic::Diagnostic;

/// A document holds at most so many keys and values.
const MAX_NODES: usize = 1_000_000;

/// About what a list weighs beside the texts in it, and each of its values; a map, and each of its entries;
/// in bytes.
const LIST: usize = 200;
const ITEM: usize = 100;
const MAP: usize = 400;
const ENTRY: usize = 160;
/// What the keys of the document itself may weigh: an event has so few that they count for nothing.
const FREE: usize = MAP + 24 * ENTRY;

/// Reads one document that [`super::Out`] wrote. What its values weigh is taken from `room`.
pub fn read_own(text: &str, room: &mut usize) -> Result<Value, Diagnostic> {
    let left = Cell::new(room.saturating_add(FREE));
    let budget = serde_yaml::budget! {
        max_depth: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        max_events: usize::MAX,
        max_nodes: MAX_NODES,
        max_anchors: 0,
        max_aliases: 0,
        max_total_scalar_bytes: usize::MAX,
    };
    let read = |reader: serde_yaml::Deserializer<'_, '_>| Weighed(&left).deserialize(reader);
    let value = serde_yaml::with_deserializer_from_str_with_options(text, options(budget), read);
    let value = value.map_err(|error| {
        let said = error.without_snippet().to_string();
        if said.contains("anchors") || said.contains("alias") {
            return Diagnostic::new("it holds an anchor or an alias (`&`, `*`), which no session does");
        }
        explain(&error, text, "")
    })?;
    *room = left.get().min(*room);
    Ok(value)
}

fn take(left: &Cell<usize>, weight: usize) -> Result<(), &'static str> {
    let rest = left.get().checked_sub(weight);
    left.set(rest.ok_or("its values would take more memory than a file of this size may")?);
    Ok(())
}

/// A value that is weighed while it is read.
struct Weighed<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Weighed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Weighed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = serde_json::Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(value.to_string().into())
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(value.to_string().into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        take(self.0, LIST).map_err(A::Error::custom)?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Weighed(self.0))? {
            take(self.0, ITEM).map_err(A::Error::custom)?;
            items.push(item);
        }
        items.shrink_to_fit();
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        take(self.0, MAP).map_err(A::Error::custom)?;
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            take(self.0, ENTRY).map_err(A::Error::custom)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("duplicate key `{key}`")));
            }
            let value = access.next_value_seed(Weighed(self.0))?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_refused_before_it_is_read() {
        let items = |item: &str, count: usize| format!("a:\n{}", format!("  - {item}\n").repeat(count));
        for text in
            [items("1", 9_000), items("\"\\t\"", 9_000), format!("a: [{}]\n", "{b: c}, ".repeat(2_000))]
        {
            let mut room = 10_000_000;
            read_own(&text, &mut room).unwrap();
            let weight = 10_000_000 - room;
            assert!(weight > 800_000, "{weight}");
            assert!(read_own(&text, &mut { weight }).is_ok());
            assert!(read_own(&text, &mut (weight - 1)).unwrap_err().message.contains("memory"));
        }
        let mut room = 10;
        read_own("seq: 1\nevent: x\n", &mut room).unwrap();
        assert_eq!(room, 10);
    }

    #[test]
    fn no_anchor_and_no_alias_is_taken() {
        for text in ["a: &x 1\n", "a: &x [1]\nb: *x\n", "a: {&x b: 1}\n", "a: *x\n", "a: [*x]\n"] {
            let refused = read_own(text, &mut 10_000).unwrap_err();
            assert!(refused.message.contains("an anchor or an alias"), "{text}: {refused}");
        }
        assert_eq!(read_own("a: \"&x *x\"\n", &mut 10_000).unwrap()["a"], "&x *x");
        let many = format!("a: [{}]\n", "1,".repeat(MAX_NODES));
        assert!(read_own(&many, &mut { usize::MAX }).unwrap_err().message.contains("more values"));
    }
}
