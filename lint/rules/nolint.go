package rules

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// honorNolint makes a rule skip lines with the comment //nolint:informerlint, or with the name of the rule, as golangci-lint does.
func honorNolint(rule *analysis.Analyzer) *analysis.Analyzer {
	honoring := *rule
	honoring.Run = func(pass *analysis.Pass) (any, error) {
		lines := excluded(pass, rule.Name)
		report := pass.Report
		pass.Report = func(d analysis.Diagnostic) {
			if !lines[line(pass.Fset, d.Pos)] {
				report(d)
			}
		}
		return rule.Run(pass)
	}
	return &honoring
}

type fileLine struct {
	file string
	line int
}

func line(files *token.FileSet, pos token.Pos) fileLine {
	p := files.Position(pos)
	return fileLine{p.Filename, p.Line}
}

// excluded returns the lines of a package with a comment that excludes a rule.
func excluded(pass *analysis.Pass, rule string) map[fileLine]bool {
	lines := map[fileLine]bool{}
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				names, ok := strings.CutPrefix(comment.Text, "//nolint:")
				if !ok {
					continue
				}
				names, _, _ = strings.Cut(names, " ")
				for name := range strings.SplitSeq(names, ",") {
					if name == rule || name == "informerlint" {
						lines[line(pass.Fset, comment.Pos())] = true
					}
				}
			}
		}
	}
	return lines
}
