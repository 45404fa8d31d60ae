//! Builds documents from the text's events, with an explicit stack, so that nesting and aliases are bounded by us.

use std::collections::HashMap;
use std::ops::Range;

use base64::Engine as _;
use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};
use serde_json::Value;

use super::{Entry, Node, NodeValue, resolve};

/// Deeper than any object that can be stored.
const DEEPEST: usize = 200;
/// Values in one document, aliases written out: a full object of 3 MiB has fewer.
const MOST_NODES: usize = 400_000;

/// One document of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Which one of the file, from 0; empty ones count.
    pub index: usize,
    /// Its content.
    pub root: Node,
}

/// The text is not YAML that kubectl would read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Range<usize>,
    /// In which document of the file, from 0.
    pub document: usize,
}

/// Reads all documents of a file. Empty documents are left out.
///
/// # Errors
/// At the first place that is not YAML, or that goes beyond the limits.
pub fn read(text: &str) -> Result<Vec<Document>, Error> {
    let (documents, errors) = read_all(text);
    errors.into_iter().next().map_or(Ok(documents), Err)
}

/// Reads all documents that can be read: one that cannot does not take the others along, as for kubectl, which splits a
/// file at its `---` lines first.
pub fn read_all(text: &str) -> (Vec<Document>, Vec<Error>) {
    // A byte order mark is no content.
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder { base: text.len() - body.len(), ..Builder::default() };
    let mut errors = Vec::new();
    loop {
        let Err(error) = builder.read(&text[builder.base..]) else { return (builder.documents, errors) };
        let next = text[error.span.start..].find("\n---").map(|at| error.span.start + at + 1);
        errors.push(error);
        match next {
            Some(next) => builder.resume(next),
            None => return (builder.documents, errors),
        }
    }
}

#[derive(Default)]
struct Builder {
    base: usize,
    documents: Vec<Document>,
    stack: Vec<Open>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    index: usize,
    begun: bool,
}

/// A collection that is not closed yet.
struct Open {
    node: Node,
    anchor: usize,
    key: Option<(String, Range<usize>, bool)>,
}

impl Builder {
    fn read(&mut self, body: &str) -> Result<(), Error> {
        for event in Parser::new_from_str(body) {
            let taken = match event {
                Ok((event, span)) => self.take(event, &span),
                Err(error) => {
                    let at = error.marker().byte_offset().unwrap_or(body.len()).min(body.len()) + self.base;
                    Err(fail(error.info(), &(at..at)))
                }
            };
            taken.map_err(|error| Error { document: self.index, ..error })?;
        }
        Ok(())
    }

    /// Begins again behind a document that could not be read.
    fn resume(&mut self, base: usize) {
        self.base = base;
        self.stack.clear();
        self.begun = true;
    }

    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Error> {
        let at = span.byte_range().unwrap_or_default();
        let at = at.start + self.base..at.end + self.base;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref()).map_err(|message| fail(message, &at))?;
                let merge = style == ScalarStyle::Plain && tag.is_none() && text == "<<";
                self.put(Node { value: NodeValue::Scalar(value), span: at }, anchor, merge)
            }
            Event::SequenceStart(_, anchor, _) => self.open(NodeValue::List(Vec::new()), anchor, at),
            Event::MappingStart(_, anchor, _) => self.open(NodeValue::Map(Vec::new()), anchor, at),
            Event::SequenceEnd | Event::MappingEnd => self.close(at.end),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let mut node =
                    node.ok_or_else(|| fail("the alias refers to a value that contains it", &at))?;
                self.count(size(&node), &at)?;
                node.span = at;
                self.put(node, 0, false)
            }
            Event::DocumentStart(..) => {
                self.index += usize::from(self.begun);
                self.begun = true;
                self.nodes = 0;
                self.anchors.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, nodes: usize, at: &Range<usize>) -> Result<(), Error> {
        self.nodes += nodes;
        if self.nodes > MOST_NODES {
            return Err(fail(format!("more than {MOST_NODES} values, aliases written out"), at));
        }
        Ok(())
    }

    fn open(&mut self, value: NodeValue, anchor: usize, at: Range<usize>) -> Result<(), Error> {
        if self.stack.len() >= DEEPEST {
            return Err(fail(format!("nested deeper than {DEEPEST} levels"), &at));
        }
        self.stack.push(Open { node: Node { value, span: at }, anchor, key: None });
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), Error> {
        let Some(mut open) = self.stack.pop() else { return Ok(()) };
        open.node.span.end = end.max(open.node.span.start);
        if let NodeValue::Map(entries) = &mut open.node.value {
            settle_merges(entries);
        }
        self.put(open.node, open.anchor, false)
    }

    /// Puts a finished value where it belongs: into the open collection, or as the document.
    fn put(&mut self, node: Node, anchor: usize, merge: bool) -> Result<(), Error> {
        self.count(1, &node.span)?;
        if anchor != 0 {
            // The copy that aliases will be made from counts as well: anchors can be nested.
            self.count(size(&node), &node.span)?;
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.stack.last_mut() else {
            if !matches!(node.value, NodeValue::Scalar(Value::Null)) {
                self.documents.push(Document { index: self.index, root: node });
            }
            return Ok(());
        };
        match &mut open.node.value {
            NodeValue::List(items) => items.push(node),
            NodeValue::Map(entries) => match open.key.take() {
                None => open.key = Some((key_text(&node)?, node.span, merge)),
                Some((_, _, true)) => merge_into(entries, node)?,
                Some((key, key_span, false)) => {
                    entries.push(Entry { key, key_span, value: node, merged: false });
                }
            },
            NodeValue::Scalar(_) => {}
        }
        Ok(())
    }
}

fn fail(message: impl Into<String>, at: &Range<usize>) -> Error {
    Error { message: message.into(), span: at.clone(), document: 0 }
}

fn size(node: &Node) -> usize {
    match &node.value {
        NodeValue::Scalar(_) => 1,
        NodeValue::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        NodeValue::Map(entries) => 1 + entries.iter().map(|entry| size(&entry.value)).sum::<usize>(),
    }
}

/// `<<: *base`: the keys of the base.
fn merge_into(entries: &mut Vec<Entry>, node: Node) -> Result<(), Error> {
    let span = node.span.clone();
    match node.value {
        NodeValue::Map(base) => {
            entries.extend(base.into_iter().map(|entry| Entry { merged: true, ..entry }));
            Ok(())
        }
        NodeValue::List(items) => items.into_iter().try_for_each(|item| merge_into(entries, item)),
        NodeValue::Scalar(_) => Err(fail("a merge key needs a mapping", &span)),
    }
}

/// As in go-yaml 2, what stands later in the text wins, merged or not. Keys that are written twice all stay.
fn settle_merges(entries: &mut Vec<Entry>) {
    if !entries.iter().any(|entry| entry.merged) {
        return;
    }
    // Of each key: does it come again further on, and is it merged there?
    let mut later: HashMap<&str, bool> = HashMap::new();
    let mut kept: Vec<bool> = Vec::with_capacity(entries.len());
    for entry in entries.iter().rev() {
        let again = later.get(entry.key.as_str()).copied();
        kept.push(again.is_none_or(|merged| !merged && !entry.merged));
        later.insert(&entry.key, entry.merged || again.unwrap_or_default());
    }
    entries.retain(|_| kept.pop().unwrap_or(true));
}

/// Keys are strings in JSON; kubectl writes numbers and booleans out (`on:` is the key "true").
fn key_text(node: &Node) -> Result<String, Error> {
    match &node.value {
        NodeValue::Scalar(Value::String(text)) => Ok(text.clone()),
        NodeValue::Scalar(value @ (Value::Bool(_) | Value::Number(_))) => Ok(value.to_string()),
        _ => Err(fail("a key must be a string, a number or a boolean", &node.span)),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let no_json = |text: &str| format!("{text} is no JSON value");
    let core = tag.and_then(|tag| tag.core_suffix());
    match (core, tag) {
        (Some("str"), _) => return Ok(Value::String(text.to_owned())),
        (Some(wanted @ ("int" | "float" | "bool" | "null")), _) => {
            let value = resolve::plain(text).map_err(no_json)?;
            let fits = match wanted {
                "int" => value.is_i64() || value.is_u64(),
                "float" => value.is_number(),
                "bool" => value.is_boolean(),
                _ => value.is_null(),
            };
            return if fits { Ok(value) } else { Err(format!("{text:?} is no !!{wanted}")) };
        }
        (_, Some(tag)) if tag.handle() == "tag:yaml.org,2002:" && tag.suffix() == "binary" => {
            let bare: String = text.chars().filter(|character| !character.is_whitespace()).collect();
            let bytes = base64::engine::general_purpose::STANDARD
                .decode(bare)
                .map_err(|_| "!!binary is not base64")?;
            return Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        }
        (_, Some(_)) => return Ok(Value::String(text.to_owned())),
        (_, None) => {}
    }
    if style == ScalarStyle::Plain {
        resolve::plain(text).map_err(no_json)
    } else {
        Ok(Value::String(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::rule::FieldPath;

    #[test]
    fn every_value_knows_its_place() {
        let text = "kind: A\nspec:\n  list:\n  - name: ä\n    on: 017\n---\n# nothing\n---\nkind: B\n";
        let documents = read(text).unwrap();
        assert_eq!(documents.len(), 2);
        let root = &documents[0].root;
        assert_eq!(root.to_json(), json!({"kind": "A", "spec": {"list": [{"name": "ä", "true": 15}]}}));
        let place = |path: FieldPath| &text[super::super::Places::new(root).locate(&path)];
        assert_eq!(place(FieldPath::spec("list").index(0).field("name")), "ä");
        assert_eq!(place(FieldPath::spec("list").index(0).field("true")), "017");
        assert_eq!(place(FieldPath::spec("list")), "list");
        assert_eq!(place(FieldPath::spec("missing").field("deeper")), "spec");
        assert_eq!(place(FieldPath::root()), "kind");
    }

    #[test]
    fn a_document_that_is_no_yaml_does_not_take_the_others_along() {
        let (documents, errors) = read_all("a: 1\n---\n# empty\n---\nb: [\n---\nc: 3\n");
        let read: Vec<(usize, serde_json::Value)> =
            documents.iter().map(|document| (document.index, document.root.to_json())).collect();
        assert_eq!(read, [(0, json!({"a": 1})), (3, json!({"c": 3}))]);
        assert_eq!(errors.iter().map(|error| error.document).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn what_stands_later_wins_merged_or_not() {
        let read = |text: &str| {
            let documents = read(text).unwrap();
            let NodeValue::Map(entries) = &documents[0].root.get("x").unwrap().value.value else { panic!() };
            entries.iter().map(|entry| format!("{}{}", entry.key, entry.value.to_json())).collect::<Vec<_>>()
        };
        let base = "base: &b {k: 1, j: 2}\nother: &o {k: 3}\n";
        let x = |body: &str| read(&format!("{base}x: {{{body}}}\n"));
        assert_eq!(x("k: 5, <<: *b"), ["k1", "j2"]);
        assert_eq!(x("<<: *b, k: 5"), ["j2", "k5"]);
        assert_eq!(x("k: 4, <<: *b, k: 5"), ["j2", "k5"]);
        assert_eq!(x("<<: [*b, *o]"), ["j2", "k3"]);
        assert_eq!(x("<<: *b, k: 5, k: 6, z: 7"), ["j2", "k5", "k6", "z7"]);
        assert_eq!(x("<<: *b, k: 5, <<: *o"), ["j2", "k3"]);
    }

    #[test]
    fn merge_keys_anchors_and_quotes() {
        let text = "base: &b {a: 1, b: 2}\nuse:\n  <<: *b\n  b: \"2\"\nquoted: 'yes'\nliteral: |\n  x\n";
        let value = read(text).unwrap()[0].root.to_json();
        assert_eq!(value["use"], json!({"a": 1, "b": "2"}));
        assert_eq!(value["quoted"], json!("yes"));
        assert_eq!(value["literal"], json!("x\n"));
    }

    #[test]
    fn bombs_are_refused() {
        let mut aliases = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (name, before) in "bcdefghij".chars().zip("abcdefghi".chars()) {
            let tenfold = vec![format!("*{before}"); 10].join(",");
            aliases.extend([name.to_string(), format!(": &{name} [{tenfold}]\n")]);
        }
        assert!(read(&aliases).unwrap_err().message.contains("aliases"));
        let nested = (0..150).map(|n| format!("&a{n} [")).collect::<Vec<_>>().concat();
        let nested = format!("x: {nested}{}{}", vec!["x"; 300_000].join(","), "]".repeat(150));
        assert!(read(&nested).unwrap_err().message.contains("aliases"));
        let deep = format!("a: {}{}", "[".repeat(5000), "]".repeat(5000));
        assert!(read(&deep).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\PC\n\t]{0,120}") {
            if let Err(error) = read(&text) {
                prop_assert!(error.span.end <= text.len());
            }
        }
    }
}
