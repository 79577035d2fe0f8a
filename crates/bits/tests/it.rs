//! The same bits in this build as in the repository, however the work is done.

use condyle_bits::{How, PARTS, difference, report};

const GOLDEN: &str = include_str!("../golden.txt");

#[test]
fn the_bits_are_those_of_the_repository_for_any_threads_and_instructions() {
    for how in How::ways() {
        if let Some(difference) = difference(GOLDEN, &report(&how)) {
            panic!(
                "other bits with {how:?}:\n{difference}\
                 if that is meant, say why in the changelog and run `cargo xtask bless`"
            );
        }
    }
}

#[test]
fn parts_have_names_of_their_own_and_hash_something() {
    let mut seen = std::collections::BTreeSet::new();
    for part in PARTS {
        assert!(seen.insert(part.name), "{} comes twice", part.name);
        assert_ne!((part.run)(&How::PLAIN).value(), condyle_bits::Hash::default().value());
    }
}

#[test]
fn blocks_cover_everything_once_for_any_number_of_threads() {
    for threads in 1..8 {
        for n in 0..20 {
            let all: Vec<usize> =
                How { threads, ..How::PLAIN }.blocks(n).into_iter().flatten().collect();
            assert!(all.into_iter().eq(0..n), "{n} over {threads}");
        }
    }
}
