package visible

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// kind is one form of credential.
type kind struct {
	name    string   // its name in a sentence
	marks   []string // each contains one of them; the letters beside | are a rare pair, or the one is rare alone
	pattern *regexp.Regexp
	real    func(string) bool // nil: any match; called with the last group, or all
}

// kinds are the known forms. Most contain something that hardly anything else does; the others
// follow a name that says what they are.
var kinds = sync.OnceValue(func() []kind {
	return []kind{
		{"a private key", []string{"PRIVATE K|EY"}, regexp.MustCompile(
			`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\r?\n|\\n)(?:[A-Za-z-]+: [^\n]*\n|\r?\n)*[A-Za-z0-9+/=]{32,}`), nil},
		{"an age key", []string{"AGE-SECRET-K|EY-"}, regexp.MustCompile(`\bAGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Z]{50,}\b`), nil},
		{"an AWS access key", []string{"AK|IA", "ASI|A"}, regexp.MustCompile(`\bA[KS]IA[A-Z2-7]{16}\b`), notAnExample},
		{"an AWS secret key", []string{"secret_access_|key", "secretaccess|key", "aws_secret_|key"}, regexp.MustCompile(
			`(?i)(?:secret_?access|aws_secret)_?key["']?\s*[=:]\s*["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`), random},
		{"a GitHub token", []string{"ghp|_", "gho|_", "ghu|_", "ghs|_", "ghr|_"}, regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`), random},
		{"a GitHub token", []string{"github|_pat_"}, regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{50,}\b`), random},
		{"a GitLab token", []string{"g|lpat-"}, regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`), random},
		{"a Slack token", []string{"x|oxa-", "x|oxb-", "x|oxe-", "x|oxo-", "x|oxp-", "x|oxr-", "x|oxs-", "x|app-"}, regexp.MustCompile(
			`\b(?:xox[abeoprs]|xapp)-[0-9A-Za-z-]{20,}`), holdsDigit},
		{"a Slack webhook", []string{"hooks.|slack.com"}, regexp.MustCompile(`\bhooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}`), random},
		{"an API key (sk-…)", []string{"sk|-"}, regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{32,}`), random},
		{"a Stripe key", []string{"sk|_live_", "sk|_test_", "rk|_live_", "rk|_test_", "wh|sec_"}, regexp.MustCompile(
			`\b(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{32,})`), random},
		{"a Google API key", []string{"AI|za"}, regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}`), random},
		{"a Google OAuth secret", []string{"GOCSP|X-"}, regexp.MustCompile(`\bGOCSPX-[A-Za-z0-9_-]{28}`), random},
		{"an npm token", []string{"npm|_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`), random},
		{"a Hugging Face token", []string{"h|f_"}, regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}\b`), mixedCase},
		{"a JSON Web Token", []string{"ey|J"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}`), nil},
		{"a bearer token", []string{"b|earer "}, regexp.MustCompile(`(?i)\bbearer[ \t]+["']?([A-Za-z0-9._~+/-]{20,}=*)`), unlikeWords},
		{"a password in a URL", []string{"@|"}, regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://([^\s/:@"'<>` + "`" + `]*:[^\s/@"'<>` + "`" + `]+)@[A-Za-z0-9\[]`), urlPassword},
		{"a password", []string{"pass|w"}, regexp.MustCompile(
			"(?i)\\b[a-z_]*passw(?:or)?d[\"']?\\s*[=:]\\s*[\"']?([^\\s\"'`]{8,})"), password},
	}
})

// mark is a text that a kind of credential holds.
type mark struct {
	text   []byte
	offset int // of its rare pair
	fold   bool
	kind   int
}

// index finds marks by their rare pairs: a text is passed over once, and two tables tell
// nearly every pair in it from those of all marks. Bit n is that of marks[n].
type index struct {
	first, second [256]uint64 // the marks in whose pair a letter stands there
	marks         []mark
}

// marks are those of all kinds, their letters in both cases where the pattern takes both.
var marks = sync.OnceValue(func() *index {
	all := new(index)
	for n, k := range kinds() {
		for _, text := range k.marks {
			before, after, _ := strings.Cut(text, "|")
			m := mark{[]byte(before + after), len(before) - 1, strings.HasPrefix(k.pattern.String(), "(?i)"), n}
			bit := uint64(1) << len(all.marks)
			all.marks = append(all.marks, m)
			for _, c := range cases(m.text[m.offset], m.fold) {
				all.first[c] |= bit
			}
			for c := range all.second {
				if after == "" || slices.Contains(cases(after[0], m.fold), byte(c)) {
					all.second[c] |= bit
				}
			}
		}
	}
	return all
})

// cases are the forms of a letter: both where case does not count.
func cases(c byte, fold bool) []byte {
	lower, upper := bytes.ToLower([]byte{c}), bytes.ToUpper([]byte{c})
	if !fold || lower[0] == upper[0] {
		return []byte{c}
	}
	return []byte{lower[0], upper[0]}
}

func notAnExample(secret string) bool { return !strings.Contains(strings.ToUpper(secret), "EXAMPLE") }

func holdsDigit(secret string) bool { return strings.ContainsFunc(secret, unicode.IsDigit) }

func mixedCase(secret string) bool {
	return strings.ContainsFunc(secret, unicode.IsUpper) && strings.ContainsFunc(secret, unicode.IsLower) && notAnExample(secret)
}

// random reports whether a text mixes letters of both cases and digits, as names
// joined by hyphens do not.
func random(secret string) bool { return holdsDigit(secret) && mixedCase(secret) }

// unlikeWords reports whether a text holds digits and letters and is no placeholder.
func unlikeWords(secret string) bool {
	return holdsDigit(secret) && strings.ContainsFunc(secret, unicode.IsLetter) && notAnExample(secret) && !isPlaceholder(secret)
}

// password reports whether a value is none of: a variable, a call, a placeholder, a word.
func password(secret string) bool {
	return unlikeWords(secret) && !strings.ContainsAny(secret, "$<>(){}[]*%…")
}

// urlPassword reports whether user and password of a URL are more than those of a
// manual: a variable, a word such as "password", the name of the user once more.
func urlPassword(both string) bool {
	user, secret, _ := strings.Cut(both, ":")
	return len(secret) >= 6 && secret != user && !strings.ContainsAny(secret, "$<>(){}[]*…") && notAnExample(secret) && !isPlaceholder(secret)
}

// isPlaceholder reports whether a value stands for another one.
func isPlaceholder(secret string) bool {
	lower := strings.ToLower(secret)
	for _, word := range []string{"your", "changeme", "change-me", "redacted", "placeholder", "dummy", "xxxx", "....", "----", "____"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	switch strings.Trim(lower, "0123456789-_") {
	case "", "pass", "passwd", "password", "secret", "token", "mypass", "mypassword", "postgres", "mysql", "root", "admin", "guest", "test", "user", "foobar":
		return true
	}
	return false
}
