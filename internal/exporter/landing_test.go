package exporter

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestLandingPage(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	settle(t, e)
	response := get(e, "/")
	body := response.Body.String()
	for _, part := range []string{
		"informer-exporter: 2 of 3 synced", `<th scope="row">pods</th>`, `<span class="state synced">synced</span>`,
		`<span class="state forbidden">forbidden</span>`, `href="metrics"`, `href="readyz?verbose"`, `href="api/v1/informers"`,
		`aria-sort="ascending"><a href="?sort=state&amp;desc">State</a>`, `<a href="?sort=objects&amp;desc">Objects</a>`, `<a href="?sort=resource">Resource</a>`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("the page does not have %q", part)
		}
	}
	for _, part := range []string{"<script", "http://", "https://", "url(", "style=", "unmistakable", "ZgotmplZ", "debug/pprof"} {
		if strings.Contains(body, part) {
			t.Errorf("the page has %q", part)
		}
	}
	if !strings.HasPrefix(body, "<!DOCTYPE html>") {
		t.Errorf("starts with %.20q", body)
	}

	// The policy allows exactly the style of the page.
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(body)
	sum := sha256.Sum256([]byte(style[1]))
	want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	if policy := response.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, want) {
		t.Errorf("content security policy is %q, want %s in it", policy, want)
	}
}

// order returns the resources of the table from top to bottom.
func order(e *Exporter, target string) (resources []string) {
	for _, match := range regexp.MustCompile(`<th scope="row">(.*)</th>`).FindAllStringSubmatch(get(e, target).Body.String(), -1) {
		resources = append(resources, match[1])
	}
	return resources
}

func TestLandingPageSorts(t *testing.T) {
	e := newFake(t, Options{})
	run(t, e)
	settle(t, e)
	for target, want := range map[string][]string{
		"/":                    {"secrets", "nodes", "pods"}, // informers with problems are first
		"/?sort=nonsense&desc": {"secrets", "nodes", "pods"},
		"/?sort=state&desc":    {"nodes", "pods", "secrets"},
		"/?sort=resource":      {"nodes", "pods", "secrets"},
		"/?sort=resource&desc": {"secrets", "pods", "nodes"},
		"/?sort=objects&desc":  {"pods", "nodes", "secrets"}, // 2, 0, 0
		"/?sort=objects":       {"nodes", "secrets", "pods"},
	} {
		if got := order(e, target); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
	for target, want := range map[string]string{
		"/?sort=objects&desc": `aria-sort="descending"><a href="?sort=objects">Objects</a>`,
		"/?sort=objects":      `aria-sort="ascending"><a href="?sort=objects&amp;desc">Objects</a>`,
		"/?sort=resource":     `aria-sort="ascending"><a href="?sort=resource&amp;desc">Resource</a>`,
	} {
		if body := get(e, target).Body.String(); !strings.Contains(body, want) || strings.Count(body, ` aria-sort="`) != 1 {
			t.Errorf("%s does not have %s, once", target, want)
		}
	}
}
