//! What is written, beside what is written by way of a tree of values.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The same by way of a tree.
fn by_tree(value: &impl Serialize, second: (&str, &str)) -> String {
    let Value::Object(map) = serde_json::to_value(value).unwrap() else { panic!("a map") };
    let own = map.iter().filter(|(key, _)| *key != second.0);
    let mut entries: Vec<_> = own.map(|(key, value)| (key.as_str().into(), Out::json(value, true))).collect();
    if !entries.is_empty() {
        entries.insert(1, (second.0.into(), Out::text(second.1)));
    }
    let mut out = String::new();
    Out::write_entries(&entries, 0, &mut out);
    out
}

fn written(value: &impl Serialize, second: (&str, &str)) -> String {
    let mut out = String::new();
    write_struct(value, second, &mut out).unwrap();
    out
}

#[derive(Serialize)]
enum Kind {
    Unit,
    One(u8),
    Pair(i64, char),
    Named { x: f64, y: Option<&'static str> },
}

#[derive(Serialize)]
struct Inner {
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<u32>,
    level: f32,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Tagged {
    Alone,
    Whole(Box<Whole>),
}

#[derive(Serialize)]
struct Whole {
    session: String,
    kinds: Vec<Kind>,
    #[serde(flatten)]
    inner: Inner,
    nothing: Option<u8>,
    unit: (),
    pair: (String, [u8; 0]),
    counts: BTreeMap<u32, f64>,
    nested: Vec<Vec<BTreeMap<String, Vec<u8>>>>,
}

#[test]
fn every_shape_is_written_as_by_way_of_a_tree() {
    let whole = Tagged::Whole(Box::new(Whole {
        session: "left out".to_owned(),
        kinds: vec![
            Kind::Unit,
            Kind::One(7),
            Kind::Pair(-1, 'é'),
            Kind::Named { x: 1e300, y: None },
            Kind::Named { x: f64::NAN, y: Some("no") },
        ],
        inner: Inner { absent: None, level: 0.5 },
        nothing: None,
        unit: (),
        pair: ("two\nlines".to_owned(), []),
        counts: [(1, 0.1), (2, -0.0)].into(),
        nested: vec![vec![], vec![BTreeMap::new(), [("k".to_owned(), vec![1, 2])].into()]],
    }));
    for second in [("session", "s-1"), ("other", "a: b")] {
        assert_eq!(written(&whole, second), by_tree(&whole, second));
        assert_eq!(written(&Tagged::Alone, second), by_tree(&Tagged::Alone, second));
    }
    assert_eq!(written(&Tagged::Alone, ("session", "s")), "event: alone\nsession: \"s\"\n");
    for value in [json!([1]), json!("x"), json!(null)] {
        assert!(write_struct(&value, ("session", "s"), &mut String::new()).is_err(), "{value}");
    }
}

fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![any::<String>(), "[a-z \\n#:-]{0,40}", "[a-z]{1,5}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_written_as_by_way_of_a_tree(
        entries in prop::collection::vec(("[a-z:]{1,9}", values()), 0..5), second in "[a-z]{1,3}"
    ) {
        let map = Value::Object(entries.into_iter().collect());
        let second = (second.as_str(), "s 1");
        prop_assert_eq!(written(&map, second), by_tree(&map, second));
    }
}

/// A text that is written by way of its [`std::fmt::Display`].
struct Shown(String);

impl Serialize for Shown {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

proptest! {
    #[test]
    fn what_is_shown_is_written_as_its_text(
        head in "[a-z\\n\"\\\\ é]{0,4}", long in proptest::sample::select(vec![0, 1, 127, 128, 129, 200]), in_list in any::<bool>()
    ) {
        let text = head + &"x".repeat(long);
        let (shown, plain) = (Shown(text.clone()), text);
        if in_list {
            prop_assert_eq!(written(&json_map(&[shown]), ("session", "s")), by_tree(&json_map(&[plain]), ("session", "s")));
        } else {
            prop_assert_eq!(written(&json_map(&shown), ("session", "s")), by_tree(&json_map(&plain), ("session", "s")));
        }
    }
}

fn json_map<T>(value: T) -> BTreeMap<&'static str, T> {
    BTreeMap::from([("a", value)])
}
