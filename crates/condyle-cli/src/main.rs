//! `condyle`: flags to the library, results to text or JSON. Nothing is computed here.

mod args;
mod commands;
mod output;
mod signals;
mod terminal;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // `clap` prints usage errors itself and exits with 2, as the contract says.
    let cli = args::Cli::parse();
    signals::watch();
    match commands::run(&cli) {
        Ok(commands::Answer::Yes) => ExitCode::SUCCESS,
        Ok(commands::Answer::No) => ExitCode::from(1),
        // A reader that closed the pipe (`| head`) has all it wanted.
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            let errors = failure.json();
            if cli.command.json() && !errors.is_empty() {
                // Nothing is left to do if standard output is gone.
                let errors = serde_json::json!({ "errors": errors });
                let _ = writeln!(
                    std::io::stdout().lock(),
                    "{}",
                    terminal::visible(&format!("{errors:#}"))
                );
            }
            ExitCode::from(2)
        }
    }
}
