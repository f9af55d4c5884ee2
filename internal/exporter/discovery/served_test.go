package discovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Names that no resource can have are left out: they would be labels, paths, or resources of another group.
func TestNamesThatNoResourceHas(t *testing.T) {
	names := []string{"\xff", "..", "", "widgets.example", "Widgets", "things?watch=1", strings.Repeat("x", 1<<20)}
	s := servedBy(t, "com/v1/"+strings.Join(names, ",")+",good", "example.com/v2/widgets")
	if got, want := slices.Sorted(maps.Keys(s.kinds)), []string{"good.com", "widgets.example.com"}; !slices.Equal(got, want) {
		t.Errorf("got %.300q, want %q", got, want)
	}
	if got := write(choose(config.Config{}, s, nil)); !slices.Equal(got, []string{"good.com@v1?", "widgets.example.com@v2?"}) {
		t.Errorf("got %q", got)
	}
}

// A group that lists too many resources counts as one with a failed discovery: its informers stay, and it gets no new ones.
func TestGroupWithTooManyResources(t *testing.T) {
	many := func(n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint("things", i))
		}
		return "huge.example.com/v1/" + strings.Join(names, ",")
	}
	before := map[string]kinds.Kind{}
	for _, c := range choose(config.Config{}, servedBy(t, many(3)), before) {
		before[c.Type()] = c.Kind
	}
	s := servedBy(t, many(maxResources+1), "example.com/v1/widgets")
	want := []string{"things0.huge.example.com@v1?", "things1.huge.example.com@v1?", "things2.huge.example.com@v1?", "widgets.example.com@v1?"}
	if got := write(choose(config.Config{}, s, before)); !slices.Equal(got, want) {
		t.Errorf("got %d: %.500q, want %q", len(got), got, want)
	}
	if text := fmt.Sprint(s.errs); !strings.Contains(text, "huge.example.com/v1") || !strings.Contains(text, "501 resources, more than 500") {
		t.Errorf("errors: %s", text)
	}
	if got := choose(config.Config{}, servedBy(t, many(maxResources)), nil); len(got) != maxResources {
		t.Errorf("%d kinds at the limit", len(got))
	}
}
