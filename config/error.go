package config

import (
	"fmt"
	"strings"
)

// An Error is one mistake in a kasoku.toml.
type Error struct {
	Path string // of the file
	Line int    // from 1; 0 when it is about the whole file
	Key  string // dotted, such as finalize.units[1].name; empty for broken TOML
	Text string // what is wrong and what was expected
	hint string
}

// Error returns "kasoku.toml:12: load.each: want a duration, not a number".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Text)
	return b.String()
}

// Hint returns what to write instead, empty when nothing is known.
func (e *Error) Hint() string { return e.hint }
