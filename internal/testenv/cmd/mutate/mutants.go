package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// mutant is one change of one file.
type mutant struct {
	file       string
	begin, end int // the bytes to replace
	with       string
	source     []byte
}

// text returns the changed file.
func (m mutant) text() []byte {
	return bytes.Join([][]byte{m.source[:m.begin], []byte(m.with), m.source[m.end:]}, nil)
}

// line returns the number of the first changed line.
func (m mutant) line() int { return 1 + bytes.Count(m.source[:m.begin], []byte("\n")) }

// lines returns the changed lines before and after, without indentation.
func (m mutant) lines() (before, after string) {
	from := 1 + bytes.LastIndexByte(m.source[:m.begin], '\n')
	to := len(m.source)
	if n := bytes.IndexByte(m.source[m.end:], '\n'); n >= 0 {
		to = m.end + n
	}
	trim := func(parts ...[]byte) string { return strings.TrimSpace(string(bytes.Join(parts, nil))) }
	return trim(m.source[from:to]), trim(m.source[from:m.begin], []byte(m.with), m.source[m.end:to])
}

// String returns a diff.
func (m mutant) String() string {
	before, after := m.lines()
	return fmt.Sprintf("%s:%d\n  - %s\n  + %s", filepath.Base(m.file), m.line(), before, after)
}

// opposites are the changes of operators: bounds of comparisons, negations, arithmetic.
var opposites = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.INC: token.DEC, token.DEC: token.INC,
}

// mutantsOf returns all mutants of a file, in source order. Some do not compile.
func mutantsOf(path string) ([]mutant, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(path) != ".go" {
		return embeddedMutants(path, source), nil
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, 0)
	if err != nil {
		return nil, err
	}
	c := &collector{path: path, source: source, file: set.File(file.Pos())}
	ast.Inspect(file, c.visit)
	return c.found, nil
}

type collector struct {
	path   string
	source []byte
	file   *token.File
	found  []mutant
}

func (c *collector) replace(from, to token.Pos, with string) {
	begin, end := c.file.Offset(from), c.file.Offset(to)
	c.found = append(c.found, mutant{file: c.path, begin: begin, end: end, with: with, source: c.source})
}

func (c *collector) operator(at token.Pos, op token.Token) {
	if other, ok := opposites[op]; ok {
		c.replace(at, at+token.Pos(len(op.String())), other.String())
	}
}

func (c *collector) text(n ast.Node) string {
	return string(c.source[c.file.Offset(n.Pos()):c.file.Offset(n.End())])
}

// logs matches functions that write log messages, which do not affect behavior.
var logs = regexp.MustCompile(`(?i:\b[sk]?log(?:ger)?)(?:\(\))?\.(?:Debug|Info|Warn|Error|Log)\w*$`)

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.KeyValueExpr:
		return c.text(n.Key) != "id" // of a panel: any number that no other panel has
	case *ast.BinaryExpr:
		c.operator(n.OpPos, n.Op)
	case *ast.IncDecStmt:
		c.operator(n.TokPos, n.Tok)
	case *ast.IfStmt:
		c.replace(n.Cond.Pos(), n.Cond.End(), "!("+c.text(n.Cond)+")")
	case *ast.AssignStmt:
		c.operator(n.TokPos, n.Tok)
		if n.Tok == token.ASSIGN && len(n.Lhs) == 1 && c.text(n.Lhs[0]) != "_" {
			c.replace(n.Lhs[0].Pos(), n.Lhs[0].End(), "_")
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); !ok || !logs.MatchString(c.text(call.Fun)) {
			c.replace(n.Pos(), n.End(), "")
		}
	case *ast.DeferStmt, *ast.BranchStmt:
		c.replace(n.Pos(), n.End(), "")
	case *ast.CallExpr:
		c.swap(n)
	case *ast.Ident:
		if other, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
			c.replace(n.Pos(), n.End(), other)
		}
	case *ast.BasicLit:
		c.literal(n)
	}
	return true
}

// swap swaps adjacent arguments. If their types differ, the mutant does not compile. For min, max and sets, the order does not
// matter.
func (c *collector) swap(call *ast.CallExpr) {
	switch c.text(call.Fun) {
	case "min", "max", "sets.New":
		return
	}
	for i := 0; i+1 < len(call.Args); i++ {
		a, b := call.Args[i], call.Args[i+1]
		if c.text(a) != c.text(b) {
			c.replace(a.Pos(), b.End(), c.text(b)+", "+c.text(a))
		}
	}
}

func (c *collector) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		if value, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			c.replace(n.Pos(), n.End(), strconv.FormatInt(value+1, 10))
		}
	case token.FLOAT:
		if value, err := strconv.ParseFloat(n.Value, 64); err == nil {
			c.replace(n.Pos(), n.End(), strconv.FormatFloat(2*value, 'g', -1, 64))
		}
	case token.STRING:
		begin := c.file.Offset(n.Pos())
		c.found = append(c.found, queryMutants(c.path, c.source, begin, begin+len(n.Value))...)
	}
}
