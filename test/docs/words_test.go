package docs

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// words are patterns of text that the project does not use, and what it says instead. CONTRIBUTING.md has the style.
// A space in a pattern is any white space, so that a line break does not hide a match.
var words = []struct{ not, use string }{
	// People, where machines and objects are meant.
	{`nobody|somebody|anybody|everybody|whoever|whomever|whom`, "the subject: the caller, the controller, the program"},
	{`whose`, "with, of which, or another sentence"},
	{`who (is|are|was|leads|holds|renews|asks|reads|changes)`, "the subject, or which"},
	// Verbs.
	{`tells? (whether|if|who|which|what|how|that|of)`, "reports whether, returns, shows"},
	{`(says?|said) (so|whether|which)`, "reports, logs, states"},
	{`looks? whether`, "checks whether"},
	{`(holds?|held) (that|against)`, "verifies that, compares with"},
	{`deal(s|t|ing)? with`, "handle, reconcile"},
	{`(takes?|took|taken|taking) (in|down) (a|the|that|what|all)`, "receive, record"},
	{`mend(s|ed|ing)?`, "fix, repair, restore"},
	{`does nothing else to`, "passes through unchanged"},
	// Riddles.
	{`whatever`, "any, all, regardless of"},
	{`(what|than|as|those|all) there (is|are|was|were)`, "the noun"},
	{`that there (is|are|was|were)[.,;:)]`, "existing, or the noun alone"},
	{`(is|are|was|were|be) (not |no longer |still )?(there|in its place)[.,;:)]`, "exists, is missing, is unavailable"},
	{`what is the matter|what is wrong with|something is the matter`, "the problem"},
	{`in (most )?trouble`, "with active problems"},
	{`(as|than) (it|they) (should|ought to) be`, "correct, expected"},
	{`as ever`, "as before, unchanged"},
	{`for nothing`, "without effect"},
	{`of (one's|its|their|your) own accord`, "automatically"},
	{`for ever`, "forever"},
	// Words of the field.
	{`back-off`, "backoff"},
	{`clean-ups?`, "cleanup"},
	{`full states?`, "initial sync, list, relist"},
	{`(turn(s|ed)?|turning) away`, "rejected, throttled"},
	{`furthest behind`, "largest sync lag"},
	{`trails|trailed`, "lags behind"},
	{`items? (that (is|are|was|were) )?given up`, "dropped items"},
	{`items? that waits?`, "queue depth, delayed items"},
	{`waits? in (the |a )?queues?`, "queue latency"},
	{`deepest queue`, "queue depth"},
	{`longest at work`, "longest running processor"},
	{`adds that (were|became) one`, "coalesced adds"},
	{`held in deletion|(is|are|stays?|objects?) in deletion`, "terminating, blocked by a finalizer"},
	{`past (its|their) deadlines?`, "deadline exceeded"},
	{`changes? of (the )?leaders?|leaders? changes?|without a leader|leaders too many`, "leader transitions, no leader, split brain"},
	{`changes? hands`, "leader or lease transition"},
	{`leads no more|leading no more`, "lost leadership"},
	{`informers too many`, "orphaned or duplicate informer"},
	{`without a series of (its|their) own`, "dropped series (label limit)"},
	{`the only exporter that`, "a single exporter"},
	// Idioms of other languages.
	{`at the latest`, "within, no later than"},
	{`some ((nano|micro|milli)?seconds|minutes|hundreds?|thousands?|tens)`, "a few, several"},
	{`the begin of|(its|their) begin`, "start"},
	{`until when`, "the time until which"},
	{`also if`, "even if"},
	{`(that|which|it) is none`, "is not one, is invalid"},
	{`another [a-z]+ than`, "other than, after the noun"},
	{`exists? since`, "has existed since"},
	{`exception are`, "exception is"},
	// British spelling.
	{`behaviours?|colour(s|ed)?|honour(s|ed)?|favour(s|ed|ite)?|neighbours?|labell(ed|ing)|cancell(ed|ing)|(un)?recognis(e|es|ed)|serialis(e|es|ed)|initialis(e|es|ed)|normali[s](e|es|ed)|organis(e|es|ed)|grey|catalogues?`, "American spelling"},
}

// shortened are patterns of words that stand for a noun, and of chains, in what users read: pages, and the packages of readers.
var shortened = []struct{ not, use string }{
	{`(those|that) of`, "the noun again, or a possessive"},
	{`at once`, "immediately, together"},
	{`no lines?`, "no data"},
	{`of( [^ .,:;()|]+){1,4} of( [^ .,:;()|]+){1,4} of`, "in, for, from, a possessive or two sentences"},
}

// readers are the folders with the comments and strings that shortened also checks.
var readers = []string{"alerts/", "dashboards/"}

// finding is a use of such a word.
type finding struct {
	path       string
	line       int
	match, use string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q: write %s", f.path, f.line, f.match, f.use)
}

// text is a piece of prose: a whole page, or one comment or string of a Go file.
type text struct {
	line    int
	content string
}

var lineStart = regexp.MustCompile(`(?m)^[\t ]*(//|#|>)`)

// texts returns the texts of a file. Markers of comments become spaces, so that sentences can be matched over line breaks.
func texts(t *testing.T, path string, content []byte) []text {
	t.Helper()
	blank := func(s string) string {
		return lineStart.ReplaceAllStringFunc(s, func(m string) string { return strings.Repeat(" ", len(m)) })
	}
	if filepath.Ext(path) != ".go" {
		return []text{{1, blank(string(content))}}
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []text
	for _, group := range file.Comments {
		from, to := set.Position(group.Pos()), set.Position(group.End())
		all = append(all, text{from.Line, blank(string(content[from.Offset:to.Offset]))})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			all = append(all, text{set.Position(literal.Pos()).Line, literal.Value})
		}
		return true
	})
	return all
}

func find(path string, texts []text, patterns []pattern) (all []finding) {
	for _, text := range texts {
		for _, pattern := range patterns {
			for _, at := range pattern.FindAllStringIndex(text.content, -1) {
				match := strings.Join(strings.Fields(text.content[at[0]:at[1]]), " ")
				all = append(all, finding{path, text.line + strings.Count(text.content[:at[0]], "\n"), match, pattern.use})
			}
		}
	}
	return all
}

// pattern finds a use of such a word.
type pattern struct {
	*regexp.Regexp
	use string
}

func compile(words []struct{ not, use string }) []pattern {
	var all []pattern
	for _, w := range words {
		expression := strings.ReplaceAll(w.not, " ", `\s+`)
		if !strings.HasSuffix(expression, "]") {
			expression = `(?:` + expression + `)\b`
		}
		all = append(all, pattern{regexp.MustCompile(`(?i)\b(?:` + expression + `)`), w.use})
	}
	return all
}

// unread lists files that are not checked: generated files, test data, this file, and CONTRIBUTING.md, which quotes the words.
var unread = []string{
	"deploy/alertmanager", "deploy/grafana", "deploy/kubernetes", "deploy/prometheus", "deploy/runbooks", "deploy/metrics.md", "deploy/configuration.md",
	"docs/flags.md", "test/e2e/testdata", "test/docs/words_test.go", "CONTRIBUTING.md",
}

// TestWords verifies that no comment, string or page has such a word.
func TestWords(t *testing.T) {
	patterns, more := compile(words), compile(shortened)
	var found []finding
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if slices.Contains(unread, relative) || entry.IsDir() && relative != "." && strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() || !slices.Contains([]string{".go", ".md", ".yaml", ".html"}, filepath.Ext(path)) && entry.Name() != "Makefile" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		prose := texts(t, relative, content)
		found = append(found, find(relative, prose, patterns)...)
		if filepath.Ext(path) == ".md" || slices.ContainsFunc(readers, func(folder string) bool { return strings.HasPrefix(relative, folder) }) {
			found = append(found, find(relative, prose, more)...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// Words are found across line breaks and comment markers; code is ignored.
func TestWordsAreFound(t *testing.T) {
	source := []byte("package p\n\n// F tells\n// whether clean-ups\n// are good.\nfunc F(nobody string) string { return nobody + \"for whoever\" }\n")
	var lines []string
	for _, f := range find("p.go", texts(t, "p.go", source), compile(words)) {
		lines = append(lines, fmt.Sprintf("%d %s", f.line, f.match))
	}
	slices.Sort(lines)
	if want := []string{"3 tells whether", "4 clean-ups", "6 whoever"}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	chain := find("p.md", []text{{1, "The lag of the informer of\nthe program of a team, that of no\nlines. The lag of one, of two, of three."}}, compile(shortened))
	if len(chain) != 3 {
		t.Errorf("got %v", chain)
	}
	page := find("p.md", texts(t, "p.md", bytes.TrimSpace([]byte("> It\n> deals\n> with it, nothing\nelse."))), compile(words))
	if len(page) != 1 || page[0].line != 2 {
		t.Errorf("got %v", page)
	}
}
