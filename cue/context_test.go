package cue_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Every CUE package may be imported except those with no permitted call, so that a new CUE
// version adds no package that is missing here.
func TestImports(t *testing.T) {
	left := strings.Fields("crypto/ed25519 crypto/hmac crypto/md5 crypto/sha1 crypto/sha256 crypto/sha512 " +
		"encoding/base64 encoding/csv encoding/hex encoding/openapi encoding/toml encoding/yaml html math/bits " +
		"text/tabwriter text/template tool tool/cli tool/exec tool/file tool/http tool/os")
	var missing []string
	here := imports(t, "stig/cue")
	for _, name := range imports(t, "cuelang.org/go/pkg") {
		if !slices.Contains(here, name) {
			missing = append(missing, strings.TrimPrefix(name, "cuelang.org/go/pkg/"))
		}
	}
	if !slices.Equal(missing, left) {
		t.Errorf("packages that no file can import: %v, want %v", missing, left)
	}
}

func imports(t *testing.T, name string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
