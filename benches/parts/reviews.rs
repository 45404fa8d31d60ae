//! Reviews without a socket: how many instructions decode, rules and encode take.

use std::process::Command;
use std::sync::Arc;

use usher::kinds::silence;
use usher::review::door::{Door, Phase};
use usher::rule::Uniqueness;
use usher::settings::Settings;
use usher::view::View;

/// Answers that many reviews; valgrind counts.
pub fn run(phase: &str, count: usize) {
    let phase = if phase == "mutate" { Phase::Mutate } else { Phase::Validate };
    let door = Door::new(Arc::new(Settings::default()), Arc::new(View::default()), Uniqueness::ByView);
    let body = crate::support::client::silence_review();
    let admission = silence::KIND.admission.as_ref().unwrap();
    for _ in 0..count {
        let answer = (admission.answer)(&door, phase, &silence::KIND, std::hint::black_box(&body)).unwrap();
        assert!(answer.body.len() > 100 && !answer.undecodable);
        std::hint::black_box(answer);
    }
}

/// Instructions of a run of that many reviews, all start-up included.
fn instructions(phase: &str, count: usize) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().ok()?)
        .args(["--reviews", phase, &count.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

pub fn table() -> String {
    let mut table = String::from("| phase | instructions per review |\n|---|---|\n");
    for phase in ["validate", "mutate"] {
        eprintln!("bench: counting the instructions of {phase}");
        let counted = instructions(phase, 3_000).zip(instructions(phase, 1_000));
        match counted {
            Some((many, few)) => table += &format!("| {phase} | {} |\n", (many - few) / 2_000),
            None => table += &format!("| {phase} | not counted: valgrind is not installed |\n"),
        }
    }
    table
}
