//! JSON text as a tree that remembers where its values stand and how its numbers are spelt.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use super::error::RigErrorKind;
use super::path::{Step, Steps};

/// The deepest that arrays and objects may lie within each other. All functions that walk a tree
/// recurse, so this bounds their stacks too.
pub(super) const MAX_DEPTH: usize = 128;

/// The most values of a document. One of two bytes takes up to 160 in memory (`{"":0}` in a list).
pub(super) const MAX_VALUES: usize = 4 << 20;

/// A value and the byte where it starts.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) at: usize,
    pub(crate) value: Value<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    /// As it is spelt.
    Number(Cow<'a, str>),
    /// Without its escapes.
    String(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    /// In the order of the text; keys are unique.
    Object(Vec<Field<'a>>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) node: Node<'a>,
}

/// Two nodes are equal if they say the same in the same spelling, wherever they stand.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<'a> From<Value<'a>> for Node<'a> {
    /// A node that stands nowhere.
    fn from(value: Value<'a>) -> Self {
        Self { at: 0, value }
    }
}

impl<'a> Node<'a> {
    pub(super) fn string(text: impl Into<Cow<'a, str>>) -> Self {
        Value::String(text.into()).into()
    }

    pub(super) fn null() -> Self {
        Value::Null.into()
    }

    pub(super) fn array(items: impl IntoIterator<Item = Self>) -> Self {
        Value::Array(items.into_iter().collect()).into()
    }

    pub(super) fn object(fields: Vec<Field<'a>>) -> Self {
        Value::Object(fields).into()
    }

    /// The value of a field, if this is an object that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Object(fields) => fields.iter().find(|f| f.key == key).map(|f| &f.node),
            _ => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

impl<'a> Field<'a> {
    pub(super) fn new(key: impl Into<Cow<'a, str>>, node: Node<'a>) -> Self {
        Self { key: key.into(), node }
    }
}

/// What is wrong, at which byte, and within what.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: RigErrorKind,
    pub(crate) at: usize,
    pub(crate) path: String,
}

/// The tree of a JSON text (RFC 8259). Numbers keep their spelling, fields their order; a key that
/// appears twice in an object is an error.
pub(crate) fn parse(text: &str) -> Result<Node<'_>, Fault> {
    let mut parser = Parser { text, at: 0, path: Vec::new(), values: 0 };
    let root = parser.value()?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.expected("nothing more"));
    }
    Ok(root)
}

/// How many values a text has that is JSON: one, and those of every list and object.
pub(super) fn values(text: &str) -> usize {
    let mut bytes = text.bytes().filter(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r')).peekable();
    let mut values = 1;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => loop {
                match bytes.next() {
                    Some(b'\\') => drop(bytes.next()),
                    Some(b'"') | None => break,
                    Some(_) => {}
                }
            },
            b',' => values += 1,
            b'[' | b'{' => values += usize::from(!matches!(bytes.peek(), Some(b']' | b'}'))),
            _ => {}
        }
    }
    values
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    path: Vec<Step<'a>>,
    /// How many there have been.
    values: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn fault(&self, kind: RigErrorKind, at: usize) -> Fault {
        Fault { kind, at, path: Steps(&self.path).to_string() }
    }

    fn expected(&self, expected: &'static str) -> Fault {
        let rest = self.text.get(self.at..).unwrap_or_default();
        // A word is shown whole, anything else as one character.
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let found = match rest.chars().next() {
            None => "the end of the file".to_owned(),
            Some(_) if word > 0 => format!("{:?}", shortened(&rest[..word])),
            Some(c) => format!("{:?}", c.to_string()),
        };
        self.fault(RigErrorKind::Syntax { expected, found }, self.at)
    }

    fn value(&mut self) -> Result<Node<'a>, Fault> {
        self.blanks();
        let at = self.at;
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.fault(RigErrorKind::TooManyValues { limit: MAX_VALUES }, at));
        }
        let value = match self.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(Cow::Borrowed(self.number()?)),
            _ => self.word()?,
        };
        Ok(Node { at, value })
    }

    fn word(&mut self) -> Result<Value<'a>, Fault> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let value = match &rest[..end] {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => return Err(self.expected("a value")),
        };
        self.at += end;
        Ok(value)
    }

    fn number(&mut self) -> Result<&'a str, Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.expected("no digit after a leading zero"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let mut decoded: Option<String> = None;
        loop {
            let start = self.at;
            while let Some(byte) = self.peek()
                && byte != b'"'
                && byte != b'\\'
                && byte >= 0x20
            {
                self.at += 1;
            }
            let piece = &self.text[start..self.at];
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match decoded {
                        None => Cow::Borrowed(piece),
                        Some(text) => Cow::Owned(text + piece),
                    });
                }
                Some(b'\\') => {
                    let text = decoded.get_or_insert_default();
                    text.push_str(piece);
                    let c = self.escape()?;
                    decoded.get_or_insert_default().push(c);
                }
                _ => return Err(self.expected("'\"' at the end of the text")),
            }
        }
    }

    /// The character that an escape stands for.
    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let first = self.four_digits()?;
                // Characters beyond 16 bits are written as two halves (RFC 8259, section 7).
                let low = if (0xD800..0xDC00).contains(&first)
                    && self.text[self.at..].starts_with("\\u")
                {
                    self.at += 2;
                    Some(self.four_digits()?)
                } else {
                    None
                };
                let code = match low {
                    Some(low @ 0xDC00..0xE000) => 0x10000 + ((first - 0xD800) << 10) + low - 0xDC00,
                    // Two values that are no pair: no character either.
                    Some(_) => 0xD800,
                    None => first,
                };
                return char::from_u32(code).ok_or_else(|| {
                    let found = format!("{:?}", &self.text[start..self.at]);
                    let expected = "both halves of a character";
                    self.fault(RigErrorKind::Syntax { expected, found }, start)
                });
            }
            _ => return Err(self.expected("one of \" \\ / b f n r t u after \\")),
        };
        self.at += 1;
        Ok(c)
    }

    fn four_digits(&mut self) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            code = 16 * code + digit.ok_or_else(|| self.expected("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(code)
    }

    /// Enters an array or object.
    fn open(&mut self, step: Step<'a>) -> Result<(), Fault> {
        if self.path.len() >= MAX_DEPTH {
            return Err(self.fault(RigErrorKind::TooDeep { limit: MAX_DEPTH }, self.at));
        }
        self.at += 1;
        self.path.push(step);
        Ok(())
    }

    fn array(&mut self) -> Result<Value<'a>, Fault> {
        self.open(Step::Index(0))?;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                if let Some(step) = self.path.last_mut() {
                    *step = Step::Index(items.len());
                }
                items.push(self.value()?);
                self.blanks();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => {
                        self.at += 1;
                        break;
                    }
                    _ => return Err(self.expected("',' or ']'")),
                }
            }
        }
        self.path.pop();
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Result<Value<'a>, Fault> {
        self.open(Step::Nothing)?;
        let mut fields = Vec::new();
        let mut keys_at = Vec::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                self.blanks();
                if self.peek() != Some(b'"') {
                    return Err(self.expected("a name in double quotes"));
                }
                keys_at.push(self.at);
                let key = self.string()?;
                self.blanks();
                if self.peek() != Some(b':') {
                    return Err(self.expected("':'"));
                }
                self.at += 1;
                if let Some(step) = self.path.last_mut() {
                    *step = Step::Key(key.clone());
                }
                let node = self.value()?;
                fields.push(Field { key, node });
                self.blanks();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => {
                        self.at += 1;
                        break;
                    }
                    _ => return Err(self.expected("',' or '}'")),
                }
                if let Some(step) = self.path.last_mut() {
                    *step = Step::Nothing;
                }
            }
        }
        self.path.pop();
        self.unique(&fields, &keys_at)?;
        Ok(Value::Object(fields))
    }

    fn unique(&self, fields: &[Field<'a>], keys_at: &[usize]) -> Result<(), Fault> {
        let mut seen = HashMap::with_capacity(fields.len());
        for (field, &at) in fields.iter().zip(keys_at) {
            if let Some(first) = seen.insert(&field.key, at) {
                let kind = RigErrorKind::DuplicateKey {
                    key: field.key.clone().into_owned(),
                    first: super::Position::of(self.text, first),
                };
                return Err(self.fault(kind, at));
            }
        }
        Ok(())
    }
}

/// As much of a text as fits in a message.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Lines are at most this wide, where a value can be broken.
const WIDTH: usize = 100;

/// Values less deep than this are always broken over lines.
const BROKEN: usize = 2;

/// The text of a tree: two blanks per level, what fits on a line on one line.
pub(super) fn print(root: &Node<'_>) -> String {
    let mut out = String::new();
    print_node(&mut out, root, 0, 0);
    out.push('\n');
    out
}

/// `before`: how wide the line is already.
fn print_node(out: &mut String, node: &Node<'_>, level: usize, before: usize) {
    let (open, close, n) = match &node.value {
        Value::Array(items) => ('[', ']', items.len()),
        Value::Object(fields) => ('{', '}', fields.len()),
        _ => {
            print_line(out, node, usize::MAX);
            return;
        }
    };
    if n == 0 || level >= BROKEN {
        let start = out.len();
        // The comma that may follow counts.
        let most = WIDTH.saturating_sub(before + 1);
        // A character has at most four bytes.
        if print_line(out, node, start + 4 * most) && out[start..].chars().count() <= most {
            return;
        }
        out.truncate(start);
    }
    out.push(open);
    for i in 0..n {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        let indent = 2 * (level + 1);
        out.extend(std::iter::repeat_n(' ', indent));
        match &node.value {
            Value::Array(items) => print_node(out, &items[i], level + 1, indent),
            Value::Object(fields) => {
                let start = out.len();
                print_string(out, &fields[i].key);
                out.push_str(": ");
                let key = out[start..].chars().count();
                print_node(out, &fields[i].node, level + 1, indent + key);
            }
            _ => {}
        }
    }
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', 2 * level));
    out.push(close);
}

/// Prints on one line; stops and says so when that goes beyond byte `end` of the output.
fn print_line(out: &mut String, node: &Node<'_>, end: usize) -> bool {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(text) => out.push_str(text),
        Value::String(text) => print_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                if !print_line(out, item, end) {
                    return false;
                }
            }
            out.push(']');
        }
        Value::Object(fields) if fields.is_empty() => out.push_str("{}"),
        Value::Object(fields) => {
            for (i, field) in fields.iter().enumerate() {
                out.push_str(if i == 0 { "{ " } else { ", " });
                print_string(out, &field.key);
                out.push_str(": ");
                if !print_line(out, &field.node, end) {
                    return false;
                }
            }
            out.push_str(" }");
        }
    }
    out.len() <= end
}

fn print_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_fault(text: &str, at: usize, message: &str) {
        let fault = parse(text).unwrap_err();
        assert_eq!((fault.at, fault.kind.to_string().as_str()), (at, message), "{text}");
    }

    #[test]
    fn values_are_counted_as_they_are_read() {
        for (text, values) in [
            ("1", 1),
            ("[]", 1),
            ("{ }", 1),
            (r#"{"a,[": [1, "\\\",", {}], "b": {"c": [[ ]]}}"#, 8),
        ] {
            let mut parser = Parser { text, at: 0, path: Vec::new(), values: 0 };
            parser.value().unwrap();
            assert_eq!((parser.values, super::values(text)), (values, values), "{text}");
        }
    }

    #[test]
    fn wrong_syntax_is_told_where_it_is() {
        check_fault("", 0, "expected a value, found the end of the file");
        check_fault("[1, 2,]", 6, "expected a value, found \"]\"");
        check_fault("{\"a\": 1,}", 8, "expected a name in double quotes, found \"}\"");
        check_fault("{'a': 1}", 1, "expected a name in double quotes, found \"'\"");
        check_fault("[NaN]", 1, "expected a value, found \"NaN\"");
        check_fault("[1 2]", 3, "expected ',' or ']', found \"2\"");
        check_fault("[01]", 2, "expected no digit after a leading zero, found \"1\"");
        check_fault("[1.]", 3, "expected a digit, found \"]\"");
        check_fault("[-]", 2, "expected a digit, found \"]\"");
        check_fault("[.5]", 1, "expected a value, found \".\"");
        check_fault("[1e+]", 4, "expected a digit, found \"]\"");
        check_fault("\"ab", 3, "expected '\"' at the end of the text, found the end of the file");
        check_fault("\"a\nb\"", 2, "expected '\"' at the end of the text, found \"\\n\"");
        check_fault("\"\\x\"", 2, "expected one of \" \\ / b f n r t u after \\, found \"x\"");
        check_fault("\"\\u12g4\"", 5, "expected four hexadecimal digits, found \"g4\"");
        check_fault("\"\\ud800\"", 1, "expected both halves of a character, found \"\\\\ud800\"");
        check_fault("{} {}", 3, "expected nothing more, found \"{\"");
        check_fault("{\"a\" 1}", 5, "expected ':', found \"1\"");
        check_fault("[1] // done", 4, "expected nothing more, found \"/\"");
    }

    #[test]
    fn escapes_are_read_and_needed_ones_written() {
        let text = r#""\u00e9 \ud83e\uddb4 \"\\\/\b\f\n\r\t""#;
        let node = parse(text).unwrap();
        assert_eq!(node.as_str(), Some("é 🦴 \"\\/\u{8}\u{c}\n\r\t"));
        let printed = print(&node);
        assert_eq!(printed, "\"é 🦴 \\\"\\\\/\\u0008\\u000c\\n\\r\\t\"\n");
        assert_eq!(parse(printed.trim()).unwrap(), node);
    }

    #[test]
    fn a_key_that_appears_twice_is_an_error_with_both_places() {
        let fault = parse("{\"x\": {\"a\": 1,\n \"a\": 2}}").unwrap_err();
        assert_eq!((fault.at, fault.path.as_str()), (16, "x"));
        assert_eq!(fault.kind.to_string(), "\"a\" appears a second time (first at 1:8)");
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        let whole = nested(MAX_DEPTH);
        let printed = print(&parse(&whole).unwrap());
        assert_eq!(parse(&printed).unwrap(), parse(&whole).unwrap());
        for n in [MAX_DEPTH + 1, 1_000_000] {
            let text = nested(n);
            let fault = parse(&text).unwrap_err();
            assert_eq!(fault.kind, RigErrorKind::TooDeep { limit: MAX_DEPTH });
            assert_eq!(fault.at, MAX_DEPTH);
        }
    }

    #[test]
    fn numbers_keep_their_spelling_and_lines_are_filled() {
        let text = r#"{"z": [1.0, 1e0, -0, 0.10, 1E+2, 123456789012345678901234567890],
            "a": {"b": {"shape": "arc", "min_deg": 4.10}, "c": [], "d": {}, "long":
            ["0123456789012345678901234567890123456789", "0123456789012345678901234567890123456789"
            , {"k": null}, true]}}"#;
        let printed = print(&parse(text).unwrap());
        let expected = r#"{
  "z": [
    1.0,
    1e0,
    -0,
    0.10,
    1E+2,
    123456789012345678901234567890
  ],
  "a": {
    "b": { "shape": "arc", "min_deg": 4.10 },
    "c": [],
    "d": {},
    "long": [
      "0123456789012345678901234567890123456789",
      "0123456789012345678901234567890123456789",
      { "k": null },
      true
    ]
  }
}
"#;
        assert_eq!(printed, expected);
        assert_eq!(print(&parse(&printed).unwrap()), printed);
    }

    #[test]
    fn values_are_counted_before_they_take_memory() {
        let most = format!("[{}0]", "0,".repeat(MAX_VALUES - 2));
        assert!(parse(&most).is_ok());
        let fault = parse(&format!("[{}0]", "0,".repeat(MAX_VALUES - 1))).unwrap_err();
        assert_eq!(fault.kind, RigErrorKind::TooManyValues { limit: MAX_VALUES });
        assert_eq!(fault.at, 2 * MAX_VALUES - 1);
    }
}
