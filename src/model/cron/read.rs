//! The text of a cron expression: fields, items, values; and for what is refused, the part and what to write.

use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use super::{Cron, DayField};
use crate::lang::Fault;

/// A field's name, bounds and words.
struct Field {
    name: &'static str,
    low: u32,
    high: u32,
    words: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", low: 0, high: 59, words: &[] },
    Field { name: "hour", low: 0, high: 23, words: &[] },
    Field { name: "day of month", low: 1, high: 31, words: &[] },
    Field {
        name: "month",
        low: 1,
        high: 12,
        words: &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
    },
    Field { name: "day of week", low: 0, high: 7, words: &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"] },
];

/// The `@` forms that have an equivalent.
const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl FromStr for Cron {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let parts = words(text);
        if let Some(first) = parts.first() {
            refuse_prefixes(text, first, &parts)?;
        }
        let [minute, hour, day, month, weekday] = parts.as_slice() else {
            return Err(wrong_count(text, &parts));
        };
        let [of_minute, of_hour, of_day, of_month, of_weekday] = &FIELDS;
        let (minutes, hours) = (of_minute.read(minute)?, of_hour.read(hour)?);
        let (days, months, weekdays) = (of_day.read(day)?, of_month.read(month)?, of_weekday.read(weekday)?);
        Ok(Self {
            minutes,
            hours,
            days,
            months,
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            day: DayField { is_restricted: !day.text.starts_with('*'), span: day.span() },
            weekday: DayField { is_restricted: !weekday.text.starts_with('*'), span: weekday.span() },
        })
    }
}

/// A part of the expression and where it begins.
#[derive(Debug, Clone, Copy)]
struct Part<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Part<'a> {
    fn span(self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    fn fault(self, message: impl Into<String>) -> Fault {
        Fault::new(self.span(), message)
    }

    /// The pieces between separators.
    fn pieces(self, separator: char) -> impl Iterator<Item = Self> {
        let mut at = self.at;
        self.text.split(separator).map(move |text| {
            let part = Part { text, at };
            at += text.len() + separator.len_utf8();
            part
        })
    }

    /// What stands before and after the first separator.
    fn halves(self, separator: char) -> (Self, Option<Part<'a>>) {
        match self.text.split_once(separator) {
            None => (self, None),
            Some((head, tail)) => {
                let at = self.at + head.len() + separator.len_utf8();
                (Part { text: head, at: self.at }, Some(Part { text: tail, at }))
            }
        }
    }
}

fn words(text: &str) -> Vec<Part<'_>> {
    let mut at = 0;
    let pieces = text.split(|c: char| c.is_ascii_whitespace()).map(|piece| {
        let part = Part { text: piece, at };
        at += piece.len() + 1;
        part
    });
    pieces.filter(|part| !part.text.is_empty()).collect()
}

fn refuse_prefixes(text: &str, first: &Part<'_>, parts: &[Part<'_>]) -> Result<(), Fault> {
    if first.text.starts_with('@') {
        let name = first.text.to_ascii_lowercase();
        let fault = Fault::new(first.at..text.trim_end().len(), format!("{name} is no form of five fields"));
        let equal = NICKNAMES.iter().find(|(nickname, _)| *nickname == name);
        return Err(fault.hint(match equal {
            Some((_, fields)) => format!("write {fields}"),
            None => "say the minutes and hours at which a window starts, like 0 */6 * * *".to_owned(),
        }));
    }
    if let Some((name, zone)) = first.text.split_once('=') {
        let rest: Vec<&str> = parts.iter().skip(1).map(|part| part.text).collect();
        let fault = first.fault(format!("{name} does not belong into the expression"));
        return Err(fault.hint(format!("write {} and timeZone: {zone}", rest.join(" "))));
    }
    Ok(())
}

fn wrong_count(text: &str, parts: &[Part<'_>]) -> Fault {
    let count = parts.len();
    let joined = |parts: &[Part<'_>]| parts.iter().map(|part| part.text).collect::<Vec<_>>().join(" ");
    match parts {
        [rest @ .., year] if count == 6 && is_year(year.text) => {
            let hint = format!("write {}, and bound the years with from and until", joined(rest));
            year.fault("a sixth field; there is none for years").hint(hint)
        }
        [seconds, rest @ ..] if count == 6 => seconds
            .fault("six fields; windows start at whole minutes, there is no field for seconds")
            .hint(format!("write {}", joined(rest))),
        [seconds, rest @ .., _] if count == 7 => seconds
            .fault("seven fields; there are none for seconds and years")
            .hint(format!("write {}, and bound the years with from and until", joined(rest))),
        _ => {
            let span = parts.first().map_or(0, |part| part.at)..text.trim_end().len();
            let message =
                if count == 1 { "1 field of 5".to_owned() } else { format!("{count} fields instead of 5") };
            Fault::new(span, message)
                .hint("write minute, hour, day of month, month and day of week, like 0 2 * * SUN")
        }
    }
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Field {
    fn read(&self, field: &Part<'_>) -> Result<u64, Fault> {
        let mut set = 0;
        for item in field.pieces(',') {
            set |= self.read_item(item)?;
        }
        Ok(set)
    }

    /// `*`, a value or a range, and a step behind `*` or a range.
    fn read_item(&self, item: Part<'_>) -> Result<u64, Fault> {
        if item.text.is_empty() {
            let part = Part { text: "", at: item.at };
            return Err(part.fault(format!("an empty item in the {}", self.name)).hint("remove the comma"));
        }
        self.refuse_foreign(item)?;
        let (base, step) = item.halves('/');
        let (from, to) = base.halves('-');
        let bounds = match to {
            None if base.text == "*" => self.low..=self.highest(),
            None => {
                let value = self.read_value(from)?;
                if let Some(step) = step {
                    let hint = format!("write {}-{}/{}", base.text, self.highest(), step.text);
                    return Err(item.fault("a step needs a range or * before it").hint(hint));
                }
                value..=value
            }
            Some(to) => self.read_range(base, from, to)?,
        };
        let step = step.map_or(Ok(1), |step| self.read_step(step))?;
        Ok(bounds.step_by(step).fold(0, |set, value| set | 1 << value))
    }

    /// The highest value that `*` stands for; 7 is only another way to say Sunday.
    fn highest(&self) -> u32 {
        if self.is_weekday() { 6 } else { self.high }
    }

    fn is_weekday(&self) -> bool {
        self.high == 7
    }

    /// Signs of other dialects, before they fail as numbers.
    fn refuse_foreign(&self, item: Part<'_>) -> Result<(), Fault> {
        if let Some(at) = item.text.find('?') {
            let at = item.at + at;
            return Err(Fault::new(at..at + 1, "? is not known here").hint("write *"));
        }
        if item.text.contains('#') {
            let hint =
                "weeks of a month cannot be named; use all of these weekdays, or one Silence for each window";
            return Err(item.fault("# is not known here").hint(hint));
        }
        let sign = item.text.trim_start_matches(|c: char| c.is_ascii_digit()).to_ascii_uppercase();
        let sign = sign.split(['-', '/']).next().unwrap_or_default();
        if matches!(sign, "L" | "W" | "LW") {
            let hint = match (sign, self.is_weekday()) {
                ("L", true) => {
                    "the last weekday of a month cannot be named; write the weekday alone for all of them"
                }
                ("W", _) => {
                    "the nearest working day cannot be named; write a day of month, or MON-FRI as day of week"
                }
                _ => "the last day of a month cannot be named; write 28, or 1 for the day after",
            };
            return Err(item.fault(format!("{sign} is not known here")).hint(hint));
        }
        Ok(())
    }

    fn read_range(
        &self,
        range: Part<'_>,
        from: Part<'_>,
        to: Part<'_>,
    ) -> Result<RangeInclusive<u32>, Fault> {
        let (low, high) = (self.read_value(from)?, self.read_value(to)?);
        // A week may end with Sunday by name.
        let is_name = to.text.starts_with(|c: char| c.is_ascii_alphabetic());
        let high = if self.is_weekday() && high == 0 && low > 0 && is_name { 7 } else { high };
        if low <= high {
            return Ok(low..=high);
        }
        let fault = range.fault(format!("the range {} runs backwards", range.text));
        let (head, tail) = (open(low, self.high), (self.is_weekday(), high));
        Err(fault.hint(match tail {
            (true, 0) => format!("write {head}"),
            (true, _) => format!("write {head},{}", open(1, high)),
            _ => format!("write {head},{}", open(self.low, high)),
        }))
    }

    fn read_step(&self, step: Part<'_>) -> Result<usize, Fault> {
        let is_number = !step.text.is_empty() && step.text.bytes().all(|byte| byte.is_ascii_digit());
        let most = self.highest() - self.low + 1;
        let number: Option<u32> = is_number.then(|| step.text.parse().unwrap_or(u32::MAX));
        match number {
            None => Err(step.fault("the step is no number").hint("write a number, like */15")),
            Some(0) => Err(step.fault("a step of 0 goes nowhere").hint("write 1, or leave the step out")),
            // A step beyond the field begins anew with each field: */90 is not every 90 minutes.
            Some(number) if number > most => {
                let message = format!(
                    "the step {} is larger than the {}, which has {most} values",
                    step.text, self.name
                );
                Err(step.fault(message).hint("a step counts within its field only; write the values"))
            }
            Some(number) => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
        }
    }

    fn read_value(&self, value: Part<'_>) -> Result<u32, Fault> {
        if !value.text.is_empty() && value.text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = value.text.parse().unwrap_or(u32::MAX);
            if (self.low..=self.high).contains(&number) {
                return Ok(number);
            }
            let message =
                format!("{} {} is out of range {} to {}", self.name, value.text, self.low, self.high);
            return Err(value.fault(message).hint(self.mended(number)));
        }
        let position = self.words.iter().position(|word| word.eq_ignore_ascii_case(value.text));
        if let Some(position) = position {
            return Ok(self.low + u32::try_from(position).unwrap_or_default());
        }
        let fault = value.fault(format!("{:?} is no {}", value.text, self.name));
        Err(fault.hint(self.meant(value.text)))
    }

    /// What was probably meant by a number outside the field.
    fn mended(&self, number: u32) -> String {
        match (self.name, number) {
            ("minute", 60) => "write 0 for the full hour".to_owned(),
            ("hour", 24) => "write 0 for midnight".to_owned(),
            ("month" | "day of month", 0) => "count from 1".to_owned(),
            _ => format!("write a number from {} to {}", self.low, self.high),
        }
    }

    /// What was probably meant by a word.
    fn meant(&self, word: &str) -> String {
        let (Some(first), Some(last)) = (self.words.first(), self.words.last()) else {
            return format!("write a number from {} to {}, or *", self.low, self.high);
        };
        // `Sunday` and `Sept` begin like their short names.
        let head: String = word.chars().take(3).collect();
        let short = self.words.iter().find(|name| word.is_ascii() && name.eq_ignore_ascii_case(&head));
        match short {
            Some(name) => format!("write {name}"),
            None => {
                format!("write a number from {} to {}, or a name from {first} to {last}", self.low, self.high)
            }
        }
    }
}

/// A range, or its only value.
fn open(low: u32, high: u32) -> String {
    if low == high { low.to_string() } else { format!("{low}-{high}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_the_part_and_what_to_write() {
        for (text, part, hint) in [
            ("0 0 * * * *", "0", "write 0 * * * *"),
            ("30 0 2 * * MON", "30", "write 0 2 * * MON"),
            ("0 2 1 1 * 2027", "2027", "write 0 2 1 1 *, and bound the years with from and until"),
            ("0 0 2 ? * SUN 2027", "0", "write 0 2 ? * SUN, and bound the years with from and until"),
            ("@daily", "@daily", "write 0 0 * * *"),
            ("@Midnight", "@Midnight", "write 0 0 * * *"),
            ("@hourly", "@hourly", "write 0 * * * *"),
            ("@weekly", "@weekly", "write 0 0 * * 0"),
            ("@monthly", "@monthly", "write 0 0 1 * *"),
            ("@yearly", "@yearly", "write 0 0 1 1 *"),
            (
                "@every 6h",
                "@every 6h",
                "say the minutes and hours at which a window starts, like 0 */6 * * *",
            ),
            ("@reboot", "@reboot", "say the minutes and hours at which a window starts, like 0 */6 * * *"),
            ("TZ=Asia/Tokyo 0 2 * * *", "TZ=Asia/Tokyo", "write 0 2 * * * and timeZone: Asia/Tokyo"),
            (
                "0 2 * *",
                "0 2 * *",
                "write minute, hour, day of month, month and day of week, like 0 2 * * SUN",
            ),
            ("", "", "write minute, hour, day of month, month and day of week, like 0 2 * * SUN"),
            ("60 2 * * *", "60", "write 0 for the full hour"),
            ("0 24 * * *", "24", "write 0 for midnight"),
            ("0 0 0 * *", "0", "count from 1"),
            ("0 0 32 * *", "32", "write a number from 1 to 31"),
            ("0 0 * 13 *", "13", "write a number from 1 to 12"),
            ("0 0 * * 8", "8", "write a number from 0 to 7"),
            ("0 0 ? * MON", "?", "write *"),
            ("0 0 L * *", "L", "the last day of a month cannot be named; write 28, or 1 for the day after"),
            (
                "0 0 * * 5L",
                "5L",
                "the last weekday of a month cannot be named; write the weekday alone for all of them",
            ),
            (
                "0 0 15W * *",
                "15W",
                "the nearest working day cannot be named; write a day of month, or MON-FRI as day of week",
            ),
            (
                "0 0 * * MON#2",
                "MON#2",
                "weeks of a month cannot be named; use all of these weekdays, or one Silence for each window",
            ),
            ("*/0 * * * *", "0", "write 1, or leave the step out"),
            ("*/90 * * * *", "90", "a step counts within its field only; write the values"),
            ("*/x * * * *", "x", "write a number, like */15"),
            ("5/15 * * * *", "5/15", "write 5-59/15"),
            ("0 22-6 * * *", "22-6", "write 22-23,0-6"),
            ("0 0 * * FRI-MON", "FRI-MON", "write 5-7,1"),
            ("0 0 * * 6-0", "6-0", "write 6-7"),
            ("0 0 * NOV-FEB *", "NOV-FEB", "write 11-12,1-2"),
            ("0 0 * * Sunday", "Sunday", "write SUN"),
            ("0 0 * * MNO", "MNO", "write a number from 0 to 7, or a name from SUN to SAT"),
            ("0 0 * * TEU,FRY", "TEU", "write a number from 0 to 7, or a name from SUN to SAT"),
            ("0 0 * * FRY", "FRY", "write a number from 0 to 7, or a name from SUN to SAT"),
            ("0 two * * *", "two", "write a number from 0 to 23, or *"),
            ("0 0 MON * *", "MON", "write a number from 1 to 31, or *"),
            ("0,,5 0 * * *", "", "remove the comma"),
            ("0 -1 * * *", "", "write a number from 0 to 23, or *"),
            ("0 0 * * *1", "*1", "write a number from 0 to 7, or a name from SUN to SAT"),
            ("٣ 0 * * *", "٣", "write a number from 0 to 59, or *"),
        ] {
            let fault = text.parse::<Cron>().expect_err(text);
            assert_eq!(&text[fault.span.clone()], part, "{text}: {fault:?}");
            assert_eq!(fault.hint.as_deref(), Some(hint), "{text}: {fault:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_decided(text in "[0-9*,/?@LW#A-Za-zé -]{0,40}") {
            if let Err(fault) = text.parse::<Cron>() {
                prop_assert!(text.get(fault.span.clone()).is_some(), "{fault:?}");
                prop_assert!(fault.hint.is_some());
            }
        }
    }
}
