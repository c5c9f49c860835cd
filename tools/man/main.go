// Command man writes manual pages of kasoku from its help, a page for each command:
//
//	go run tools/man/main.go bin/kasoku DIRECTORY
//
// The help is the one source of both; the program itself does not grow by it. Pages are
// roff with the macros of man(7), and hold no date, so that they are the same each time.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kasoku/kasoku/internal/command"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man KASOKU DIRECTORY")
		os.Exit(2)
	}
	if err := writePages(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(3)
	}
}

// A page is what the help of one command says.
type page struct {
	words                  []string // kasoku lab up
	short, long            string
	usage, examples        []string
	flags, global, related []entry
}

// An entry is a flag or a command with its description.
type entry struct{ name, text string }

func writePages(program, dir string) error {
	version, err := output(program, "version")
	if err != nil {
		return err
	}
	version, _, _ = strings.Cut(version, "\n")
	return writePage(program, dir, version, []string{"kasoku"}, "why is the web service slow, and did the fix make it faster?")
}

// writePage writes the page of a command and those of its own commands.
func writePage(program, dir, version string, words []string, short string) error {
	help, err := output(program, append(words[1:len(words):len(words)], "--help")...)
	if err != nil {
		return err
	}
	p := parseHelp(help)
	p.words, p.short = words, short
	name := strings.Join(words, "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(p.roff(version)), 0o644); err != nil {
		return err
	}
	for _, sub := range p.related {
		if sub.name == "help" {
			continue
		}
		if err := writePage(program, dir, version, append(words[:len(words):len(words)], sub.name), sub.text); err != nil {
			return err
		}
	}
	return nil
}

func output(program string, args ...string) (string, error) {
	b, err := command.Output(context.Background(), command.Spec{Path: program, Args: args}, 1<<20)
	return string(b), err
}

// A line of flags: its short name, its long one with the word for its value, what it does.
var flagLine = regexp.MustCompile(`^ +((?:-\w, )?--[\w-]+(?: \S.*?)?)(?:  +(.*))?$`)

// parseHelp reads what cobra prints: paragraphs, then parts with a head each.
func parseHelp(help string) page {
	var p page
	part := ""
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		switch head := strings.TrimSuffix(line, ":"); head {
		case "Usage", "Examples", "Available Commands", "Flags", "Global Flags":
			part = head
			continue
		}
		switch part {
		case "":
			p.long += line + "\n"
		case "Usage":
			p.usage = appendLine(p.usage, line)
		case "Examples":
			p.examples = appendLine(p.examples, line)
		case "Available Commands":
			if name, text, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(line, "  ") {
				p.related = append(p.related, entry{name, strings.TrimSpace(text)})
			}
		case "Flags":
			p.flags = appendFlag(p.flags, line)
		case "Global Flags":
			p.global = appendFlag(p.global, line)
		}
	}
	return p
}

func appendLine(lines []string, line string) []string {
	if line == "" {
		return lines
	}
	return append(lines, strings.TrimPrefix(line, "  "))
}

func appendFlag(flags []entry, line string) []entry {
	if m := flagLine.FindStringSubmatch(line); m != nil {
		return append(flags, entry{m[1], m[2]})
	}
	return flags
}

// roff returns the page.
func (p page) roff(version string) string {
	var b strings.Builder
	name := strings.Join(p.words, "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" %q kasoku\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), version, escape(name), escape(p.short))
	writeLiteral(&b, "SYNOPSIS", p.usage)
	b.WriteString(".SH DESCRIPTION\n")
	for line := range strings.Lines(strings.TrimSpace(p.long) + "\n") {
		switch {
		case line == "\n":
			b.WriteString(".PP\n")
		case strings.HasPrefix(line, "  "): // a list or an example stands as it is
			fmt.Fprintf(&b, ".br\n%s", escape(line))
		default:
			b.WriteString(escape(line))
		}
	}
	writeEntries(&b, "COMMANDS", p.related)
	writeEntries(&b, "OPTIONS", append(p.flags[:len(p.flags):len(p.flags)], p.global...))
	writeLiteral(&b, "EXAMPLES", p.examples)
	b.WriteString(".SH EXIT STATUS\n0 good, 1 the answer is bad, 2 usage, 3 could not run, or not to its end.\n.SH SEE ALSO\n")
	var also []string
	if len(p.words) > 1 {
		also = append(also, strings.Join(p.words[:len(p.words)-1], "-"))
	}
	for _, sub := range p.related {
		if sub.name != "help" {
			also = append(also, name+"-"+sub.name)
		}
	}
	for i, other := range also {
		comma := ","
		if i == len(also)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", escape(other), comma)
	}
	return b.String()
}

func writeLiteral(b *strings.Builder, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", head)
	for _, line := range lines {
		b.WriteString(escape(line) + "\n")
	}
	b.WriteString(".fi\n")
}

func writeEntries(b *strings.Builder, head string, all []entry) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", head)
	for _, e := range all {
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", escape(e.name), escape(e.text))
	}
}

// escape makes a text roff: hyphens that can be pasted, backslashes, and lines that begin
// with a control character.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
