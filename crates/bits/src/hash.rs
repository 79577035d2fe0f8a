//! The hash: simple, our own, the same everywhere.

use condyle::glam::DVec3;
use condyle::math::{Angle, Points, Rotation, Rotations};

/// FNV-1a, 64 bits, over 64-bit words instead of bytes, mixed at the end.
#[derive(Clone, Copy, Debug)]
pub struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// Adds a word.
    pub fn u64(&mut self, word: u64) {
        // Multiplying carries bits upwards only; the rotation brings them down again, so that two
        // differences in high bits cannot cancel.
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }

    /// Adds a count.
    pub fn count(&mut self, n: usize) {
        self.u64(n as u64);
    }

    /// Adds every bit of a number. All NaN count as one: their sign and payload are not promised.
    pub fn f64(&mut self, value: f64) {
        self.u64(if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() });
    }

    /// Adds numbers.
    pub fn f64s(&mut self, values: &[f64]) {
        self.count(values.len());
        values.iter().for_each(|&v| self.f64(v));
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        bytes.iter().for_each(|&b| self.u64(u64::from(b)));
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Adds an angle.
    pub fn angle(&mut self, angle: Angle) {
        self.f64(angle.radians());
    }

    /// Adds a vector.
    pub fn vector(&mut self, v: DVec3) {
        v.to_array().into_iter().for_each(|c| self.f64(c));
    }

    /// Adds a rotation with the sign of its quaternion.
    pub fn rotation(&mut self, rotation: Rotation) {
        rotation.quat().to_array().into_iter().for_each(|c| self.f64(c));
    }

    /// Adds rotations.
    pub fn rotations(&mut self, rotations: &Rotations) {
        self.count(rotations.len());
        rotations.iter().for_each(|r| self.rotation(r));
    }

    /// Adds points.
    pub fn points(&mut self, points: &Points) {
        self.count(points.len());
        points.iter().for_each(|p| self.vector(p));
    }

    /// Adds what may be missing.
    pub fn option<T>(&mut self, value: Option<T>, add: impl FnOnce(&mut Self, T)) {
        self.u64(u64::from(value.is_some()));
        if let Some(value) = value {
            add(self, value);
        }
    }

    /// Adds hashes in their order.
    pub fn all(&mut self, hashes: impl IntoIterator<Item = Self>) {
        hashes.into_iter().for_each(|h| self.u64(h.value()));
    }

    /// The hash of everything added.
    #[must_use]
    pub const fn value(self) -> u64 {
        let x = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ (x >> 32)
    }
}
