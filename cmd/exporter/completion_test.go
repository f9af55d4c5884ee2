package main

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// Shells complete commands, flags and the options of a flag, also of the default command.
func TestCompletion(t *testing.T) {
	for words, want := range map[string]string{
		"ch":                            "check check-config :4",
		"audit s":                       "serve :4",
		"audit serve --log.p":           "--log.position-dir :4",
		"check -o ":                     "table json :4",
		"check --output j":              "table json :4", // shells select those that begin with j
		"check --kubeconfig ":           ":0",
		"--log.f":                       "--log.format :4",
		"--log.format=l":                "logfmt json :4",
		"serve --leader-elect --log.le": "--log.level :4",
	} {
		var out, log output
		if err := run(context.Background(), append([]string{"__completeNoDesc"}, strings.Split(words, " ")...), &out, &log); err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(out.String()); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %v, want %s", words, got, want)
		}
	}
}
