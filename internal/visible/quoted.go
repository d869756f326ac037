package visible

import "strings"

// Quoted formats a word for a shell, in quotes if it needs them.
func Quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return word
	}
	return InQuotes(word)
}

// InQuotes puts a text in the single quotes of a shell.
func InQuotes(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// plain are the characters that need no quotes.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:+,%"
