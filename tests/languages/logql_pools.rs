//! What the generator of LogQL texts is made of: texts of every kind, good and odd, and the names of what is counted.

/// Texts of one kind, good ones and odd or wrong ones. The latter take turns, so that each occurs often enough.
pub struct Pool {
    pub name: &'static str,
    pub good: &'static [&'static str],
    pub odd: &'static [&'static str],
}

#[rustfmt::skip]
pub const POOLS: &[Pool] = &[
    Pool {
        name: "regex",
        good: &["a.*", "x|y", "err(or)?", "[a-z]+", ".+", "(?i)foo", "a{2,5}", "\\\\d+", "^a$", "foo"],
        odd: &[
            "", ".*", "a*", "x|", "(", "[", "(?!x)a", "a**", "a*+", "a{2}{3}", "a{1001}", "a{", "a{,5}", "[[]",
            "[a&&b]", "[a--b]", "\\\\Qabc", "\\\\123", "\\\\1", "\\\\<", "(?x)a", "\\\\u1234", "(?<n>a)",
            "\\\\p{Greek}", "\\\\p{greek}", "\\\\p{Alphabetic}", "a)(b", "\\xff", "\\xff.*", "(a{0,99}){0,9}",
            "((a{0,9}){0,9}){0,9}", "\\\\b", "a{0,1000}", "a{0,500}", "a{0,501}", "(ab){0,499}", "x(a{2,502})y",
            "(a|bc){0,499}|b", "[^[]", "[a[b]", "[a~~b]", "\\\\Qa.b\\\\E", "\\\\>", "(?u)a", "(?R)a", "\\\\b{start}",
            "\\\\u{41}", "\\\\pL", "(?P<n.x>a)", "(?P<n>a)(?P<n>b)", "\\\\w", "\\\\s",
        ],
    },
    Pool {
        name: "capture",
        good: &["(?P<a>.*)", "(?P<ip>\\\\S+) (?P<path>.+)", "(?<n>x)"],
        odd: &[
            "(.*)", "(?P<a>.)(?P<a>.)", "", "(?P<1a>x)", "(?P<a", "(?P<a>\\xff)", "(?P<a>\\\\p{Letter})",
            "(?P<a>\\\\p{Old_Italic})",
        ],
    },
    Pool {
        name: "pattern",
        good: &["<a> <b>", "<ip> - <_>", "x<_>y<z>", "<1a> <b>"],
        odd: &["<a><b>", "<a> <a>", "<_>", "", "<_><_>", "<a", "plain", "<a>\\xff", "<é> <b>", "<<b>>", "<_><a>"],
    },
    Pool {
        name: "line pattern",
        good: &["<_> error <_>", "", "plain", "<_>"],
        odd: &["<name> x", "<_><_>", "<_", "<_>\\xff", "<1>", "\\xff"],
    },
    Pool {
        name: "json path",
        good: &["a", "b.c[0]", "[\\\"k\\\"].x", " a . b "],
        odd: &[
            "", ".a", "a.", "a..b", "a.[0]", "a[b]", "0", "a-b", "[\\\"a]", "[\\\"a]]", "[0.5]", "[1 ]", "[1a]",
            "a\\x00.", "é", "[99999999999999999999]", "a b", "[\\\"a\\x00]",
        ],
    },
    Pool {
        name: "logfmt key",
        good: &["a", "\\\"a\\\"", "a \\\"b\\\""],
        odd: &["", "a b", "\\\"a\\\" b", "a.b", "a-b", "\\\"a", "a\\\"", "é", "a\\x00b"],
    },
    Pool {
        name: "template",
        good: &["{{.a}}", "x {{ .b | ToUpper }}", "plain", "{{ if .a }}b{{ end }}"],
        odd: &[
            "{{.msg", "{{ nosuch .a }}", "{{.a-b}}", "{{ end }}", "{{ if }}x{{end}}", "{{ $x }}",
            "{{ $x := .a }}{{ $x }}", "{{/* c */}}", "{{- .a -}}", "{{ range .a }}{{ break }}{{ end }}",
            "{{ break }}", "{{ 1 | 2 }}", "{{ .a | }}", "{{}}", "{{ define \\\"n\\\" }}{{ end }}",
            "{{ template \\\"n\\\" }}", "{{ \\xff }}", "{{ with .a }}b{{ else with .c }}d{{ end }}",
            "{{ default \\\"a\\\" .b }}", "{{ .a.b.c }}", "{{ 'c' }}", "{{ nil }}", "{{ __line__ }}",
        ],
    },
    Pool {
        name: "ip",
        good: &["10.0.0.1", "10.0.0.0/8", "::1", "10.0.0.1-10.0.0.9"],
        odd: &[
            "", "nonsense", "010.0.0.1", "10.0.0.0/33", "10.0.0.0/08", "fe80::1%eth0", "fe80::1%eth0/64", "::1%",
            "10.0.0.9-10.0.0.1", "10.0.0.1 - 10.0.0.2", "::1-10.0.0.1", "::ffff:1.2.3.4", "1::2::3", "12345::",
            "::/129", "1.2.3", "1:2:3:4:5:6:7::", "::1%a-::2%b", "::/0", "1.2.3.4/", "1.2.3.4/+8",
        ],
    },
    Pool {
        name: "number",
        good: &["0", "1", "5", "0.5", "1e3", "017", "1_000", "0x1p4", "2.", ".5"],
        odd: &[
            "0x10", "0o17", "0b11", "1e999", "08", "08.5", "1e", "0x", "1__0", "1_", "0x1.8", "0x1p1024", "1PB",
            "1EB", "0b2", "09e1", "0_7", "0x_1p0", "1e+3", "9223372036854775808", "1.5_0", "0b", "0o8", "1p3",
        ],
    },
    Pool {
        name: "duration",
        good: &["5m", "1h30m", "1d", "1.5h", "-5m", "5us", "2w", "0s"],
        odd: &[
            "1.5d", "1h5", "-0", "300y", "5µs", "1m30", "-1d", "5.m", ".5s", "9223372036854775808ns", "1h1h", "30m1h",
            "5ms", "-.5s",
        ],
    },
    Pool {
        name: "bytes",
        good: &["5KB", "5k", "1.5KiB", "5B", "3MB", "2GiB", "1Ti"],
        odd: &[
            "5kb", "-5KB", "5 KB", "5Kb", "1TB", "99999999999TB", "5.k", "5PiB", "1.2.3k", "5kk", "5Bi", "5i", "017k",
            "0x1k",
        ],
    },
    Pool {
        name: "range",
        good: &["[5m]", "[1h]", "[1h30m]", "[30s]", "[1d]"],
        odd: &[
            "[0]", "[0s]", "[5]", "[1.5h]", "[30m1h]", "[5m5m]", "[-5m]", "[5us]", "[300y]", "[292y]", "[ 5m ]",
            "[5m:1m]", "[]", "[1w2d]", "[5m", "[$__interval]", "[9223372036854775808ms]", "[100ms]",
            "[18446744073709551616s]",
        ],
    },
    Pool {
        name: "name",
        good: &["app", "level", "a", "b1", "__error__", "status_code"],
        odd: &[
            "rate", "sum", "ip", "duration", "bytes", "vector", "json", "logfmt", "by", "without", "on", "of",
            "variants", "or", "and", "unless", "offset", "bool", "drop", "keep", "unwrap", "regexp", "pattern",
            "unpack", "decolorize", "line_format", "label_format", "ignoring", "group_left", "group_right", "été",
            "$", "'a'", "'\\n'", "'ab'", "a.b", "a-b", "a:b", "\\", "!", "~", "topk", "count_over_time",
            "label_replace", "duration_seconds", "approx_topk", "sort", "字", "٣", "\u{FEFF}", "B",
        ],
    },
    Pool {
        name: "text",
        good: &["x", "error", "a b", "foo=bar", ""],
        odd: &[
            "\\n", "\\d", "\\.", "\\'", "\\x41", "\\xff", "\\101", "\\777", "\\u00e9", "\\ud800", "\\U0010FFFF",
            "\\U00110000", "\\UFFFFFFFF", "\\x4", "\\\"", "\\\\", "#x", "//", "/*", "é", "\\q", "\\0", "\\u12", "'",
            "`",
        ],
    },
    Pool {
        name: "blank",
        good: &[" ", "", " ", "\n", "\t"],
        odd: &["/* c */", "# c\n", "// c\n", "\r\n", "\u{A0}", "\u{B}", "/*/", "\u{2003}"],
    },
];

/// Everything that is counted beside the pools: productions of the grammar and rows of the tables.
#[rustfmt::skip]
pub const PRODUCTIONS: &[&str] = &[
    "log", "log in parens", "metric in parens", "selector", "selector empty", "selector comma", "matcher =",
    "matcher !=", "matcher =~", "matcher !~", "matcher matches empty", "line |=", "line |~", "line |>", "line !=",
    "line !~", "line !>", "line or", "line or ip", "line ip", "json", "json list", "logfmt", "logfmt list",
    "logfmt --strict", "logfmt --keep-empty", "logfmt --bogus", "regexp", "pattern", "unpack", "line_format",
    "label_format", "label_format twice", "label_format __error__", "label_format of a name",
    "label_format of a template", "json path given", "json path left out", "logfmt key given", "logfmt key left out",
    "unwrap plain", "group_left with labels", "group_left alone", "group_right with labels", "group_right alone", "decolorize", "drop", "keep", "pick name",
    "pick matcher", "filter matcher", "filter ip", "filter ip !=", "filter duration", "filter bytes", "filter number",
    "filter number signed", "filter string ==", "filter parens", "filter and", "filter or", "filter comma",
    "filter nothing", "compare =", "compare ==", "compare !=", "compare >", "compare >=", "compare <", "compare <=",
    "range S P U R O", "range S R O P U", "range (S P U) R O", "range (S) R O U", "range ( )", "range ((S)) R",
    "range twice", "range in the middle", "offset first", "offset", "offset negative", "offset number", "unwrap",
    "unwrap bytes", "unwrap duration", "unwrap duration_seconds", "unwrap filter", "unwrap stage",
    "unwrap in a log query", "rate", "rate_counter", "count_over_time", "bytes_rate", "bytes_over_time",
    "absent_over_time", "sum_over_time", "avg_over_time", "min_over_time", "max_over_time", "stddev_over_time",
    "stdvar_over_time", "first_over_time", "last_over_time", "quantile_over_time", "range parameter",
    "range grouping", "sum", "avg", "max", "min", "count", "stddev", "stdvar", "topk", "bottomk", "approx_topk",
    "sort", "sort_desc", "vector parameter", "prefix grouping", "postfix grouping", "both groupings",
    "empty grouping", "without", "by", "aggregated log", "literal", "literal signed", "vector(n)", "vector(-n)",
    "label_replace", "label_replace short", "variants", "variants in parens", "op or", "op and", "op unless", "op ==",
    "op !=", "op >", "op >=", "op <", "op <=", "op +", "op -", "op *", "op /", "op %", "op ^", "op =", "bool", "on",
    "ignoring", "group_left", "group_right", "group without on", "bool behind on", "log leg",
    "literal leg of a set operator", "unary minus", "upper case", "foreign function",
];

/// Short queries around a text of a pool, which stands for `@`.
#[rustfmt::skip]
pub fn frames(pool: &str) -> &'static [&'static str] {
    match pool {
        "regex" => &[
            "{a=\"b\",c=~\"@\"}", "{a!~\"@\"}", "{a=\"b\"} |~ \"@\"", "{a=\"b\"} !~ \"x\" or \"@\"",
            "{a=\"b\"} | c!~\"@\"", "{a=\"b\"} | drop c=~\"@\"",
            "label_replace(vector(1), \"a\", \"b\", \"c\", \"@\")", "{a=~\"@\"}",
            "{a=\"b\"} | regexp \"(?P<n>@)\"",
        ],
        "capture" => &["{a=\"b\"} | regexp \"@\""],
        "pattern" => &["{a=\"b\"} | pattern \"@\"", "{a=\"b\"} |> \"@\""],
        "line pattern" => {
            &["{a=\"b\"} |> \"@\"", "{a=\"b\"} !> \"x\" or \"@\"", "{a=\"b\"} | pattern \"@\""]
        }
        "json path" => &["{a=\"b\"} | json c=\"@\"", "{a=\"b\"} | json c=\"d\", e=\"@\""],
        "logfmt key" => &["{a=\"b\"} | logfmt c=\"@\"", "{a=\"b\"} | logfmt --strict e=\"@\", f"],
        "template" => &[
            "{a=\"b\"} | line_format \"@\"", "{a=\"b\"} | label_format c=\"@\"",
            "{a=\"b\"} | label_format d=e, c=\"@\"",
        ],
        "ip" => &[
            "{a=\"b\"} |= ip(\"@\")", "{a=\"b\"} != ip(\"@\")", "{a=\"b\"} | c=ip(\"@\")",
            "{a=\"b\"} | c!=ip(\"@\") or d>1", "{a=\"b\"} |= \"x\" or ip(\"@\")",
            "{a=\"b\"} != \"x\" or ip(\"@\")", "{a=\"b\"} |~ ip(\"@\")", "{a=\"b\"} |= ip(\"@\") or \"x\"",
            "{a=\"b\"} |> \"x\" or ip(\"@\") or \"y\"",
        ],
        "number" => &[
            "@", "1+@", "1 - @", "-@", "{a=\"b\"} | n>@", "{a=\"b\"} | n == @", "{a=\"b\"} | n=-@",
            "{a=\"b\"} | n=- @", "vector(@)", "topk(@, vector(1))",
            "quantile_over_time(@, {a=\"b\"} | unwrap c [5m])", "sum(@)", "{a=\"b\"} | n>+@ or c=\"d\"",
        ],
        "duration" => &[
            "{a=\"b\"} | n>@", "{a=\"b\"} | n == @", "rate({a=\"b\"}[5m] offset @)", "vector(1) > @",
            "{a=\"b\"} | n>@ c=\"d\"",
        ],
        "bytes" => &[
            "{a=\"b\"} | n>@", "{a=\"b\"} | n == @", "rate({a=\"b\"}[5m] offset @)", "vector(1) > @",
            "{a=\"b\"} | n>@=\"d\"",
        ],
        "range" => &[
            "rate({a=\"b\"}@)", "rate(({a=\"b\"})@ offset 1h)", "rate({a=\"b\"} @)", "rate({a=\"b\"} |= \"x\"@)",
        ],
        "name" => &[
            "{@=\"b\"}", "{@ =\"b\"}", "{a=\"b\"} | @>5", "{a=\"b\"} | c>5 @ =\"d\"", "{a=\"b\"} | json @",
            "{a=\"b\"} | logfmt c, @=\"d\"", "{a=\"b\"} | drop @", "{a=\"b\"} | keep @=\"c\"",
            "{a=\"b\"} | label_format @=c", "{a=\"b\"} | label_format c=@ ", "sum by (@) (vector(1))",
            "sum(vector(1)) without (c, @ )", "vector(1) / on (@) vector(1)",
            "vector(1) / ignoring (c) group_left (@) vector(1)", "rate({a=\"b\"} | unwrap @ [5m])",
            "rate({a=\"b\"} | unwrap bytes(@) [5m])", "@", "@(vector(1))", "@({a=\"b\"}[5m])", "{a=\"b\"} | @",
            "@ by (a) (vector(1))",
        ],
        "text" => &[
            "{a=\"@\"}", "{a=\"b\"} |= \"@\"", "{a=\"b\"} | c=\"@\"",
            "label_replace(vector(1), \"@\", \"@\", \"c\", \"d\")", "{'@'=\"b\"}", "{a=`@`}",
        ],
        _ => &[
            "{a=@\"b\"}", "sum@(vector(1))", "{a=\"b\"}@|= \"x\"", "1 +@0b1", "sum by@(a) (vector(1))",
            "rate({a=\"b\"}@[5m])", "1@- 1",
        ],
    }
}
