package signals_test

import (
	"encoding/json"
	"fmt"
	"testing"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cuejson "cuelang.org/go/encoding/json"

	"stig/notes"
	"stig/schemas"
	"stig/signals"
)

// stockVet judges a JSON table by the schema file as cue vet does.
func stockVet(t *testing.T, table *signals.Table) error {
	t.Helper()
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	expr, err := cuejson.Extract("-", text)
	if err != nil {
		return err // such as a byte order mark within the text
	}
	ctx := cuecontext.New()
	definition := "#SignalTable"
	if table.HasEvidence() {
		definition = "#SignalTableEvidence"
	}
	schema := ctx.CompileString(schemas.StigmergicWorkflow).LookupPath(cuelang.ParsePath(definition))
	return schema.Unify(ctx.BuildExpr(expr)).Validate(cuelang.Concrete(true))
}

// signals get ID --json | cue vet agrees with the findings on every table.
func TestStockCUEAgrees(t *testing.T) {
	var texts []string
	for _, s := range signals.All() {
		for _, text := range nearMisses() {
			texts = append(texts, rows(fmt.Sprintf("| %s | %s | — |", s, text)))
		}
	}
	for _, tt := range readCases {
		texts = append(texts, tt.text)
	}
	for _, text := range texts {
		table := signals.Read(notes.Parse(text), nil)
		violation := ""
		for _, f := range table.Findings() {
			if f.Rule == signals.RuleValue || f.Rule == signals.RuleVersion {
				violation = f.Message
			}
		}
		if err := stockVet(t, table); (err != nil) != (violation != "") {
			t.Errorf("%q: stig finds %q, cue vet %v", text, violation, err)
		}
	}
}
