package cue

import (
	cuelang "cuelang.org/go/cue"

	// The packages that a file may import: those of CUE that are useful in a project's file.
	// bounded rejects every call into the others.
	_ "cuelang.org/go/pkg/encoding/json"
	_ "cuelang.org/go/pkg/list"
	_ "cuelang.org/go/pkg/math"
	_ "cuelang.org/go/pkg/net"
	_ "cuelang.org/go/pkg/path"
	_ "cuelang.org/go/pkg/regexp"
	_ "cuelang.org/go/pkg/strconv"
	_ "cuelang.org/go/pkg/strings"
	_ "cuelang.org/go/pkg/struct"
	_ "cuelang.org/go/pkg/time"
	_ "cuelang.org/go/pkg/uuid"
)

// newContext is cuecontext.New without what that links for embedded files: decoders for every
// format and protobuf, 3.7 MB of a 28.4 MB binary. CUE offers no other way; a Context and a
// Runtime are one type under two names.
func newContext() *cuelang.Context {
	r := new(cuelang.Runtime) //lint:ignore SA1019 see above
	//lint:ignore SA1019 this initialises r
	if _, err := r.Compile("", ""); err != nil {
		panic(err)
	}
	return (*cuelang.Context)(r)
}
