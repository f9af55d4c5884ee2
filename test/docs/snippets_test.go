package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// packages are the packages that the documentation uses, by directory.
var packages = map[string]string{
	"collectors": "collectors", "informer": "collectors/informer", "queue": "collectors/queue", "controllers": "collectors/controllers",
	"leader": "collectors/leader", "apiclient": "collectors/apiclient", "catalog": "collectors/catalog", "alerts": "alerts",
	"dashboards": "dashboards", "tracing": "tracing", "clientgo": "integrations/clientgo",
}

var (
	selector = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)
	codeSpan = regexp.MustCompile("`[^`\n]+`")
	code     = regexp.MustCompile("(?ms)^ *```go\n(.*?)^ *```$")
	method   = regexp.MustCompile(`\bobs\.([A-Z]\w*)`)
	// call is a call with arguments that can be counted: without nested parentheses in a literal that continues on other
	// lines.
	call = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)(?:\[\w+\])?\(`)
)

// exported returns the identifiers of a package's non-test files with their number of parameters: -1 for variadic functions,
// types, variables and constants. Methods are named like Observer.Collect.
func exported(t *testing.T, dir string) map[string]int {
	t.Helper()
	names := map[string]int{}
	notTest := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
	parsed, err := parser.ParseDir(token.NewFileSet(), filepath.Join(root, dir), notTest, parser.SkipObjectResolution) //nolint:staticcheck // build tags do not matter here
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parsed {
		for _, file := range p.Files {
			for _, d := range file.Decls {
				declare(names, d)
			}
		}
	}
	return names
}

func declare(names map[string]int, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if index, ok := receiver.(*ast.IndexExpr); ok {
				receiver = index.X
			}
			if ident, ok := receiver.(*ast.Ident); ok {
				name = ident.Name + "." + name
			}
		}
		parameters := 0
		for _, field := range d.Type.Params.List {
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				parameters = -1
				break
			}
			parameters += max(1, len(field.Names))
		}
		names[name] = parameters
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names[spec.Name.Name] = -1
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names[name.Name] = -1
				}
			}
		}
	}
}

// arguments counts the arguments of a call. rest is the text after its opening parenthesis. It returns false if the call does
// not end in rest.
func arguments(rest string) (int, bool) {
	depth, commas, empty := 0, 0, true
	for _, r := range rest {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			if depth == 0 {
				if empty {
					return 0, true
				}
				return commas + 1, true
			}
			depth--
		case r == ',' && depth == 0:
			commas++
		}
		if r != ' ' && r != '\n' {
			empty = false
		}
	}
	return 0, false
}

// Code in the documentation uses identifiers that exist, and calls functions with as many arguments as they have parameters.
func TestSnippets(t *testing.T) {
	all := map[string]map[string]int{}
	for name, dir := range packages {
		all[name] = exported(t, dir)
		if len(all[name]) == 0 {
			t.Fatalf("%s exports nothing", dir)
		}
	}
	checked := 0
	for path, page := range pages(t) {
		if path == "CHANGELOG.md" { // it names what has been removed
			continue
		}
		var texts []string
		for _, m := range code.FindAllStringSubmatch(page, -1) {
			texts = append(texts, m[1])
		}
		texts = append(texts, codeSpan.FindAllString(fence.ReplaceAllString(page, ""), -1)...)
		for _, text := range texts {
			for _, m := range selector.FindAllStringSubmatch(text, -1) {
				names, ours := all[m[1]]
				if _, ok := names[m[2]]; ours && !ok {
					t.Errorf("%s: there is no %s.%s", path, m[1], m[2])
				} else if ours {
					checked++
				}
			}
			for _, m := range method.FindAllStringSubmatch(text, -1) {
				if _, ok := all["collectors"]["Observer."+m[1]]; !ok {
					t.Errorf("%s: the Observer has no method %s", path, m[1])
				}
			}
			for _, at := range call.FindAllStringSubmatchIndex(text, -1) {
				pkg, name := text[at[2]:at[3]], text[at[4]:at[5]]
				parameters, ours := all[pkg][name]
				if have, ok := arguments(text[at[1]:]); ours && ok && parameters >= 0 && have != parameters {
					t.Errorf("%s: %s.%s is called with %d arguments, want %d", path, pkg, name, have, parameters)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d identifiers were checked", checked)
	}
}
