package gate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stig/internal/git"
)

// A path may not be UTF-8, which JSON cannot hold: stig trust claimed to trust the repository
// there, and did not.
func TestTrustAnyPath(t *testing.T) {
	trust := Trust{Dir: t.TempDir()}
	quay := filepath.Join(t.TempDir(), "qu\xe9")
	if err := os.Mkdir(quay, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := trust.Grant(Grant{Root: quay, Commit: "c1"}); err != nil || !trust.Granted(quay, "c1") {
		t.Errorf("not trusted: %v", err)
	}
	if trust.Granted(filepath.Join(filepath.Dir(quay), "qu\xea"), "c1") {
		t.Error("trusted at another path")
	}
	want := []Grant{{Root: git.RealPath(quay), Commit: "c1"}}
	if got, err := trust.List(); err != nil || !slices.Equal(got, want) {
		t.Errorf("list %v, %v", got, err)
	}
	if was, err := trust.Revoke(quay); !was || err != nil || trust.Granted(quay, "c1") {
		t.Errorf("revoked: %v, %v", was, err)
	}
}
