//! The writer for whatever serde can describe, without a tree of values in between.
//!
//! Same style as [`Out`]: what [`Out::json`] of the same value gives, words plain, to the byte.

use std::fmt::Write as _;

use serde::Serialize;
use serde::ser;

use super::write::{MAX_PLAIN, Out, number, stands_as_it_is, write_key, write_scalar};

/// Appends the entries of a struct or map to `out`, without indent.
///
/// `second` is an entry that is written behind the first one; the value's own of that key is left out.
///
/// # Errors
/// When the value is no struct or map, has a key that is no word or number, or refuses to be written.
pub fn write_struct(
    value: &impl Serialize,
    second: (&str, &str),
    out: &mut String,
) -> Result<(), Unwritable> {
    value.serialize(Writer { out, indent: 0, place: Place::Root(second) })
}

/// Why a value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot be written as YAML: {0}")]
pub struct Unwritable(String);

impl ser::Error for Unwritable {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// What stands before a value.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// Nothing; see [`write_struct`].
    Root((&'a str, &'a str)),
    /// A key and its colon.
    Entry,
    /// A dash and a space.
    Item,
}

/// Writes one value at its place; `indent` is that of what it holds.
struct Writer<'a> {
    out: &'a mut String,
    indent: usize,
    place: Place<'a>,
}

impl<'a> Writer<'a> {
    fn scalar(self, value: &Out<'_>) -> Result<(), Unwritable> {
        match self.place {
            Place::Root(_) => return Err(ser::Error::custom("not a map")),
            Place::Entry => self.out.push(' '),
            Place::Item => {}
        }
        write_scalar(value, self.indent, self.out);
        Ok(())
    }

    fn raw(self, text: impl Into<String>) -> Result<(), Unwritable> {
        self.scalar(&Out::Raw(text.into().into()))
    }

    fn members(self) -> Members<'a> {
        Members { out: self.out, indent: self.indent, place: self.place, count: 0, is_left_out: false }
    }

    /// The value of a variant, which is a map with the variant's name as its one key.
    fn variant(self, name: &str) -> Writer<'a> {
        let mut members = self.members();
        members.key(name);
        Writer { out: members.out, indent: members.indent + 2, place: Place::Entry }
    }
}

/// The entries of a map, or the items of a list, as they come.
struct Members<'a> {
    out: &'a mut String,
    indent: usize,
    place: Place<'a>,
    count: usize,
    /// Whether the value of the last key is not wanted.
    is_left_out: bool,
}

impl Members<'_> {
    /// Begins the line of a member, which for the first one may have begun already.
    fn begin(&mut self) {
        match (self.place, self.count) {
            (Place::Item, 0) => {}
            (Place::Entry, 0) => {
                self.out.push('\n');
                self.spaces();
            }
            _ => self.spaces(),
        }
        self.count += 1;
    }

    fn spaces(&mut self) {
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    fn key(&mut self, key: &str) {
        if let Place::Root((name, text)) = self.place {
            self.is_left_out = key == name;
            if self.is_left_out {
                return;
            }
            self.second(name, text);
        }
        self.begin();
        write_key(key, self.indent, self.out);
    }

    fn second(&mut self, name: &str, text: &str) {
        if self.count == 1 {
            self.begin();
            write_key(name, 0, self.out);
            self.out.push(' ');
            write_scalar(&Out::text(text), 2, self.out);
        }
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T, place: Place<'_>) -> Result<(), Unwritable> {
        if self.is_left_out {
            return Ok(());
        }
        value.serialize(Writer { out: self.out, indent: self.indent + 2, place })
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.begin();
        self.out.push_str("- ");
        self.value(value, Place::Item)
    }

    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Unwritable> {
        self.key(key);
        self.value(value, Place::Entry)
    }

    fn end(mut self, empty: &str) {
        match self.place {
            Place::Root((name, text)) => self.second(name, text),
            Place::Entry | Place::Item if self.count > 0 => {}
            place => {
                self.out.push_str(if matches!(place, Place::Entry) { " " } else { "" });
                self.out.push_str(empty);
                self.out.push('\n');
            }
        }
    }
}

/// Numbers of these types are written with all their digits.
macro_rules! digits {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(self, value: $type) -> Result<(), Unwritable> {
            let mut text = String::with_capacity(20);
            let _ = write!(text, "{value}");
            self.raw(text)
        })*
    };
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Members<'a>;
    type SerializeTuple = Members<'a>;
    type SerializeTupleStruct = Members<'a>;
    type SerializeTupleVariant = Members<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

    digits!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);

    fn serialize_bool(self, value: bool) -> Result<(), Unwritable> {
        self.raw(if value { "true" } else { "false" })
    }

    fn serialize_f32(self, value: f32) -> Result<(), Unwritable> {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unwritable> {
        self.raw(serde_json::Number::from_f64(value).map_or_else(|| "null".to_owned(), |n| number(&n)))
    }

    fn serialize_char(self, value: char) -> Result<(), Unwritable> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Unwritable> {
        self.scalar(&Out::word(value))
    }

    /// Long text, which is mostly what a seal holds, is written where it is to stand.
    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        let start = self.out.len();
        let lead = if matches!(self.place, Place::Entry) { " \"" } else { "\"" };
        let _ = write!(self.out, "{lead}{value}");
        let text = &self.out[start + lead.len()..];
        if text.len() > MAX_PLAIN && stands_as_it_is(text) && !matches!(self.place, Place::Root(_)) {
            self.out.push_str("\"\n");
            return Ok(());
        }
        let text = self.out.split_off(start + lead.len());
        self.out.truncate(start);
        self.serialize_str(&text)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unwritable> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Unwritable> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unwritable> {
        self.raw("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unwritable> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Unwritable> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        value.serialize(self.variant(name))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'a>, Unwritable> {
        match self.place {
            Place::Root(_) => Err(ser::Error::custom("a list")),
            _ => Ok(self.members()),
        }
    }

    fn serialize_tuple(self, len: usize) -> Result<Members<'a>, Unwritable> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Members<'a>, Unwritable> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        len: usize,
    ) -> Result<Members<'a>, Unwritable> {
        self.variant(name).serialize_seq(Some(len))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, Unwritable> {
        Ok(self.members())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'a>, Unwritable> {
        Ok(self.members())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Members<'a>, Unwritable> {
        Ok(self.variant(name).members())
    }
}

/// Lists of all kinds are written alike.
macro_rules! lists {
    ($($of:ident: $method:ident),*) => {
        $(impl ser::$of for Members<'_> {
            type Ok = ();
            type Error = Unwritable;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
                self.item(value)
            }

            fn end(self) -> Result<(), Unwritable> {
                self.end("[]");
                Ok(())
            }
        })*
    };
}

lists!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

/// Structs of both kinds are written alike.
macro_rules! structs {
    ($($of:ident),*) => {
        $(impl ser::$of for Members<'_> {
            type Ok = ();
            type Error = Unwritable;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Unwritable> {
                self.entry(key, value)
            }

            fn end(self) -> Result<(), Unwritable> {
                self.end("{}");
                Ok(())
            }
        })*
    };
}

structs!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unwritable> {
        let key = match serde_json::to_value(key) {
            Ok(serde_json::Value::String(key)) => key,
            Ok(serde_json::Value::Number(key)) => key.to_string(),
            Ok(serde_json::Value::Bool(key)) => key.to_string(),
            _ => return Err(ser::Error::custom("a key that is no word")),
        };
        self.key(&key);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.value(value, Place::Entry)
    }

    fn end(self) -> Result<(), Unwritable> {
        self.end("{}");
        Ok(())
    }
}

#[cfg(test)]
mod tests;
