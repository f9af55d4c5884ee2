package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// score is a row of the table of kill rates.
type score struct {
	Package                     string
	Mutants, Killed, Equivalent int
	Seed                        uint64
}

// rate returns the percentage of mutants that make a test fail, excluding equivalent ones.
func (s score) rate() int {
	if s.Mutants == s.Equivalent {
		return 100
	}
	return 100 * s.Killed / (s.Mutants - s.Equivalent)
}

func (s score) String() string {
	return fmt.Sprintf("%d of %d mutants killed, %d equivalent, kill rate %d%%, seed %d", s.Killed, s.Mutants, s.Equivalent, s.rate(), s.Seed)
}

// row has killed mutants, and those that are not equivalent.
func (s score) row() string {
	return fmt.Sprintf("| `%s` | %d/%d |", s.Package, s.Killed, s.Mutants-s.Equivalent)
}

const (
	tableBegin = "<!-- Written by make mutate. -->\n"
	tableEnd   = "<!-- End of the table. -->\n"
	header     = "| Package | Killed |\n|---|---|\n"
)

// update replaces the row of a package in the table of a page.
func update(page string, s score) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := replaceRow(string(raw), s)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

func replaceRow(text string, s score) (string, error) {
	before, rest, ok := strings.Cut(text, tableBegin)
	table, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		return "", errors.New("it has no table of kill rates")
	}
	rows := []string{s.row()}
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| `") && !strings.HasPrefix(line, "| `"+s.Package+"` ") {
			rows = append(rows, line)
		}
	}
	slices.Sort(rows)
	return before + tableBegin + "\n" + header + strings.Join(rows, "\n") + "\n\n" + tableEnd + after, nil
}
