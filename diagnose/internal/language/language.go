// Package language knows in which language the application of a run is written, and which
// libraries the run shows that it uses, so that fixes are in that language and name no other.
package language

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// The languages that fixes are written for, as members of a service have them.
const (
	Go         = "go"
	Ruby       = "ruby"
	Python     = "python"
	PHP        = "php"
	JavaScript = "javascript"
	Java       = "java"
	Rust       = "rust"
	Unknown    = ""
)

// Of returns the language of the application, Unknown where it is not known or where
// processes in several languages serve it. A run that was recorded before kasoku looked
// for members counts as one in Go, which its findings were written for.
func Of(c *diagnose.Case) string {
	if c.Service == nil {
		return Go
	}
	language := Unknown
	for i, m := range c.Service.Of(kasoku.RoleApplication) {
		if i > 0 && m.Language != language {
			return Unknown
		}
		language = m.Language
	}
	return language
}

// Pick returns what a table has for a library that the run shows, else for the application's language;
// what it has for Unknown, the principle, where it lacks these.
func Pick[T any](c *diagnose.Case, table map[string]T) T {
	for _, library := range Libraries(c) {
		if v, ok := table[library]; ok {
			return v
		}
	}
	if v, ok := table[Of(c)]; ok {
		return v
	}
	return table[Unknown]
}

// Snippet puts code that is written in one language into a fix where the application is written
// in that one; elsewhere the fix stays words.
func Snippet(c *diagnose.Case, f kasoku.Fix, lang, code string) kasoku.Fix {
	if Of(c) == lang {
		f.Lang, f.Code = lang, code
	}
	return f
}
