package check

import (
	"crypto/sha256"
	"fmt"

	"stig/cmd/stig/cli"
	"stig/internal/lint"
	"stig/internal/workspace"
)

// The parts of a SARIF 2.1.0 log that stig writes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Short   sarifText   `json:"shortDescription"`
		Full    sarifText   `json:"fullDescription"`
		Help    sarifText   `json:"help"`
		Default sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// asSARIF writes a SARIF 2.1.0 log for code scanning: every rule that was checked, with its
// help, and each diagnostic at its line of the store. It omits columns, because SARIF counts
// characters there and lines are long.
func asSARIF(a *cli.App, r outcome) (string, error) {
	run := sarifRun{
		Tool:    sarifTool{sarifDriver{Name: "stig", Version: cli.Version, Rules: []sarifRule{}}},
		Results: []sarifResult{},
	}
	index := map[string]int{}
	for i, rule := range r.Rules {
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(rule))
	}
	for _, d := range r.Found {
		at, known := index[d.Rule]
		if !known {
			return "", fmt.Errorf("%s: unknown rule %q", d.Place(), d.Rule)
		}
		run.Results = append(run.Results, sarifResultOf(a, d, at))
	}
	return indented(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifRuleOf(rule lint.Rule) sarifRule {
	return sarifRule{
		ID:    rule.ID,
		Short: sarifText{Text: rule.Summary},
		Full:  sarifText{Text: rule.Why},
		Help: sarifText{
			Text:     rule.Why + "\n\nExample:\n\n" + rule.Example + "\n\nWhat to do: " + rule.Fix,
			Markdown: rule.Why + "\n\nExample:\n\n````\n" + rule.Example + "\n````\n\n**What to do:** " + rule.Fix,
		},
		Default: sarifConfig{sarifLevel(rule.Severity)},
	}
}

func sarifResultOf(a *cli.App, d lint.Diagnostic, rule int) sarifResult {
	text := d.Place() + ": " + d.Message
	if d.Hint != "" {
		text += "\nhint: " + d.Hint
	}
	location := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{asURI(inRepository(a, d.File))}}}
	if d.Line > 0 {
		location.Physical.Region = &sarifRegion{d.Line}
	}
	if d.ID != "" {
		location.Logical = []sarifLogical{{d.ID}}
	}
	// Lines move when issues are added, so the fingerprint uses the rule, the id and the
	// message.
	said := sha256.Sum256([]byte(d.Rule + "\x00" + d.ID + "\x00" + d.Message))
	return sarifResult{
		RuleID: d.Rule, RuleIndex: rule, Level: sarifLevel(d.Severity), Message: sarifText{Text: workspace.Visible(text)},
		Locations:    []sarifLocation{location},
		Fingerprints: map[string]string{"primaryLocationLineHash": fmt.Sprintf("%x:1", said[:8])},
	}
}

func sarifLevel(s lint.Severity) string {
	if s == lint.Info {
		return "note"
	}
	return string(s)
}
