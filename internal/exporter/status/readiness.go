package status

import "fmt"

// Check is one line of /readyz?verbose.
type Check struct {
	Name     string
	OK       bool
	Note     string
	Informer bool // named after an informer: a resource and a namespace
}

// String returns the line in the format of the API server's /readyz.
func (c Check) String() string {
	switch {
	case !c.OK:
		return fmt.Sprintf("[-]%s failed: %s", c.Name, c.Note)
	case c.Note != "":
		return fmt.Sprintf("[+]%s skipped: %s", c.Name, c.Note)
	default:
		return fmt.Sprintf("[+]%s ok", c.Name)
	}
}

// Readiness evaluates all checks.
func (r *Reporter) Readiness() (ready bool, checks []Check) {
	synced, passed := 0, true
	all := r.Set.List()
	for _, t := range all {
		c := Check{Name: t.Name(), OK: true, Informer: true}
		switch now := t.Availability.Status(); {
		case t.Shared.HasSynced():
			synced++
		case now.Refused():
			c.Note = now.Answer
		case now.WasRefused || r.ready.Load():
			c.Note = "not synced yet, became available late"
		default:
			c.OK, c.Note = false, "not synced yet"
		}
		passed = passed && c.OK
		checks = append(checks, c)
	}
	if !r.IsDiscovered() {
		passed = false
		checks = append(checks, Check{Name: "discovery", Note: "not complete yet"})
	}
	if synced == 0 && !r.ready.Load() && (len(all) > 0 || !r.Idle) {
		passed = false
		checks = append(checks, Check{Name: "informers", Note: "none is synced"})
	}
	if passed {
		r.ready.Store(true)
	}
	if r.draining.Load() {
		return false, append(checks, Check{Name: "shutdown", Note: "shutting down"})
	}
	return passed, checks
}

// IsDiscovered reports whether Discovered is closed.
func (r *Reporter) IsDiscovered() bool {
	select {
	case <-r.Discovered:
		return true
	default:
		return false
	}
}
