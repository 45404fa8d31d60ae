//! The binary: reads the command line, installs the one crypto provider, calls the library.

use std::process::ExitCode;

/// A review is some forty small allocations; glibc's allocator takes an eighth of its time (docs/benchmarks.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // One provider for the server and for every client; rustls panics when it has to guess.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        eprintln!("usher: another crypto provider is installed already");
        return ExitCode::from(2);
    }
    match usher::cli::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("usher: {error:#}");
            ExitCode::from(2)
        }
    }
}
