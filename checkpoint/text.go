package checkpoint

import "strings"

// sameText compares two texts by their words.
func sameText(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}
