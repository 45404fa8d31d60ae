//! Small tables; the originals are asked in `tests/languages`.

use super::*;

fn fault(text: &str, set: &FunctionSet) -> Fault {
    check(text, set).expect_err(text)
}

#[test]
fn faults_point_at_the_mistake_and_say_what_to_write() {
    let table: &[(&str, &FunctionSet, &str, &str)] = &[
        ("{{ .a-b }}", &LOKI_LINE, "-", "index . \"a-b\""),
        ("{{ $labels.pod-name }}", &PROMETHEUS_ALERT, "-", "index $labels \"pod-name\""),
        ("{{ .a | ToUper }}", &LOKI_LINE, "ToUper", "`ToUpper`"),
        ("{{ humanise $value }}", &LOKI_ALERT, "humanise", "`humanize`"),
        ("{{ app }}", &LOKI_LINE, "app", "`.app`"),
        ("{{ instance }}", &LOKI_ALERT, "instance", "`$labels.instance`"),
        ("{{ $label.x }}", &LOKI_ALERT, "$label", "`$labels`"),
        ("{{ $labels.x }}", &LOKI_LINE, "$labels", "`.app`"),
        ("{{define \"d\"}}{{ $value }}{{end}}", &LOKI_ALERT, "$value", "pass what it needs"),
        ("{{ $externalURL }}", &LOKI_ALERT, "$externalURL", "declare it first"),
        ("down {{ .a", &LOKI_LINE, "{{ .a", "`}}`"),
        ("{{ $labels.app } is down", &LOKI_ALERT, "}", "two braces"),
        ("{{ $labels.app} is down", &LOKI_ALERT, "}", "two braces"),
        ("{{ if .a }}x", &LOKI_LINE, "{{ if .a }}", "{{ end }}"),
        ("{{ eq .a 'abc' }}", &LOKI_LINE, "'abc'", "`\"abc\"`"),
        ("{{ if .a == 1 }}{{ end }}", &LOKI_LINE, "=", "eq A B"),
        ("{{ if .a || .b }}{{ end }}", &LOKI_LINE, "|", "or A B"),
        ("{{ printf(.a) }}", &LOKI_LINE, "(", "not put in parentheses"),
        ("{{ elseif .a }}", &LOKI_LINE, "elseif", "`else if`"),
        ("{{ .a | \"x\" }}", &LOKI_LINE, "\"x\"", "name a function"),
        ("{{ .5xx }}", &LOKI_LINE, ".5xx", "index . \"5xx\""),
        ("{{/* x */ }}", &LOKI_LINE, " ", "leave out the space"),
        ("{{ \"\\d\" }}", &LOKI_LINE, "\\d", "double the backslash"),
    ];
    for &(text, set, place, advice) in table {
        let fault = fault(text, set);
        assert_eq!(&text[fault.span.clone()], place, "{text}: {fault:?}");
        assert!(fault.hint.as_deref().unwrap_or_default().contains(advice), "{text}: {fault:?}");
    }
}

#[test]
fn what_go_lets_pass_passes() {
    for text in [
        "",
        "no action } }}",
        "{{ .a | }}",
        "{{ $x := $x }}",
        "{{ $x = 1 }}{{ $x }}",
        "{{ ($x := 1) }}{{ $x }}",
        "{{if .}}{{$x := 1}}{{else}}{{$x}}{{end}}",
        "{{template \"nobody\".}}",
        "{{ nil }}",
        "{{- /* x */ -}}",
        "{{range 3}}{{if .}}{{break}}{{end}}{{end}}",
        "{{define \"d\"}} {{end}}{{define \"d\"}}x{{end}}",
        "{{define \"line\"}}x{{end}} ",
    ] {
        assert_eq!(check(text, &LOKI_LINE), Ok(()), "{text}");
    }
}

#[test]
fn the_owner_is_part_of_the_root_name() {
    let text = b"{{define \"__alert_Down\"}}x{{end}}";
    assert!(check_named(text, &PROMETHEUS_ALERT, "Down").is_err());
    assert!(check_named(text, &PROMETHEUS_ALERT, "Up").is_ok());
}

#[test]
fn a_function_takes_precedence_over_a_loop_word() {
    let set = FunctionSet::new("root", &["break"], &["$here"]);
    assert_eq!(check("{{ break | len }}{{ $here }}", &set), Ok(()));
    assert!(check("{{ continue }}", &set).is_err());
}
