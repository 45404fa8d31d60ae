//! What the kernel knows of a process.

use std::time::Duration;

pub struct Watched {
    pid: u32,
}

impl Watched {
    pub fn new(pid: u32) -> Self {
        Self { pid }
    }

    /// User and system time so far.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap();
        // The name may hold blanks; the fields count from the parenthesis that closes it.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // USER_HZ is 100 on every Linux that Rust supports.
        Duration::from_millis(ticks * 10)
    }

    /// MiB in memory.
    pub fn resident(&self) -> f64 {
        self.status("VmRSS:").unwrap_or(0.0)
    }

    /// MiB in memory that are no file's.
    pub fn own(&self) -> f64 {
        self.status("RssAnon:").unwrap_or(0.0)
    }

    /// MiB at the most.
    pub fn peak(&self) -> Option<f64> {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find(|line| line.starts_with(field))?;
        Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
    }
}
