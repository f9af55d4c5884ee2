package page_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"`up{job=node,instance=a:1}` 0, and x{a=b}": "`up{job=\"node\",instance=\"a:1\"}` 0, and x{a=b}",
		"`up{job=\"node\"}`":                        "`up{job=\"node\"}`",
		"`up > 1` and `a=b`":                        "`up > 1` and `a=b`",
	} {
		if got := page.Quote(text); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

func TestReplace(t *testing.T) {
	const begin, end = "<!-- BEGIN GENERATED a -->\n", "<!-- END GENERATED a -->\n"
	for name, text := range map[string]string{"empty": "", "outdated": "\nOUTDATED\n"} {
		got, err := page.Replace("intro\n"+begin+text+end+"outro\n", "a", page.Head("A", "B")+page.Row("1", "2"))
		if want := "intro\n" + begin + "\n| A | B |\n|---|---|\n| 1 | 2 |\n\n" + end + "outro\n"; err != nil || got != want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, got, want)
		}
	}
	for name, text := range map[string]string{
		"no markers": "intro\n", "another name": "<!-- BEGIN GENERATED b -->\n<!-- END GENERATED b -->\n",
		"no end": begin, "wrong order": end + begin, "twice": begin + end + begin + end,
	} {
		if got, err := page.Replace(text, "a", "x"); err == nil {
			t.Errorf("%s: no error, but\n%s", name, got)
		}
	}
}
