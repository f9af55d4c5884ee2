package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
	"github.com/informer-exporter/informer-exporter/internal/reason"
)

// Limits of the tables. JSON has everything.
const (
	mostClients, mostInformers = 20, 40
)

// Print writes the report as tables: all clients, what is wrong, and the informers of the first client.
func (r Report) Print(out io.Writer) error {
	p := &printer{out: out}
	p.printf("%d events from %s to %s (%s)", r.Events, stamp(r.First), stamp(r.Last), r.Last.Sub(r.First).Round(time.Second))
	if r.Malformed > 0 {
		p.printf(", %d malformed lines", r.Malformed)
	}
	if r.Duplicates > 0 {
		p.printf(", %d duplicates", r.Duplicates)
	}
	p.printf("\n\n")
	p.table("CLIENT\tREQUESTS\tWATCHES\tLOST\tRELISTS\tEARLY ENDS\tLONGEST GAP\tLISTS\tCONFLICTS\t429\tREPEATED READS\tHOT LOOPS", func(row func(string, ...any)) {
		for _, c := range r.Clients[:min(mostClients, len(r.Clients))] {
			row("%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", c.name(), c.Requests, c.Open, number(c.Lost), number(c.Relists), by(c.EarlyEnds, reason.Disconnects()),
				duration(c.LongestGap), by(c.Lists, clients.Hows()), share(c.Conflicts, c.Writes), share(c.Throttled, c.Requests), number(c.RepeatedReads), number(len(c.HotLoops)))
		}
	})
	if n := len(r.Clients) - mostClients; n > 0 {
		p.printf("… and %d other clients; --output=json has all\n", n)
	}
	r.problems(p)
	if len(r.Clients) > 0 {
		r.Clients[0].informers(p)
	}
	return p.err
}

// problems lists lost watches and hot loops.
func (r Report) problems(p *printer) {
	var lines []string
	for _, c := range r.Clients {
		for _, i := range c.Informers {
			if i.Unwatched != nil {
				lines = append(lines, fmt.Sprintf("%s has no watch on %s since %s, and still sends requests", c.name(), i.name(), stamp(*i.Unwatched)))
			}
		}
	}
	for _, c := range r.Clients {
		for _, h := range c.HotLoops {
			lines = append(lines, fmt.Sprintf("%s wrote %s %s %d times in a minute", c.name(), h.Resource, strings.TrimPrefix(h.Namespace+"/"+h.Name, "/"), h.PerMinute))
		}
	}
	if len(lines) == 0 {
		return
	}
	p.printf("\nProblems:\n")
	for _, line := range lines[:min(mostClients, len(lines))] {
		p.printf("  %s\n", line)
	}
	if n := len(lines) - mostClients; n > 0 {
		p.printf("  … and %d others\n", n)
	}
}

// informers lists the informers of a client, those with most relists and early ends first.
func (c Client) informers(p *printer) {
	if len(c.Informers) == 0 {
		return
	}
	sorted := slices.Clone(c.Informers)
	slices.SortStableFunc(sorted, func(a, b Informer) int { return cmp.Compare(b.trouble(), a.trouble()) })
	p.printf("\nInformers of %s:\n\n", c.name())
	p.table("RESOURCE\tWATCHES\tOPENED\tENDS\tRELISTS\tGAPS\tLONGEST GAP\tLISTS", func(row func(string, ...any)) {
		for _, i := range sorted[:min(mostInformers, len(sorted))] {
			row("%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s", i.name(), i.Open, i.Opened, by(i.Ends, reason.Ends()), by(i.Relists, reason.Relists()), number(i.Gaps),
				duration(i.LongestGap), by(i.Lists, clients.Hows()))
		}
	})
	if n := len(sorted) - mostInformers; n > 0 {
		p.printf("… and %d others; --output=json has all\n", n)
	}
}

func (i Informer) trouble() (n uint64) {
	for _, why := range reason.Disconnects() {
		n += i.Ends[why]
	}
	n += sum(i.Relists) - i.Relists[reason.Initial]
	if i.Unwatched != nil {
		n += 1 << 40
	}
	return n
}

func (i Informer) name() string {
	name := i.Resource
	if i.Namespace != "" {
		name = i.Namespace + "/" + name
	}
	if i.Selector != "" {
		name += " [" + i.Selector + "]"
	}
	return name
}

// name returns the user, without what all service accounts have, and the user agent unless it says the same.
func (c Client) name() string {
	user, account := strings.CutPrefix(c.User, "system:serviceaccount:")
	if account {
		user = strings.Replace(user, ":", "/", 1)
	}
	if c.Agent == "" || c.Agent == user || account && strings.HasSuffix(user, "/"+c.Agent) {
		return user
	}
	return user + " (" + c.Agent + ")"
}

// by lists counts in an order.
func by(counts map[string]uint64, order []string) string {
	var parts []string
	for _, key := range order {
		if n := counts[key]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", key, n))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if !slices.Contains(order, key) {
			parts = append(parts, fmt.Sprintf("%s %d", key, counts[key]))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

func number[N int | uint64](n N) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func share(part, all uint64) string {
	if part == 0 || all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(all))
}

func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d == 0:
		return "-"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func stamp(t time.Time) string { return t.UTC().Format(time.DateTime) }

// printer keeps the first error.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

func (p *printer) table(header string, rows func(row func(format string, args ...any))) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, header)
	rows(func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) })
	if err := w.Flush(); p.err == nil {
		p.err = err
	}
}
