//! Hashes of contents: the same on every machine.

use std::fmt;
use std::str::FromStr;

/// FNV-1a with 64 bits.
///
/// # Source
///
/// G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm".
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Something by its content: what is the same to the last bit has the same number, and what is not has
/// another one, unless someone made it so. In documents it is written with 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(u64);

impl ContentHash {
    pub(crate) const fn new(hash: u64) -> Self {
        Self(hash)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for ContentHash {
    type Err = NotAHash;

    /// Of up to 16 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().all(|b| b.is_ascii_hexdigit());
        let hash = u64::from_str_radix(text, 16).ok().filter(|_| digits && text.len() <= 16);
        hash.map(Self).ok_or(NotAHash)
    }
}

/// A text that is no [`ContentHash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAHash;

impl fmt::Display for NotAHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a hash has 1 to 16 hexadecimal digits")
    }
}

impl std::error::Error for NotAHash {}

/// FNV-1a over words of 64 bits instead of bytes, which takes an eighth of the time. Products carry
/// bits upwards only; the rotation brings them down again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words(u64);

impl Words {
    pub(crate) const fn new() -> Self {
        Self(BASIS)
    }

    pub(crate) const fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(PRIME).rotate_left(29);
    }

    pub(crate) fn add_all(&mut self, numbers: &[f64]) {
        self.add(numbers.len() as u64);
        numbers.iter().for_each(|number| self.add(number.to_bits()));
    }

    pub(crate) const fn finish(self) -> ContentHash {
        ContentHash(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_read_back_as_they_are_written() {
        for hash in [0, 1, PRIME, u64::MAX] {
            let hash = ContentHash::new(hash);
            let text = hash.to_string();
            assert_eq!(text.len(), 16);
            assert_eq!(text.parse(), Ok(hash));
        }
        for wrong in ["", "12345678123456781", "00000000000000001", "+1", "-1", "g"] {
            assert_eq!(wrong.parse::<ContentHash>(), Err(NotAHash), "{wrong}");
        }
    }

    /// The test vectors of the algorithm's authors.
    #[test]
    fn hashes_of_bytes_are_those_of_the_source() {
        assert_eq!(of_bytes(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of_bytes(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of_bytes(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
