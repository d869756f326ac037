package beads

import (
	"cmp"
	"slices"
	"strings"
)

// near returns up to three ids that may have been meant: those equal to id without their
// prefix, the only one that begins or ends with it, and those at most two letters away, with or
// without prefix. Case and surrounding marks such as # or a comma are ignored.
func near(id string, suffixed []string, ids func(func(string) bool) []string) []string {
	const most = 3
	near := slices.Sorted(slices.Values(suffixed))
	id = strings.ToLower(strings.Trim(id, " \t\n#,;:.\"'`()[]"))
	if id == "" {
		return nil
	}
	if only := ids(func(s string) bool { return strings.HasSuffix("-"+strings.ToLower(s), "-"+id) }); len(only) == 1 {
		return only
	}
	for _, match := range []func(string, string) bool{strings.HasPrefix, strings.HasSuffix} {
		if only := ids(func(s string) bool { return match(strings.ToLower(s), id) }); len(only) == 1 {
			near = append(near, only[0])
		}
	}
	near = append(near, misspelt(id, ids)...)
	return firstDistinct(near, most)
}

// misspelt gives the ids at distance one or two, nearest first, then by id.
func misspelt(id string, ids func(func(string) bool) []string) []string {
	away := map[string]int{}
	found := ids(func(s string) bool {
		lower := strings.ToLower(s)
		d := min(Distance(id, lower), Distance(id, lower[strings.LastIndexByte(lower, '-')+1:]))
		if d > 2 || d >= len(id) {
			return false
		}
		away[s] = d
		return true
	})
	slices.SortFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(away[a], away[b]), strings.Compare(a, b))
	})
	return found
}

func firstDistinct(list []string, most int) (out []string) {
	for _, s := range list {
		if len(out) < most && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Distance is the number of bytes to insert, delete, replace or swap with the next to get
// from a to b, or 3 when it is more than 2.
func Distance(a, b string) int {
	const far = 3
	if len(a)-len(b) >= far || len(b)-len(a) >= far {
		return far
	}
	rows := make([]int, 3*(len(b)+1)) // the last three
	above, last, row := rows[:len(b)+1], rows[len(b)+1:2*len(b)+2], rows[2*len(b)+2:]
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		above, last, row = last, row, above
		row[0] = i + 1
		for k := range len(b) {
			replaced := last[k]
			if a[i] != b[k] {
				replaced++
			}
			row[k+1] = min(last[k+1]+1, row[k]+1, replaced)
			if i > 0 && k > 0 && a[i] == b[k-1] && a[i-1] == b[k] {
				row[k+1] = min(row[k+1], above[k-1]+1)
			}
		}
	}
	return min(row[len(b)], far)
}
