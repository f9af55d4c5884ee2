package status

import "fmt"

// check is one line of /readyz?verbose.
type check struct {
	name     string
	ok       bool
	note     string
	informer bool
}

// IsInformer reports whether the check is named after an informer: a resource and a namespace.
func (c check) IsInformer() bool { return c.informer }

// OK reports whether the check passed.
func (c check) OK() bool { return c.ok }

// String returns the line in the format of the API server's /readyz.
func (c check) String() string {
	switch {
	case !c.ok:
		return fmt.Sprintf("[-]%s failed: %s", c.name, c.note)
	case c.note != "":
		return fmt.Sprintf("[+]%s skipped: %s", c.name, c.note)
	default:
		return fmt.Sprintf("[+]%s ok", c.name)
	}
}

// Readiness evaluates all checks.
func (r *Reporter) Readiness() (ready bool, checks []check) {
	synced, passed := 0, true
	all := r.Set.List()
	for _, t := range all {
		c := check{name: t.Name(), ok: true, informer: true}
		switch now := t.Availability.Status(); {
		case t.Shared.HasSynced():
			synced++
		case now.Refused():
			c.note = now.Answer
		case now.WasRefused || r.ready.Load():
			c.note = "not synced yet, became available late"
		default:
			c.ok, c.note = false, "not synced yet"
		}
		passed = passed && c.ok
		checks = append(checks, c)
	}
	if !r.IsDiscovered() {
		passed = false
		checks = append(checks, check{name: "discovery", note: "not complete yet"})
	}
	if synced == 0 && !r.ready.Load() && (len(all) > 0 || !r.Idle) {
		passed = false
		checks = append(checks, check{name: "informers", note: "none is synced"})
	}
	if passed {
		r.ready.Store(true)
	}
	if r.draining.Load() {
		return false, append(checks, check{name: "shutdown", note: "shutting down"})
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
