//! Prints a value: text as it is, lists joined with `,`, maps as compact JSON.

use serde_json::{Number, Value};

/// Adds `value` as a template prints it; null is nothing.
pub fn print(value: &Value, out: &mut String) {
    match value {
        Value::Null => {}
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&plain(number)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => join(items, ",", out),
        Value::Object(_) => out.push_str(&value.to_string()),
    }
}

/// Adds the items with `between` between them.
pub fn join(items: &[Value], between: &str, out: &mut String) {
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            out.push_str(between);
        }
        print(item, out);
    }
}

fn plain(number: &Number) -> String {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    let size = float.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{float:e}");
        return if text.contains("e-") { text } else { text.replace('e', "e+") };
    }
    if float == 0.0 { "0".to_owned() } else { format!("{float}") }
}

/// `if` takes the value for true.
pub fn is_true(value: Option<&Value>) -> bool {
    is_there(value) && value.and_then(Value::as_f64) != Some(0.0)
}

/// `with` takes the value for something: as [`is_true`], but 0 is something.
pub fn is_there(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prints_as_javascript_does() {
        for (value, text) in [
            (json!(1.0), "1"),
            (json!(-0.0), "0"),
            (json!(0.5), "0.5"),
            (json!(1e21), "1e+21"),
            (json!(1e20), "100000000000000000000"),
            (json!(1.5e-7), "1.5e-7"),
            (json!(0.000_001), "0.000001"),
            (json!(18_446_744_073_709_551_615_u64), "18446744073709551615"),
            (json!([1, null, [2, [3]], "x", {"a": 1}, false]), "1,,2,3,x,{\"a\":1},false"),
            (json!({"b": [1], "a": null}), "{\"b\":[1],\"a\":null}"),
        ] {
            let mut out = String::new();
            print(&value, &mut out);
            assert_eq!(out, text);
        }
    }
}
