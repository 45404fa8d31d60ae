// The oracle of Loki's side: answers, for each JSON line, what the original programs say about a text.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/grafana/dskit/tenant"
	forksyntax "github.com/grafana/regexp/syntax"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"

	"github.com/grafana/loki/v3/pkg/logql/log"
	"github.com/grafana/loki/v3/pkg/logql/log/jsonexpr"
	"github.com/grafana/loki/v3/pkg/logql/log/logfmt"
	"github.com/grafana/loki/v3/pkg/logql/log/pattern"
	logql "github.com/grafana/loki/v3/pkg/logql/syntax"
	"github.com/grafana/loki/v3/pkg/ruler"
)

type question struct {
	Op      string   `json:"op"`
	Text    string   `json:"text"`
	Text64  string   `json:"text64"`
	Names   string   `json:"names"`
	Wrap    string   `json:"wrap"`
	Dialect string   `json:"dialect"`
	Set     string   `json:"set"`
	Filter  bool     `json:"filter"`
	Texts   []string `json:"texts"`
}

type answer map[string]any

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bench" {
		bench()
		return
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 64<<20)
	out := bufio.NewWriter(os.Stdout)
	// Some generated parsers print their errors; answers must stay alone on their stream.
	os.Stdout, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
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
	runtime.GOMAXPROCS(1)
	started, count := time.Now(), 0
	for time.Since(started) < 2*time.Second {
		for _, text := range texts {
			if _, err := logql.ParseExpr(text); err != nil {
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
	switch asked.Op {
	case "logql":
		expr, err := logql.ParseExpr(text)
		if err != nil {
			return verdict(err)
		}
		_, metric := expr.(logql.SampleExpr)
		return answer{"ok": true, "metric": metric, "string": expr.String()}
	case "stages":
		return stages(text)
	case "re2":
		return compile(wrapped(text, asked.Wrap), asked.Names)
	case "matcher":
		matcher, err := labels.NewMatcher(labels.MatchRegexp, "x", text)
		if err != nil {
			return verdict(err)
		}
		return answer{"ok": true, "empty": matcher.Matches("")}
	case "re2-match":
		expr, err := regexp.Compile(wrapped(text, asked.Wrap))
		if err != nil {
			return verdict(err)
		}
		matches := make([]bool, len(asked.Texts))
		for i, candidate := range asked.Texts {
			matches[i] = expr.MatchString(candidate)
		}
		return answer{"ok": true, "matches": matches}
	case "duration":
		return duration(text, asked.Dialect)
	case "bytes":
		value, err := humanize.ParseBytes(text)
		if err != nil {
			return verdict(err)
		}
		return answer{"ok": true, "value": strconv.FormatUint(value, 10)}
	case "name":
		return name(text, asked.Dialect)
	case "template":
		return template(text, asked.Set)
	case "pattern":
		if asked.Filter {
			_, err := pattern.ParseLineFilter([]byte(text))
			return verdict(err)
		}
		_, err := log.NewPatternParser(text)
		return verdict(err)
	case "json-path":
		_, err := jsonexpr.Parse(text, false)
		return verdict(err)
	case "logfmt-key":
		_, err := logfmt.Parse(text, false)
		return verdict(err)
	case "ip":
		return verdict(log.NewIPLabelFilter(text, "x", log.LabelFilterEqual).PatternError())
	case "rules":
		return rules(text)
	}
	return answer{"trouble": "no such question: " + asked.Op}
}

func verdict(err error) answer {
	if err != nil {
		return answer{"ok": false, "error": err.Error()}
	}
	return answer{"ok": true}
}

// stages builds what Loki builds when it evaluates the query: the pipeline of each log selector, the extractor of each range.
func stages(text string) answer {
	expr, err := logql.ParseExpr(text)
	if err != nil {
		return answer{"ok": false, "error": err.Error(), "parse": true}
	}
	expr.Walk(func(e logql.Expr) bool {
		switch node := e.(type) {
		case *logql.RangeAggregationExpr:
			if _, problem := node.Extractors(); problem != nil {
				err = errors.Join(err, problem)
			}
			return false
		case *logql.PipelineExpr:
			if _, problem := node.Pipeline(); problem != nil {
				err = errors.Join(err, problem)
			}
			return false
		}
		return true
	})
	return verdict(err)
}

func wrapped(text, wrap string) string {
	switch wrap {
	case "group":
		return "^(?:" + text + ")$"
	case "dotall":
		return "^(?s:" + text + ")$"
	}
	return text
}

func compile(text, names string) answer {
	var captures []string
	var err error
	code := ""
	if names == "fork" {
		// Only its parser is a fork; its Compile reads with Go's own.
		var expr *forksyntax.Regexp
		if expr, err = forksyntax.Parse(text, forksyntax.Perl); err == nil {
			captures = expr.CapNames()
		}
		var problem *forksyntax.Error
		if errors.As(err, &problem) {
			code = problem.Code.String()
		}
	} else {
		var expr *regexp.Regexp
		if expr, err = regexp.Compile(text); err == nil {
			captures = expr.SubexpNames()
		}
		var problem *syntax.Error
		if errors.As(err, &problem) {
			code = problem.Code.String()
		}
	}
	if err != nil {
		return answer{"ok": false, "error": err.Error(), "code": code}
	}
	return answer{"ok": true, "captures": captures[1:]}
}

func duration(text, dialect string) answer {
	switch dialect {
	case "prometheus", "logql":
		value, err := model.ParseDuration(text)
		if err == nil {
			return answer{"ok": true, "ns": strconv.FormatInt(int64(value), 10)}
		}
		if dialect == "prometheus" {
			return verdict(err)
		}
	}
	value, err := time.ParseDuration(text)
	if err != nil {
		return verdict(err)
	}
	return answer{"ok": true, "ns": strconv.FormatInt(int64(value), 10)}
}

func name(text, dialect string) answer {
	switch dialect {
	case "metric":
		return answer{"ok": model.LegacyValidation.IsValidMetricName(text)}
	case "label":
		return answer{"ok": model.LegacyValidation.IsValidLabelName(text)}
	case "metric-utf8":
		return answer{"ok": model.UTF8Validation.IsValidMetricName(text)}
	case "label-utf8":
		return answer{"ok": model.UTF8Validation.IsValidLabelName(text)}
	case "tenant":
		return verdict(tenant.ValidTenantID(text))
	}
	return answer{"trouble": "no such dialect: " + dialect}
}

func template(text, set string) answer {
	switch set {
	case "loki-line":
		_, err := log.NewFormatter(text)
		return verdict(err)
	case "loki-label":
		_, err := log.NewLabelsFormatter([]log.LabelFmt{log.NewTemplateLabelFmt("x", text)})
		return verdict(err)
	case "loki-alert":
		rule := rulefmt.Rule{Alert: "a", Expr: "vector(1)", Annotations: map[string]string{"x": text}}
		return verdict(errors.Join(ruler.ValidateGroups(rulefmt.RuleGroup{Name: "g", Rules: []rulefmt.Rule{rule}})...))
	}
	return answer{"trouble": "no such set: " + set}
}

// rules is the verdict of Loki's rule loader on a file.
func rules(text string) answer {
	var groups rulefmt.RuleGroups
	if err := yaml.Unmarshal([]byte(text), &groups); err != nil {
		return verdict(err)
	}
	return verdict(errors.Join(ruler.ValidateGroups(groups.Groups...)...))
}
