//! The other objects of `--standalone`: a directory of manifests, read again when it changes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use notify::Watcher as _;
use tokio::sync::Notify;

use super::diagnostics::{Troubles, note};
use crate::files;
use crate::view::View;
use crate::view::files::{fill, mark_as_existing};

/// Files are written in several steps; reading between them is a waste.
const SETTLE: Duration = Duration::from_millis(100);
/// For file systems without notification.
const POLL: Duration = Duration::from_secs(5);

/// Fills the View from the directories. Files that are not YAML are left out, with a log line.
///
/// # Errors
/// When a directory cannot be read.
pub fn load(view: &View, directories: &[PathBuf]) -> Result<usize, files::Error> {
    let mut objects = Vec::new();
    let found = files::find(directories);
    if let Some(problem) = found.problems.into_iter().next() {
        return Err(problem);
    }
    for place in found.places {
        let file = files::load(&place)?;
        for error in &file.syntax {
            tracing::warn!(file = file.name, %error, "leaving out a document that is not YAML");
        }
        objects.extend(file.objects.iter().map(|object| mark_as_existing(&object.value)));
    }
    let count = objects.len();
    fill(view, objects, "default");
    Ok(count)
}

/// Reads the directories again whenever they change. What cannot be read leaves the View as it was.
pub async fn watch(view: Arc<View>, directories: Vec<PathBuf>, troubles: Arc<Troubles>) {
    let changed = Arc::new(Notify::new());
    let signal = Arc::clone(&changed);
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Reading a file is an event too; only changes count.
        if event.is_ok_and(|event| !event.kind.is_access()) {
            signal.notify_one();
        }
    });
    let mut watcher = watcher.ok();
    for directory in &directories {
        if let Some(watcher) = &mut watcher
            && let Err(error) = watcher.watch(directory, notify::RecursiveMode::Recursive)
        {
            tracing::warn!(%error, "cannot watch a directory; polling only");
        }
    }
    loop {
        tokio::select! {
            () = changed.notified() => tokio::time::sleep(SETTLE).await,
            () = tokio::time::sleep(POLL) => {}
        }
        let problem = load(&view, &directories).err().map(|error| error.to_string()).unwrap_or_default();
        if !problem.is_empty() {
            tracing::error!(problem, "cannot read the objects; the old ones stay");
        }
        note(&troubles.objects, problem);
    }
}
