package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
)

var (
	shellBlock    = regexp.MustCompile("(?s)```sh\n(.*?)\n *```")
	anyBlock      = regexp.MustCompile("(?s)```.*?```")
	inlineKubectl = regexp.MustCompile("`(kubectl [^`]+)`")
	kubectlWord   = regexp.MustCompile(`\bkubectl\b`)
	// killed is the shell's message if a program in the background has already ended.
	killed = regexp.MustCompile(`(?m)^.*kill: .*[Nn]o such process\n`)
)

// runbook is a runbook as its reader sees it.
type runbook struct {
	assignments string // of the variables, with placeholders
	commands    []string
}

// readRunbook returns the commands of a page in Markdown, those within the text last.
func readRunbook(page string) (r runbook) {
	for _, m := range shellBlock.FindAllStringSubmatch(page, -1) {
		block := strings.TrimSpace(m[1])
		before, _, _ := strings.Cut(page, m[0])
		if r.assignments == "" && strings.Contains(before, "## Variables") {
			r.assignments = block
			continue
		}
		r.commands = append(r.commands, block)
	}
	for _, m := range inlineKubectl.FindAllStringSubmatch(anyBlock.ReplaceAllString(page, ""), -1) {
		r.commands = append(r.commands, m[1])
	}
	return r
}

// The tools of a shell that only parses. kubectl does not run: it appends its arguments to a file. curl waits for that, because the
// server that it connects to was started in the background.
var parsingTools = map[string]string{
	"kubectl": `printf '%s\037' "$@" "$(printf '\036')" >>"$RECORD"`,
	"curl":    `n=0; until [ -s "$RECORD" ] || [ $((n += 1)) -gt 3000 ]; do sleep 0.02; done`,
}

// parses returns the error of a command, "" if there is none: the shell must parse it, kubectl must have its commands and
// flags, and all its variables must be set.
func parses(t *testing.T, assignments, command string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range parsingTools {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	record := filepath.Join(dir, "record")
	_, stderr, _ := newShell(t, dir, "RECORD="+record).run(t, assignments+"\n"+command)
	if stderr = strings.TrimSpace(killed.ReplaceAllString(stderr, "")); stderr != "" {
		return stderr
	}
	content, _ := os.ReadFile(record) // is missing if kubectl never ran
	runs := strings.Split(string(content), "\036\037")
	runs = runs[:len(runs)-1]
	for _, run := range runs {
		if err := parseKubectl(strings.Split(strings.TrimSuffix(run, "\037"), "\037")); err != nil {
			return err.Error()
		}
	}
	if len(runs) != len(kubectlWord.FindAllString(command, -1)) {
		return fmt.Sprintf("the number of runs of kubectl differs from the number of times that it is named; it ran: %q", runs)
	}
	return ""
}

// TestRunbookCommandsParse pastes the variables and each command into a shell.
func TestRunbookCommandsParse(t *testing.T) {
	with := 0
	for _, a := range alerts.All() {
		r := readRunbook(string(alerts.RunbookPage(a, alerts.Config{})))
		for _, command := range r.commands {
			if problem := parses(t, r.assignments, command); problem != "" {
				t.Errorf("%s: %s\n%s", a.Name, command, problem)
			}
		}
		if kubectlWord.MatchString(strings.Join(r.commands, "\n")) {
			with++
		} else {
			t.Errorf("%s: no command with kubectl", a.Name)
		}
	}
	t.Logf("%d runbooks have commands with kubectl", with)

	page, err := os.ReadFile(filepath.FromSlash("../../docs/on-call.md"))
	if err != nil {
		t.Fatal(err)
	}
	general := readRunbook(string(page))
	if len(general.commands) < 3 {
		t.Errorf("docs/on-call.md has only the commands %q", general.commands)
	}
	for _, command := range general.commands {
		if problem := parses(t, `NAMESPACE=n POD=p INFORMER_TYPE=pods INSTANCE=i`, command); problem != "" {
			t.Errorf("docs/on-call.md: %s\n%s", command, problem)
		}
	}
}

func TestBrokenCommandsAreSeen(t *testing.T) {
	for command, want := range map[string]string{
		`kubectl get pods -n "$NAMESPACE"`:          "",
		`kubectl gett pods`:                         "unknown command",
		`kubectl get pods --al-namespaces`:          "unknown flag",
		`kubectl -n "$NAMESPACE" logs --tail=x pod`: "invalid argument",
		`kubectl rollout rstart deployment/a`:       "has no command",
		`kubectl get pods -n "$NAMESPAC"`:           "NAMESPAC",
		`kubectl get pods -n "$NAMESPACE`:           "nterminated", // dash and bash differ in the rest
		`kubectl get pods | wc -l )`:                "yntax error",
		`false && kubectl get pods`:                 "differs from the number of times",
		`kubectl get "$(kubectl get pods -x y)"`:    "unknown shorthand flag",
		`kubectl version | missing-program`:         "not found",
	} {
		problem := parses(t, "NAMESPACE='a b'", command)
		if (problem == "") != (want == "") || !strings.Contains(problem, want) {
			t.Errorf("%s: %q, want %q", command, problem, want)
		}
	}
}
