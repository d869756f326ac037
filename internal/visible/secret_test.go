package visible

import (
	"strings"
	"testing"
)

// long is what no word looks like. The samples are assembled here, so that source scanners do
// not take them for secrets.
var long = strings.Repeat("aB3x", 14)

// samples has at least one credential of each kind, and its position in the sample.
func samples() [][2]string {
	whole := func(s string) [2]string { return [2]string{s, s} }
	return [][2]string{
		whole("-----BEGIN " + "PRIVATE KEY-----\n" + long), whole("-----BEGIN RSA " + "PRIVATE KEY-----\n" + long),
		whole("-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\nVersion: 1\n\n" + long),
		whole("AGE-SECRET" + "-KEY-1" + strings.Repeat("QPZRY9X8GF", 6)[:58]),
		whole("AKI" + "A2345672345672345"), whole("ASI" + "A2345672345672345"),
		{"aws_secret" + "_access_key = " + long[:40], long[:40]}, {`"SecretAccess` + `Key": "` + long[:38] + `/+"`, long[:38] + "/+"},
		{"AWS_SECRET" + "_ACCESS_KEY=" + long[:40] + "\n", long[:40]},
		whole("ghp" + "_" + long), whole("gho" + "_" + long), whole("ghu" + "_" + long), whole("ghs" + "_" + long), whole("ghr" + "_" + long),
		whole("github" + "_pat_" + long), whole("glpat" + "-" + long),
		whole("xoxa" + "-" + long), whole("xoxb" + "-" + long), whole("xoxs" + "-" + long), whole("xapp" + "-1-" + long),
		whole("hooks.slack" + ".com/services/T01234567/B01234567/" + long[:24]),
		whole("sk" + "-" + long), whole("sk" + "_live_" + long), whole("rk" + "_test_" + long), whole("whsec" + "_" + long),
		whole("AI" + "za" + long[:35]), whole("GOCSPX" + "-" + long[:28]),
		whole("npm" + "_" + long[:36]), whole("hf" + "_" + strings.Repeat("aBcDe", 7)[:34]),
		whole("ey" + "J" + long[:20] + ".ey" + "J" + long[:30] + "." + long[:43]),
		{"Authorization: Bearer " + long[:24], long[:24]}, {"authorization: bearer 8" + strings.Repeat("ab", 12), "8" + strings.Repeat("ab", 12)},
		{"postgres://app:" + "hunter2hunter2@db:5432/app", "app:hunter2hunter2"}, {"https://:" + "correcthorse@host/", ":correcthorse"},
		{"redis://mara:" + "tide;gauge@[::1]/", "mara:tide;gauge"},
		{"password=" + long, long}, {"PASSWORD: " + long, long}, {"db_Passwd = '" + long + "'", long},
		{"w w W pASSWd=" + long, long}, {"passw passwd=" + long, long},
	}
}

// TestFind also checks that marks miss no kind, in the middle of a text, in another and in a
// line of JSON.
func TestFind(t *testing.T) {
	found := map[string]bool{}
	for _, sample := range samples() {
		for _, text := range []string{sample[0], "see " + sample[0] + " there", "a\n\t" + sample[0] + "\n.", sample[0] + "\n" + strings.Repeat("| a | b |\n", 9)} {
			all := Secrets(text)
			if len(all) != 1 || !strings.HasPrefix(text[all[0].Start:all[0].End], sample[1][:8]) {
				t.Errorf("%.30q…: %v", text, all)
				continue
			}
			found[all[0].Kind] = true
			if hidden := HideSecrets(text); strings.Contains(hidden, sample[1]) || !strings.Contains(hidden, "["+all[0].Kind+", omitted]") || HoldsSecret(hidden) {
				t.Errorf("%.30q… hidden: %q", text, hidden)
			}
		}
	}
	for _, k := range kinds() {
		if !found[k.name] {
			t.Errorf("%s: no sample", k.name)
		}
	}
}

// TestMarks checks that no pattern matches what the marks skip.
func TestMarks(t *testing.T) {
	for _, sample := range samples() {
		for n, k := range kinds() {
			if at := k.pattern.FindStringIndex(sample[0]); at != nil {
				held := false
				for _, c := range candidates([]byte(sample[0])) {
					held = held || c == n
				}
				if !held {
					t.Errorf("%s is passed over in %.30q…", k.name, sample[0])
				}
			}
		}
	}
}

// TestTalk lists mentions of credentials that are not credentials.
func TestTalk(t *testing.T) {
	for _, text := range []string{
		"", "w", "passw", "tokens begin with ghp_, AKIA, npm_, hf_, sk_live_, AIza or sk-",
		"AKIA" + "IOSFODNN7EXAMPLE is in their manual", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"sk-every-word-of-this-is-lower-case-and-long", "npm_config_registry, npm_package_version", "hf_transfer_is_a_package_of_python_for_downloads",
		"password=$DB_PASSWORD1, password: <your-password-1>, password = ask(input1)", "the password: correcthorse", "password: xxxxxxxx1",
		"a file with -----BEGIN RSA PRIVATE" + " KEY----- in its first line",
		"Authorization: Bearer $TOKEN1", "Bearer <token>", "a bearer of good news from the north in 2026", "Bearer YOUR_TOKEN_HERE_1234567890",
		"postgres://postgres:postgres@localhost/db", "https://user:password@host/", "https://$USER:$PASSWORD@host/", "http://localhost:8080/@scope/pkg",
		"amqp://guest:guest@mq", "https://mara@host/", "git@host:repo.git", "https://a.example/x:y@z", "mysql://root:test123@db", "ssh://git:***@host",
		"eyJhbGciOiJIUzI1NiJ9 is the head of a token", "AGE-SECRET-KEY-1… is how it begins",
	} {
		if all := Secrets(text); len(all) > 0 {
			t.Errorf("%q: %v", text, all)
		}
		if HideSecrets(text) != text {
			t.Errorf("%q: hidden: %q", text, HideSecrets(text))
		}
	}
}
