//! From paths to objects: directories walked in a stable order, documents split, lists taken apart.

use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::yaml::{self, Node, NodeValue};

/// Larger files are no manifests, and would only cost memory.
const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// A path that cannot be read: wrong usage, not a finding.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading failed.
    #[error("reading {path}: {source}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Walking a directory failed.
    #[error("walking {path}: {source}")]
    Walk {
        /// Which.
        path: String,
        /// Why.
        source: Box<ignore::Error>,
    },
    /// A file beyond the limit.
    #[error("{path} is larger than {LARGEST_FILE} bytes")]
    TooLarge {
        /// Which.
        path: String,
    },
}

/// A file that is to be read: a path, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file.
    File(PathBuf),
    /// `-`.
    Stdin,
}

/// A file and its objects.
#[derive(Debug)]
pub struct File {
    /// As the user wrote it, or as it was found.
    pub name: String,
    /// The text, for excerpts.
    pub text: String,
    /// The objects in it.
    pub objects: Vec<FileObject>,
    /// The text is not YAML.
    pub syntax: Option<yaml::Error>,
    /// The number of documents.
    pub documents: usize,
}

/// One object of a file.
#[derive(Debug)]
pub struct FileObject {
    /// Which document, from 0.
    pub document: usize,
    /// The object with its places.
    pub node: Node,
    /// The object.
    pub value: Value,
}

impl FileObject {
    /// A text field of the object; empty when it is not there.
    pub fn text(&self, field: &str) -> &str {
        self.value[field].as_str().unwrap_or_default()
    }

    /// A text field of its metadata.
    pub fn metadata(&self, field: &str) -> &str {
        self.value["metadata"][field].as_str().unwrap_or_default()
    }
}

/// All files below the paths, in a stable order. Directories are searched for `.yaml`, `.yml` and `.json`; what
/// `.gitignore` leaves out is left out, hidden files too.
///
/// # Errors
/// When a path does not exist or cannot be walked.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Place>, Error> {
    let mut places = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            places.push(Place::Stdin);
            continue;
        }
        let shown = path.display().to_string();
        let kind = std::fs::metadata(path).map_err(|source| Error::Read { path: shown.clone(), source })?;
        if !kind.is_dir() {
            places.push(Place::File(path.clone()));
            continue;
        }
        let walk = ignore::WalkBuilder::new(path)
            .require_git(false)
            // A mounted ConfigMap is a directory of symlinks.
            .follow_links(true)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        for entry in walk {
            let entry =
                entry.map_err(|source| Error::Walk { path: shown.clone(), source: Box::new(source) })?;
            if entry.file_type().is_some_and(|kind| kind.is_file()) && is_manifest(entry.path()) {
                places.push(Place::File(entry.into_path()));
            }
        }
    }
    Ok(places)
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known))
}

/// Reads one file and takes it apart.
///
/// # Errors
/// When it cannot be read. Text that is not YAML is no error here but part of the result.
pub fn load(place: &Place) -> Result<File, Error> {
    let (name, bytes) = match place {
        Place::Stdin => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().take(LARGEST_FILE + 1).read_to_end(&mut bytes);
            read.map_err(|source| Error::Read { path: "standard input".to_owned(), source })?;
            ("<stdin>".to_owned(), bytes)
        }
        Place::File(path) => {
            let name = path.display().to_string();
            let fail = |source| Error::Read { path: name.clone(), source };
            if std::fs::metadata(path).map_err(fail)?.len() > LARGEST_FILE {
                return Err(Error::TooLarge { path: name });
            }
            let bytes = std::fs::read(path).map_err(fail)?;
            (name, bytes)
        }
    };
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Error::TooLarge { path: name });
    }
    Ok(parse(name, bytes))
}

/// Takes the text of a file apart.
pub fn parse(name: String, bytes: Vec<u8>) -> File {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let syntax = yaml::Error { message: "the file is not UTF-8".to_owned(), span: at..at };
            return File { name, text, objects: Vec::new(), syntax: Some(syntax), documents: 0 };
        }
    };
    match yaml::read(&text) {
        Ok(documents) => {
            let count = documents.len();
            let mut objects = Vec::with_capacity(count);
            for (document, content) in documents.into_iter().enumerate() {
                expand(content.root, document, &mut objects);
            }
            File { name, text, objects, syntax: None, documents: count }
        }
        Err(error) => File { name, text, objects: Vec::new(), syntax: Some(error), documents: 0 },
    }
}

/// `kind: List` and every other `…List` with items stands for its items.
fn expand(node: Node, document: usize, objects: &mut Vec<FileObject>) {
    let is_list = node.get("kind").is_some_and(|entry| {
        matches!(&entry.value.value, NodeValue::Scalar(Value::String(kind)) if kind.ends_with("List"))
    });
    if is_list
        && let NodeValue::Map(entries) = &node.value
        && let Some(items) = entries.iter().find(|entry| entry.key == "items")
        && let NodeValue::List(items) = &items.value.value
    {
        for item in items {
            expand(item.clone(), document, objects);
        }
        return;
    }
    let value = node.to_json();
    objects.push(FileObject { document, node, value });
}

/// Line and column of a byte, both from 1; columns count characters.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

/// Keys that a mapping holds twice: the place of the later one and its path.
pub fn repeated_keys(node: &Node) -> Vec<(crate::rule::FieldPath, Range<usize>)> {
    let mut found = Vec::new();
    repeated_below(node, &crate::rule::FieldPath::root(), &mut found);
    found
}

fn repeated_below(
    node: &Node,
    path: &crate::rule::FieldPath,
    found: &mut Vec<(crate::rule::FieldPath, Range<usize>)>,
) {
    match &node.value {
        NodeValue::Map(entries) => {
            let mut seen = std::collections::HashSet::new();
            for entry in entries {
                let path = path.key(entry.key.as_str());
                if !seen.insert(entry.key.as_str()) {
                    found.push((path.clone(), entry.key_span.clone()));
                }
                repeated_below(&entry.value, &path, found);
            }
        }
        NodeValue::List(items) => {
            for (index, item) in items.iter().enumerate() {
                repeated_below(item, &path.index(index), found);
            }
        }
        NodeValue::Scalar(_) => {}
    }
}
