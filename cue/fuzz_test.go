package cue_test

import (
	"strings"
	"testing"

	"stig/cue"
)

// FuzzNarrow: any project file is either rejected with its name, or yields a schema that
// accepts nothing the embedded one rejects.
func FuzzNarrow(f *testing.F) {
	for _, source := range []string{
		"package stigmergic\n#CynefinDomain: \"clear\" | \"complicated\"",
		"#SignalTable: surprise: <=0.8", "#SignalTable: {cynefin: _, if cynefin == \"clear\" {surprise: <0.1}}",
		"#SignalTable: {...}", "#SignalTable: {[string]: _}", "#SignalTable: mood?: string",
		"let x = 1\n_y: x\n#Progress: !=\"blocked\"", "import \"strings\"\n#Progress: strings.MaxRunes(9)",
		"#SignalTable: {#Extra}\n", "_e: mood: 1\n#SignalTable: _e", "#SignalTable: close({mood?: 1})", "#SignalTable: \"cynefin\": -1", "@if(x)\n#Progress: _",
		"_e: A: _e",
	} {
		f.Add(source)
	}
	embedded := cue.Embedded()
	probes := [][]cue.Value{
		table(), table(cue.Value{Name: "cynefin", Text: "odd"}), table(cue.Value{Name: "surprise", Text: "1.5", Kind: cue.Number}),
		append(table(), cue.Value{Name: "mood", Text: "good"}), append(table(), cue.Value{Name: "mood", Text: "1", Kind: cue.Number}), table()[1:],
	}
	f.Fuzz(func(t *testing.T, source string) {
		narrowed, err := embedded.Narrow("n.cue", []byte(source))
		if err != nil {
			if !strings.Contains(err.Error(), "n.cue") {
				t.Errorf("%q: error without place: %v", source, err)
			}
			return
		}
		for _, values := range probes {
			if len(embedded.Check(evidence, values)) > 0 && len(narrowed.Check(evidence, values)) == 0 {
				t.Errorf("%q widens the schema: %v", source, values)
			}
		}
	})
}
