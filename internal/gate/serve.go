package gate

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// servers are programs that go on until they are stopped, each with the words that
// make it do so; "" is any.
var servers = map[string][]string{
	"npm": {"dev", "start", "serve", "watch", "preview", "storybook"}, "pnpm": {"dev", "start", "serve", "watch", "preview", "storybook"},
	"yarn": {"dev", "start", "serve", "watch", "preview", "storybook"}, "bun": {"dev", "start", "serve", "watch", "preview"},
	"next": {"dev", "start"}, "nuxt": {"dev", "preview"}, "astro": {"dev", "preview"}, "vite": {"dev", "serve", "preview"}, "webpack": {"serve"},
	"ng": {"serve"}, "hugo": {"server", "serve"}, "jekyll": {"serve"}, "mkdocs": {"serve"}, "mdbook": {"serve", "watch"}, "trunk": {"serve"},
	"wrangler": {"dev"}, "vercel": {"dev"}, "netlify": {"dev"}, "expo": {"start"}, "deno": {"serve"},
	"rails": {"s", "server"}, "bin/rails": {"s", "server"}, "flask": {"run"}, "fastapi": {"dev", "run"}, "php": {"-S"}, "cargo": {"watch"},
	"manage.py": {"runserver"}, "python": {"http.server", "runserver"}, "python3": {"http.server", "runserver"}, "kubectl": {"port-forward", "proxy"},
	"tail": {"-f", "-F"}, "journalctl": {"-f"}, "uvicorn": {""}, "gunicorn": {""}, "hypercorn": {""}, "nodemon": {""}, "http-server": {""},
	"live-server": {""}, "watchexec": {""}, "watch": {""}, "entr": {""}, "top": {""}, "htop": {""}, "streamlit": {"run"},
}

// ends reports whether a task of that name ends although it is one of a server, as
// "storybook:test".
func ends(task string) bool {
	_, what, _ := strings.Cut(task, ":")
	return slices.Contains([]string{"test", "build", "check", "lint", "ci"}, what)
}

// ending are words with which the same programs end.
var ending = []string{"--help", "-h", "--version", "-V", "--check", "--once"}

// serves names a command of the script that does not end by itself; "" where there
// is none. What runs in the background or with a time limit ends with the script.
func (s *script) serves() (found string) {
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if statement, ok := node.(*syntax.Stmt); ok && statement.Background {
			return false
		}
		call, ok := node.(*syntax.CallExpr)
		if !ok || found != "" {
			return found == ""
		}
		if words := ShellWords(call.Args); serves(words) {
			found = strings.Join(words, " ")
		}
		return true
	})
	if last := s.last(); found == "" && detaches(last) {
		return strings.Join(last, " ")
	}
	return found
}

// detaches reports whether a simple command only leaves services running behind it.
// At the end of a script nothing checks those; --wait does, until they are healthy.
func detaches(words []string) bool {
	return len(words) > 2 && slices.Contains(composers, words[0]) &&
		slices.ContainsFunc(words, func(w string) bool { return w == "up" || w == "run" }) &&
		slices.ContainsFunc(words, func(w string) bool { return w == "-d" || w == "--detach" }) &&
		!slices.Contains(words, "--wait")
}

// composers are the programs that start containers.
var composers = []string{"docker", "docker-compose", "podman"}

// serves reports whether a simple command serves or watches until it is stopped.
func serves(words []string) bool {
	for len(words) > 1 && slices.Contains([]string{"npx", "bunx", "exec", "env", "sudo", "uv", "poetry", "pipx", "bundle", "run"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(ending, w) }) {
		return false
	}
	if slices.Contains(composers, words[0]) {
		compose := words[0] == "docker-compose" || slices.Contains(words, "compose")
		return compose && slices.Contains(words, "up") && !slices.Contains(words, "-d") && !slices.Contains(words, "--detach") && !slices.Contains(words, "--wait")
	}
	if slices.Contains(words, "--watch") || words[0] == "kubectl" && slices.Contains(words, "-w") {
		return true
	}
	if len(words) > 1 && (slices.Contains([]string{"serve", "dev", "tui"}, words[1]) || words[len(words)-1] == "serve") {
		return true
	}
	for _, mode := range servers[words[0]] {
		if mode == "" && len(words) > 1 {
			return true
		}
		for _, word := range words[1:min(4, len(words))] {
			if mode != "" && (word == mode || strings.HasSuffix(word, ":"+mode) || strings.HasPrefix(word, mode+":") && !ends(word)) {
				return true
			}
		}
	}
	return false
}
