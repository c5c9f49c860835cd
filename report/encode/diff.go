package encode

import (
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/report"
)

// diff writes a diff as a block of code, its fence longer than any in the text.
func (m *markdown) diff(d *report.Diff) {
	m.line("\n%s %s", code(d.Name), escape(d.What))
	if len(d.Lines) > 0 {
		fence := "```"
		for _, l := range d.Lines {
			for strings.Contains(l.Text, fence) {
				fence += "`"
			}
		}
		m.line("\n%sdiff", fence)
		for _, l := range d.Lines {
			m.line("%s", field(l.Text))
		}
		m.line("%s", fence)
	}
	if d.More != "" {
		m.line("\n%s", escape(d.More))
	}
}

// A Config is a text of the configuration in force, without the text.
type Config struct {
	Host   string `json:"host,omitempty"`
	Kind   string `json:"kind"` // nginx, mysql, vcl, unit, schema, git, file
	Name   string `json:"name"`
	Bytes  int    `json:"text_bytes"`
	Mode   uint32 `json:"mode,omitempty"`
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Masked int    `json:"masked"`
	Note   string `json:"note,omitempty"`
}

func newConfig(c *kasoku.Config) Config {
	return Config{c.Host, c.Kind, c.Name, len(c.Text), c.Mode, c.UID, c.GID, c.Masked, c.Note}
}

// A ConfigDiff is a text of the configuration in which the sides differ.
type ConfigDiff struct {
	Host    string        `json:"host,omitempty"`
	Kind    string        `json:"kind"`
	Name    string        `json:"name"`
	Before  *Config       `json:"before"` // null where the side does not have it
	After   *Config       `json:"after"`
	Diff    string        `json:"diff,omitempty"` // hunks of a unified diff
	Added   int           `json:"added_lines"`
	Removed int           `json:"removed_lines"`
	Left    int           `json:"left_lines,omitempty"` // of the diff, left out
	Indexes []IndexChange `json:"indexes"`
}

// An IndexChange is an index of a table that differs.
type IndexChange struct {
	Name   string  `json:"name"`
	Before *string `json:"before"` // definition; null where the side does not have it
	After  *string `json:"after"`
}

func newConfigDiff(d *compare.ConfigDiff) ConfigDiff {
	side := func(c *kasoku.Config) *Config {
		if c == nil {
			return nil
		}
		x := newConfig(c)
		return &x
	}
	return ConfigDiff{d.Host, d.Kind, d.Name, side(d.Before), side(d.After), d.Diff, d.Added, d.Removed, d.Left,
		list(d.Indexes, func(i *compare.IndexChange) IndexChange {
			x := IndexChange{Name: i.Name}
			if i.Before != nil {
				x.Before = &i.Before.Text
			}
			if i.After != nil {
				x.After = &i.After.Text
			}
			return x
		})}
}
