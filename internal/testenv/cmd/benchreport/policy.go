package main

import (
	"errors"
	"fmt"
	"regexp"
)

// policyCost is the sentence about what the generated audit policy costs an API server.
var policyCost = regexp.MustCompile(`With this policy, an API server .* requests a second\.`)

// policy is the part of the page on audit logs.
var policy = part{
	id: "policy", page: "docs/audit-log.md", runs: []benchmarks{{"test/auditlog", "Policy$"}},
	render: func(text string, f *figures) (string, error) {
		if len(policyCost.FindAllString(text, -1)) != 1 {
			return "", errors.New("the sentence on the cost of the policy was not found")
		}
		return policyCost.ReplaceAllLiteralString(text, fmt.Sprintf("With this policy, an API server uses %s times the CPU time, and answers %s times the requests a second.",
			number(f.get("Policy", "cpu-ratio")), number(f.get("Policy", "requests-ratio")))), nil
	},
}
