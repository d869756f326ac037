package cue

import (
	"fmt"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// Decode holds a CUE or JSON file against a definition of a schema and sets
// what it says in the Go value that into points to, by json tags; what it does
// not say stays. The error has a line, led by name:line:column, for each
// mistake in the file.
func Decode(schema, definition, name string, source []byte, into any) error {
	context := cuecontext.New()
	allowed := context.CompileString(schema, cuelang.Filename(definition)).LookupPath(cuelang.ParsePath(definition))
	if err := allowed.Err(); err != nil {
		return fmt.Errorf("schema of %s: %w", name, err)
	}
	given := context.CompileBytes(source, cuelang.Filename(name))
	if err := given.Err(); err != nil {
		return located(err, name)
	}
	value := allowed.Unify(given)
	if err := value.Validate(cuelang.Concrete(true)); err != nil {
		return located(err, name)
	}
	return value.Decode(into)
}
