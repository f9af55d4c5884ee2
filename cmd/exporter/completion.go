package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// completeCommand is the hidden command that the scripts of completion run. Its arguments are the words after the name of the program,
// of which the last one is incomplete. Without candidates, shells complete the names of files.
const completeCommand = "__complete"

// completionScripts are the scripts for each shell.
var completionScripts = map[string]string{
	// Words do not contain "=", at which bash splits them.
	"bash": `_informer_exporter() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _informer_exporter informer-exporter
`,
	"zsh": `_informer_exporter() {
  local -a candidates
  candidates=(${(f)"$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#candidates )); then compadd -a candidates; else _files; fi
}
compdef _informer_exporter informer-exporter
`,
	"fish": `complete --command informer-exporter --arguments '(informer-exporter __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

// completionCommand returns the command completion.
func completionCommand() *command {
	shells := []string{"bash", "zsh", "fish"}
	cmd := newCommand("completion", "Print a completion script.")
	cmd.args = []string{strings.Join(shells, "|")}
	cmd.options = shells
	cmd.run = func(_ context.Context, args []string, stdout io.Writer) error {
		script, ok := completionScripts[args[0]]
		if !ok {
			return usageError{fmt.Errorf("no completion for %q: must be one of %s", args[0], strings.Join(shells, ", "))}
		}
		_, err := io.WriteString(stdout, script)
		return err
	}
	return cmd
}

// complete prints the candidates for the last of the words. The first command is the default.
func complete(w io.Writer, commands []*command, words []string) error {
	for _, c := range candidates(commands, words) {
		if _, err := fmt.Fprintln(w, c); err != nil {
			return err
		}
	}
	return nil
}

func candidates(commands []*command, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	selected, first := commands[0], true
	if c, rest := named(commands, words); c != nil && len(rest) > 0 {
		selected, first, words = c, false, rest
	}
	last := words[len(words)-1]
	if f := selected.flagBefore(words[:len(words)-1]); f != nil {
		return withPrefix(optionsOf(f), strings.TrimPrefix(last, "="), "")
	}
	if name, value, ok := strings.Cut(last, "="); ok && strings.HasPrefix(name, "--") {
		return withPrefix(optionsOf(selected.flags.Lookup(name[2:])), value, name+"=")
	}
	if strings.HasPrefix(last, "-") {
		flags := []string{"--help"}
		selected.flags.VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		return withPrefix(flags, last, "")
	}
	var names []string
	for _, c := range commands {
		// Each word of a name is completed by itself.
		if name := strings.Fields(c.name); first && len(name) >= len(words) && slices.Equal(name[:len(words)-1], words[:len(words)-1]) && !slices.Contains(names, name[len(words)-1]) {
			names = append(names, name[len(words)-1])
		}
	}
	if !first || len(names) == 0 {
		names = selected.options
	}
	return withPrefix(names, last, "")
}

// flagBefore returns the flag at the end of the words if its value follows, or nil. In bash, "=" is a word.
func (c *command) flagBefore(words []string) *pflag.Flag {
	if len(words) > 0 && words[len(words)-1] == "=" {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return nil
	}
	var f *pflag.Flag
	switch word := words[len(words)-1]; {
	case strings.HasPrefix(word, "--"):
		f = c.flags.Lookup(word[2:])
	case len(word) == 2 && word[0] == '-':
		f = c.flags.ShorthandLookup(word[1:])
	}
	if f == nil || f.NoOptDefVal != "" {
		return nil
	}
	return f
}

// optionsOf returns the values of a flag with a fixed set of them.
func optionsOf(f *pflag.Flag) []string {
	if f == nil {
		return nil
	}
	c, _ := f.Value.(choice)
	return c.options
}

func withPrefix(all []string, prefix, before string) (found []string) {
	for _, s := range all {
		if strings.HasPrefix(s, prefix) {
			found = append(found, before+s)
		}
	}
	return found
}
