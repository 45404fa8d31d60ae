use super::*;

const EVERYTHING: Options = Options {
    experimental_functions: true,
    duration_expressions: true,
    extended_ranges: true,
    fill_modifiers: true,
};

#[test]
fn classic_mistakes_get_advice() {
    // The text, the part that is blamed, and a part of the advice.
    for (text, blamed, advice) in [
        ("rate(x)", "x", "rate(x[5m])"),
        ("rate(x)[5m]", "[5m]", "rate(metric[5m])"),
        ("1 > 2", ">", "> bool"),
        ("x = 1", "=", "=="),
        ("{app=\"x\"} |= \"error\"", "|", "LogQL"),
        ("sum(x) by job", "job", "by (job)"),
        ("x and 1", "1", "vector(...)"),
        ("rat(x[5m])", "rat", "rate"),
        ("Histogram_Quantil(1, x)", "Histogram_Quantil", "histogram_quantile"),
        ("histogram_quantile(x, 0.9)", "x", "(scalar, instant vector)"),
        ("{}", "{}", "name a metric"),
        ("x{a-b=\"c\"}", "-", "{\"a-b\"=\"value\"}"),
        ("sum by (a-b) (x)", "-", "(\"my-label\")"),
        ("rate(x[5m]) offset 5m", "offset", "rate(metric[5m] offset ...)"),
        ("x offset 5m[5m]", "[5m]", "metric[5m] offset"),
        ("abs(x,)", ",", "last comma"),
        ("1h30", "1h30", "1h30m"),
        ("x[1.5h]", "1.5h", "1h30m"),
        ("x[5m]{a=\"b\"}", "{", "before a range"),
        ("topk(x, 5)", "5", "topk(parameter, vector)"),
        ("limitk(5, x)", "limitk", "promql-experimental-functions"),
        ("info(x)", "info", "promql-experimental-functions"),
        ("x[step()]", "step", "promql-duration-expr"),
        ("x anchored", "anchored", "promql-extended-range-selectors"),
        ("x + fill(0) y", "fill", "promql-binop-fill-modifiers"),
        ("x{a=~\"\\d\"}", "\\d", "\\\\d"),
        ("a * on (x) group_left (b)", "", "brackets hold labels"),
        ("x{a=b}", "b", "\"b\""),
    ] {
        let fault = parse(text, Options::default()).unwrap_err();
        let hint = fault.hint.unwrap_or_default();
        assert_eq!(text.get(fault.span), Some(blamed), "{text}: {}", fault.message);
        assert!(hint.contains(advice), "{text}: {hint}");
    }
}

#[test]
fn an_open_bracket_is_shown_itself() {
    for (text, place) in [("sum(rate(x[5m])", 3), ("x{a=\"b\"", 1), ("x[5m", 1), ("(1 + (2)", 0)] {
        let fault = parse(text, Options::default()).unwrap_err();
        assert_eq!(fault.span, place..place + 1, "{text}: {}", fault.message);
    }
}

#[test]
fn the_canonical_text_means_the_same() {
    for (text, canonical) in [
        ("sum(x)by(a,\"b c\",without_x,)", "sum by (a, \"b c\", without_x) (x)"),
        ("{'my.metric',a='b'}[90s:]@start()", "{__name__=\"my.metric\", a=\"b\"}[1m30s:] @ start()"),
        ("a*on(x)group_left b", "a * on (x) group_left () b"),
        ("x offset - -5m + 3", "x offset ++5m + 3"),
        ("x offset (5m) @ 1 + 3", "x offset (5m) @ 1 + 3"),
        ("x anchored [5m] offset 0", "x[5m] anchored"),
        ("a+fill_right(1)fill_left(1)b", "a + fill (1) b"),
        ("- -1 ^ -0x10", "--1 ^ -16"),
        ("sum by (\"without\", inf_) (x)", "sum by (\"without\", inf_) (x)"),
    ] {
        let query = parse(text, EVERYTHING).unwrap();
        assert_eq!(query.to_string(), canonical);
        assert!(parse(canonical, EVERYTHING).as_ref() == Ok(&query), "{canonical}");
    }
}

#[test]
fn equality_looks_at_the_tree_only() {
    let same = |a, b| parse(a, EVERYTHING).unwrap() == parse(b, EVERYTHING).unwrap();
    assert!(same("sum by (a) (x{b='c'})", "sum(x{b=\"c\"}) by (a) # comment"));
    assert!(same("NaN", "-nan"));
    for (a, b) in
        [("a + b", "a - b"), ("a", "(a)"), ("x{a='b'}", "x{a='c'}"), ("x[5m]", "x[6m]"), ("1", "-1")]
    {
        assert!(!same(a, b), "{a} {b}");
    }
}

#[test]
fn selectors_are_found_with_their_places() {
    let text = "rate(up{job=~'a.*', x!='y'}[5m]) / {'my metric'} + {job='b'}";
    let query = parse(text, Options::default()).unwrap();
    assert_eq!(query.value_type(), ValueType::Vector);
    let found: Vec<_> =
        query.selectors().map(|s| (s.metric(), text.get(s.span()), s.matchers().count())).collect();
    assert_eq!(
        found,
        [
            (Some("up".into()), Some("up{job=~'a.*', x!='y'}"), 2),
            (Some("my metric".into()), Some("{'my metric'}"), 1),
            (None, Some("{job='b'}"), 1),
        ]
    );
    let first = query.selectors().next().unwrap().matchers().next().unwrap();
    assert_eq!(
        (first.label.as_ref(), first.comparison, first.value.as_ref()),
        ("job", Comparison::Regex, "a.*")
    );
    assert_eq!(text.get(first.span), Some("job=~'a.*'"));
}
