//! A value in the tree of a document, with the way to it, and how simple values are read.

use glam::{DQuat, DVec3};

use super::error::Sweep;
use super::fields::ObjectKind;
use super::json::{Fault, Field, Node, Value, shortened};
use super::path::{Step, Steps};
use super::{RigErrorKind, RigWarning, RigWarningKind, is_unit};
use crate::hash::ContentHash;
use crate::math::{Arc, Rotation, trig, unit};

/// So many warnings are kept, the rest is counted.
const MAX_WARNINGS: usize = 1000;

/// A direction or quaternion may differ from length one by so much without a warning: people write
/// three digits.
const UNIT_TOLERANCE: f64 = 1e-3;

/// Warnings, with the byte each is about.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    kept: Vec<(usize, String, RigWarningKind)>,
    more: usize,
    more_repairs: bool,
}

impl Notes {
    pub(crate) fn add(&mut self, cursor: &Cursor<'_>, kind: RigWarningKind) {
        if self.kept.len() < MAX_WARNINGS {
            self.kept.push((cursor.node.at, cursor.path(), kind));
        } else {
            self.more += 1;
            self.more_repairs |= kind.is_repair();
        }
    }

    pub(crate) fn positioned(mut self, text: &str) -> Vec<RigWarning> {
        self.kept.sort_by_key(|(at, ..)| *at);
        let mut sweep = Sweep::new(text);
        let mut warning = |at, path, kind| {
            let position = Some(sweep.position(at));
            RigWarning { kind, path, position, file: None }
        };
        let mut warnings: Vec<_> =
            self.kept.into_iter().map(|(at, path, kind)| warning(at, path, kind)).collect();
        if self.more > 0 {
            let kind = RigWarningKind::More { count: self.more, repairs: self.more_repairs };
            warnings.push(warning(text.len(), String::new(), kind));
        }
        warnings
    }
}

/// A value in the tree, and the way to it.
pub(crate) struct Cursor<'c> {
    pub(crate) node: &'c Node<'c>,
    step: Step<'c>,
    above: Option<&'c Cursor<'c>>,
}

impl<'c> Cursor<'c> {
    pub(crate) fn root(node: &'c Node<'c>) -> Self {
        Self { node, step: Step::Nothing, above: None }
    }
}

impl Cursor<'_> {
    pub(crate) fn path(&self) -> String {
        let mut steps = Vec::new();
        let mut cursor = Some(self);
        while let Some(c) = cursor {
            steps.push(c.step.clone());
            cursor = c.above;
        }
        steps.reverse();
        Steps(&steps).to_string()
    }

    pub(crate) fn fault(&self, kind: RigErrorKind) -> Fault {
        Fault { kind, at: self.node.at, path: self.path() }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.node.value, Value::Null)
    }

    pub(crate) fn wrong_type(&self, expected: &'static str) -> Fault {
        let found = match &self.node.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.fault(RigErrorKind::Type { expected, found })
    }

    pub(crate) fn object(&self) -> Result<&[Field<'_>], Fault> {
        match &self.node.value {
            Value::Object(fields) => Ok(fields),
            _ => Err(self.wrong_type("an object")),
        }
    }

    pub(crate) fn below<'s>(&'s self, step: Step<'s>, node: &'s Node<'s>) -> Cursor<'s> {
        Cursor { node, step, above: Some(self) }
    }

    pub(crate) fn field(&self, key: &'static str) -> Option<Cursor<'_>> {
        self.node.get(key).map(|node| self.below(Step::Key(key.into()), node))
    }

    pub(crate) fn required(&self, key: &'static str) -> Result<Cursor<'_>, Fault> {
        self.object()?;
        self.field(key).ok_or_else(|| self.fault(RigErrorKind::Missing { field: key }))
    }

    pub(crate) fn list(&self) -> Result<&[Node<'_>], Fault> {
        match &self.node.value {
            Value::Array(items) => Ok(items),
            _ => Err(self.wrong_type("a list")),
        }
    }

    /// Every item of a list of at least `least`, read by `read`.
    pub(crate) fn items<T>(
        &self,
        least: usize,
        expected: &'static str,
        mut read: impl FnMut(&Cursor<'_>) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let items = self.list()?;
        if items.len() < least {
            return Err(self.fault(RigErrorKind::Length { expected, found: items.len() }));
        }
        items.iter().enumerate().map(|(i, node)| read(&self.below(Step::Index(i), node))).collect()
    }

    /// A list of exactly `N` items.
    pub(crate) fn exactly<T, const N: usize>(
        &self,
        expected: &'static str,
        read: impl FnMut(&Cursor<'_>) -> Result<T, Fault>,
    ) -> Result<[T; N], Fault> {
        let found = self.list()?.len();
        let wrong = || self.fault(RigErrorKind::Length { expected, found });
        if found != N {
            return Err(wrong());
        }
        self.items(N, expected, read)?.try_into().map_err(|_| wrong())
    }

    pub(crate) fn text(&self) -> Result<&str, Fault> {
        self.node.as_str().ok_or_else(|| self.wrong_type("text"))
    }

    /// Which of the known words this is.
    pub(crate) fn word(
        &self,
        what: &'static str,
        known: &'static [&'static str],
    ) -> Result<&'static str, Fault> {
        let text = self.text()?;
        known.iter().find(|k| **k == text).copied().ok_or_else(|| {
            let found = shortened(text).into_owned();
            self.fault(RigErrorKind::Unknown { what, found, known })
        })
    }

    pub(crate) fn number(&self) -> Result<f64, Fault> {
        let Value::Number(text) = &self.node.value else {
            return Err(self.wrong_type("a number"));
        };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.out_of_range("a finite number", text)),
        }
    }

    pub(super) fn numbers<const N: usize>(
        &self,
        expected: &'static str,
    ) -> Result<[f64; N], Fault> {
        fn number(cursor: &Cursor<'_>) -> Result<f64, Fault> {
            cursor.number()
        }
        self.exactly(expected, number)
    }

    pub(crate) fn out_of_range(&self, expected: &'static str, found: &str) -> Fault {
        let found = shortened(found).into_owned();
        self.fault(RigErrorKind::Range { expected, found })
    }

    pub(crate) fn number_within(
        &self,
        min: f64,
        max: f64,
        expected: &'static str,
    ) -> Result<f64, Fault> {
        let number = self.number()?;
        if (min..=max).contains(&number) {
            Ok(number)
        } else {
            Err(self.out_of_range(expected, &number.to_string()))
        }
    }

    /// A whole number that is not negative.
    pub(crate) fn count(&self) -> Result<u64, Fault> {
        let Value::Number(text) = &self.node.value else {
            return Err(self.wrong_type("a number"));
        };
        if let Ok(count) = text.parse() {
            return Ok(count);
        }
        // `1e3` and `1.0` are whole numbers too; up to 2^53 every one has its own double.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let number = self.number()?;
        if (0.0..=EXACT).contains(&number) && number.fract() == 0.0 {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, not negative and at most 2^53"
            )]
            return Ok(number as u64);
        }
        Err(self.out_of_range("a whole number, not negative", text))
    }

    pub(super) fn content_hash(&self) -> Result<ContentHash, Fault> {
        let text = self.text()?;
        let wrong = |_| self.out_of_range("a hash of 16 hexadecimal digits", text);
        text.parse().map_err(wrong)
    }

    pub(super) fn truth(&self) -> Result<bool, Fault> {
        match self.node.value {
            Value::Bool(truth) => Ok(truth),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    pub(crate) fn point(&self) -> Result<DVec3, Fault> {
        Ok(DVec3::from_array(self.numbers("3 numbers")?))
    }

    /// A vector whose length does not matter.
    pub(super) fn direction(&self, notes: &mut Notes) -> Result<DVec3, Fault> {
        let v = self.point()?;
        if is_unit(v.length_squared()) {
            return Ok(v);
        }
        self.check_length(trig::hypot3(v.x, v.y, v.z), notes)?;
        unit(v).ok_or_else(|| self.fault(RigErrorKind::Zero))
    }

    pub(crate) fn rotation(&self, notes: &mut Notes) -> Result<Rotation, Fault> {
        let [w, x, y, z] = self.numbers("4 numbers: w, x, y, z")?;
        let q = DQuat::from_xyzw(x, y, z, w);
        if is_unit(q.length_squared()) {
            return Ok(Rotation::from_unit(q));
        }
        self.check_length(trig::hypot(trig::hypot3(x, y, z), w), notes)?;
        Rotation::new(q).ok_or_else(|| self.fault(RigErrorKind::Zero))
    }

    pub(super) fn check_length(&self, length: f64, notes: &mut Notes) -> Result<(), Fault> {
        if length == 0.0 {
            return Err(self.fault(RigErrorKind::Zero));
        }
        if !length.is_finite() {
            return Err(self.out_of_range("a vector of length one", "a length beyond all numbers"));
        }
        if (length - 1.0).abs() > UNIT_TOLERANCE {
            notes.add(self, RigWarningKind::NotUnit { length });
        }
        Ok(())
    }

    /// The arc of an object with `min_deg` and `max_deg`.
    pub(super) fn arc(&self) -> Result<Arc, Fault> {
        let min_deg = self.required("min_deg")?.number()?;
        let max_deg = self.required("max_deg")?.number()?;
        // A turn that was taken apart and put together in radians may be an ulp wider.
        const TURN: f64 = 360.0 + 1e-9;
        let wrong = || self.fault(RigErrorKind::Arc { min_deg, max_deg });
        if max_deg < min_deg || max_deg - min_deg > TURN {
            return Err(wrong());
        }
        Arc::from_degrees(min_deg, max_deg).ok_or_else(wrong)
    }

    /// The arc of an object that is one.
    pub(super) fn whole_arc(&self, notes: &mut Notes) -> Result<Arc, Fault> {
        self.spelling(ObjectKind::Arc, notes);
        self.arc()
    }

    pub(super) fn arcs<const N: usize>(
        &self,
        expected: &'static str,
        notes: &mut Notes,
    ) -> Result<[Arc; N], Fault> {
        self.exactly(expected, |arc| arc.whole_arc(notes))
    }

    /// Says so where a field that we do not know is spelt nearly like one that we do.
    pub(super) fn spelling(&self, kind: ObjectKind, notes: &mut Notes) {
        let Value::Object(fields) = &self.node.value else { return };
        let known: Vec<&'static str> = kind.names_in(self.node).collect();
        for field in fields.iter().filter(|f| !known.contains(&&*f.key)) {
            if let Some(meant) = known.iter().find(|k| nearly_same(&field.key, k)) {
                let kind = RigWarningKind::Misspelt { name: field.key.to_string(), known: meant };
                notes.add(&self.below(Step::Key(field.key.clone()), &field.node), kind);
            }
        }
    }
}

/// Whether one letter, or two of a long word, were added, left out, changed or swapped; or all that
/// differs are capitals and underscores.
pub(crate) fn nearly_same(text: &str, known: &str) -> bool {
    let same_letters = |c: &char| *c != '_' && *c != '-';
    let (a, b): (Vec<char>, Vec<char>) =
        (text.chars().take(2 * known.len() + 2).collect(), known.chars().collect());
    let plain = |word: &[char]| -> Vec<char> {
        word.iter().filter(|c| same_letters(c)).map(char::to_ascii_lowercase).collect()
    };
    if plain(&a) == plain(&b) {
        return true;
    }
    let most = match b.len() {
        0..4 => 0,
        4..7 => 1,
        _ => 2,
    };
    if a.len().abs_diff(b.len()) > most {
        return false;
    }
    // Rows of the table of distances between beginnings; with swaps it takes two back.
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let mut d = (row[j] + 1).min(next[j - 1] + 1);
            d = d.min(row[j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before[j - 2] + 1);
            }
            next.push(d);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()] <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_nearly_the_same_if_a_finger_slipped() {
        for (text, known) in [
            ("limt", "limit"),
            ("limits", "limit"),
            ("bone_axs", "bone_axis"),
            ("boneAxis", "bone_axis"),
            ("bone_xais", "bone_axis"),
            ("confidnce", "confidence"),
            ("Kind", "kind"),
        ] {
            assert!(nearly_same(text, known), "{text} {known}");
        }
        for (text, known) in
            [("of", "at"), ("notes", "noise_deg"), ("", "kind"), ("kinetic", "kind")]
        {
            assert!(!nearly_same(text, known), "{text} {known}");
        }
        assert!(!nearly_same(&"x".repeat(1_000_000), "kind"));
    }
}
