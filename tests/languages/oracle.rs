//! The real programs as judges: a Go process that answers JSON lines, one verdict for each question, in order.

use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

/// Where the oracles are, and `corpus/` with the texts of the originals' own tests. Built when they are missing.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/build.sh");
        let output = Command::new(script).arg("oracle").stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "tests/peers/build.sh oracle failed: see above");
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
    })
}

/// A running oracle.
pub struct Oracle {
    child: Child,
    questions: Option<BufWriter<ChildStdin>>,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    /// Starts the program at that path.
    pub fn start(program: &Path) -> Self {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
        let questions = child.stdin.take().map(BufWriter::new);
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, questions, answers }
    }

    /// One verdict for each question. In pieces, so that neither pipe fills up while both sides write.
    pub fn ask(&mut self, questions: &[Value]) -> Vec<Value> {
        let mut verdicts = Vec::with_capacity(questions.len());
        for piece in questions.chunks(64) {
            let out = self.questions.as_mut().unwrap();
            for question in piece {
                serde_json::to_writer(&mut *out, question).unwrap();
                out.write_all(b"\n").unwrap();
            }
            out.flush().unwrap();
            for question in piece {
                let mut line = String::new();
                self.answers.read_line(&mut line).unwrap();
                let verdict: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|_| panic!("the oracle died of {question}: {line:?}"));
                assert!(verdict.get("trouble").is_none(), "{question}: {verdict}");
                verdicts.push(verdict);
            }
        }
        verdicts
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        drop(self.questions.take());
        let _ = self.child.wait();
    }
}

/// Tells how much was compared without a disagreement (one would have ended the test), and writes it down for
/// `docs/fidelity.md` when `FIDELITY_ROWS` names a file.
pub fn agreed(what: &str, original: &str, texts: usize, accepted: usize) {
    let share = 100.0 * accepted as f64 / texts as f64;
    println!("fidelity: {what}: {texts} texts, {share:.0}% accepted by {original}, 0 disagreements");
    if let Some(page) = std::env::var_os("FIDELITY_ROWS") {
        let mut page = std::fs::OpenOptions::new().append(true).create(true).open(page).unwrap();
        // In one piece, for several tests write at once.
        page.write_all(format!("| {what} | {original} | {texts} | {share:.0}% | 0 |\n").as_bytes()).unwrap();
    }
}

/// A question about one text. Bytes that are no UTF-8 travel as base64 (`text64`), which the caller then adds itself.
pub fn question(op: &str, text: &str) -> Value {
    json!({"op": op, "text": text})
}

/// The smallest text on which two judges still disagree, by leaving out ever smaller pieces.
pub fn smallest(text: &str, mut disagree: impl FnMut(&str) -> bool) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let mut piece = chars.len().div_ceil(2).max(1);
    loop {
        let (mut at, mut shrunk) = (0, false);
        while at < chars.len() {
            let end = (at + piece).min(chars.len());
            let candidate: Vec<char> = chars[..at].iter().chain(&chars[end..]).copied().collect();
            if disagree(&candidate.iter().collect::<String>()) {
                chars = candidate;
                shrunk = true;
            } else {
                at = end;
            }
        }
        if piece == 1 && !shrunk {
            return chars.into_iter().collect();
        }
        piece = if shrunk { piece } else { (piece / 2).max(1) };
    }
}

/// A small generator of pseudo-random numbers (xorshift), so that a seed names a whole run.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Less than `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    /// True once in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}
