//! What a program adds to Go's template language: its functions and the variables that it declares beforehand.

/// The functions that Go itself gives to every template.
pub const BUILTIN_FUNCTIONS: &[&str] = &[
    "and", "call", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or", "print",
    "printf", "println", "slice", "urlquery",
];

/// What one program knows while it parses a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionSet {
    root: &'static str,
    functions: &'static [&'static str],
    variables: &'static [&'static str],
}

impl FunctionSet {
    /// A set of one's own: how the program calls the root template, the functions beyond Go's own, and the variables
    /// (with their `$`) that it declares in front of the text.
    pub const fn new(
        root: &'static str,
        functions: &'static [&'static str],
        variables: &'static [&'static str],
    ) -> Self {
        Self { root, functions, variables }
    }

    /// What the program calls the root template (for alerts: the part before the alert's name).
    pub const fn root(&self) -> &'static str {
        self.root
    }

    /// The variables that are declared before the text starts.
    pub const fn variables(&self) -> &'static [&'static str] {
        self.variables
    }

    /// Every function that a text may name.
    pub fn functions(&self) -> impl Iterator<Item = &'static str> {
        self.functions.iter().chain(BUILTIN_FUNCTIONS).copied()
    }

    /// Whether a text may name this function.
    pub fn has_function(&self, name: &[u8]) -> bool {
        self.functions().any(|known| known.as_bytes() == name)
    }

    /// Whether this variable (with its `$`) is declared before the text starts.
    pub fn has_variable(&self, name: &[u8]) -> bool {
        self.variables.iter().any(|known| known.as_bytes() == name)
    }
}

/// Loki's `line_format`.
pub static LOKI_LINE: FunctionSet = FunctionSet::new("line", LOKI_STAGE_FUNCTIONS, &[]);

/// Loki's `label_format`: the functions of `line_format`, but the root template has another name.
pub static LOKI_LABEL: FunctionSet = FunctionSet::new("label", LOKI_STAGE_FUNCTIONS, &[]);

/// Labels and annotations of Loki's alerting rules.
pub static LOKI_ALERT: FunctionSet =
    FunctionSet::new("__alert_", ALERT_FUNCTIONS, &["$labels", "$externalLabels", "$value"]);

/// Labels and annotations of Prometheus' alerting rules, which know `$externalURL` too.
pub static PROMETHEUS_ALERT: FunctionSet =
    FunctionSet::new("__alert_", ALERT_FUNCTIONS, &["$labels", "$externalLabels", "$externalURL", "$value"]);

const LOKI_STAGE_FUNCTIONS: &[&str] = &[
    "Replace",
    "ToLower",
    "ToUpper",
    "Trim",
    "TrimLeft",
    "TrimPrefix",
    "TrimRight",
    "TrimSpace",
    "TrimSuffix",
    "__line__",
    "__timestamp__",
    "add",
    "addf",
    "alignLeft",
    "alignRight",
    "b64dec",
    "b64enc",
    "bytes",
    "ceil",
    "contains",
    "count",
    "date",
    "default",
    "div",
    "divf",
    "duration",
    "duration_seconds",
    "float64",
    "floor",
    "fromJson",
    "hasPrefix",
    "hasSuffix",
    "indent",
    "int",
    "lower",
    "max",
    "maxf",
    "min",
    "minf",
    "mod",
    "mul",
    "mulf",
    "nindent",
    "now",
    "regexReplaceAll",
    "regexReplaceAllLiteral",
    "repeat",
    "replace",
    "round",
    "sub",
    "subf",
    "substr",
    "title",
    "toDate",
    "toDateInZone",
    "trim",
    "trimAll",
    "trimPrefix",
    "trimSuffix",
    "trunc",
    "unixEpoch",
    "unixEpochMillis",
    "unixEpochNanos",
    "unixToTime",
    "upper",
    "urldecode",
    "urlencode",
];

const ALERT_FUNCTIONS: &[&str] = &[
    "args",
    "externalURL",
    "first",
    "graphLink",
    "humanize",
    "humanize1024",
    "humanizeDuration",
    "humanizePercentage",
    "humanizeTimestamp",
    "label",
    "match",
    "now",
    "parseDuration",
    "pathPrefix",
    "query",
    "reReplaceAll",
    "safeHtml",
    "sortByLabel",
    "stripDomain",
    "stripPort",
    "strvalue",
    "tableLink",
    "title",
    "toDuration",
    "toLower",
    "toTime",
    "toUpper",
    "urlQueryEscape",
    "value",
];
