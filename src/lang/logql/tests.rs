//! The tables of the language, small: the differential tests beside the crate ask Loki itself.

use super::*;

#[track_caller]
fn refused(text: &str) -> Fault {
    parse(text).map(|query| query.to_string()).unwrap_err()
}

#[test]
fn canonical_forms() {
    for (text, printed) in [
        ("{a=`b`}|=\"x\"or\"y\"", r#"{a="b"} |= "x" or "y""#),
        ("RATE ({a=\"b\"} [90s] offset -1h |= \"x\")", r#"rate({a="b"} |= "x" [1m30s] offset -1h)"#),
        ("sum(rate({a=\"b\"}[1h])) BY (x)", r#"sum by (x) (rate({a="b"}[1h]))"#),
        ("((1+2)*3)^-1", "((1 + 2) * 3) ^ -1"),
        ("1-(2-3)-4", "1 - (2 - 3) - 4"),
        ("2^3^2", "2 ^ 3 ^ 2"),
        ("(2^3)^2", "(2 ^ 3) ^ 2"),
        (
            "{a=\"b\"} | x>5KB y=\"z\" or (c<1.5h and d==+1e3)",
            r#"{a="b"} | x>5000B, y="z" or c<1h30m and d==1000"#,
        ),
        ("{a=\"b\"} | (x=\"1\" or y=\"2\") and z=\"3\"", r#"{a="b"} | (x="1" or y="2") and z="3""#),
        ("{a=\"b\"} | n > - 0", r#"{a="b"} | n>- 0"#),
        (
            "{a=\"b\"} | drop x,y!=\"z\" | label_format a=b,c=`{{.d}}`",
            r#"{a="b"} | drop x, y!="z" | label_format a=b, c="{{.d}}""#,
        ),
        ("{a=\"\\xff\\n\"}", r#"{a="\xff\n"}"#),
    ] {
        let query = parse(text).unwrap();
        assert_eq!(query.to_string(), printed);
        assert_eq!(parse(printed).unwrap(), query, "{printed}");
    }
}

#[test]
fn equality_sees_structure() {
    assert_ne!(parse("(1+2)*3").unwrap(), parse("1+2*3").unwrap());
    assert_ne!(
        parse("{a=\"b\"} | a=\"1\", b=\"2\" or c=\"3\"").unwrap(),
        parse("{a=\"b\"} | (a=\"1\" and b=\"2\") or c=\"3\"").unwrap()
    );
    assert_eq!(parse("1+(2*3)").unwrap(), parse("1 + 2*3 # x").unwrap());
}

#[test]
fn advice_for_known_traps() {
    for (text, part) in [
        (r#"{a="b"} | level == "error""#, "single `=`"),
        (r#"{json="x"}"#, "reserved"),
        (r#"{of="x"}"#, "newer"),
        (r#"rate({a="b"})"#, "[5m]"),
        (r"{a='foo'}", "double quotes"),
        (r#"{a=~"\d+"}"#, "backticks"),
        (r#"{a="b",}"#, "comma"),
        (r#"rate({a="b"}[5m:1m])"#, "subqueries"),
        (r#"rate({a="b"}[$__interval])"#, "Grafana"),
        (r#"rate({a="b"}[$__auto])"#, "Grafana"),
        (r#"increase({a="b"}[5m])"#, "count_over_time"),
        ("sum(http_requests_total)", "labels"),
        (r#"rate({a="b"} offset 1h [5m])"#, "directly behind the range"),
        (r#"{a="b"} | size > 5kb"#, "5kB"),
        (r#"{a="b"} | size > 5PB"#, "newer"),
        (r#"sum(rate({a="b"}[5m]) // 5)"#, "comment"),
        (r#"sum({a="b"})"#, "rate"),
        (r#"{a!="b"}"#, "select"),
        (r#"sum by a (rate({a="b"}[5m]))"#, "parentheses"),
        (r#"avg_over_time by (y) ({a="b"} | unwrap x [5m])"#, "behind the parentheses"),
        (r#"-rate({a="b"}[5m])"#, "multiply"),
        (r#"{a="b"} | xml"#, "parsers"),
        ("{a=\"b\"}\u{A0}|= \"x\"", "blank"),
    ] {
        let fault = refused(text);
        let told = format!("{} ({})", fault.message, fault.hint.unwrap_or_default());
        assert!(told.contains(part), "{text}: {told}");
    }
}

#[test]
fn selectors_with_places() {
    let query = parse(r#"rate({a="b", c!~"d"}[5m]) / variants(rate({}[1m])) of ({e="\x66"}[5m])"#).unwrap();
    let selectors = query.selectors();
    assert_eq!(selectors.len(), 3);
    assert_eq!((selectors[0].span.clone(), selectors[0].inside), (5..20, 6));
    assert_eq!(selectors[0].matchers[1].op, MatchOp::NotRegex);
    assert_eq!(selectors[0].matchers[1].value, b"d");
    assert_eq!(selectors[1].matchers.len(), 0);
    assert_eq!(selectors[2].matchers[0].value, b"f");
    assert_eq!(query.notes().len(), 1);
}

#[test]
fn levels() {
    let query = parse(r#"{a="b"} |~ "[" | label_format x=y,x=z | addr=ip("bogus") or n > 0x10"#).unwrap();
    assert_eq!(query.stage_faults().len(), 3);
    assert_eq!(query.notes().len(), 1);
    assert!(!query.is_metric());
    let alert = LintContext { interval: Some(Duration::from_mins(10)), alert: true };
    let query = parse(r#"sum_over_time({a=~"b"} | json | unwrap x [5m])"#).unwrap();
    assert!(query.is_metric() && !query.has_comparison() && query.stage_faults().is_empty());
    assert_eq!(query.lints(&alert).len(), 4);
    assert_eq!(parse("1 > 2").unwrap().lints(&LintContext::default()).len(), 1);
    assert_eq!(
        parse(r#"rate({a="b"}[5m]) // rate({a="c"}[5m])"#).unwrap().lints(&LintContext::default()).len(),
        1
    );
}

#[test]
fn limits() {
    let deep = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
    assert!(parse(&deep(MAX_LENGTH / 2 - 1)).is_ok());
    assert!(parse(&deep(MAX_LENGTH / 2)).is_err());
    assert!(parse(&format!("{{a=\"{}\"}}", "x".repeat(MAX_LENGTH - 7))).is_ok());
    assert!(parse(&format!("{{a=\"{}\"}}", "x".repeat(MAX_LENGTH - 6))).is_err());
    assert!(parse("{a=\"\0\"}").is_err() && parse("\u{FEFF}{a=\"b\"}").is_ok());
}
