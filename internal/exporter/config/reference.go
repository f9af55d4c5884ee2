package config

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"strings"
)

//go:embed config.go
var configSource string

// Section documents a part of the configuration file.
type Section struct {
	// Name is the name of the Go type.
	Name string
	// Doc is the comment of the type, with field names as in the file.
	Doc string
	// Fields are in the order of the type.
	Fields []Field
}

// Field documents a field of the configuration file.
type Field struct {
	// Name is the name of the field in the file.
	Name string
	// Type describes the value, such as "list of Resource".
	Type string
	// Doc is the comment of the field.
	Doc string
}

// Reference documents all fields of the configuration file from the comments of the Go types.
func Reference() ([]Section, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", configSource, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var sections []Section
	for _, name := range []string{"Config", "Resource", "Checks", "Objects"} {
		decl := declaration(file, name)
		fields := decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType).Fields.List
		written := map[string]string{}
		for _, f := range fields {
			written[f.Names[0].Name] = writtenName(f)
		}
		section := Section{Name: name, Doc: inFile(decl.Doc.Text(), written)}
		for _, f := range fields {
			section.Fields = append(section.Fields, Field{Name: writtenName(f), Type: typeName(f.Type), Doc: inFile(f.Doc.Text(), written)})
		}
		sections = append(sections, section)
	}
	return sections, nil
}

func declaration(file *ast.File, name string) *ast.GenDecl {
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == name {
			return g
		}
	}
	panic("config.go does not declare " + name) // config.go is embedded
}

func writtenName(f *ast.Field) string {
	name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("yaml"), ",")
	return name
}

func typeName(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.ArrayType:
		if elt := typeName(t.Elt); elt != "string" {
			return "list of " + elt
		}
		return "list of strings"
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return strings.ToLower(t.Sel.Name)
	case *ast.Ident:
		if t.Name == "bool" {
			return "true or false"
		}
		return t.Name
	}
	return ""
}

var word = regexp.MustCompile(`[A-Z][A-Za-z]+`)

// inFile replaces the Go field names in a comment with the names in the file.
func inFile(text string, written map[string]string) string {
	text = word.ReplaceAllStringFunc(text, func(w string) string {
		if name, ok := written[w]; ok {
			return "`" + name + "`"
		}
		return w
	})
	return strings.Join(strings.Fields(text), " ")
}
