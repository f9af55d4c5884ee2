package main

// equivalent is a change that does not affect any behavior that a test should verify.
type equivalent struct {
	pkg string
	// line is the changed line, without indentation.
	line   string
	reason string
}

var equivalents = []equivalent{
	{"collectors/internal/ring", "if from := c.ring.oldest(); next <= from {", "at equality nothing was overwritten: n is 0, and next stays"},
	{"collectors/internal/ring", "_ = passed", "Push searches the cursors again with each event: slower, with the same result"},
	{"collectors/internal/series", "if len(value) >= maxLength {", "a valid value of exactly this length is not changed"},
	{"collectors/internal/errclass", "case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), errors.Is(context.DeadlineExceeded, err), isDialTimeout(err):", "a wrapped DeadlineExceeded is a net.Error that timed out, which isTimeout finds"},
	{"collectors/apiclient", "if s != nil && r.isOther(key.Group, key.Resource) {", "newAnswer finds the same series, with a lock"},
	{"dashboards", `_ = slices.DeleteFunc(slices.Clone(p.labels), func(c column) bool { return c.label == "cluster" })`, "the column is hidden as well; only its place is kept"},
}

// equivalence returns why a mutant is equivalent, empty if it is not known to be.
func equivalence(pkg string, m mutant) string {
	_, after := m.lines()
	for _, e := range equivalents {
		if e.pkg == pkg && e.line == after {
			return e.reason
		}
	}
	return ""
}
