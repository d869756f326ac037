// Package schemas embeds stig's CUE schemas: the stigmergic workflow, the configuration, the
// JSON output of commands, traces, and actors' files.
//
// It does not know CUE: package cue compiles the texts, and the constants of package signals
// are generated from the first.
//
//	os.Stdout.WriteString(schemas.StigmergicWorkflow)
package schemas

import _ "embed"

// File is the path of the workflow schema in the source tree, slash-separated.
const File = "schemas/stigmergic-workflow/schema.cue"

// StigmergicWorkflow is the text of [File].
//
//go:embed stigmergic-workflow/schema.cue
var StigmergicWorkflow string

// Config is the text of stig/config.cue.
//
//go:embed stig/config.cue
var Config string

// Output is the text of stig/output.cue.
//
//go:embed stig/output.cue
var Output string

// Traces is the text of traces/schema.cue.
//
//go:embed traces/schema.cue
var Traces string

// Actors is the text of actors/schema.cue.
//
//go:embed actors/schema.cue
var Actors string
