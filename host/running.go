package host

// Running names the program of an assistant that runs us, by the variables that it sets
// for the programs it starts; "" for none. A person at a terminal that such a program
// opened has none of them.
func Running(getenv func(string) string) string {
	for _, known := range []struct{ variable, program string }{
		{"CLAUDECODE", string(Claude)},
		{"CODEX_THREAD_ID", string(Codex)}, {"CODEX_SANDBOX", string(Codex)}, {"CODEX_SANDBOX_NETWORK_DISABLED", string(Codex)},
		{"CURSOR_AGENT", string(Cursor)},
		{"GEMINI_CLI", string(Gemini)},
		{"OPENCODE", string(OpenCode)},
	} {
		if getenv(known.variable) != "" {
			return known.program
		}
	}
	return ""
}
