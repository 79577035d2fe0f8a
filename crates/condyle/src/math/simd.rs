//! The one place that picks vector instructions at run time, and the only one with `unsafe`.
//!
//! A loop is written once, as a [`Kernel`], and compiled twice: for what every machine of the target
//! has, and for AVX2. The same source without a fused multiply-add is the same IEEE operations in
//! the same order, so both give the same bits and differ only in speed.

#![allow(unsafe_code, reason = "calling code compiled for AVX2, after asking the processor for it")]
#![allow(clippy::inline_always, reason = "a kernel must take over its caller's vector width")]

/// The instructions a loop over columns runs with. All levels give the same bits.
///
/// ```
/// use condyle::math::Level;
/// assert!(Level::all().any(|level| level == Level::best()));
/// assert_eq!(Level::all().next(), Some(Level::BASELINE));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level(Instructions);

/// Private, so that nobody makes a [`Level`] the processor has not got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Instructions {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Level {
    /// What the library was compiled for.
    pub const BASELINE: Self = Self(Instructions::Baseline);

    /// The fastest this machine has. The processor is asked once per process.
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self(Instructions::Avx2);
        }
        Self::BASELINE
    }

    /// All that this machine has, from slow to fast: for tests and benchmarks.
    pub fn all() -> impl Iterator<Item = Self> {
        let best = Self::best();
        std::iter::once(Self::BASELINE).chain((best != Self::BASELINE).then_some(best))
    }

    /// A short name: `baseline` or `avx2`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Instructions::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
        }
    }

    /// Runs a kernel with these instructions.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) {
        match self.0 {
            Instructions::Baseline => kernel.run(),
            // SAFETY: `best` is the only one who makes this value, and it has asked the processor.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { run_avx2(kernel) },
        }
    }
}

impl Default for Level {
    fn default() -> Self {
        Self::best()
    }
}

/// A loop over columns with what it works on.
pub(crate) trait Kernel {
    /// Runs it. Must be `#[inline(always)]`, and so must be all it calls in its inner loop: code
    /// that is called and not inlined keeps the instructions of the baseline.
    fn run(self);
}

/// Not "fma": a fused multiply-add rounds once where the baseline rounds twice.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<K: Kernel>(kernel: K) {
    kernel.run();
}
