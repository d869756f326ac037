package signals_test

import (
	"fmt"
	"testing"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cuejson "cuelang.org/go/encoding/json"

	"stig/cue"
	"stig/notes"
	"stig/schemas"
	"stig/signals"
)

// stockVet validates a JSON table against the schema file, compiled once, as cue vet does.
func stockVet(t *testing.T, schema cuelang.Value, table *signals.Table) error {
	t.Helper()
	text, err := table.Effective()
	if err != nil {
		t.Fatal(err)
	}
	expr, err := cuejson.Extract("-", text)
	if err != nil {
		return err // such as a byte order mark inside the text
	}
	definition := "#SignalTable"
	if table.HasEvidence() {
		definition = "#SignalTableEvidence"
	}
	value := cuecontext.New().BuildExpr(expr)
	return schema.LookupPath(cuelang.ParsePath(definition)).Unify(value).Validate(cuelang.Concrete(true))
}

// signals get ID --json | cue vet agrees with the findings on every table.
func TestStockCUEAgrees(t *testing.T) {
	var texts []string
	for k, s := range signals.All() {
		for _, text := range tried(k, s) {
			texts = append(texts, rows(fmt.Sprintf("| %s | %s | — |", s, text)))
		}
	}
	for _, tt := range readCases {
		texts = append(texts, tt.text)
	}
	schema, own := cuecontext.New().CompileString(schemas.StigmergicWorkflow), cue.Embedded()
	for _, text := range texts {
		table := signals.Read(notes.Parse(text), own)
		violation := ""
		for _, f := range table.Findings() {
			if f.Rule == signals.RuleValue || f.Rule == signals.RuleVersion {
				violation = f.Message
			}
		}
		if err := stockVet(t, schema, table); (err != nil) != (violation != "") {
			t.Errorf("%q: stig finds %q, cue vet %v", text, violation, err)
		}
	}
}
