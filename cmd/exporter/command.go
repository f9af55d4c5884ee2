package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// helpWidth is the width of help texts. It does not depend on the terminal, because docs/flags.md has the same text.
const helpWidth = 100

// command is one of the program's commands.
type command struct {
	name, help string
	flags      *pflag.FlagSet
	// args are the names of the required positional arguments.
	args []string
	// variadic is the name of positional arguments of which there is at least one, empty if there are none.
	variadic string
	// options are the values of the positional argument, if it has a fixed set of them.
	options []string
	// required are the names of the required flags.
	required []string
	// run executes the command after its flags have been parsed. Results are written to stdout.
	run func(ctx context.Context, args []string, stdout io.Writer) error
}

func newCommand(name, help string) *command {
	c := &command{name: name, help: help, flags: pflag.NewFlagSet(name, pflag.ContinueOnError)}
	c.flags.SortFlags = false
	c.flags.Usage = func() {} // printed by the caller
	return c
}

// parse sets the flags and returns the positional arguments. It returns pflag.ErrHelp if the arguments request help.
func (c *command) parse(args []string) ([]string, error) {
	if err := c.flags.Parse(args); err != nil {
		return nil, err
	}
	given := c.flags.Args()
	if c.variadic != "" && len(given) == 0 {
		return nil, fmt.Errorf("%s is required", c.variadic)
	}
	if len(given) > len(c.args) && c.variadic == "" {
		return nil, fmt.Errorf("unexpected argument %q; a command comes before its flags", given[len(c.args)])
	}
	if len(given) < len(c.args) {
		return nil, fmt.Errorf("%s is required", c.args[len(given)])
	}
	for _, name := range c.required {
		if !c.flags.Changed(name) {
			return nil, fmt.Errorf("--%s is required", name)
		}
	}
	return given, nil
}

// usage returns the command line with the required flags and arguments.
func (c *command) usage() string {
	parts := []string{c.name}
	for _, name := range c.required {
		value, _ := pflag.UnquoteUsage(c.flags.Lookup(name))
		parts = append(parts, "--"+name+"="+value)
	}
	for _, name := range c.args {
		parts = append(parts, "<"+name+">")
	}
	if c.variadic != "" {
		parts = append(parts, "<"+c.variadic+">...")
	}
	if c.flags.HasFlags() {
		parts = append(parts, "[flags]")
	}
	return strings.Join(parts, " ")
}

// choice is a flag value with a fixed set of options.
type choice struct {
	flag.Value
	options []string
}

// Type returns the placeholder of the value in help texts.
func (c choice) Type() string { return strings.Join(c.options, "|") }

// Set returns the same form of error for all flags, unlike the embedded values.
func (c choice) Set(text string) error {
	if !slices.Contains(c.options, text) {
		return fmt.Errorf("must be one of %s", strings.Join(c.options, ", "))
	}
	return c.Value.Set(text)
}
