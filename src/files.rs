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
    /// Documents that are not YAML.
    pub syntax: Vec<yaml::Error>,
    /// The number of documents.
    pub documents: usize,
    /// Where the lines begin.
    lines: Vec<usize>,
}

impl File {
    /// Line and column of a byte, both from 1; columns count characters.
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        (line.max(1), self.text[start..at].chars().count() + 1)
    }
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

/// The files below some paths, and the paths that cannot be read.
#[derive(Debug, Default)]
pub struct Found {
    /// The files, in a stable order.
    pub places: Vec<Place>,
    /// What could not be read; the rest is judged all the same.
    pub problems: Vec<Error>,
}

/// All files below the paths, in a stable order. Directories are searched for `.yaml`, `.yml` and `.json`; what
/// `.gitignore` leaves out is left out, hidden files too. Links are followed; those that lead in a circle, or nowhere
/// without being called a manifest, are passed over.
pub fn find(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for path in paths {
        if path.as_os_str() == "-" {
            found.places.push(Place::Stdin);
            continue;
        }
        match std::fs::metadata(path) {
            Ok(kind) if kind.is_dir() => walk(path, &mut found),
            Ok(_) => found.places.push(Place::File(path.clone())),
            Err(source) => found.problems.push(Error::Read { path: path.display().to_string(), source }),
        }
    }
    found
}

fn walk(directory: &Path, found: &mut Found) {
    let walk = ignore::WalkBuilder::new(directory)
        .require_git(false)
        // A mounted ConfigMap is a directory of symlinks.
        .follow_links(true)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .build();
    for entry in walk {
        match entry {
            Ok(entry)
                if entry.file_type().is_some_and(|kind| kind.is_file()) && is_manifest(entry.path()) =>
            {
                found.places.push(Place::File(entry.into_path()));
            }
            Ok(_) => {}
            Err(error) if is_harmless(&error) => {}
            Err(source) => {
                let path = directory.display().to_string();
                found.problems.push(Error::Walk { path, source: Box::new(source) });
            }
        }
    }
}

/// A link in a circle, or one to nowhere that is not called a manifest.
fn is_harmless(error: &ignore::Error) -> bool {
    match error {
        ignore::Error::Loop { .. } => true,
        ignore::Error::WithDepth { err, .. } => is_harmless(err),
        ignore::Error::WithPath { path, err } => {
            is_harmless(err)
                || err.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
                    && !is_manifest(path)
        }
        _ => false,
    }
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known))
}

/// Reads one file and takes it apart.
///
/// # Errors
/// When it cannot be read. Text that is not YAML is no error here but part of the result.
pub fn load(place: &Place) -> Result<File, Error> {
    let mut bytes = Vec::new();
    let (name, read) = match place {
        // Devices and pipes have no length, so only what is read can be counted.
        Place::Stdin => {
            ("<stdin>".to_owned(), std::io::stdin().take(LARGEST_FILE + 1).read_to_end(&mut bytes))
        }
        Place::File(path) => {
            let file = std::fs::File::open(path);
            (
                path.display().to_string(),
                file.and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)),
            )
        }
    };
    if let Err(source) = read {
        return Err(Error::Read { path: name, source });
    }
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Error::TooLarge { path: name });
    }
    Ok(parse(name, bytes))
}

/// Takes the text of a file apart.
pub fn parse(name: String, bytes: Vec<u8>) -> File {
    let (text, documents, syntax) = match String::from_utf8(bytes) {
        Ok(text) => {
            let (documents, errors) = yaml::read_all(&text);
            (text, documents, errors)
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let error =
                yaml::Error { message: "the file is not UTF-8".to_owned(), span: at..at, document: 0 };
            (text, Vec::new(), vec![error])
        }
    };
    let count = documents.len() + syntax.len();
    let mut objects = Vec::with_capacity(count);
    for document in documents {
        expand(document.root, document.index, &mut objects);
    }
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    let lines = std::iter::once(0).chain(breaks).collect();
    File { name, text, objects, syntax, documents: count, lines }
}

/// `kind: List` and every other `…List` with items stands for its items, which take kind and version from a typed list
/// when they say nothing themselves.
fn expand(node: Node, document: usize, objects: &mut Vec<FileObject>) {
    let text = |field: &str| match node.get(field).map(|entry| &entry.value.value) {
        Some(NodeValue::Scalar(Value::String(text))) => text.as_str(),
        _ => "",
    };
    if let Some(item_kind) = text("kind").strip_suffix("List")
        && let Some(NodeValue::List(items)) = node.get("items").map(|entry| &entry.value.value)
    {
        for item in items {
            let first = objects.len();
            expand(item.clone(), document, objects);
            for object in &mut objects[first..] {
                if let Some(map) = object.value.as_object_mut().filter(|_| !item_kind.is_empty()) {
                    map.entry("kind").or_insert_with(|| item_kind.into());
                    map.entry("apiVersion").or_insert_with(|| text("apiVersion").into());
                }
            }
        }
        return;
    }
    let value = node.to_json();
    objects.push(FileObject { document, node, value });
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
