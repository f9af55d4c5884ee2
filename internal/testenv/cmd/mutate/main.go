// Command mutate makes small changes in a package, one at a time, runs its fast tests, and prints the changes that no test
// detects. It does not write to the package: the go command reads the changed file in place of the original (-overlay).
//
//	go run ./internal/testenv/cmd/mutate --n=200 --seed=1 ./collectors/internal/ring
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// enough is the minimum number of mutants for a row in the table, if the sample was cut short.
const enough = 15

type options struct {
	n       int
	seed    uint64
	timeout time.Duration // of the tests with one change
	budget  time.Duration // for one package
	memory  int           // of the tests, in MiB
	doc     string        // the page with the table
	list    bool
	only    *regexp.Regexp // of the mutants to sample, nil for all
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 200, "number of mutants per package")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "maximum timeout of the tests with one mutant, unless they usually take more than half of it; a second run may take four times as long")
	flag.DurationVar(&o.budget, "budget", time.Hour, "time for one package; the rest of the sample is left out")
	flag.IntVar(&o.memory, "memory", 2048, "memory limit of the tests in MiB")
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
	r, err := newRunner(ctx, p, o)
	if err != nil {
		return err
	}
	defer r.close()
	s := score{Package: strings.TrimPrefix(p.path, p.module+"/"), Seed: o.seed}
	invalid, slow, late := 0, 0, 0
	for _, m := range mutants {
		if s.Mutants == o.n || ctx.Err() != nil {
			break
		}
		if time.Since(started) > o.budget {
			late = o.n - s.Mutants
			break
		}
		result := r.try(ctx, m)
		if ctx.Err() != nil {
			break // interrupted tests say nothing about the mutant
		}
		switch result {
		case notCompiled:
			invalid++
		case killed:
			s.Mutants++
			s.Killed++
		case timedOut: // the change made the tests hang
			fmt.Printf("%s: %s\n", result, m)
			s.Mutants++
			s.Killed++
			slow++
		case survived, notCovered:
			if reason := equivalence(s.Package, m); reason != "" {
				fmt.Printf("equivalent: %s\n  %s\n", m, reason)
				s.Mutants++
				s.Equivalent++
				break
			}
			s.Mutants++
			fmt.Printf("%s: %s\n", result, m)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Printf("%s: %s, %d of the killed timed out twice, %d do not compile, %s", s.Package, s, slow, invalid, time.Since(started).Round(time.Second))
	if late > 0 {
		fmt.Printf(", %d left out after %s", late, o.budget)
	}
	fmt.Println()
	if o.doc == "" || o.only != nil {
		return nil
	}
	if late > 0 && s.Mutants < enough {
		fmt.Println("too few mutants for the table: raise --budget")
		return nil
	}
	return update(o.doc, s)
}
