package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manual is a page for stig and one for each of its commands, by name, in the language of
// man. A command's page has the commands below it too.
func manual(root *cobra.Command, version, day string) map[string]string {
	root.InitDefaultHelpCmd()
	pages := map[string]string{}
	page := func(cmd *cobra.Command, write func(*strings.Builder, *cobra.Command)) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		var b strings.Builder
		fmt.Fprintf(&b, ".TH %q 1 %q %q %q\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), day, "stig "+version, "stig", roff(name), roff(cmd.Short))
		write(&b, cmd)
		pages[name] = b.String()
	}
	page(root, writeRoot)
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			page(cmd, writeCommand)
		}
	}
	return pages
}

// writeRoot writes what the page of stig has below its name: all commands, the flags they share.
func writeRoot(b *strings.Builder, root *cobra.Command) {
	fmt.Fprintf(b, ".SH SYNOPSIS\n.B stig\ncommand [flags]\n.SH DESCRIPTION\n%s", asTyped(root.Long))
	for _, group := range root.Groups() {
		fmt.Fprintf(b, ".SH %s\n", strings.ToUpper(strings.TrimSuffix(group.Title, ":")))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID && cmd.IsAvailableCommand() {
				fmt.Fprintf(b, ".TP\n.BR stig\\-%s (1)\n%s\n", roff(cmd.Name()), roff(cmd.Short))
			}
		}
	}
	b.WriteString(".SH OPTIONS OF ALL COMMANDS\n")
	writeFlags(b, root.PersistentFlags())
	fmt.Fprintf(b, ".SH EXAMPLES\n%s", asTyped(root.Example))
}

// writeCommand writes what the page of a command has below its name.
func writeCommand(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, ".SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n%s", roff(cmd.UseLine()), asTyped(description(cmd)))
	if cmd.LocalNonPersistentFlags().HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		writeFlags(b, cmd.LocalNonPersistentFlags())
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			fmt.Fprintf(b, ".SH %s\n.B %s\n.PP\n%s", strings.ToUpper(roff(below.CommandPath())), roff(below.UseLine()), asTyped(description(below)))
			writeFlags(b, below.LocalNonPersistentFlags())
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, ".SH EXAMPLES\n%s", asTyped(cmd.Example))
	}
	b.WriteString(".SH SEE ALSO\n.BR stig (1)\n")
}

func description(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short
}

// writeFlags lists flags with what they do.
func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(name+" "+value)), roff(usage))
	})
}

// asTyped are lines that man leaves as they are.
func asTyped(text string) string {
	return ".nf\n" + roff(strings.TrimRight(text, "\n")) + "\n.fi\n"
}

// roff is a text in which man finds no requests of its own.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// pack compresses a page to the same bytes each time.
func pack(text string) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
