package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	for words, want := range map[string]string{
		"":                              "serve push generate check explain check-config cost audit completion version",
		"ch":                            "check check-config",
		"audit s":                       "serve",
		"audit serve --log.p":           "--log.position-dir",
		"check":                         "check check-config",
		"check ":                        "",
		"check --ti":                    "--timeout",
		"check --h":                     "--help",
		"check -o ":                     "table json",
		"check --output ":               "table json",
		"check --output j":              "json",
		"check --output=j":              "--output=json",
		"check --output =":              "table json", // in bash, which splits words at "="
		"check --output = t":            "table",
		"check --kubeconfig ":           "",
		"check --none=":                 "",
		"completion ":                   "bash zsh fish",
		"completion z":                  "zsh",
		"--log.f":                       "--log.format",
		"--log.format=l":                "--log.format=logfmt",
		"serve --leader-elect --log.le": "--log.level",
		"--leader-elect ":               "", // takes no value
		"unknown ":                      "",
	} {
		var out output
		if err := run(context.Background(), append([]string{completeCommand}, strings.Split(words, " ")...), &out, &out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(out.String()); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %v, want %s", words, got, want)
		}
	}
	var out output
	if err := run(context.Background(), []string{"completion", "tcsh"}, &out, &out); exitCode(err) != exitUsage {
		t.Errorf("an unknown shell: %v", err)
	}
}

// The script passes the words to the program, and its output to bash.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	var script output
	if err := run(context.Background(), []string{"completion", "bash"}, &script, &script); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "informer-exporter")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '<%s>\\n' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const call = `
COMP_WORDS=("$1" check --output = "" later)
COMP_CWORD=4
_informer_exporter
printf '%s\n' "${COMPREPLY[@]}"
complete -p informer-exporter`
	out, err := exec.CommandContext(t.Context(), bash, "-euc", script.String()+call, "bash", program).CombinedOutput()
	if want := "<__complete>\n<check>\n<--output>\n<=>\n<>\ncomplete -o default -F _informer_exporter informer-exporter\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}
