package collectors

import (
	"fmt"
	"time"
)

// Objectives are the objectives that the library itself compares with. Rules and dashboards have them, and all others, in the
// generator's configuration, under the same names in snake_case. A zero field is the default of package catalog.
type Objectives struct {
	// SyncLag makes an informer degraded, and is the default of informer.AssertOptions. The default is 5 s.
	SyncLag time.Duration
	// EventLag makes an informer degraded when a handler finishes an event later. The default is 5 s.
	EventLag time.Duration
	// ItemRetries is the number of retries above which the log names an item. The default is 6.
	ItemRetries int
}

func (o Objectives) validate() error {
	if o.SyncLag < 0 || o.EventLag < 0 || o.ItemRetries < 0 {
		return fmt.Errorf("collectors: Options.Objectives is %+v: use positive values, or 0 for the default", o)
	}
	return nil
}
