//! The one place that picks vector instructions at run time, and the only one with `unsafe`.
//!
//! A loop is written once, as a [`Kernel`], and compiled for what every machine of the target has and,
//! on x86-64, for AVX2 and for AVX-512. The same source, in which the compiler may not fuse a
//! multiplication with an addition, is the same IEEE operations in the same order, so all give the same
//! bits and differ only in speed.

#![allow(
    unsafe_code,
    reason = "calling code compiled for instructions after asking the processor for them"
)]
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
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// What the library was compiled for.
    pub const BASELINE: Self = Self(Instructions::Baseline);

    /// The fastest this machine has. The processor is asked once per process.
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") {
                let wide =
                    has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("avx512bw");
                return Self(if wide { Instructions::Avx512 } else { Instructions::Avx2 });
            }
        }
        Self::BASELINE
    }

    /// All that this machine has, from slow to fast: for tests and benchmarks.
    pub fn all() -> impl Iterator<Item = Self> {
        let known = [
            Instructions::Baseline,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512,
        ];
        // `best` gives AVX-512 only where there is AVX2 as well.
        let best = known.iter().position(|level| *level == Self::best().0).unwrap_or(0);
        known.into_iter().take(best + 1).map(Self)
    }

    /// A short name: `baseline`, `avx2` or `avx512`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Instructions::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => "avx512",
        }
    }

    /// Runs a kernel with these instructions.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) {
        match self.0 {
            Instructions::Baseline => kernel.run(),
            // SAFETY: only `best` and `all` make this value, after asking the processor for AVX2.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { run_avx2(kernel) },
            // SAFETY: only `best` and `all` make this value, after asking the processor for all of it.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { run_avx512(kernel) },
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

/// These four together are what server and desktop processors with AVX-512 have.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
fn run_avx512<K: Kernel>(kernel: K) {
    kernel.run();
}
