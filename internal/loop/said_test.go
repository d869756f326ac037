package loop

import "testing"

func TestLastLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"one\n\ntwo \n\n":          "two",
		"stig: no\nhint: type x":   "stig: no",
		"hint: a\nhint: b\n":       "hint: a",
		"hint: a\nit failed\n":     "it failed",
		"no\nstig: cost=0.4 EUR\n": "no",
	} {
		if got := lastLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
