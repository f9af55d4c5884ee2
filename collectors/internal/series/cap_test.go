package series

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCap(t *testing.T) {
	overflows := 0
	c := Cap{Limit: 2, Overflow: func() { overflows++ }}
	for _, step := range []struct{ value, want string }{
		{"a", "a"}, {"b", "b"}, {"c", Other}, {"a", "a"}, {Other, Other},
	} {
		if got := c.Acquire(step.value); got != step.want {
			t.Fatalf("Acquire(%q) = %q, want %q", step.value, got, step.want)
		}
	}
	if overflows != 1 {
		t.Errorf("%d overflows: only c had no room", overflows)
	}
	c.Release("a")
	if got := c.Acquire("c"); got != Other {
		t.Errorf("a is still in use, yet c became %q", got)
	}
	c.Release("a")
	if got := c.Acquire("c"); got != "c" {
		t.Errorf("there is room again, yet c became %q", got)
	}
	c.Release(Other)
	c.Release("never acquired")
	if got := c.Acquire("d"); got != Other {
		t.Errorf("Acquire(d) = %q: releases of unknown values made room", got)
	}
	if overflows != 3 {
		t.Errorf("%d overflows, want 3", overflows)
	}
	if got := new(Cap).Acquire("a"); got != Other {
		t.Errorf("the zero value allows %q", got)
	}
}

func TestValid(t *testing.T) {
	long := strings.Repeat("x", 255)
	for value, want := range map[string]string{
		"":            "",
		"pods":        "pods",
		"a\xffb":      "a\uFFFDb",
		long + "\xff": long,
		long + "é":    long,
		long + "yz":   long + "y",
	} {
		got := Valid(value)
		if got != want || !utf8.ValidString(got) {
			t.Errorf("Valid(%q) = %q, want %q", value, got, want)
		}
		if again := Valid(got); again != got {
			t.Errorf("Valid(%q) = %q is not valid: it becomes %q", value, got, again)
		}
	}
}
