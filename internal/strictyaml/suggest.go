package strictyaml

import (
	"maps"
	"slices"
	"strings"
)

// suggestion names the field that was probably meant, or else all that there are.
func suggestion(name string, fields map[string][]int) string {
	known := slices.Sorted(maps.Keys(fields))
	best, least := "", len(name)/2+1 // a name of which half is different is another one
	for _, field := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(field)); d < least {
			best, least = field, d
		}
	}
	if best != "" {
		return "; did you mean " + best + "?"
	}
	return "; there are " + strings.Join(known, ", ")
}

// distance is the least number of letters to insert, delete, replace or exchange with their neighbour that makes a into b.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64 // no name of a field
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
