//! What the targets share with the ordinary tests of the library.

#[path = "../../crates/condyle/tests/it/fuzz/mod.rs"]
pub mod fuzz;
