package web

import (
	"strings"
	"testing"
)

func TestTelemetryPathErrors(t *testing.T) {
	for _, path := range []string{"/", "metrics", "/{x}", "/a b", "/readyz", "/livez", "/api/v1/informers", "/a/", "GET /x", "/%2e", "/a//b", "/..", "/.", "/a/..", "/a/./b"} {
		s := newTestServer(t)
		s.TelemetryPath = path
		if _, err := s.paths(); err == nil || !strings.Contains(err.Error(), "--web.telemetry-path") {
			t.Errorf("%q: error %v does not name the flag", path, err)
		}
	}
}
