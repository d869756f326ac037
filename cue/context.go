package cue

import (
	cuelang "cuelang.org/go/cue"

	// The packages that a file may import: all of CUE's but encoding/openapi,
	// text/template and tool, which link large libraries and of which nothing can be
	// used in a file of a project, since bounded refuses their calls.
	_ "cuelang.org/go/pkg/crypto/ed25519"
	_ "cuelang.org/go/pkg/crypto/hmac"
	_ "cuelang.org/go/pkg/crypto/md5"
	_ "cuelang.org/go/pkg/crypto/sha1"
	_ "cuelang.org/go/pkg/crypto/sha256"
	_ "cuelang.org/go/pkg/crypto/sha512"
	_ "cuelang.org/go/pkg/encoding/base64"
	_ "cuelang.org/go/pkg/encoding/csv"
	_ "cuelang.org/go/pkg/encoding/hex"
	_ "cuelang.org/go/pkg/encoding/json"
	_ "cuelang.org/go/pkg/encoding/toml"
	_ "cuelang.org/go/pkg/encoding/yaml"
	_ "cuelang.org/go/pkg/html"
	_ "cuelang.org/go/pkg/list"
	_ "cuelang.org/go/pkg/math"
	_ "cuelang.org/go/pkg/math/bits"
	_ "cuelang.org/go/pkg/net"
	_ "cuelang.org/go/pkg/path"
	_ "cuelang.org/go/pkg/regexp"
	_ "cuelang.org/go/pkg/strconv"
	_ "cuelang.org/go/pkg/strings"
	_ "cuelang.org/go/pkg/struct"
	_ "cuelang.org/go/pkg/text/tabwriter"
	_ "cuelang.org/go/pkg/time"
	_ "cuelang.org/go/pkg/uuid"
)

// newContext is cuecontext.New without what that links for files that embed others: the
// decoders of every format and protobuf, 3.7 MB of a binary of 28.4 MB. CUE has no other
// function for that; a Context and a Runtime are one type under two names.
func newContext() *cuelang.Context {
	r := new(cuelang.Runtime) //lint:ignore SA1019 see above
	//lint:ignore SA1019 this initialises r
	if _, err := r.Compile("", ""); err != nil {
		panic(err)
	}
	return (*cuelang.Context)(r)
}
