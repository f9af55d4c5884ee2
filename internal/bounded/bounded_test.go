package bounded

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Texts that differ stay different, a text that was cut is not cut again, and a text in parts is cut like one.
func TestText(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		"", "a", strings.Repeat("a", MaxText), strings.Repeat("a", MaxText+hashSize), strings.Repeat("a", MaxText+hashSize+1),
		strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<20) + "b", strings.Repeat("é", 1<<10),
	} {
		got := Text(text)
		if other, found := seen[got]; found || len(got) > MaxText+hashSize || Text(got) != got || !strings.HasPrefix(got, text[:min(len(text), MaxText)]) {
			t.Errorf("%d bytes become %q, as do %d", len(text), got, len(other))
		}
		seen[got] = text
		for _, size := range []int{1, 7, 252, 300} {
			var c Cut
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				c.Add([]byte(rest[:n]))
				rest = rest[n:]
			}
			if parts := string(c.Bytes()); parts != got {
				t.Errorf("%d bytes in parts of %d: %q, want %q", len(text), size, parts, got)
			}
		}
	}
}

// A text in JSON is cut before an escape and between runes.
func TestCutJSON(t *testing.T) {
	for _, begin := range []string{strings.Repeat("é", 200), strings.Repeat("a", MaxText-1) + `\n`, strings.Repeat("a", MaxText-3) + `\u00e9`} {
		s := NewScanner(strings.NewReader(`"` + begin + strings.Repeat("x", 1<<20) + `"`))
		text, err := s.String()
		if err != nil || len(text) > MaxText+hashSize || strings.ContainsAny(text, "\\\uFFFD") {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// FuzzScanner compares the values of a scanner with those of encoding/json, however the data arrives.
func FuzzScanner(f *testing.F) {
	f.Add([]byte(`{"a":[1,"b\"\\",{"c":null}],"d":-1.5e3,"":{}} `))
	f.Add([]byte(`["\\\\\"", true ]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, r := range []io.Reader{strings.NewReader(string(data)), iotest.OneByteReader(strings.NewReader(string(data))), iotest.DataErrReader(strings.NewReader(string(data)))} {
			s := NewScanner(r)
			err := s.Skip()
			if json.Valid(data) && (err != nil && len(data) < maxLiteral || err == nil && s.Next() != 0) {
				t.Errorf("%q: %v", data, err)
			}
			s = NewScanner(strings.NewReader(string(data)))
			err = s.Object(func([]byte) error { return s.Skip() })
			var object map[string]any
			if json.Unmarshal(data, &object) == nil && object != nil && err != nil && len(data) < maxLiteral {
				t.Errorf("%q: %v", data, err)
			}
		}
	})
}

// A reader that has no more bytes than a value needs is not asked for more, and errors of the reader are returned.
func TestSource(t *testing.T) {
	r, w := io.Pipe()
	go func() { _, _ = w.Write([]byte(`{"a":1}`)) }() // the reader reads all of it
	s := NewScanner(r)
	if err := s.Skip(); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	s = NewScanner(io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(broken)))
	if err := s.Skip(); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	s = NewScanner(strings.NewReader(`{"a":`))
	if err := s.Skip(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	s = NewScanner(strings.NewReader("\x00"))
	if c, err := s.Next(), s.Object(nil); c == 0 || !errors.Is(err, ErrInvalid) {
		t.Errorf("a character that is not the end: %q, %v", c, err)
	}
	large := io.MultiReader(strings.NewReader(`["`), strings.NewReader(strings.Repeat("a", MaxObject)), strings.NewReader(`"]`))
	if err := NewScanner(large).Skip(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

// A body that is read completely is limited by its size and by the memory of its values.
func TestCounted(t *testing.T) {
	const array = `[1,{}]`
	need := len(array) + SizeOfMap + 2*sizeOfElement
	for name, c := range map[string]struct {
		body   string
		memory int
		want   error
	}{
		"enough memory":  {array, need, nil},
		"too little":     {array, need - 1, ErrTooLarge},
		"the largest":    {strings.Repeat(" ", MaxObject), 2 * MaxObject, nil},
		"one byte above": {strings.Repeat(" ", MaxObject+1), 2 * MaxObject, ErrTooLarge},
	} {
		body, err := io.ReadAll(Counted(io.NopCloser(strings.NewReader(c.body)), c.memory))
		if !errors.Is(err, c.want) || err == nil && string(body) != c.body {
			t.Errorf("%s: %d bytes, %v, want %v", name, len(body), err, c.want)
		}
	}
}
