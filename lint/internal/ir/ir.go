package ir

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Analyzer builds the SSA form of a package that uses Kubernetes clients. Its result is a *Package, which has no functions for
// other packages.
var Analyzer = &analysis.Analyzer{
	Name:       "informerssa",
	Doc:        "build the SSA form of a package that uses Kubernetes clients",
	Run:        run,
	ResultType: reflect.TypeFor[*Package](),
}

// Package is the SSA form of a package.
type Package struct {
	Prog *ssa.Program
	// Funcs are the functions of the source, each followed by its function literals.
	Funcs []*ssa.Function
}

// Of returns the SSA form of the package that pass analyzes. The rule must require Analyzer.
func Of(pass *analysis.Pass) *Package { return pass.ResultOf[Analyzer].(*Package) }

func run(pass *analysis.Pass) (any, error) {
	p := &Package{}
	if !usesClients(pass.Pkg) {
		return p, nil
	}
	p.Prog = ssa.NewProgram(pass.Fset, 0)
	p.Prog.SetNoReturn(noReturn)
	for _, imported := range pass.Pkg.Imports() {
		p.Prog.CreatePackage(imported, nil, nil, true)
	}
	pkg := p.Prog.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false)
	pkg.Build()
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok {
				p.add(p.Prog.FuncValue(pass.TypesInfo.Defs[decl.Name].(*types.Func)))
			}
		}
	}
	p.add(pkg.Func("init")) // has the values of package-level variables
	return p, nil
}

func (p *Package) add(f *ssa.Function) {
	if f != nil {
		p.Funcs = append(p.Funcs, Literals(f)...)
	}
}

// usesClients reports whether a package imports client-go or controller-runtime, perhaps through other packages.
func usesClients(pkg *types.Package) bool {
	seen := map[*types.Package]bool{}
	var uses func(pkg *types.Package) bool
	uses = func(pkg *types.Package) bool {
		if seen[pkg] {
			return false
		}
		seen[pkg] = true
		if strings.HasPrefix(pkg.Path(), "k8s.io/client-go/") || strings.HasPrefix(pkg.Path(), "sigs.k8s.io/controller-runtime/") {
			return true
		}
		return slices.ContainsFunc(pkg.Imports(), uses)
	}
	return uses(pkg)
}

// noReturn reports whether a function ends the program or the goroutine.
func noReturn(f *types.Func) bool {
	if f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case "os":
		return f.Name() == "Exit"
	case "runtime":
		return f.Name() == "Goexit"
	case "log", "testing", "k8s.io/klog/v2", "github.com/golang/glog":
		return strings.HasPrefix(f.Name(), "Fatal") || strings.HasPrefix(f.Name(), "Exit") || strings.HasPrefix(f.Name(), "Panic") ||
			f.Name() == "FailNow" || strings.HasPrefix(f.Name(), "Skip") && f.Name() != "Skipped"
	}
	return false
}
