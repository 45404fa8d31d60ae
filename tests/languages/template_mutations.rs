//! Random changes to templates, and random numbers.

use crate::oracle::Dice;

/// Numbers of all kinds, most of them wrong.
pub fn number(dice: &mut Dice) -> String {
    let mut number = dice.pick(&["", "", "-", "+"]).to_owned();
    number.push_str(dice.pick(&["", "0", "0x", "0b", "0o", "1", "0X", "9", ".", "0_", "1_"]));
    for _ in 0..dice.below(6) {
        number.push_str(dice.pick(&[
            "0", "1", "7", "8", "f", "_", ".", "e", "E", "p", "i", "+", "-", "e5", "p3", "99", "e999",
        ]));
    }
    number
}

/// Changes a text at random, in bytes.
pub fn mutate(text: &mut Vec<u8>, dice: &mut Dice) {
    const PIECES: &[&str] = &[
        "{{",
        "}}",
        "{{-",
        "-}}",
        " -}}",
        "{{- ",
        " ",
        "|",
        "(",
        ")",
        ".",
        "$",
        "\"",
        "`",
        "'",
        ",",
        ":=",
        "=",
        ":",
        "-",
        "/*",
        "*/",
        "{{end}}",
        "{{else}}",
        "{{if .}}",
        "{{range .}}",
        "{{break}}",
        "{{else if .}}",
        "else",
        "end",
        "if",
        "with",
        "range",
        "define",
        "block",
        "template",
        "break",
        "nil",
        "true",
        "1",
        "i",
        "e",
        "_",
        "x",
        ".x",
        "$x",
        "é",
        "\n",
        "\\",
        "}",
        "{",
        "\u{a0}",
        "\"t1\"",
        "{{define \"t1\"}}x{{end}}",
        "{{/* */}}",
        "\0",
        "\u{feff}",
        "{{with .}}",
        "٣",
        "ǅ",
    ];
    for _ in 0..1 + dice.below(3) {
        let at = dice.below(text.len() + 1);
        let end = (at + 1 + dice.below(6)).min(text.len());
        match dice.below(6) {
            0 => drop(text.splice(at..end, [])),
            1 => drop(text.splice(at..at, text[at..end].to_vec())),
            2 => drop(text.splice(at..end, dice.pick(PIECES).bytes())),
            3 if dice.one_in(4) => text.insert(at, (dice.next() >> 20) as u8),
            4 if dice.one_in(4) => text.truncate(at),
            _ => drop(text.splice(at..at, dice.pick(PIECES).bytes())),
        }
    }
}
