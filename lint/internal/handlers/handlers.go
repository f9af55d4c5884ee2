package handlers

import (
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

// Kind says when an informer calls a function.
type Kind int

// Kinds of functions.
const (
	Add Kind = iota
	Update
	Delete
	Filter
	Map
	Transform
	Event // of controller-runtime, with the object in a field of the event
)

// Handler is a function of the package that an informer calls.
type Handler struct {
	Kind Kind
	Func *ssa.Function
	// Objects are the parameters with objects of the cache.
	Objects []*ssa.Parameter
}

// Analyzer finds the handlers of a package. Its result is a []Handler.
var Analyzer = &analysis.Analyzer{
	Name:       "informerhandlers",
	Doc:        "find event handlers, filters and transforms",
	Requires:   []*analysis.Analyzer{ir.Analyzer},
	Run:        run,
	ResultType: reflect.TypeFor[[]Handler](),
}

// Of returns the handlers of the package that pass analyzes. The rule must require Analyzer.
func Of(pass *analysis.Pass) []Handler { return pass.ResultOf[Analyzer].([]Handler) }

// fields are the fields of structs of handlers, by type.
var fields = map[string]Kind{
	"ResourceEventHandlerFuncs.AddFunc": Add, "ResourceEventHandlerFuncs.UpdateFunc": Update, "ResourceEventHandlerFuncs.DeleteFunc": Delete,
	"ResourceEventHandlerDetailedFuncs.AddFunc": Add, "ResourceEventHandlerDetailedFuncs.UpdateFunc": Update,
	"ResourceEventHandlerDetailedFuncs.DeleteFunc": Delete, "FilteringResourceEventHandler.FilterFunc": Filter,
}

type finder struct {
	pkg   *ir.Package
	found []Handler
	seen  map[key]bool
}

// key identifies a handler.
type key struct {
	kind Kind
	f    *ssa.Function
}

func run(pass *analysis.Pass) (any, error) {
	fd := &finder{pkg: ir.Of(pass), seen: map[key]bool{}}
	for _, f := range fd.pkg.Funcs {
		fd.events(f)
		for instr := range ir.Instrs[ssa.Instruction](f) {
			fd.visit(instr)
		}
	}
	return fd.found, nil
}

func (fd *finder) visit(instr ssa.Instruction) {
	switch instr := instr.(type) {
	case *ssa.Store:
		if addr, ok := instr.Addr.(*ssa.FieldAddr); ok {
			path, name := kube.PathName(addr.X.Type())
			if path != kube.Cache {
				return
			}
			field := addr.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(addr.Field).Name()
			if kind, ok := fields[name+"."+field]; ok {
				fd.add(kind, instr.Val)
			}
		}
	case *ssa.ChangeType:
		path, name := kube.PathName(instr.Type())
		switch {
		case path == kube.Cache && name == "TransformFunc":
			fd.add(Transform, instr.X)
		case strings.HasPrefix(path, kube.Runtime+"handler") && (name == "MapFunc" || name == "TypedMapFunc"):
			fd.add(Map, instr.X)
		}
	case *ssa.MakeInterface:
		if path, name := kube.PathName(instr.Type()); path == kube.Cache && name == "ResourceEventHandler" {
			fd.methods(instr.X.Type())
		}
	}
}

// methods adds the methods of a type of this package that implements cache.ResourceEventHandler.
func (fd *finder) methods(t types.Type) {
	for name, kind := range map[string]Kind{"OnAdd": Add, "OnUpdate": Update, "OnDelete": Delete} {
		if m := kube.MethodOf(t, name); m != nil {
			fd.addFunc(kind, fd.pkg.Prog.FuncValue(m))
		}
	}
}

// events adds a function with a parameter that is an event of controller-runtime.
func (fd *finder) events(f *ssa.Function) {
	for _, p := range f.Params {
		if path, name := kube.PathName(p.Type()); path == kube.Runtime+"event" && strings.HasSuffix(name, "Event") {
			fd.addFunc(Event, f)
		}
	}
}

func (fd *finder) add(kind Kind, v ssa.Value) {
	for _, f := range fd.pkg.Functions(v) {
		fd.addFunc(kind, f)
	}
}

func (fd *finder) addFunc(kind Kind, f *ssa.Function) {
	if f == nil || len(f.Blocks) == 0 || fd.seen[key{kind, f}] {
		return
	}
	fd.seen[key{kind, f}] = true
	params := f.Params
	if f.Signature.Recv() != nil {
		params = params[1:]
	}
	h := Handler{Kind: kind, Func: f}
	switch {
	case kind == Event: // a GenericEvent has an object of the program
		for _, p := range params {
			if path, name := kube.PathName(p.Type()); path == kube.Runtime+"event" && !strings.HasSuffix(name, "GenericEvent") {
				h.Objects = append(h.Objects, p)
			}
		}
	case kind == Map:
		for _, p := range params {
			if kube.IsObject(p.Type()) {
				h.Objects = []*ssa.Parameter{p}
			}
		}
	case kind == Update && len(params) >= 2:
		h.Objects = params[:2]
	case len(params) >= 1:
		h.Objects = params[:1]
	}
	fd.found = append(fd.found, h)
}
