package prom_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/prom"
)

func TestFill(t *testing.T) {
	usual := prom.Series{}
	other := prom.Series{Labels: map[string]string{"cluster": "k8s", "job": "service"}, Selector: `env="prod"`, Severities: map[string]string{"label": "priority", "page": "critical"}}
	both := other
	both.Subject = `handler="a"`
	for text, want := range map[string][3]string{
		`up{@process} == up{@process, a="b"}`: {`up == up{a="b"}`, `up{env="prod"} == up{env="prod", a="b"}`, `up{env="prod"} == up{env="prod", a="b"}`},
		`up{@} == 0`:                          {`up == 0`, `up{env="prod"} == 0`, `up{env="prod", handler="a"} == 0`},
		`sum by (@cluster, @instance) (up{@, @job="a"})`: {
			`sum by (cluster, instance) (up{job="a"})`,
			`sum by (k8s, instance) (up{env="prod", service="a"})`,
			`sum by (k8s, instance) (up{env="prod", handler="a", service="a"})`,
		},
		`informer:x:rate5m{@job="a"}`: {`informer:x:rate5m{job="a"}`, `informer:x:rate5m{service="a"}`, `informer:x:rate5m{service="a"}`},
		`ALERTS{@severity="@page"}`:   {`ALERTS{severity="page"}`, `ALERTS{priority="critical"}`, `ALERTS{priority="critical"}`},
		`{{@cluster}} {{name}}`:       {`{{cluster}} {{name}}`, `{{k8s}} {{name}}`, `{{k8s}} {{name}}`},
	} {
		for i, s := range []prom.Series{usual, other, both} {
			if got := s.Fill(text); got != want[i] {
				t.Errorf("%+v: %s is filled as %s, want %s", s, text, got, want[i])
			}
		}
	}
	// The user's text is not treated as a placeholder.
	if got, want := (prom.Series{Subject: `handler="@cluster{@}"`}).Fill(`up{@}`), `up{handler="@cluster{@}"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestValidate(t *testing.T) {
	for _, selector := range []string{
		``, `env="prod"`, ` env = "prod" , job=~"a|b"`, `a!="", b!~"x.*"`, `a="\"}\\"`, `a="{,}"`, `a=~"\\d+"`,
	} {
		if errs := (prom.Series{Selector: selector}).Validate(nil); len(errs) > 0 {
			t.Errorf("%s: %v", selector, errs)
		}
	}
	for selector, want := range map[string]string{
		`env`:                      "syntax error",
		`env=`:                     "syntax error",
		`env=prod`:                 "syntax error",
		`env="prod`:                "syntax error",
		`env="prod",`:              "syntax error",
		`, env="prod"`:             "syntax error",
		`env="a" job="b"`:          "syntax error",
		`env=="a"`:                 "syntax error",
		`a-b="c"`:                  "syntax error",
		`a='b'`:                    "syntax error",
		`a="b\x"`:                  "syntax error",
		`x="y"} or up{`:            "syntax error",
		`x="y"} or up{z="a"`:       "syntax error",
		`{x="y"}`:                  "syntax error",
		`x="y" # comment`:          "syntax error",
		"x=\"y\"\n} or up{z=\"a\"": "syntax error",
		`__name__="up"`:            "by name",
		`a="b", __name__=~"up"`:    "by name",
		`a=~"("`:                   "missing closing )",
		`a="(", b!~"["`:            "missing closing ]",
	} {
		err := errors.Join(prom.Series{Selector: selector}.Validate(nil)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", selector, err, want)
		}
	}
	for want, labels := range map[string]map[string]string{
		`"name" cannot be renamed`:                         {"name": "x"},
		`labelNames.cluster: "a b" is not a valid`:         {"cluster": "a b"},
		`labelNames.job: "x" is the name of another`:       {"cluster": "x", "job": "x"},
		`labelNames.cluster: "job" is the name of`:         {"cluster": "job"},
		`labelNames.cluster: "severity" is the name`:       {"cluster": "severity"},
		`labelNames.cluster: "__name__" is the name of`:    {"cluster": "__name__"},
		`labelNames.instance: "cluster" is the name of an`: {"instance": "cluster"},
	} {
		err := errors.Join(prom.Series{Labels: labels}.Validate([]string{"handler"})...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", labels, err, want)
		}
	}
	if errs := (prom.Series{Labels: map[string]string{"cluster": "k8s_cluster", "job": "service"}}).Validate([]string{"handler"}); len(errs) > 0 {
		t.Error(errs)
	}
}
