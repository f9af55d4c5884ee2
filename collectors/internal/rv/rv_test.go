package rv

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

func TestParse(t *testing.T) {
	for s, want := range map[string]struct {
		n  uint64
		ok bool
	}{
		"":                     {},
		"0":                    {},
		"01":                   {},
		"-1":                   {},
		"+1":                   {},
		"1\x20":                {},
		"1a":                   {},
		"1:":                   {}, // the byte after 9
		"1/":                   {}, // the byte before 0
		"٣":                    {},
		"18446744073709551616": {},
		"99999999999999999999": {},
		"1":                    {1, true},
		"10":                   {10, true},
		"1234567890":           {1234567890, true},
		"18446744073709551615": {18446744073709551615, true},
	} {
		if n, ok := Parse(s); n != want.n || ok != want.ok {
			t.Errorf("Parse(%q) = %d, %t; want %d, %t", s, n, ok, want.n, want.ok)
		}
	}
}

// Parse must accept exactly what apimachinery can compare, as long as it fits into 64 bits.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "0", "1", "007", "12345", "18446744073709551615", "18446744073709551616", "x", "1\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := Parse(s)
		_, err := resourceversion.CompareResourceVersion(s, "1")
		_, tooLong := strconv.ParseUint(s, 10, 64)
		if want := err == nil && tooLong == nil; ok != want {
			t.Fatalf("Parse(%q) ok = %t; apimachinery: %v, strconv: %v", s, ok, err, tooLong)
		}
		if ok && strconv.FormatUint(n, 10) != s {
			t.Fatalf("Parse(%q) = %d", s, n)
		}
	})
}

func TestOf(t *testing.T) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7"}}
	for _, c := range []struct {
		obj  any
		want string
	}{{object, "7"}, {&metav1.PartialObjectMetadata{}, ""}, {"text", ""}, {nil, ""}} {
		if got := Of(c.obj); got != c.want {
			t.Errorf("Of(%v) = %q, want %q", c.obj, got, c.want)
		}
	}
}
