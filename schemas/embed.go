// Package schemas holds the CUE schema of the stigmergic workflow as text.
//
// It does not know CUE: package cue compiles the text, and package signals
// has its constants generated from it.
//
//	os.Stdout.WriteString(schemas.StigmergicWorkflow)
package schemas

import _ "embed"

// File is where the schema lies in the source tree, slash-separated.
const File = "schemas/stigmergic-workflow/schema.cue"

// StigmergicWorkflow is the text of [File].
//
//go:embed stigmergic-workflow/schema.cue
var StigmergicWorkflow string
