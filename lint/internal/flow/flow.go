package flow

import (
	"cmp"
	"go/token"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/handlers"
	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

// Analyzer finds writes to objects of a cache. Its result is a []Write.
var Analyzer = &analysis.Analyzer{
	Name:       "informerflow",
	Doc:        "follow objects of a cache through a package",
	Requires:   []*analysis.Analyzer{ir.Analyzer, handlers.Analyzer},
	Run:        run,
	ResultType: reflect.TypeFor[[]Write](),
}

// Of returns the writes of the package that pass analyzes. The rule must require Analyzer.
func Of(pass *analysis.Pass) []Write { return pass.ResultOf[Analyzer].([]Write) }

// solver has what is known about the functions of a package.
type solver struct {
	sources   map[*ssa.Parameter]bool      // objects that an informer passes
	bits      map[*ssa.Parameter]uint64    // of states
	changed   map[*ssa.Parameter]token.Pos // where a function changes objects
	results   map[*ssa.Function][]state
	variables map[*ssa.Alloc][]part
	// privateStores is set if the package makes stores of its own: it may change their objects.
	privateStores bool
}

// rounds limits how deep functions that call each other are followed.
const rounds = 5

func run(pass *analysis.Pass) (any, error) {
	pkg := ir.Of(pass)
	s := &solver{
		sources: map[*ssa.Parameter]bool{}, bits: map[*ssa.Parameter]uint64{}, changed: map[*ssa.Parameter]token.Pos{},
		results: map[*ssa.Function][]state{}, variables: map[*ssa.Alloc][]part{},
	}
	for _, h := range handlers.Of(pass) {
		if h.Kind != handlers.Transform {
			for _, p := range h.Objects {
				s.sources[p] = true
			}
		}
	}
	s.privateStores = makesStores(pkg)
	var writes []Write
	for range rounds {
		known := len(s.changed) + len(s.results)
		writes = nil
		for _, f := range pkg.Funcs {
			if f.Parent() == nil {
				g := s.group(f)
				g.solve()
				writes = append(writes, g.summarize()...)
			}
		}
		if len(s.changed)+len(s.results) == known {
			break
		}
	}
	return writes, nil
}

// summarize records what the functions of a group return and change, and returns their writes to objects of a cache.
func (g *group) summarize() []Write {
	var writes []Write
	for _, f := range g.funcs {
		results := make([]state, f.Signature.Results().Len())
		follow := false
		for i := range results {
			for _, v := range ir.Returns(f, i) {
				results[i] = join(results[i], g.state(v))
			}
			follow = follow || results[i].kind == cached || results[i].kind == fresh
		}
		if follow {
			g.results[f] = results
		}
		for instr := range ir.Instrs[ssa.Instruction](f) {
			values, by := g.written(instr)
			for _, v := range values {
				switch s := g.state(v); {
				case s.kind != cached:
				case s.needs == 0:
					writes = append(writes, Write{instr, by, g.changes(instr, v)})
				default:
					for p, bit := range g.params {
						if s.needs == bit && !g.changed[p].IsValid() {
							g.changed[p] = cmp.Or(g.changes(instr, v), instr.Pos())
						}
					}
				}
			}
		}
	}
	return writes
}

func makesStores(pkg *ir.Package) bool {
	for _, f := range pkg.Funcs {
		for call := range ir.Instrs[*ssa.Call](f) {
			if m, ok := kube.Called(&call.Call); ok && m.In(kube.Cache, "NewStore", "NewIndexer", "NewTTLStore", "NewExpirationStore") {
				return true
			}
		}
	}
	return false
}

// changes returns where an instruction changes a value: in the function of the package that it calls.
func (g *group) changes(instr ssa.Instruction, v ssa.Value) token.Pos {
	call, ok := instr.(ssa.CallInstruction)
	if !ok || call.Common().StaticCallee() == nil {
		return token.NoPos
	}
	for i, p := range call.Common().StaticCallee().Params {
		if i < len(call.Common().Args) && call.Common().Args[i] == v && g.changed[p].IsValid() {
			return g.changed[p]
		}
	}
	return token.NoPos
}
