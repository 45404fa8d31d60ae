//! Makes patterns: from the grammar, spoiled on purpose, and right at Go's limits.

use super::super::oracle::Dice;

/// Pieces that match a single character or nothing.
const ATOMS: &[&str] = &[
    "a",
    "b",
    "c",
    "ab",
    "abc",
    "k",
    "K",
    "s",
    "S",
    "\u{17f}",
    "\u{212a}",
    "i",
    "\u{130}",
    "\u{131}",
    "\u{3c3}",
    "\u{3a3}",
    "\u{3c2}",
    "é",
    "É",
    "ß",
    "ẞ",
    "日",
    "😀",
    "\u{1e943}",
    "\u{fffd}",
    "0",
    "7",
    "_",
    "-",
    " ",
    "\n",
    "\t",
    "/",
    ":",
    "<",
    ">",
    "=",
    "!",
    ",",
    "&&",
    "~~",
    "#",
    "]",
    "}",
    "{",
    "{}",
    "{a}",
    "{,5}",
    "{1",
    "{1,",
    "{01}",
    "{1,2",
    "{-1}",
    "a{",
    ".",
    ".",
    ".*",
    ".+",
    "^",
    "$",
    r"\A",
    r"\z",
    r"\b",
    r"\B",
    r"\d",
    r"\D",
    r"\s",
    r"\S",
    r"\w",
    r"\W",
    r"\a",
    r"\f",
    r"\n",
    r"\r",
    r"\t",
    r"\v",
    r"\0",
    r"\12",
    r"\123",
    r"\07",
    r"\777",
    r"\x41",
    r"\xe9",
    r"\x{e9}",
    r"\x{1F600}",
    r"\x{10FFFF}",
    r"\x{D800}",
    r"\x{0}",
    r"\x{00000041}",
    r"\.",
    r"\*",
    r"\\",
    r"\(",
    r"\)",
    r"\[",
    r"\]",
    r"\{",
    r"\}",
    r"\|",
    r"\^",
    r"\$",
    r"\-",
    r"\_",
    r"\/",
    r"\<",
    r"\>",
    r"\ ",
    "\\\"",
    r"\'",
    r"\&",
    r"\~",
    r"\#",
    r"\Qa.b\E",
    r"\Q\E",
    r"\Q*+\E",
    r"\Q[\E",
    r"\Q\\E",
    r"\Qé\E",
    r"\pL",
    r"\PL",
    r"\pN",
    r"\p{Greek}",
    r"\P{Greek}",
    r"\p{^Greek}",
    r"\P{^Greek}",
    r"\p{Lu}",
    r"\p{Ll}",
    r"\p{Zl}",
    r"\p{Any}",
    r"\P{Any}",
    r"\p{Latin}",
    r"\p{LC}",
    r"\p{Cn}",
    r"\p{Han}",
    "[a]",
    "[^a]",
    "[ab]",
    "[a-c]",
    "[^a-c]",
    "[aA]",
    "[kK]",
    "[kK\u{212a}]",
    "[σς]",
    "[]]",
    "[^]]",
    "[]a]",
    "[a-]",
    "[-a]",
    "[a-c-e]",
    "[[]",
    "[^[]",
    "[a[b]",
    "[a&&b]",
    "[a~~b]",
    "[+--]",
    r"[\d-z]",
    r"[\w.]",
    r"[\D\S]",
    r"[\n]",
    r"[^\n]",
    r"[\]]",
    r"[\\]",
    r"[\x41-\x5a]",
    r"[\0-\x{10FFFF}]",
    r"[^\0-\x{10FFFF}]",
    r"[\pL\d]",
    r"[^\pL]",
    r"[\p{Lu}\p{Ll}]",
    r"[^\P{Zl}]",
    "[[:alpha:]]",
    "[[:^alpha:]]",
    "[^[:space:]]",
    "[[:word:][:digit:]]",
    "[[:alpha:",
    "[:alpha:]",
    "[[:]",
    "[[:a]",
    "[a-\u{ff}]",
    "[é-ü]",
    "[日-本]",
    "[ -~]",
    r"[\a-\v]",
    r"[\s\S]",
    r"[\.\-]",
    "()",
    "(?:)",
    "(|a)",
    "(a|)",
    "(?:a|b)",
    "(?:a|A)",
    "(?:ab|ac|ad)",
    "(?:abc|abd|a)",
    "(?:[ab]c|[ab]d)",
    "(?:.a|.b)",
    "(?:a||b)",
    "(?:\\d{2}a|\\d{2}b)",
    "(?:a*|a*b)",
    "(?:x|[yz]|.)",
];

/// Names that one of the two dialects takes, or none.
const NAMES: &[&str] = &[
    "Greek",
    "greek",
    "GREEK",
    "Gre_ek",
    "gre-ek",
    "g r e e k",
    "Letter",
    "letter",
    "L",
    "l",
    "Lu",
    "lu",
    "LU",
    "uppercase_letter",
    "Uppercase_Letter",
    "UppercaseLetter",
    "Old_Italic",
    "OldItalic",
    "Old Italic",
    "old_italic",
    "SignWriting",
    "Signwriting",
    "Any",
    "any",
    "ANY",
    "ASCII",
    "ascii",
    "Ascii",
    "Assigned",
    "assigned",
    "LC",
    "Lc",
    "lc",
    "Cn",
    "cn",
    "Unassigned",
    "Cased_Letter",
    "digit",
    "Decimal_Number",
    "punct",
    "cntrl",
    "Alphabetic",
    "sc=Greek",
    "Script=Greek",
    "Latin",
    "Latn",
    "Han",
    "Hani",
    "Common",
    "Zinherited",
    "",
    "^",
    "^Greek",
    "^^Greek",
    "^greek",
    "Nko",
    "NKo",
    "Phags_Pa",
    "Han ",
    " Han",
    "_Han_",
    "Inherited",
    "Combining_Mark",
    "Other",
];

/// Pieces that Go refuses, or that spoil what is around them.
const SPOILED: &[&str] = &[
    "[z-a]",
    "[a--b]",
    r"[\d-\w]",
    "[[:foo:]]",
    "[[:Alpha:]]",
    r"\p{Foo}",
    r"\pX",
    r"\p",
    r"\p{",
    r"\p{Greek",
    r"\1",
    r"\8",
    r"\u0041",
    r"\U0001F600",
    r"\Z",
    r"\e",
    r"\cA",
    r"\h",
    r"\R",
    r"\X",
    r"\C",
    r"\N",
    r"\G",
    r"\K",
    r"\k<a>",
    r"\x4",
    r"\x",
    r"\x{",
    r"\x{}",
    r"\x{110000}",
    r"\x{g}",
    r"\xg1",
    r"\x{41",
    r"\é",
    r"\E",
    r"\q",
    r"[\b]",
    r"[\A]",
    r"[\q]",
    r"[\1]",
    "(?P<n",
    "(?P<>a)",
    "(?P<n.x>a)",
    "(?<n-x>a)",
    "(?<=a)b",
    "(?<!a)b",
    "(?P<é>a)",
    "(?<>)",
    "(?P<",
    "(?<",
    "(?=a)",
    "(?!a)",
    "(?>a)",
    "(?#c)",
    "(?x)",
    "(?u)",
    "(?R)",
    "(?",
    "(?i",
    "(?i-",
    "(?i-)",
    "(?-)",
    "(?--i)",
    "(?i-s-m)",
    "(?P=n)",
    "(?'n'a)",
    "(?|a)",
    "(?1)",
    "(?is:",
    "a**",
    "a*+",
    "a++",
    "a??",
    "a???",
    "a{2}{3}",
    "a+*",
    "a*{2}",
    "a{2}*",
    "a{2}?",
    "a{2}??",
    "a{1001}",
    "a{3,2}",
    "a{0,1001}",
    "a{99999999999}",
    "a{1,99999999999}",
    "(?:a{100}){20}",
    "(a{1000}){2}",
    "((a{10}){10}){10}",
    "((a{10}){10}){11}",
    "(a{2,}){501}",
    "(a{0}){1000}",
    "a{0}",
    "a{0,}",
    "a{1,1}",
    "[abc",
    "[",
    "[]",
    "[^]",
    "[^",
    "[a-",
    r"[\",
    "(",
    ")",
    "(a",
    "a)",
    "((a)",
    "(?:a",
    "*",
    "+",
    "?",
    "{2}",
    "*a",
    "|*",
    "(*)",
    "(|+)",
    "^*",
    "$+",
    r"\b?",
    r"\",
    r"a\",
    r"\Qabc",
    r"\Q",
    r"\Qa\",
    r"(\Qa)",
    "a*(?i)*",
    r"a*\Q\E*",
    r"a|*",
    "(?i)",
    "(?i:",
    "(?s-i:a)",
];

const REPEATS: &[&str] = &[
    "*", "+", "?", "*?", "+?", "??", "{2}", "{0}", "{1}", "{0,}", "{1,}", "{2,}", "{2,5}", "{0,1}", "{3}?",
    "{12}",
];

const GROUPS: &[&str] = &[
    "(",
    "(?:",
    "(?i:",
    "(?s:",
    "(?m:",
    "(?U:",
    "(?i-s:",
    "(?-i:",
    "(?ms-iU:",
    "(?P<n>",
    "(?P<name_1>",
    "(?<n>",
    "(?P<1a>",
    "(?ii:",
    "(?",
];

/// A pattern from the grammar.
pub fn pattern(dice: &mut Dice) -> Vec<u8> {
    let mut out = String::new();
    let depth = dice.below(4);
    alternation(dice, depth, &mut out);
    let mut bytes = out.into_bytes();
    match dice.below(12) {
        0..=5 => {}
        6 | 7 => insert(dice, &mut bytes, |dice| dice.pick(SPOILED).as_bytes().to_vec()),
        8 if dice.one_in(8) => bytes.push(b'\\'),
        8 => {
            let start = dice.below(bytes.len() + 1);
            let end = start + dice.below(bytes.len() + 1 - start);
            let piece = bytes[start..end].to_vec();
            if dice.one_in(2) {
                bytes.splice(start..end, []);
            } else {
                insert(dice, &mut bytes, |_| piece.clone());
            }
        }
        9 => insert(dice, &mut bytes, |dice| {
            vec![
                *dice
                    .pick(
                        &[b"\\", b"(", b")", b"[", b"]", b"{", b"}", b"*", b"|", b"?", b"^", b"-", b":"]
                            .map(|b| &b[..]),
                    )
                    .first()
                    .unwrap(),
            ]
        }),
        10 => insert(dice, &mut bytes, |dice| format!("\\p{{{}}}", dice.pick(NAMES)).into_bytes()),
        _ => {
            let byte = [0xff, 0x80, 0xc3, 0xe2, 0xed, 0xf4, 0xc0][dice.below(7)];
            if dice.one_in(3) {
                insert(dice, &mut bytes, |_| vec![byte]);
            } else if !bytes.is_empty() {
                let at = dice.below(bytes.len());
                bytes.remove(at);
            }
        }
    }
    bytes
}

fn insert(dice: &mut Dice, bytes: &mut Vec<u8>, piece: impl Fn(&mut Dice) -> Vec<u8>) {
    let at = dice.below(bytes.len() + 1);
    let piece = piece(dice);
    bytes.splice(at..at, piece);
}

fn alternation(dice: &mut Dice, depth: usize, out: &mut String) {
    let branches = if dice.one_in(3) { 1 + dice.below(4) } else { 1 };
    for branch in 0..branches {
        if branch > 0 {
            out.push('|');
        }
        for _ in 0..dice.below(4) + usize::from(!dice.one_in(8)) {
            piece(dice, depth, out);
        }
    }
}

fn piece(dice: &mut Dice, depth: usize, out: &mut String) {
    let start = out.len();
    match dice.below(10) {
        0 | 1 if depth > 0 => {
            let spoiled = usize::from(dice.one_in(20));
            let open = dice.pick(&GROUPS[..GROUPS.len() - 1 + spoiled]);
            out.push_str(open);
            alternation(dice, depth - 1, out);
            out.push(')');
        }
        2 => class(dice, out),
        3 if dice.one_in(4) => {
            out.push_str(dice.pick(&["(?i)", "(?s)", "(?m)", "(?U)", "(?-i)", "(?)", "(?im-s)"]))
        }
        4 if dice.one_in(4) => {
            let name = dice.pick(NAMES);
            out.push_str(&format!("\\{}{{{name}}}", if dice.one_in(3) { 'P' } else { 'p' }));
        }
        _ => out.push_str(dice.pick(ATOMS)),
    }
    if dice.one_in(4) && out.len() > start {
        out.push_str(dice.pick(REPEATS));
    }
}

fn class(dice: &mut Dice, out: &mut String) {
    out.push('[');
    if dice.one_in(4) {
        out.push('^');
    }
    for _ in 0..=dice.below(5) {
        match dice.below(8) {
            0 => out.push_str(dice.pick(&[
                r"\d",
                r"\W",
                r"\s",
                r"\pL",
                r"\p{Lu}",
                r"\P{Greek}",
                "[:upper:]",
                "[:^digit:]",
                "[:punct:]",
            ])),
            1 => {
                let (a, b) = (char(dice), char(dice));
                let (lo, hi) = if dice.one_in(12) { (a.max(b), a.min(b)) } else { (a.min(b), a.max(b)) };
                out.push_str(&format!("{lo}-{hi}"));
            }
            2 => out.push_str(dice.pick(&[
                r"\n",
                r"\x41",
                r"\x{212a}",
                r"\]",
                r"\-",
                r"\\",
                r"\^",
                r"\101",
                r"\a",
                "-",
                "^",
                "[",
            ])),
            _ => out.push(char(dice)),
        }
    }
    out.push(']');
}

fn char(dice: &mut Dice) -> char {
    let chars = [
        'a', 'b', 'k', 'K', 'z', 's', 'ſ', 'K', 'Σ', 'σ', 'ς', 'é', 'İ', 'ı', '0', '9', '.', ' ', '日', '😀',
        '!', 'Ā', 'ă',
    ];
    chars[dice.below(chars.len())]
}

/// One level of a deep nest: what stands before and after the inside.
const LEVELS: &[(&str, &str)] = &[
    ("(", ")"),
    ("(?:", ")*"),
    ("(?:", ")+?"),
    ("(?:", ")?"),
    ("(?:", "){1}"),
    ("(?:", "){0,1}"),
    ("(?:x", ")"),
    ("(?:", "y*)"),
    ("(?:x*|", ")"),
    ("(?:", "|x*)"),
    ("(?:[ab]", "|[ab]c*)"),
    ("(?:ab", "|ac*)"),
    ("(?i:", ")"),
    ("(?i:k", ")"),
    ("(?:a|", ")"),
    ("(?:[ab]|", ")"),
    ("(?P<n>", ")"),
    ("(?:|", ")"),
    ("(?:.", "|.x)"),
    ("(?:\\d{2}", "|\\d{2}x)"),
    ("(?s:.", ")"),
    ("(?:^", "$)"),
    ("(x", ")"),
    ("(", "|y*)"),
    ("(?-s:.*", ")"),
    ("(?i:1", "|12)"),
    ("(?:x+", ")+"),
    ("(a|b|", "c)"),
    ("(?:(?i:k)|", ")"),
];

/// A nest of that many levels, of a few kinds that the dice choose.
pub fn nest(dice: &mut Dice, levels: usize) -> Vec<u8> {
    let kinds: Vec<_> = (0..1 + dice.below(4)).map(|_| LEVELS[dice.below(LEVELS.len())]).collect();
    let chosen: Vec<_> = (0..levels).map(|_| kinds[dice.below(kinds.len())]).collect();
    let core = dice.pick(&["a", "", "a*", "abc", "[ab]", "a|b*", "\\pL", "."]);
    let mut out: String = chosen.iter().map(|level| level.0).collect();
    out.push_str(core);
    out.extend(chosen.iter().rev().map(|level| level.1));
    out.into_bytes()
}

/// Words that share ever longer beginnings: factoring turns the flat list into a deep tree.
pub fn words(dice: &mut Dice, count: usize) -> Vec<u8> {
    let unit = dice.pick(&["a", "a", "[ab]", "(?i:k)", "\\d{2}", "(?i:1)", "ab", "1"]);
    let (before, after) = [("", ""), (".*", ".*"), ("", "x*"), ("(?:", ")"), ("", "y")][dice.below(5)];
    let list: Vec<_> = (1..=count).map(|n| format!("{before}{}{after}", unit.repeat(n))).collect();
    let joined = list.join("|");
    if dice.one_in(2) { joined.into_bytes() } else { format!("(?:{joined})").into_bytes() }
}

/// A pattern whose size grows with `pieces` and whose counts multiply it.
pub fn large(dice: &mut Dice, pieces: usize) -> Vec<u8> {
    let count = [1000, 999, 500, 250, 333][dice.below(5)];
    let (unit, weight) = [
        ("x", 1),
        (".", 1),
        ("[ab]", 1),
        ("(a)", 3),
        ("a*b", 3),
        ("xy+", 3),
        ("(?:a*|b*)", 5),
        ("(?i:k)", 1),
        ("\\pL", 1),
        ("a?", 2),
    ][dice.below(10)];
    let inner = unit.repeat(pieces / weight + 1);
    let before = dice.pick(&["", "a{1000}", "(?i:x{2,})", "(b|c){3}", "z*"]);
    let open = dice.pick(&["(?:", "(", "(?:q*"]);
    format!("{before}{open}{inner}){{{count}}}").into_bytes()
}
