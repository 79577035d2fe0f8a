//! `condyle`: flags to the library, results to text or JSON. Nothing is computed here.

mod args;
mod commands;
mod output;
mod signals;
mod stdout;
mod terminal;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) => return print_told(&told),
    };
    signals::watch();
    let answer = commands::run(&cli);
    signals::wait_for_the_end_if_told_to_stop();
    match answer {
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
                let errors = format!("{errors:#}");
                let _ = stdout::stdout()
                    .and_then(|mut out| writeln!(out, "{}", terminal::visible(&errors)));
            }
            ExitCode::from(2)
        }
    }
}

/// Prints what `clap` has to tell: a usage error, with exit code 2, or help and version, which are asked
/// for and go to standard output.
fn print_told(told: &clap::Error) -> ExitCode {
    let printed = match told.use_stderr() {
        // Nothing is left to do if standard error is gone.
        true => told.print().or(Ok(())),
        // Not held while `clap` prints there.
        false => stdout::stdout()
            .map(drop)
            .and_then(|()| told.print())
            .and_then(|()| std::io::stdout().flush()),
    };
    match printed.map_err(output::Failure::from) {
        Err(failure) if !failure.is_closed_pipe() => {
            failure.print();
            ExitCode::from(2)
        }
        _ => ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(2)),
    }
}
