// Command mutate makes small changes in a package, one at a time, runs its fast tests, and prints the changes that no test
// detects. It does not write to the package: the go command reads the changed file in place of the original (-overlay).
//
//	go run ./internal/testenv/cmd/mutate --n=200 --seed=1 ./collectors/internal/ring
//
// Unlike published mutation testers, it also removes statements, swaps arguments and changes the PromQL in strings and embedded
// files, and it runs the tests of other packages that cover the package.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

type options struct {
	n    int
	seed uint64
	doc  string // the page with the table
	list bool
	only *regexp.Regexp // of the mutants to sample, nil for all
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 200, "number of mutants per package")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample")
	flag.StringVar(&o.doc, "doc", "", "page with the table of kill rates to update")
	flag.BoolVar(&o.list, "list", false, "print the sample instead of running it")
	flag.Func("only", "sample only mutants with a printed diff that matches this regular expression, such as '^lock.go:(55|78)\\b'; the page is not updated", func(s string) (err error) {
		o.only, err = regexp.Compile(s)
		return err
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, pattern := range flag.Args() {
		if err := run(ctx, pattern, o); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(1)
		}
	}
}

// run samples the mutants of one package.
func run(ctx context.Context, pattern string, o options) error {
	started := time.Now()
	p, err := load(ctx, pattern)
	if err != nil {
		return err
	}
	var mutants []mutant
	for _, file := range p.files {
		found, err := mutantsOf(file)
		if err != nil {
			return err
		}
		mutants = append(mutants, found...)
	}
	if o.only != nil {
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !o.only.MatchString(m.String()) })
	}
	rand.New(rand.NewPCG(o.seed, 0)).Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	if o.list {
		for _, m := range mutants[:min(o.n, len(mutants))] {
			fmt.Println(m)
		}
		return nil
	}
	r, err := newRunner(ctx, p)
	if err != nil {
		return err
	}
	defer r.close()
	name := strings.TrimPrefix(p.path, p.module+"/")
	count := map[result]int{}
	tested := func() int { return count[killed] + count[timedOut] + count[survived] + count[equivalent] }
	for _, m := range mutants {
		if tested() == o.n {
			break
		}
		result := r.try(ctx, m)
		if ctx.Err() != nil {
			return ctx.Err() // interrupted tests say nothing about the mutant
		}
		reason := ""
		if result == survived {
			if reason = equivalence(name, m); reason != "" {
				result, reason = equivalent, "\n  "+reason
			}
		}
		count[result]++
		if result != killed && result != notCompiled {
			fmt.Printf("%s: %s%s\n", result, m, reason)
		}
	}
	dead, counted := count[killed]+count[timedOut], tested()-count[equivalent]
	fmt.Printf("%s: %d of %d mutants killed, seed %d, %s; %v\n", name, dead, counted, o.seed, time.Since(started).Round(time.Second), count)
	if o.doc == "" || o.only != nil {
		return nil
	}
	return update(o.doc, name, fmt.Sprintf("%d/%d", dead, counted))
}

// row matches a row of the table of kill rates.
var row = regexp.MustCompile("(?m)^\\| `(.+)` \\| \\d+/\\d+ \\|\n")

// update replaces the row of a package in the table of a page.
func update(file, name, rate string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rows := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(raw), -1) {
		rows[m[1]] = m[0]
	}
	rows[name] = page.Row("`"+name+"`", rate)
	table := page.Head("Package", "Killed")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		table += rows[name]
	}
	text, err := page.Replace(string(raw), "mutations", table)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
