//! A whole check: many files at once, one View over all of them, results in the order of the files.

use std::io::{IsTerminal as _, Write as _};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rayon::prelude::*;

use super::judge::judge;
use serde_json::Value;

use crate::files::{self, File, FileObject};
use crate::kinds::{self, KindInfo, TABLE};
use crate::rule::{Facts, FieldPath, Finding, Findings, Operation, Uniqueness, User};
use crate::schema::codes;
use crate::settings::Settings;
use crate::view::View;
use crate::view::files::{fill, mark_as_existing};
use crate::yaml::{NodeValue, Places};

/// What to check, and how.
#[derive(Debug)]
pub struct Request {
    /// Files, directories, `-`.
    pub paths: Vec<PathBuf>,
    /// Objects that exist already and are not judged.
    pub context: Vec<PathBuf>,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// The settings of the rules.
    pub settings: Arc<Settings>,
    /// The instant of the judgement.
    pub now: Timestamp,
}

/// A finding and its place in a file.
#[derive(Debug)]
pub struct Located {
    /// The file, by its position in the report.
    pub file: usize,
    /// The document in the file.
    pub document: Option<usize>,
    /// Whose finding it is.
    pub api_version: String,
    /// Whose finding it is.
    pub kind: String,
    /// Whose finding it is.
    pub namespace: String,
    /// Whose finding it is.
    pub name: String,
    /// The finding.
    pub finding: Finding,
    /// Where it stands, in bytes of the file.
    pub span: Range<usize>,
}

/// The outcome of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// The files, for their names and texts.
    pub files: Vec<File>,
    /// Everything that was found, by file.
    pub located: Vec<Located>,
    /// Documents that were read.
    pub documents: usize,
    /// Kinds that were met and have their schema and CEL only.
    pub schema_only: Vec<&'static str>,
    /// Objects of kinds that usher does not know.
    pub unknown: usize,
    /// Paths that could not be read; the rest was judged all the same.
    pub unreadable: Vec<files::Error>,
}

impl Report {
    /// The number of findings that refuse.
    pub fn errors(&self) -> usize {
        self.located.iter().filter(|located| located.finding.severity == crate::rule::Severity::Error).count()
    }

    /// The number of findings that only tell.
    pub fn warnings(&self) -> usize {
        self.located.len() - self.errors()
    }
}

/// Everything that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What is to be judged.
    pub(crate) files: Vec<File>,
    /// That, and what exists already.
    pub(crate) view: View,
    /// Paths that could not be read.
    pub(crate) unreadable: Vec<files::Error>,
}

impl Request {
    /// Reads the files and what exists already.
    pub(crate) fn load(&self) -> Loaded {
        let (files, mut unreadable) = load_all(&self.paths);
        let (context, problems) = load_all(&self.context);
        unreadable.extend(problems);
        let view = View::default();
        let existing =
            context.iter().flat_map(|file| &file.objects).map(|object| mark_as_existing(&object.value));
        let own = files.iter().flat_map(|file| &file.objects).map(|object| object.value.clone());
        fill(&view, existing.chain(own).collect(), &self.namespace);
        Loaded { files, view, unreadable }
    }

    /// What a judgement rests on.
    pub(crate) fn facts<'a>(&'a self, view: &'a View, user: &'a User) -> Facts<'a> {
        Facts {
            operation: Operation::Create,
            user,
            now: self.now,
            settings: &self.settings,
            view,
            uniqueness: Uniqueness::ByView,
        }
    }
}

/// Runs a check.
pub fn run(request: &Request) -> Report {
    let Loaded { files, view, unreadable } = request.load();
    let nobody = User::default();
    Report { unreadable, ..judge_all(files, request, &request.facts(&view, &nobody)) }
}

/// Judges what was read.
pub(crate) fn judge_all(files: Vec<File>, request: &Request, facts: &Facts<'_>) -> Report {
    let progress = Progress::new("checking", files.iter().map(|file| file.objects.len()).sum());
    let judged: Vec<Judged> = files
        .par_iter()
        .enumerate()
        .map(|(position, file)| judge_file(position, file, request, facts, &progress))
        .collect();
    progress.finish();

    let mut report = Report { documents: files.iter().map(|file| file.documents).sum(), ..Report::default() };
    let mut met = std::collections::HashSet::new();
    for mut judged in judged {
        report.located.append(&mut judged.located);
        report.unknown += judged.unknown;
        met.extend(judged.schema_only);
    }
    report.schema_only = TABLE.iter().map(|kind| kind.kind).filter(|kind| met.contains(kind)).collect();
    report.files = files;
    report
}

/// Reads everything that can be read below the paths.
fn load_all(paths: &[PathBuf]) -> (Vec<File>, Vec<files::Error>) {
    let found = files::find(paths);
    let progress = Progress::new("reading", found.places.len());
    let loaded: Vec<Result<File, files::Error>> = found
        .places
        .par_iter()
        .map(|place| {
            let file = files::load(place);
            progress.step();
            file
        })
        .collect();
    progress.finish();
    let mut problems = found.problems;
    let mut all = Vec::with_capacity(loaded.len());
    for file in loaded {
        match file {
            Ok(file) => all.push(file),
            Err(problem) => problems.push(problem),
        }
    }
    (all, problems)
}

#[derive(Default)]
struct Judged {
    located: Vec<Located>,
    schema_only: Vec<&'static str>,
    unknown: usize,
}

fn judge_file(
    position: usize,
    file: &File,
    request: &Request,
    facts: &Facts<'_>,
    progress: &Progress,
) -> Judged {
    let mut judged = Judged::default();
    for error in &file.syntax {
        let mut findings = Findings::default();
        findings.deny(&codes::SYNTAX, FieldPath::root(), error.message.as_str());
        for finding in findings {
            judged.located.push(Located {
                file: position,
                document: Some(error.document),
                api_version: String::new(),
                kind: String::new(),
                namespace: String::new(),
                name: String::new(),
                finding,
                span: error.span.clone(),
            });
        }
    }
    for object in &file.objects {
        match find_kind(object) {
            Found::Kind(kind) => {
                if kind.admission.is_none() {
                    judged.schema_only.push(kind.kind);
                }
                judge_object((position, &file.text), object, kind, request, facts, &mut judged.located);
            }
            Found::Unserved(finding) => {
                let span = Places::new(&object.node).locate(&finding.path);
                judged.located.push(locate(position, object, finding, span, ""));
            }
            Found::Nothing => judged.unknown += 1,
        }
        progress.step();
    }
    judged
}

enum Found {
    Kind(&'static KindInfo),
    Unserved(Finding),
    Nothing,
}

fn find_kind(object: &FileObject) -> Found {
    let (api_version, kind) = (object.text("apiVersion"), object.text("kind"));
    if let Some(kind) = kinds::find(api_version, kind) {
        return Found::Kind(kind);
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let Some(known) = TABLE.iter().find(|known| known.group == group && known.kind == kind) else {
        return Found::Nothing;
    };
    let mut findings = Findings::default();
    let message = format!("there is no {kind} in {api_version}");
    findings.deny(&codes::UNSERVED_VERSION, FieldPath::of(&["apiVersion"]), message).help(format!(
        "use {}/{}",
        known.group,
        known.storage_version()
    ));
    findings.into_iter().next().map_or(Found::Nothing, Found::Unserved)
}

fn judge_object(
    (position, text): (usize, &str),
    object: &FileObject,
    kind: &'static KindInfo,
    request: &Request,
    facts: &Facts<'_>,
    located: &mut Vec<Located>,
) {
    for (path, span) in files::repeated_keys(&object.node) {
        let mut findings = Findings::default();
        let name = path.to_string();
        findings.deny(&codes::DUPLICATE_KEY, path, format!("{name} is there twice"));
        located
            .extend(findings.into_iter().map(|finding| locate(position, object, finding, span.clone(), "")));
    }
    let judgement = judge(kind, &object.value, &request.namespace, facts);
    let namespace = judgement.stored["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    let mut places = Places::new(&object.node);
    for finding in judgement.findings {
        let span = narrow(&mut places, &finding, text);
        located.push(locate(position, object, finding, span, &namespace));
    }
}

/// Where a finding stands: its value, or the part of the value that it means, if that stands in the file as it is.
fn narrow(places: &mut Places<'_>, finding: &Finding, text: &str) -> Range<usize> {
    let whole = places.locate(&finding.path);
    let part = finding.span.as_ref().and_then(|part| {
        let NodeValue::Scalar(Value::String(value)) = &places.find(&finding.path)?.value else { return None };
        // A text that the mutating door changed is not the one in the file.
        let is_same = finding.value.as_ref().is_none_or(|judged| judged == value);
        if is_same { crate::yaml::place(text, &whole, value, part) } else { None }
    });
    part.unwrap_or(whole)
}

fn locate(
    file: usize,
    object: &FileObject,
    finding: Finding,
    span: Range<usize>,
    namespace: &str,
) -> Located {
    let name = match object.metadata("name") {
        "" => object.metadata("generateName"),
        name => name,
    };
    Located {
        file,
        document: Some(object.document),
        api_version: object.text("apiVersion").to_owned(),
        kind: object.text("kind").to_owned(),
        namespace: if namespace.is_empty() { object.metadata("namespace") } else { namespace }.to_owned(),
        name: name.to_owned(),
        finding,
        span,
    }
}

/// A line on the terminal for runs that take longer than a moment.
struct Progress {
    what: &'static str,
    total: usize,
    done: AtomicUsize,
    started: Instant,
    shown: bool,
}

impl Progress {
    fn new(what: &'static str, total: usize) -> Self {
        let shown = total >= 500 && std::io::stderr().is_terminal();
        Self { what, total, done: AtomicUsize::new(0), started: Instant::now(), shown }
    }

    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.shown && done.is_multiple_of(256) && self.started.elapsed() > Duration::from_millis(300) {
            let _ = write!(std::io::stderr(), "\r{} {done}/{}", self.what, self.total);
        }
    }

    fn finish(&self) {
        if self.shown && self.started.elapsed() > Duration::from_millis(300) {
            let _ = write!(std::io::stderr(), "\r{:60}\r", "");
        }
    }
}
