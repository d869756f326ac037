package lint

import (
	"strings"
	"testing"
)

// TestEveryFormIsSearched holds the quick looks that spare the patterns to
// them: a text that a pattern matches must not be passed over. The samples are
// put together here, so that no scanner of sources takes them for secrets.
func TestEveryFormIsSearched(t *testing.T) {
	long := strings.Repeat("aB3x", 14)
	samples := []string{
		"-----BEGIN " + "PRIVATE KEY-----\n" + long, "-----BEGIN RSA " + "PRIVATE KEY-----\n" + long,
		"AKI" + "A2345672345672345", "ASI" + "A2345672345672345",
		"ghp" + "_" + long, "gho" + "_" + long, "ghu" + "_" + long, "ghs" + "_" + long, "ghr" + "_" + long,
		"github" + "_pat_" + long, "glpat" + "-" + long, "xoxa" + "-" + long, "xoxb" + "-" + long, "xoxs" + "-" + long, "sk" + "-" + long,
		"password=" + long, "PASSWORD: " + long, "db_Passwd = '" + long + "'", "w w W pASSWd=" + long, "passw passwd=" + long,
	}
	matched := map[*credential]bool{}
	kinds := kindsOfCredential()
	for _, sample := range samples {
		found := false
		for k := range kinds {
			c := &kinds[k]
			for _, text := range []string{sample, "see " + sample + " there", sample + "\n" + strings.Repeat("| a | b |\n", 9)} {
				if c.pattern.MatchString(text) {
					found, matched[c] = true, true
					if !c.mayStandIn(text) {
						t.Errorf("%s is passed over in %.20q…", c.kind, text)
					}
				}
			}
		}
		if !found {
			t.Errorf("%.20q… matches no pattern", sample)
		}
	}
	if len(matched) != len(kinds) {
		t.Errorf("%d of %d patterns were matched", len(matched), len(kinds))
	}
}

func TestHoldsPassw(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "w": false, "passw": true, "PASSW": true, "xpaSSwx": true, "pass w": false, "asswpassw": true, "wwwwpassW": true, "paſſw": false,
	} {
		if holdsPassw(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
