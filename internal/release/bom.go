package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
)

// bill is a software bill of materials in the format CycloneDX 1.5. It names no time and no
// serial number, so that equal programs have equal bills.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// billOf lists the modules that the linker put into a program, and the standard library.
func billOf(program, version string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	whole := piece("application", "stig", version)
	whole.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
	b := bill{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{whole}}
	b.Components = append(b.Components, piece("library", "stdlib", strings.TrimPrefix(info.GoVersion, "go")))
	for _, module := range info.Deps {
		b.Components = append(b.Components, library(module))
	}
	uses := dependency{Ref: whole.Ref}
	for _, part := range b.Components {
		uses.DependsOn = append(uses.DependsOn, part.Ref)
	}
	b.Dependencies = []dependency{uses}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func library(module *debug.Module) component {
	if module.Replace != nil {
		module = module.Replace
	}
	c := piece("library", module.Path, module.Version)
	if module.Sum != "" {
		c.Properties = []property{{"go.sum", module.Sum}}
	}
	return c
}

func piece(kind, name, version string) component {
	purl := "pkg:golang/" + name + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: kind, Ref: purl, Name: name, Version: version, PURL: purl}
}
