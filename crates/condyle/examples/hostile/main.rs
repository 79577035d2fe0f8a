//! How long do inputs that are made to hang a reader take? Reads each once and prints a table; the
//! argument is the length of those made of blanks, 1 GB unless given.

use std::time::Instant;

use condyle::formats::{ReadOptions, read};

mod inputs;

fn main() {
    let blanks = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000_000);
    println!("{:>9}  {:>9}  input, error", "MB", "seconds");
    let mut wrong = 0;
    for input in inputs::all(blanks) {
        let options = ReadOptions { format: input.format, ..ReadOptions::default() };
        let start = Instant::now();
        let result = read(&input.bytes, input.skeleton.as_ref(), &options);
        let seconds = start.elapsed().as_secs_f64();
        let megabytes = input.bytes.len() as f64 / 1e6;
        match result {
            Err(error) if (input.expected)(error.kind()) => {
                println!("{megabytes:9.2}  {seconds:9.4}  {}: {}", input.what, error.kind());
            }
            other => {
                println!(
                    "{megabytes:9.2}  {seconds:9.4}  {}: WRONG, {:?}",
                    input.what,
                    other.err()
                );
                wrong += 1;
            }
        }
    }
    assert_eq!(wrong, 0, "inputs with another error than they should get");
}
