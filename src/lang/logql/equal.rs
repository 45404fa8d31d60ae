//! When two queries are the same: the same tree, wherever its parts stand in the text.
//!
//! Children stand before their parents in the flat lists, in the order of the query, so equal trees have equal lists.

use super::tree::{
    Expr, ExprKind, FilterNode, Grouping, List, LogRange, MatcherNode, Matching, Number, Pair, PairValue,
    Span, StageKind, Str, Tree, Unwrap,
};

/// Two trees side by side.
struct Both<'a> {
    a: &'a Tree,
    b: &'a Tree,
}

pub(super) fn same(a: &Tree, b: &Tree) -> bool {
    let both = Both { a, b };
    all(&a.exprs, &b.exprs, |x, y| both.expr(x, y))
        && all(&a.ranges, &b.ranges, |x, y| both.range(x, y))
        && all(&a.selectors, &b.selectors, |x, y| both.matchers(x.matchers, y.matchers))
        && all(&a.filters, &b.filters, |x, y| both.filter(x, y))
}

fn all<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
}

impl Both<'_> {
    /// Whether something is there in both trees and the same, or in neither.
    fn optional<T>(
        &self,
        all: impl Fn(&Tree) -> &[T],
        a: Option<u32>,
        b: Option<u32>,
        same: impl Fn(&T, &T) -> bool,
    ) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(x), Some(y)) => match (all(self.a).get(x as usize), all(self.b).get(y as usize)) {
                (Some(x), Some(y)) => same(x, y),
                _ => false,
            },
            _ => false,
        }
    }

    fn name(&self, a: Span, b: Span) -> bool {
        self.a.name(a) == self.b.name(b)
    }

    fn string(&self, a: Str, b: Str) -> bool {
        self.a.bytes(a.text) == self.b.bytes(b.text)
    }

    fn names(&self, a: List, b: List) -> bool {
        all(a.of(&self.a.names), b.of(&self.b.names), |x, y| self.name(*x, *y))
    }

    fn matchers(&self, a: List, b: List) -> bool {
        all(a.of(&self.a.matchers), b.of(&self.b.matchers), |x, y| self.matcher(x, y))
    }

    fn matcher(&self, a: &MatcherNode, b: &MatcherNode) -> bool {
        a.op == b.op && self.name(a.name, b.name) && (a.op.is_none() || self.string(a.value, b.value))
    }

    /// Numbers are the same by value; those without a value by their text.
    fn number(&self, a: Option<u32>, b: Option<u32>) -> bool {
        self.optional(
            |tree| &tree.numbers,
            a,
            b,
            |x: &Number, y: &Number| match (x.value, y.value) {
                (None, None) => self.name(x.span, y.span),
                (x, y) => x.map(f64::to_bits) == y.map(f64::to_bits),
            },
        )
    }

    fn grouping(&self, a: Option<u32>, b: Option<u32>) -> bool {
        let same = |x: &Grouping, y: &Grouping| x.without == y.without && self.names(x.names, y.names);
        self.optional(|tree| &tree.groupings, a, b, same)
    }

    fn matching(&self, a: Option<u32>, b: Option<u32>) -> bool {
        let same = |x: &Matching, y: &Matching| {
            x.on == y.on
                && x.group == y.group
                && self.names(x.names, y.names)
                && self.names(x.include, y.include)
        };
        self.optional(|tree| &tree.matchings, a, b, same)
    }

    fn expr(&self, a: &Expr, b: &Expr) -> bool {
        use ExprKind::{Binary, Constant, LabelReplace, Literal, Log, Range, Variants, Vector};
        match (&a.kind, &b.kind) {
            (Log { selector, stages }, Log { selector: selector2, stages: stages2 }) => {
                selector == selector2 && self.stages(*stages, *stages2)
            }
            (
                Range { op, parameter, range, grouping },
                Range { op: op2, parameter: parameter2, range: range2, grouping: grouping2 },
            ) => {
                op == op2
                    && range == range2
                    && self.number(*parameter, *parameter2)
                    && self.grouping(*grouping, *grouping2)
            }
            (
                Vector { op, parameter, grouping, operand },
                Vector { op: op2, parameter: parameter2, grouping: grouping2, operand: operand2 },
            ) => {
                op == op2
                    && operand == operand2
                    && self.number(*parameter, *parameter2)
                    && self.grouping(*grouping, *grouping2)
            }
            (
                Binary { op, returns_bool, matching, left, right },
                Binary { op: op2, returns_bool: bool2, matching: matching2, left: left2, right: right2 },
            ) => {
                (op, returns_bool, left, right) == (op2, bool2, left2, right2)
                    && self.matching(*matching, *matching2)
            }
            (Literal { number, negative }, Literal { number: number2, negative: negative2 }) => {
                negative == negative2 && self.number(Some(*number), Some(*number2))
            }
            (Constant { number }, Constant { number: number2 }) => self.number(Some(*number), Some(*number2)),
            (LabelReplace { operand, strings }, LabelReplace { operand: operand2, strings: strings2 }) => {
                operand == operand2
                    && all(strings.of(&self.a.strings), strings2.of(&self.b.strings), |x, y| {
                        self.string(*x, *y)
                    })
            }
            (Variants { operands, range }, Variants { operands: operands2, range: range2 }) => {
                range == range2 && operands.of(&self.a.variants) == operands2.of(&self.b.variants)
            }
            _ => false,
        }
    }

    fn range(&self, a: &LogRange, b: &LogRange) -> bool {
        let unwraps = match (&a.unwrap, &b.unwrap) {
            (None, None) => true,
            (Some(x), Some(y)) => self.unwrap(x, y),
            _ => false,
        };
        (a.selector, a.interval, a.offset) == (b.selector, b.interval, b.offset)
            && unwraps
            && self.stages(a.stages, b.stages)
    }

    fn unwrap(&self, a: &Unwrap, b: &Unwrap) -> bool {
        a.conversion == b.conversion
            && self.name(a.name, b.name)
            && a.filters.of(&self.a.post_filters) == b.filters.of(&self.b.post_filters)
    }

    fn stages(&self, a: List, b: List) -> bool {
        all(a.of(&self.a.stages), b.of(&self.b.stages), |x, y| self.stage(x, y))
    }

    fn stage(&self, a: &StageKind, b: &StageKind) -> bool {
        use StageKind::{
            Decolorize, Drop, Json, Keep, LabelFilter, LabelFormat, LineFilter, LineFormat, Logfmt, Pattern,
            Regexp, Unpack,
        };
        match (a, b) {
            (LineFilter { op, operands }, LineFilter { op: op2, operands: operands2 }) => {
                op == op2
                    && all(operands.of(&self.a.operands), operands2.of(&self.b.operands), |x, y| {
                        x.ip == y.ip && self.string(x.text, y.text)
                    })
            }
            (Json { pairs }, Json { pairs: pairs2 })
            | (LabelFormat { pairs }, LabelFormat { pairs: pairs2 }) => self.pairs(*pairs, *pairs2),
            (
                Logfmt { strict, keep_empty, pairs },
                Logfmt { strict: strict2, keep_empty: keep_empty2, pairs: pairs2 },
            ) => strict == strict2 && keep_empty == keep_empty2 && self.pairs(*pairs, *pairs2),
            (Regexp(x), Regexp(y)) | (Pattern(x), Pattern(y)) | (LineFormat(x), LineFormat(y)) => {
                self.string(*x, *y)
            }
            (LabelFilter { root }, LabelFilter { root: root2 }) => root == root2,
            (Drop { matchers }, Drop { matchers: matchers2 })
            | (Keep { matchers }, Keep { matchers: matchers2 }) => self.matchers(*matchers, *matchers2),
            (Unpack, Unpack) | (Decolorize, Decolorize) => true,
            _ => false,
        }
    }

    fn pairs(&self, a: List, b: List) -> bool {
        all(a.of(&self.a.pairs), b.of(&self.b.pairs), |x: &Pair, y: &Pair| {
            self.name(x.name, y.name)
                && match (x.value, y.value) {
                    (PairValue::None, PairValue::None) => true,
                    (PairValue::Name(x), PairValue::Name(y)) => self.name(x, y),
                    (PairValue::Text(x), PairValue::Text(y)) => self.string(x, y),
                    _ => false,
                }
        })
    }

    fn filter(&self, a: &FilterNode, b: &FilterNode) -> bool {
        use FilterNode::{Bytes, Duration, Ip, Join, Match, Number};
        match (a, b) {
            (Match { matcher }, Match { matcher: matcher2 }) => self.optional(
                |tree| &tree.matchers,
                Some(*matcher),
                Some(*matcher2),
                |x, y| self.matcher(x, y),
            ),
            (Ip { name, negated, pattern }, Ip { name: name2, negated: negated2, pattern: pattern2 }) => {
                negated == negated2 && self.name(*name, *name2) && self.string(*pattern, *pattern2)
            }
            (
                Duration { name, op, nanoseconds },
                Duration { name: name2, op: op2, nanoseconds: nanoseconds2 },
            ) => op == op2 && nanoseconds == nanoseconds2 && self.name(*name, *name2),
            (Bytes { name, op, bytes }, Bytes { name: name2, op: op2, bytes: bytes2 }) => {
                op == op2 && bytes == bytes2 && self.name(*name, *name2)
            }
            (
                Number { name, op, number, negative },
                Number { name: name2, op: op2, number: number2, negative: negative2 },
            ) => {
                op == op2
                    && negative == negative2
                    && self.name(*name, *name2)
                    && self.number(Some(*number), Some(*number2))
            }
            (Join { joiner, left, right }, Join { joiner: joiner2, left: left2, right: right2 }) => {
                (joiner, left, right) == (joiner2, left2, right2)
            }
            _ => false,
        }
    }
}
