//! URLs against Go's `net/url`.

use std::path::PathBuf;

use serde_json::Value;
use usher::lang::url::{self, Url};

use crate::oracle::{Dice, Oracle, question, smallest};

fn cases() -> usize {
    std::env::var("CASES").ok().and_then(|value| value.parse().ok()).unwrap_or(40_000)
}

fn seed() -> u64 {
    std::env::var("SEED").ok().and_then(|value| value.parse().ok()).unwrap_or(11)
}

/// Do both come to the same verdict, scheme, host and password?
fn agree(verdict: &Value, ours: Result<&Url, ()>) -> bool {
    let Ok(url) = ours else { return verdict["ok"] == false };
    let host = verdict["host"].as_str().unwrap_or_default();
    verdict["ok"] == true
        && verdict["scheme"] == url.scheme.as_str()
        && verdict["password"] == url.has_password
        // Bytes that are no text have no one form as JSON.
        && (host == url.host || host.contains('\u{FFFD}') && url.host.contains('\u{FFFD}'))
}

fn address(dice: &mut Dice) -> String {
    let group = |dice: &mut Dice| match dice.below(8) {
        0 => "ffff".to_owned(),
        1 => "12345".to_owned(),
        2 => "0g".to_owned(),
        _ => format!("{:x}", dice.below(65_536) >> dice.below(16)),
    };
    let mut text = String::new();
    let count = if dice.one_in(2) { 8 } else { 1 + dice.below(9) };
    let gap = dice.below(count + 3);
    for place in 0..count {
        if place == gap {
            text.push_str("::");
        } else if place > 0 {
            text.push(':');
        }
        text.push_str(&group(dice));
    }
    if dice.one_in(4) {
        let tails = ["::", ":1.2.3.4", ":1.2.3", ":1.2.3.256", ":01.2.3.4", ":", "::ffff:1.2.3.4"];
        text.push_str(dice.pick(&tails));
    }
    if dice.one_in(8) {
        text = dice.pick(&["::1", "::", "fe80::1", "1.2.3.4", "::ffff:10.0.0.1", "", "v1.a"]).to_owned();
    }
    if dice.one_in(4) {
        let zones =
            ["%25en0", "%25", "%en0", "%25e%20n", "%25%2f", "%25a%25b", "%25é", "%25%C3%A9", "%25[", "%25]"];
        text.push_str(dice.pick(&zones));
    }
    text
}

fn word(dice: &mut Dice, odd: &[&'static str]) -> String {
    let plain =
        ["a", "am", "loki", "x-y", "a.b", "B9", "_http._tcp.am", "~", "é", "%C3%A9", "%41", "+", "*", "'"];
    (0..dice.below(4)).map(|_| if dice.one_in(9) { dice.pick(odd) } else { dice.pick(&plain) }).collect()
}

/// A URL from its grammar, with a slip here and there.
fn derived(dice: &mut Dice) -> String {
    let odd = [
        "%", "%z", "%2", "%zz", "%25", "%00", "%7F", "%80", "%20", " ", "\"", "<", "[", "]", ":", "@", "?",
        "#", "/", "\\", "^", "`", "{", "|", "}", "\u{7f}", "\n", "\0", ",", ";", "&", "=", "(", "!",
        "\u{80}", "\u{FFFD}", "\u{2028}",
    ];
    let schemes = [
        "http:",
        "https:",
        "HTTP:",
        "ftp:",
        "a+b.c-1:",
        "1http:",
        "ht_tp:",
        ":",
        "",
        "",
        "mailto:",
        "postgres:",
        "é:",
        "h%74tp:",
    ];
    let mut text = if dice.one_in(2) { dice.pick(&schemes[..3]) } else { dice.pick(&schemes) }.to_owned();
    text.push_str(if dice.one_in(4) { dice.pick(&["", "/", "///", "\\\\", "////"]) } else { "//" });
    if dice.one_in(3) {
        text.push_str(&word(dice, &odd));
        if dice.one_in(2) {
            text.push(':');
            text.push_str(&word(dice, &odd));
        }
        text.push('@');
    }
    if dice.one_in(4) {
        text.push('[');
        text.push_str(&address(dice));
        if !dice.one_in(12) {
            text.push(']');
        }
    } else {
        text.push_str(&word(dice, &odd));
    }
    if dice.one_in(3) {
        text.push_str(dice.pick(&[
            ":80",
            ":",
            ":9093",
            ":x",
            ":8:80",
            ":-1",
            ":٣",
            ":99999999999",
            "80",
            ":%38",
        ]));
    }
    for (mark, rarity) in [("/", 2), ("/", 3), ("?", 4), ("?", 12), ("#", 5), ("#", 15)] {
        if dice.one_in(rarity) {
            text.push_str(mark);
            text.push_str(&word(dice, &odd));
        }
    }
    text
}

/// One to three edits.
fn spoilt(dice: &mut Dice, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + dice.below(3) {
        let at = dice.below(chars.len() + 1);
        let new = char::from(u8::try_from(dice.below(128)).unwrap());
        match dice.below(4) {
            0 if at < chars.len() => drop(chars.remove(at)),
            1 if at < chars.len() => chars[at] = new,
            2 if at < chars.len() => chars.insert(at, chars[at]),
            _ => chars.insert(at, new),
        }
    }
    chars.into_iter().collect()
}

/// Texts of Go's own tests are not at hand for this package; these are the corners that its code has.
const CORNERS: [&str; 28] = [
    "",
    "*",
    "#",
    "?",
    ":",
    "/",
    "//",
    "///",
    "////a",
    "http:",
    "http:/",
    "http://",
    "http://?",
    "http://#%",
    "a:b:c",
    "a/b:c",
    "./a:b",
    "http://a:/",
    "http://a:80:90/",
    "ftp://a:80:90/",
    "ftp://a:b:90/",
    "http://[]/",
    "http://a[::1]/",
    "http://[::1]a/",
    "http://[[::1]]/",
    "http://@/",
    "http://a@b@c:d@e/",
    "http://[fe80::1%25]/",
];

#[test]
fn urls_like_go() {
    let mut dice = Dice::new(seed());
    let mut texts: Vec<String> = CORNERS.map(str::to_owned).to_vec();
    while texts.len() < cases() {
        let text = derived(&mut dice);
        if dice.one_in(3) {
            texts.push(spoilt(&mut dice, &text));
        }
        texts.push(text);
    }
    let mut go = Oracle::start(&PathBuf::from(crate::oracle::folder()).join("oracle-prometheus"));
    let verdicts = go.ask(&texts.iter().map(|text| question("url", text)).collect::<Vec<_>>());
    let mut accepted = 0;
    for (text, verdict) in texts.iter().zip(&verdicts) {
        accepted += usize::from(verdict["ok"] == true);
        let ours = url::parse(text);
        if !agree(verdict, ours.as_ref().map_err(|_| ())) {
            let small = smallest(text, |text| {
                !agree(&go.ask(&[question("url", text)])[0], url::parse(text).as_ref().map_err(|_| ()))
            });
            let verdict = &go.ask(&[question("url", &small)])[0];
            panic!("{small:?}: Go {verdict}, usher {:?}", url::parse(&small));
        }
        if let Err(fault) = ours {
            assert!(text.get(fault.span.clone()).is_some(), "{text:?}: {fault:?}");
        }
    }
    let share = 100 * accepted / texts.len();
    assert!((20..=80).contains(&share), "{share}% are valid");
    crate::oracle::agreed("URL, derived and spoilt", "Go 1.26", texts.len(), accepted);
}

proptest::proptest! {
    #[test]
    fn any_text_is_decided(text in proptest::prelude::any::<String>()) {
        if let Err(fault) = url::parse(&text) {
            assert!(text.get(fault.span).is_some());
        }
    }
}
