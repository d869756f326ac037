// Package schemas holds the CUE schemas of stig as text: that of the
// stigmergic workflow, that of the configuration, that of what commands print as
// JSON, that of traces, and that of the files of actors.
//
// It does not know CUE: package cue compiles the texts, and package signals
// has its constants generated from the first.
//
//	os.Stdout.WriteString(schemas.StigmergicWorkflow)
package schemas

import _ "embed"

// Where the schemas lie in the source tree, slash-separated.
const (
	File       = "schemas/stigmergic-workflow/schema.cue"
	ConfigFile = "schemas/stig/config.cue"
	OutputFile = "schemas/stig/output.cue"
	TracesFile = "schemas/traces/schema.cue"
	ActorsFile = "schemas/actors/schema.cue"
)

// StigmergicWorkflow is the text of [File].
//
//go:embed stigmergic-workflow/schema.cue
var StigmergicWorkflow string

// Config is the text of [ConfigFile].
//
//go:embed stig/config.cue
var Config string

// Output is the text of [OutputFile].
//
//go:embed stig/output.cue
var Output string

// Traces is the text of [TracesFile].
//
//go:embed traces/schema.cue
var Traces string

// Actors is the text of [ActorsFile].
//
//go:embed actors/schema.cue
var Actors string
