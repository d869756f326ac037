package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// credential is a kind of secret that programs hand out in a form of their own.
type credential struct {
	kind    string
	rare    byte     // stands in each of them: most texts can be told not to hold one by it
	has     []string // one of them stands in each: a text without is not searched; nil: see holdsPassw
	pattern *regexp.Regexp
	real    func(secret string) bool // nil: whatever matches; the secret is the first group, or all
}

// kindsOfCredential are forms that hardly anything else has. What is only
// talked about (a prefix alone, a placeholder, a variable) must not match.
var kindsOfCredential = sync.OnceValue(func() []credential {
	return []credential{
		{kind: "a private key", rare: 'K', has: []string{"PRIVATE KEY"}, pattern: regexp.MustCompile(
			`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\r?\n|\\n)(?:[A-Za-z-]+: [^\n]*\n|\r?\n)*[A-Za-z0-9+/=]{32,}`)},
		{kind: "an AWS access key", rare: 'K', has: []string{"AKIA"}, pattern: regexp.MustCompile(`\bAKIA[A-Z2-7]{16}\b`), real: notAnExample},
		{kind: "an AWS access key", rare: 'A', has: []string{"ASIA"}, pattern: regexp.MustCompile(`\bASIA[A-Z2-7]{16}\b`), real: notAnExample},
		{kind: "a GitHub token", rare: '_', has: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, pattern: regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`), real: random},
		{kind: "a GitHub token", rare: '_', has: []string{"github_pat_"}, pattern: regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{50,}\b`), real: random},
		{kind: "a GitLab token", rare: '-', has: []string{"glpat-"}, pattern: regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`), real: random},
		{kind: "a Slack token", rare: 'x', has: []string{"xox"}, pattern: regexp.MustCompile(`\bxox[abeoprs]-[0-9A-Za-z-]{20,}`), real: holdsDigit},
		{kind: "an API key (sk-…)", rare: 'k', has: []string{"sk-"}, pattern: regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{32,}`), real: random},
		{kind: "a password", pattern: regexp.MustCompile(
			"(?i)\\b[a-z_]*passw(?:or)?d[\"']?\\s*[=:]\\s*[\"']?([^\\s\"'`]{8,})"), real: password},
	}
})

func (c credential) mayStandIn(text string) bool {
	if c.has == nil {
		return holdsPassw(text)
	}
	return strings.IndexByte(text, c.rare) >= 0 && slices.ContainsFunc(c.has, func(part string) bool { return strings.Contains(text, part) })
}

// holdsPassw reports whether a text holds what all forms of "password" begin
// with. It looks for the last letter, the rarest: every text is searched.
func holdsPassw(text string) bool {
	const passw = "passw"
	for _, last := range []byte("wW") {
		for at := 0; ; at++ {
			next := strings.IndexByte(text[at:], last)
			if next < 0 {
				break
			}
			at += next
			if at+1 >= len(passw) && strings.EqualFold(text[at+1-len(passw):at+1], passw) {
				return true
			}
		}
	}
	return false
}

// credentials finds secrets in the notes. What it finds is never repeated:
// diagnostics end up in logs.
func credentials(s *subject) {
	eachCredential(s.doc.Text(), func(kind string, start int) bool {
		line, column := s.doc.Position(start)
		s.add(RuleSecret, line, column, fmt.Sprintf("this looks like %s", kind),
			"revoke it where it was issued, then take it out of the notes: git still has it")
		return true
	})
}

// HoldsCredential reports whether a text holds what looks like a credential.
func HoldsCredential(text string) (found bool) {
	eachCredential(text, func(string, int) bool {
		found = true
		return false
	})
	return found
}

// eachCredential calls visit with what each credential in a text looks like,
// and the offset of it in bytes, until visit returns false.
func eachCredential(text string, visit func(kind string, start int) bool) {
	for _, c := range kindsOfCredential() {
		if !c.mayStandIn(text) {
			continue
		}
		for _, at := range c.pattern.FindAllStringSubmatchIndex(text, -1) {
			start, end := at[len(at)-2], at[len(at)-1]
			if c.real != nil && !c.real(text[start:end]) {
				continue
			}
			if !visit(c.kind, start) {
				return
			}
		}
	}
}

func notAnExample(secret string) bool { return !strings.Contains(secret, "EXAMPLE") }

func holdsDigit(secret string) bool { return strings.ContainsFunc(secret, unicode.IsDigit) }

// random tells letters of both cases and digits mixed from names joined by hyphens.
func random(secret string) bool {
	return holdsDigit(secret) && strings.ContainsFunc(secret, unicode.IsUpper) && strings.ContainsFunc(secret, unicode.IsLower) &&
		notAnExample(secret)
}

// password tells a value from a variable, a call, a placeholder or a word.
func password(secret string) bool {
	return holdsDigit(secret) && strings.ContainsFunc(secret, unicode.IsLetter) &&
		!strings.ContainsAny(secret, "$<>(){}[]*%…") && !strings.Contains(strings.ToLower(secret), "example")
}
