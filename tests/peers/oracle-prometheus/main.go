// The oracle of Prometheus' side: answers, for each JSON line, what Prometheus' own code says about a text.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

type question struct {
	Op           string `json:"op"`
	Text         string `json:"text"`
	Text64       string `json:"text64"`
	Dialect      string `json:"dialect"`
	Set          string `json:"set"`
	Scheme       string `json:"scheme"`
	Experimental bool   `json:"experimental"`
	Durations    bool   `json:"durations"`
	Extended     bool   `json:"extended"`
	Fill         bool   `json:"fill"`
}

type answer map[string]any

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		bench()
		return
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 64<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		var asked question
		var told answer
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			told = answer{"trouble": err.Error()}
		} else {
			told = judge(asked)
		}
		if err := encoder.Encode(told); err != nil {
			panic(err)
		}
		// One answer at a time: whoever asks may wait for it before asking on.
		if err := out.Flush(); err != nil {
			panic(err)
		}
	}
}

// bench parses a JSON list of texts over and over, on one core, and tells how many a second.
func bench() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	promql := parser.NewParser(parser.Options{})
	runtime.GOMAXPROCS(1)
	started, count := time.Now(), 0
	for time.Since(started) < 2*time.Second {
		for _, text := range texts {
			if _, err := promql.ParseExpr(text); err != nil {
				panic(text + ": " + err.Error())
			}
			count++
		}
	}
	fmt.Printf("{\"perSecond\": %f}\n", float64(count)/time.Since(started).Seconds())
}

func judge(asked question) (told answer) {
	defer func() {
		// A panic of the original is no verdict.
		if problem := recover(); problem != nil {
			told = answer{"ok": false, "error": fmt.Sprint(problem), "panic": true}
		}
	}()
	text := asked.Text
	if asked.Text64 != "" {
		bytes, err := base64.StdEncoding.DecodeString(asked.Text64)
		if err != nil {
			return answer{"trouble": err.Error()}
		}
		text = string(bytes)
	}
	promql := parser.NewParser(parser.Options{
		EnableExperimentalFunctions:  asked.Experimental,
		ExperimentalDurationExpr:     asked.Durations,
		EnableExtendedRangeSelectors: asked.Extended,
		EnableBinopFillModifiers:     asked.Fill,
	})
	switch asked.Op {
	case "promql":
		expr, err := promql.ParseExpr(text)
		if err != nil {
			return verdict(err)
		}
		return answer{"ok": true, "type": parser.DocumentedType(expr.Type()), "string": expr.String()}
	case "rules":
		scheme := model.UTF8Validation
		if asked.Scheme == "legacy" {
			scheme = model.LegacyValidation
		}
		_, problems := rulefmt.Parse([]byte(text), false, scheme, promql, quiet)
		texts := make([]string, len(problems))
		for i, problem := range problems {
			texts[i] = problem.Error()
		}
		return answer{"ok": len(problems) == 0, "errors": texts}
	case "template":
		return template(text, asked.Set, promql)
	case "matcher":
		matcher, err := labels.NewMatcher(labels.MatchRegexp, "x", text)
		if err != nil {
			return verdict(err)
		}
		return answer{"ok": true, "empty": matcher.Matches("")}
	case "relabel":
		_, err := relabel.NewRegexp(text)
		return verdict(err)
	case "duration":
		value, err := model.ParseDuration(text)
		if err != nil {
			return verdict(err)
		}
		return answer{"ok": true, "ns": strconv.FormatInt(int64(value), 10)}
	case "url":
		read, err := url.Parse(text)
		if err != nil {
			return verdict(err)
		}
		_, secret := read.User.Password()
		return answer{"ok": true, "scheme": read.Scheme, "host": read.Host, "hostname": read.Hostname(), "password": secret}
	case "yaml":
		// What prometheus-operator measures: an object, as JSON, written as YAML.
		written, err := yaml.JSONToYAML([]byte(text))
		if err != nil {
			return verdict(err)
		}
		return answer{"ok": true, "string": string(written)}
	case "name":
		switch asked.Dialect {
		case "metric":
			return answer{"ok": model.LegacyValidation.IsValidMetricName(text)}
		case "label":
			return answer{"ok": model.LegacyValidation.IsValidLabelName(text)}
		case "metric-utf8":
			return answer{"ok": model.UTF8Validation.IsValidMetricName(text)}
		case "label-utf8":
			return answer{"ok": model.UTF8Validation.IsValidLabelName(text)}
		}
		return answer{"trouble": "no such dialect: " + asked.Dialect}
	}
	return answer{"trouble": "no such question: " + asked.Op}
}

func verdict(err error) answer {
	if err != nil {
		return answer{"ok": false, "error": err.Error()}
	}
	return answer{"ok": true}
}

// template is the verdict of the rule loader on an annotation. The rule is built, not read: the text may be anything.
func template(text, set string, promql parser.Parser) answer {
	if set != "prometheus-alert" {
		return answer{"trouble": "no such set: " + set}
	}
	rule := rulefmt.Rule{Alert: "a", Expr: "vector(1)", Annotations: map[string]string{"x": text}}
	problems := rule.Validate(rulefmt.RuleNode{}, model.UTF8Validation, promql)
	if len(problems) > 0 {
		return verdict(problems[0].Unwrap())
	}
	return answer{"ok": true}
}
