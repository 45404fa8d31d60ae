//! The half of the generator that derives metric queries.

use crate::logql_grammar::Generator;

impl Generator {
    fn window(&mut self) {
        if self.slip() {
            self.count("offset first");
            self.put(" offset 1h");
        }
        let range = self.pick("range");
        self.put(range);
        if self.slip() {
            self.count("range twice");
            self.put("[5m]");
        }
        if self.dice.one_in(4) {
            self.count("offset");
            self.put(" ");
            self.word("offset");
            self.put(" ");
            if self.dice.one_in(20) {
                self.count("offset number");
                self.put("5");
            } else {
                if self.dice.one_in(4) {
                    self.count("offset negative");
                    self.put("-");
                }
                let duration = self.pick("duration");
                self.put(duration);
            }
        }
    }

    fn pipeline(&mut self) {
        for _ in 0..self.dice.below(3) {
            self.stage();
        }
    }

    fn unwrap(&mut self) {
        self.count("unwrap");
        self.put(" | ");
        self.word("unwrap");
        self.put(" ");
        let conversion = *self.dice.pick(&[&"", &"", &"bytes", &"duration", &"duration_seconds"]);
        if conversion.is_empty() {
            self.count("unwrap plain");
            self.name();
        } else {
            self.count(&format!("unwrap {conversion}"));
            self.word(conversion);
            self.put("(");
            self.name();
            self.put(")");
        }
        while self.dice.one_in(3) {
            self.count("unwrap filter");
            self.put(" | ");
            self.label_filter(1);
        }
        if self.slip() {
            self.count("unwrap stage");
            self.put(" |= \"x\"");
        }
    }

    fn log_range(&mut self, unwrapped: bool, depth: usize) {
        let unwrap = |g: &mut Self| {
            if unwrapped {
                g.unwrap();
            }
        };
        match self.dice.below(16) {
            0..=5 => {
                self.count("range S P U R O");
                self.selector();
                self.pipeline();
                unwrap(self);
                self.put(" ");
                self.window();
            }
            6..=8 => {
                self.count("range S R O P U");
                self.selector();
                self.window();
                self.pipeline();
                unwrap(self);
            }
            9 | 10 => {
                self.count("range (S P U) R O");
                self.put("(");
                self.selector();
                self.pipeline();
                unwrap(self);
                self.put(")");
                self.window();
            }
            11 => {
                self.count("range (S) R O U");
                self.put("(");
                self.selector();
                self.put(")");
                self.window();
                unwrap(self);
                if self.slip() {
                    self.stage();
                }
            }
            12 | 13 if depth > 0 => {
                self.count("range ( )");
                self.put("(");
                self.log_range(unwrapped, depth - 1);
                self.put(")");
            }
            14 if self.dice.one_in(3) => {
                self.count("range ((S)) R");
                self.put("((");
                self.selector();
                self.put("))");
                self.window();
            }
            15 if self.dice.one_in(3) => {
                self.count("range in the middle");
                self.selector();
                self.pipeline();
                self.window();
                self.stage();
            }
            _ => {
                self.selector();
                self.window();
            }
        }
    }

    fn range_aggregation(&mut self) {
        let counts_lines = ["rate", "count_over_time", "bytes_rate", "bytes_over_time", "absent_over_time"];
        let values = [
            "rate_counter",
            "sum_over_time",
            "avg_over_time",
            "min_over_time",
            "max_over_time",
            "stddev_over_time",
            "stdvar_over_time",
            "first_over_time",
            "last_over_time",
            "quantile_over_time",
        ];
        let of_lines = self.dice.one_in(2);
        let op = if of_lines { counts_lines[self.dice.below(5)] } else { values[self.dice.below(10)] };
        self.count(op);
        self.word(op);
        self.put("(");
        if (op == "quantile_over_time") != self.slip() {
            self.count("range parameter");
            let number = self.pick("number");
            self.put(&format!("{number}, "));
        }
        let unwrapped =
            (!of_lines || (matches!(op, "rate" | "absent_over_time") && self.dice.one_in(3))) != self.slip();
        self.log_range(unwrapped, 1);
        self.put(")");
        if matches!(
            op,
            "avg_over_time" | "min_over_time" | "max_over_time" | "first_over_time" | "quantile_over_time"
        ) && self.dice.one_in(3)
            || self.slip()
        {
            self.count("range grouping");
            self.grouping();
        }
    }

    fn grouping(&mut self) {
        let word = *self.dice.pick(&[&"by", &"without"]);
        self.count(word);
        self.put(" ");
        self.word(word);
        self.name_list("empty grouping");
    }

    fn name_list(&mut self, when_empty: &str) {
        self.blank();
        self.put("(");
        if self.dice.one_in(6) {
            self.count(when_empty);
        } else {
            self.list(2, Self::name);
        }
        self.put(")");
    }

    fn vector_aggregation(&mut self, depth: usize) {
        let ops = [
            "sum",
            "avg",
            "max",
            "min",
            "count",
            "stddev",
            "stdvar",
            "sort",
            "sort_desc",
            "topk",
            "bottomk",
            "approx_topk",
        ];
        let op = ops[self.dice.below(ops.len())];
        self.count(op);
        self.word(op);
        let grouped = !op.starts_with("sort") && op != "approx_topk";
        let (prefix, postfix) = match self.dice.below(6) {
            0 | 1 => (grouped, false),
            2 | 3 => (false, grouped),
            4 if self.dice.one_in(6) => (true, true),
            5 if self.slip() => (true, false),
            _ => (false, false),
        };
        if prefix && postfix {
            self.count("both groupings");
        }
        if prefix {
            self.count("prefix grouping");
            self.grouping();
        }
        self.blank();
        self.put("(");
        if op.contains("topk") || op.contains("bottomk") || self.slip() {
            self.count("vector parameter");
            let number = if self.dice.one_in(2) {
                *self.dice.pick(&[&"5", &"1", &"010", &"3"])
            } else {
                self.pick("number")
            };
            self.put(&format!("{number}, "));
        }
        if self.slip() {
            self.count("aggregated log");
            self.log(0);
        } else {
            self.metric(depth.saturating_sub(1));
        }
        self.put(")");
        if postfix {
            self.count("postfix grouping");
            self.grouping();
        }
    }

    pub(crate) fn metric(&mut self, depth: usize) {
        match self.dice.below(if depth == 0 { 9 } else { 22 }) {
            0..=5 => self.range_aggregation(),
            6 | 7 => {
                self.count("literal");
                if self.dice.one_in(3) {
                    self.count("literal signed");
                    let sign = *self.dice.pick(&[&"-", &"+", &"- ", &"--"]);
                    self.put(sign);
                }
                let number = self.pick("number");
                self.put(number);
            }
            8 => {
                let signed = self.dice.one_in(10);
                self.count(if signed { "vector(-n)" } else { "vector(n)" });
                self.word("vector");
                self.put(if signed { "(-" } else { "(" });
                let number = self.pick("number");
                self.put(number);
                self.put(")");
            }
            9..=12 => self.vector_aggregation(depth),
            13..=17 => self.binary(depth),
            18 => {
                self.count("metric in parens");
                self.put("(");
                self.metric(depth - 1);
                self.put(")");
            }
            19 => {
                self.count("label_replace");
                self.word("label_replace");
                self.put("(");
                self.metric(depth - 1);
                let texts = if self.dice.one_in(6) {
                    self.count("label_replace short");
                    2
                } else {
                    3
                };
                for _ in 0..texts {
                    self.put(", ");
                    self.string("text");
                }
                self.put(", ");
                self.string("regex");
                self.put(")");
            }
            20 => {
                let parens = self.dice.one_in(6);
                self.count(if parens { "variants in parens" } else { "variants" });
                self.put(if parens { "(" } else { "" });
                self.word("variants");
                self.put("(");
                self.list(2, |g| g.metric(depth - 1));
                self.put(") ");
                self.word("of");
                self.put(" (");
                self.log_range(false, 1);
                self.put(if parens { "))" } else { ")" });
            }
            _ => {
                if self.dice.one_in(3) {
                    let function = *self.dice.pick(&[&"increase(", &"abs(", &"quantile(0.9, ", &"-("]);
                    self.count(if function == "-(" { "unary minus" } else { "foreign function" });
                    self.put(function);
                    self.range_aggregation();
                    self.put(")");
                } else if self.dice.one_in(6) {
                    self.count("unary minus");
                    self.put("-");
                    self.range_aggregation();
                } else {
                    self.range_aggregation();
                }
            }
        }
    }

    fn leg(&mut self, depth: usize) {
        if self.slip() {
            self.count("log leg");
            self.log(1);
        } else {
            self.metric(depth - 1);
        }
    }

    fn binary(&mut self, depth: usize) {
        let ops =
            ["or", "and", "unless", "==", "!=", ">", ">=", "<", "<=", "+", "-", "*", "/", "%", "^", "="];
        let op = if self.slip() { "=" } else { ops[self.dice.below(15)] };
        self.count(&format!("op {op}"));
        self.leg(depth);
        if op.as_bytes()[0].is_ascii_lowercase() && self.dice.one_in(8) {
            self.count("literal leg of a set operator");
            self.put(" + 1 or 2 ");
        }
        self.blank();
        self.word(op);
        self.blank();
        if self.dice.one_in(8) {
            self.count("bool");
            self.word("bool");
            self.put(" ");
        }
        if self.dice.one_in(6) {
            let matching = *self.dice.pick(&[&"on", &"ignoring"]);
            self.count(matching);
            self.word(matching);
            self.name_list("empty grouping");
            self.put(" ");
            if self.dice.one_in(6) {
                self.count("bool behind on");
                self.put("bool ");
            }
            if self.dice.one_in(2) {
                self.group();
            }
        } else if self.slip() {
            self.count("group without on");
            self.group();
        }
        self.leg(depth);
    }

    fn group(&mut self) {
        let side = *self.dice.pick(&[&"group_left", &"group_right"]);
        self.count(side);
        self.word(side);
        if self.dice.one_in(2) {
            self.count(&format!("{side} with labels"));
            self.name_list("empty grouping");
        } else {
            self.count(&format!("{side} alone"));
        }
        self.put(" ");
    }
}
