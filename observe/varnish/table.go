package varnish

import (
	"cmp"

	"github.com/kasoku/kasoku/observe"
)

// A Table is [varnish] of kasoku.toml. The cache is read when one of the keys is set.
type Table struct {
	Stat string `toml:"stat" eg:"'varnishstat'"` // the program
	Name string `toml:"name" eg:"'/run/cache'"`  // instance, as varnishd's -n
}

// IsSet reports whether a cache is to be read.
func (t *Table) IsSet() bool { return *t != Table{} }

// Address returns which instance is read.
func (t *Table) Address() string { return cmp.Or(t.Name, "the default instance") }

// Check returns nothing: any name can be that of an instance or a program.
func (t *Table) Check() []observe.Fault { return nil }

// Open returns the source.
func (t *Table) Open() (observe.Source, error) {
	return New(Options{Program: t.Stat, Name: t.Name}), nil
}
