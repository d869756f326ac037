// Package schemas holds the CUE schemas of stig as text: that of the
// stigmergic workflow, and that of the configuration.
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
)

// StigmergicWorkflow is the text of [File].
//
//go:embed stigmergic-workflow/schema.cue
var StigmergicWorkflow string

// Config is the text of [ConfigFile].
//
//go:embed stig/config.cue
var Config string
