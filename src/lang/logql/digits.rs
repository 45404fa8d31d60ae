//! Numbers as Go's scanner reads them, and the units that may be attached.

use super::lexer::Lexer;
use super::token::{Kind, Token};
use crate::lang::Fault;

/// How the digits of a number are to be read.
#[derive(Clone, Copy, PartialEq)]
enum Prefix {
    None,
    /// A leading zero: an old octal number, unless a fraction or an exponent follows.
    Zero,
    Hex,
    Octal,
    Binary,
}

/// What a run of digits held.
#[derive(Default)]
struct Digits {
    any: bool,
    separators: bool,
    /// A digit too great for the base.
    invalid: Option<usize>,
}

impl Lexer<'_> {
    /// A number with what is attached to it. `adjacent`: nothing stands between it and the token before.
    pub(super) fn number(&mut self, start: usize, fraction: bool, adjacent: bool) -> Result<Token, Fault> {
        self.at = start;
        self.digits_of_number(start, fraction, adjacent)?;
        if let Some(kind) = self.duration(start).or_else(|| self.bytes(start)) {
            return Ok(self.token(kind, start));
        }
        Ok(self.token(Kind::Number, start))
    }

    fn digits_of_number(&mut self, start: usize, fraction: bool, adjacent: bool) -> Result<(), Fault> {
        let mut prefix = Prefix::None;
        let mut digits = Digits::default();
        let mut float = fraction;
        if fraction {
            self.at += 1;
        } else {
            if self.byte(start) == b'0' {
                prefix = self.prefix(start, adjacent)?;
                digits.any = prefix == Prefix::Zero;
            }
            self.run(prefix, &mut digits);
            if self.byte(self.at) == b'.' {
                self.at += 1;
                float = true;
            }
        }
        if float {
            if matches!(prefix, Prefix::Octal | Prefix::Binary) {
                return Err(self.bad_number(start, "only decimal and hexadecimal numbers have a fraction"));
            }
            self.run(prefix, &mut digits);
        }
        if !digits.any {
            return Err(self.bad_number(start, "the number has no digits"));
        }
        float |= self.exponent(start, prefix, float, &mut digits)?;
        if !float && let Some(at) = digits.invalid {
            let fault = Fault::new(at..at + 1, "this digit is too great for its number");
            return Err(fault.hint("a number with a leading zero is octal: leave the zero out"));
        }
        if digits.separators && misplaced_separator(&self.text.as_bytes()[start..self.at]) {
            return Err(self.bad_number(start, "`_` may stand only between digits"));
        }
        Ok(())
    }

    /// Reads what follows a zero. A binary number is only seen as one where it directly follows the token before.
    fn prefix(&mut self, start: usize, adjacent: bool) -> Result<Prefix, Fault> {
        self.at = start + 2;
        match self.byte(start + 1) | 0x20 {
            b'x' => return Ok(Prefix::Hex),
            b'o' => return Ok(Prefix::Octal),
            b'b' if adjacent => return Ok(Prefix::Binary),
            b'b' => return Err(self.bad_number(start, "Loki reads no binary number here")),
            _ => {}
        }
        self.at = start + 1;
        Ok(Prefix::Zero)
    }

    fn run(&mut self, prefix: Prefix, digits: &mut Digits) {
        let greatest = match prefix {
            Prefix::Zero | Prefix::Octal => b'7',
            Prefix::Binary => b'1',
            Prefix::None | Prefix::Hex => b'9',
        };
        loop {
            let byte = self.byte(self.at);
            if byte == b'_' {
                digits.separators = true;
            } else if byte.is_ascii_digit() || (prefix == Prefix::Hex && byte.is_ascii_hexdigit()) {
                digits.any = true;
                if byte.is_ascii_digit() && byte > greatest {
                    digits.invalid = digits.invalid.or(Some(self.at));
                }
            } else {
                break;
            }
            self.at += 1;
        }
    }

    /// An exponent, if there is one. Tells whether there was.
    fn exponent(
        &mut self,
        start: usize,
        prefix: Prefix,
        float: bool,
        digits: &mut Digits,
    ) -> Result<bool, Fault> {
        let letter = self.byte(self.at) | 0x20;
        match letter {
            b'e' if matches!(prefix, Prefix::None | Prefix::Zero) => {}
            b'p' if prefix == Prefix::Hex => {}
            b'e' => return Err(self.bad_number(start, "only a decimal number has an exponent with `e`")),
            b'p' => return Err(super::versions::peta(self.text, start, self.at)),
            _ if prefix == Prefix::Hex && float => {
                return Err(
                    self.bad_number(start, "a hexadecimal number with a fraction needs an exponent with `p`")
                );
            }
            _ => return Ok(false),
        }
        self.at += 1;
        if matches!(self.byte(self.at), b'+' | b'-') {
            self.at += 1;
        }
        let mut exponent = Digits::default();
        self.run(Prefix::None, &mut exponent);
        digits.separators |= exponent.separators;
        if exponent.any {
            return Ok(true);
        }
        let fault = self.bad_number(start, "the exponent has no digits");
        Err(if letter == b'e' {
            fault.hint("Loki has no unit of exabytes; write the size in TB")
        } else {
            fault
        })
    }

    fn bad_number(&self, start: usize, message: &str) -> Fault {
        Fault::new(start..self.at.max(start + 1), message)
    }
}

/// Whether an underscore stands anywhere but between two digits (or the prefix of a base and a digit).
fn misplaced_separator(number: &[u8]) -> bool {
    let hex = number.len() >= 2 && number[0] == b'0' && number[1] | 0x20 == b'x';
    let based = hex || (number.len() >= 2 && number[0] == b'0' && matches!(number[1] | 0x20, b'o' | b'b'));
    let mut digit_before = based;
    let mut separator_before = false;
    for &byte in &number[if based { 2 } else { 0 }..] {
        if byte == b'_' {
            if !digit_before {
                return true;
            }
            (digit_before, separator_before) = (false, true);
        } else {
            let digit = byte.is_ascii_digit() || (hex && byte.is_ascii_hexdigit());
            if separator_before && !digit {
                return true;
            }
            (digit_before, separator_before) = (digit, false);
        }
    }
    separator_before
}
