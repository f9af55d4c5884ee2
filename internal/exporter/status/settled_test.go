package status

import (
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
)

func TestSettled(t *testing.T) {
	for _, tc := range []struct {
		name    string
		refused bool
		synced  bool
		audit   informer.AuditStatus
		want    bool
	}{
		{name: "nothing yet"},
		{name: "refused", refused: true, audit: informer.AuditStatus{Interval: time.Minute}, want: true},
		{name: "synced, without audits", synced: true, want: true},
		{name: "synced, not audited", synced: true, audit: informer.AuditStatus{Interval: time.Minute}},
		{name: "not synced, and an audit skipped", audit: informer.AuditStatus{Interval: time.Minute, Result: "skipped"}},
		{name: "consistent", synced: true, audit: informer.AuditStatus{Interval: time.Minute, Result: "consistent"}, want: true},
		{name: "different", synced: true, audit: informer.AuditStatus{Interval: time.Minute, Result: "different"}, want: true},
		// The next audit is an interval away, which may be longer than the whole run.
		{name: "skipped", synced: true, audit: informer.AuditStatus{Interval: time.Minute, Result: "skipped"}, want: true},
		{name: "error", synced: true, audit: informer.AuditStatus{Interval: time.Minute, Result: "error"}, want: true},
	} {
		s := Informer{Status: informer.Status{Synced: tc.synced, LastAudit: tc.audit}, Refused: tc.refused}
		if got := s.Complete(); got != tc.want {
			t.Errorf("%s: settled %t, want %t", tc.name, got, tc.want)
		}
	}
}
