//! Reads the arguments of calls. An unknown argument is an error, so that a misspelt limit is not
//! ignored.

use std::time::Duration;

use serde_json::{Map, Value};

/// The arguments of a call.
pub struct Arguments<'a> {
    given: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Accepts the arguments if all have one of these names.
    pub fn new(given: &'a Map<String, Value>, known: &[&str]) -> Result<Arguments<'a>, String> {
        match given.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(Arguments { given }),
            Some(name) => {
                let name: String = name.chars().take(60).collect();
                Err(format!("there is no argument `{name}`; known are {}", known.join(", ")))
            }
        }
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.given.get(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| format!("`{name}` must be a string"))
    }

    /// A text that must be there.
    pub fn required(&self, name: &str) -> Result<&'a str, String> {
        self.text(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A whole number, not negative.
    pub fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_u64();
        number.map(Some).ok_or_else(|| format!("`{name}` must be a whole number, not negative"))
    }

    /// A number of seconds, positive and at most as large as this.
    pub fn seconds(&self, name: &str, longest: Duration) -> Result<Option<Duration>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let most = longest.as_secs_f64();
        match value.as_f64() {
            Some(seconds) if seconds > 0.0 && seconds <= most => {
                Ok(Some(Duration::from_secs_f64(seconds)))
            }
            _ => Err(format!("`{name}` must be a number of seconds, positive and at most {most}")),
        }
    }

    /// An object whose values are texts, numbers or truth values, as texts.
    pub fn values(&self, name: &str) -> Result<Vec<(&'a str, String)>, String> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let object = value.as_object().ok_or_else(|| format!("`{name}` must be an object"))?;
        let text = |(key, value): (&'a String, &Value)| match value {
            Value::String(text) => Ok((key.as_str(), text.clone())),
            Value::Number(_) | Value::Bool(_) => Ok((key.as_str(), value.to_string())),
            _ => Err(format!("`{name}.{key}` must be a string, a number or a truth value")),
        };
        object.iter().map(text).collect()
    }

    /// An object.
    pub fn object(&self, name: &str) -> Result<Option<&'a Value>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.is_object() {
            true => Ok(Some(value)),
            false => Err(format!("`{name}` must be an object")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wrong_arguments_are_named() {
        let given = json!({ "a": 1, "t": "x", "s": 7.5, "v": { "n": 3, "b": true } });
        let given = given.as_object().unwrap();
        let unknown = Arguments::new(given, &["a", "t", "s"]).err().unwrap();
        assert!(unknown.contains("`v`"), "{unknown}");
        let arguments = Arguments::new(given, &["a", "t", "s", "v"]).unwrap();
        assert!(arguments.text("a").is_err() && arguments.required("x").is_err());
        assert_eq!(arguments.number("a"), Ok(Some(1)));
        assert!(arguments.number("t").is_err());
        assert_eq!(arguments.values("v").unwrap()[0], ("n", "3".to_string()));
        let longest = Duration::from_secs(5);
        assert!(
            arguments.seconds("s", longest).is_err() && arguments.seconds("t", longest).is_err()
        );
        assert!(arguments.seconds("s", longest * 2).unwrap().is_some());
    }
}
