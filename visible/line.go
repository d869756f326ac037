package visible

import "strings"

// OneLine folds white space: a text on one line, with one blank between its words, which
// cannot break the line it stands in.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
