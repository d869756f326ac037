package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"stig/cmd/stig/cli"
	"stig/schemas"
)

// TestPublishedStays checks the promise of docs/compatibility.md: the published JSON and
// convention of version 1 stay while the version is 1. Keys may be added, and -update records
// them; removing a key or changing its type needs another version.
func TestPublishedStays(t *testing.T) {
	now := keysBelow(definitions(t, schemas.Output), "", 0)
	convention := cuecontext.New().CompileString(schemas.StigmergicWorkflow)
	for _, name := range []string{"#SignalTable", "#SignalTableEvidence"} {
		now = append(now, keysBelow(convention.LookupPath(cue.ParsePath(name)), name, 0)...)
	}
	for _, name := range []string{"#CynefinDomain", "#Progress", "#EscalationState", "#PlanningDepth", "#Confidence", "#RegressionGuard"} {
		values, _, found := strings.Cut(schemas.StigmergicWorkflow[strings.Index(schemas.StigmergicWorkflow, "\n"+name+": ")+1:], "error(")
		if !found {
			t.Fatalf("%s: not found", name)
		}
		now = append(now, strings.Join(strings.Fields(strings.TrimRight(values, "\t\n |")), " "))
	}
	slices.Sort(now)
	now = slices.Compact(now)
	golden := fromHere("testdata", "published-1.txt")
	recorded, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(recorded)) {
		if line = strings.TrimSuffix(line, "\n"); !slices.Contains(now, line) {
			t.Errorf("%s: is gone or was changed; docs/compatibility.md says which version that takes", line)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(golden, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// keysBelow lists the keys of a struct, and of those in it and in its lists: the path, ! if it
// is always there, the type.
func keysBelow(v cue.Value, path string, depth int) (keys []string) {
	if op, ways := v.Expr(); op == cue.OrOp && v.IncompleteKind()&cue.NullKind != 0 { // a struct, or null
		for _, way := range ways {
			keys = append(keys, keysBelow(way, path, depth)...)
		}
		return keys
	}
	if v.IncompleteKind() == cue.ListKind {
		return keysBelow(v.LookupPath(cue.MakePath(cue.AnyIndex)), path+"[]", depth)
	}
	if v.IncompleteKind() != cue.StructKind || depth > 8 {
		return nil
	}
	fields, err := v.Fields(cue.Optional(true))
	if err != nil {
		return nil
	}
	for fields.Next() {
		name := strings.Trim(fields.Selector().String(), `?!"`)
		at := strings.TrimPrefix(path+"."+name, ".")
		if depth > 0 || path != "" {
			mark := ""
			if fields.Selector().ConstraintType() == cue.RequiredConstraint {
				mark = "!"
			}
			keys = append(keys, fmt.Sprintf("%s%s %s", at, mark, fields.Value().IncompleteKind()))
		}
		keys = append(keys, keysBelow(fields.Value(), at, depth+1)...)
	}
	return keys
}

// TestVersionIsNamed checks that the documents name the program's version.
func TestVersionIsNamed(t *testing.T) {
	changes := readFile(t, "..", "..", "CHANGELOG.md")
	first, _, _ := strings.Cut(changes[strings.Index(changes, "\n## ")+1:], "\n")
	if !strings.HasPrefix(first, "## "+cli.Version) {
		t.Errorf("CHANGELOG.md begins with %q, and this is %s", first, cli.Version)
	}
	for _, plugin := range []string{".claude-plugin", ".codex-plugin"} {
		if text := readFile(t, "..", "..", "internal", "assistant", "plugin", plugin, "plugin.json"); !strings.Contains(text, `"version": "`+cli.Version+`"`) {
			t.Errorf("plugin/%s/plugin.json: is of another version than %s", plugin, cli.Version)
		}
	}
}
