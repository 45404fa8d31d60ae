//! `usher check` on 10,000 files.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::process::Watched;

const FILES: usize = 10_000;

pub fn table(usher: &str) -> String {
    eprintln!("bench: checking {FILES} files");
    let directory = tempfile::tempdir().unwrap();
    for number in 0..FILES {
        let folder = directory.path().join(format!("team-{:02}", number % 50));
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!(
            "apiVersion: monitoring.coreos.com/v1alpha1\nkind: Silence\nmetadata:\n  name: silence-{number}\n  namespace: team-{:02}\n  labels:\n    team: \"{}\"\nspec:\n  comment: \"OPS-{number}: planned work on the database, replication lag is expected\"\n  duration: 2h\n  matchers:\n  - name: alertname\n    value: ReplicationLag\n  - name: service\n    value: database-{number}\n",
            number % 50,
            number % 50
        );
        std::fs::write(folder.join(format!("silence-{number}.yaml")), text).unwrap();
    }
    let mut best = (Duration::MAX, 0.0_f64);
    for _ in 0..3 {
        let started = Instant::now();
        let mut child = Command::new(usher)
            .args(["check", "-o", "json"])
            .arg(directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let watched = Watched::new(child.id());
        let mut peak = 0.0_f64;
        let status = loop {
            if let Some(now) = watched.peak() {
                peak = peak.max(now);
            }
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert!(status.success(), "the files are valid");
        if started.elapsed() < best.0 {
            best = (started.elapsed(), peak);
        }
    }
    format!(
        "| what | measured |\n|---|---|\n| {FILES} valid Silence files, time | {:.2} s |\n| peak memory | {:.0} MiB |\n",
        best.0.as_secs_f64(),
        best.1
    )
}
