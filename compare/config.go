package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
)

// A ConfigDiff is one text of the configuration in which the sides differ.
type ConfigDiff struct {
	Host, Kind, Name string // as in [kasoku.Config]; Host only when a run has several

	Before, After *kasoku.Config // nil where a side does not have it
	Diff          string         // hunks of a unified diff; empty when a text was not kept
	Added         int            // lines
	Removed       int
	Left          int           // lines of the diff that are left out
	Indexes       []IndexChange // of a table
}

// An IndexChange is one index of a table that differs.
type IndexChange struct {
	Name          string
	Before, After *mysql.Key // nil where a side does not have it
}

// String names the change: "added", "dropped", "changed".
func (c IndexChange) String() string {
	switch {
	case c.Before == nil:
		return "index " + c.Name + " added"
	case c.After == nil:
		return "index " + c.Name + " dropped"
	}
	return "index " + c.Name + " changed"
}

// String returns in few words what changed, with the lines added and removed:
// "index idx_mail added, +2 −1".
func (d *ConfigDiff) String() string {
	switch {
	case d.Before == nil:
		return "new"
	case d.After == nil:
		return "gone"
	case d.Diff == "":
		return "changed"
	}
	var parts []string
	for _, i := range d.Indexes {
		parts = append(parts, i.String())
	}
	return strings.Join(append(parts, "+"+unit.Count(d.Added)+" −"+unit.Count(d.Removed)), ", ")
}

// found are the kinds of texts that show what a run came upon rather than what it was
// made with: the schema at its end, answers of the service at one moment.
var found = []string{"schema-after", "probe"}

// mostDiff is how many lines of a diff are kept: more is a new version, not a change.
const mostDiff = 400

// DiffConfigs lists the texts of the configuration in which two runs differ, by kind
// and name. A text that only one run has counts when both runs have texts of its
// kind: else it was not captured. A text that was dropped since is not known.
func DiffConfigs(before, after *kasoku.Recording) []ConfigDiff {
	hosts := len(before.Run.Hosts) > 1 || len(after.Run.Hosts) > 1
	type key struct{ host, kind, name string }
	read := func(r *kasoku.Recording) (map[key]*kasoku.Config, map[string]bool, []key) {
		texts, kinds := map[key]*kasoku.Config{}, map[string]bool{}
		var order []key
		for i := range r.Configs {
			c := &r.Configs[i]
			k := key{"", c.Kind, c.Name}
			if hosts {
				k.host = c.Host
			}
			texts[k], kinds[c.Kind] = c, true
			order = append(order, k)
		}
		return texts, kinds, order
	}
	old, oldKinds, order := read(before)
	now, nowKinds, more := read(after)
	order = append(order, more...)
	slices.SortFunc(order, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), cmp.Compare(a.host, b.host))
	})
	var out []ConfigDiff
	for _, k := range slices.Compact(order) {
		x, y := old[k], now[k]
		if x != nil && !x.Known() || y != nil && !y.Known() {
			continue
		}
		if slices.Contains(found, k.kind) || !oldKinds[k.kind] || !nowKinds[k.kind] || x != nil && y != nil &&
			x.Text == y.Text && x.Note == y.Note {
			continue
		}
		d := ConfigDiff{Host: k.host, Kind: k.kind, Name: k.name, Before: x, After: y}
		d.fill()
		out = append(out, d)
	}
	return out
}

// fill makes the diff.
func (d *ConfigDiff) fill() {
	var old, now string
	if d.Before != nil {
		old = d.Before.Text
	}
	if d.After != nil {
		now = d.After.Text
	}
	if d.Before != nil && d.Before.Note != "" && old == "" || d.After != nil && d.After.Note != "" && now == "" {
		return
	}
	d.Diff, d.Added, d.Removed = Unified(old, now)
	if d.Kind == "git" && d.Name == "diff" && (old == "" || now == "") {
		d.Diff = old + now // it is one already, from the commit to the work tree
	}
	if lines := strings.SplitAfter(d.Diff, "\n"); len(lines) > mostDiff {
		d.Diff, d.Left = strings.Join(lines[:mostDiff], ""), len(lines)-mostDiff
	}
	if d.Kind == "schema" && d.Before != nil && d.After != nil {
		d.Indexes = DiffIndexes(old, now)
	}
}

// DiffIndexes lists the indexes in which two definitions of a table differ, by name.
func DiffIndexes(before, after string) []IndexChange {
	var out []IndexChange
	old, now := mysql.ParseKeys(before), mysql.ParseKeys(after)
	find := func(keys []mysql.Key, name string) *mysql.Key {
		i := slices.IndexFunc(keys, func(k mysql.Key) bool { return k.Name == name })
		if i < 0 {
			return nil
		}
		return &keys[i]
	}
	for i := range old {
		other := find(now, old[i].Name)
		if other == nil || other.Text != old[i].Text {
			out = append(out, IndexChange{old[i].Name, &old[i], other})
		}
	}
	for i := range now {
		if find(old, now[i].Name) == nil {
			out = append(out, IndexChange{now[i].Name, nil, &now[i]})
		}
	}
	slices.SortFunc(out, func(a, b IndexChange) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Unified returns the hunks of a unified diff, with how many lines it adds and
// removes; an empty one for equal texts.
func Unified(before, after string) (hunks string, added, removed int) {
	text := string(diff.Diff("a", []byte(before), "b", []byte(after)))
	for range 3 { // the lines that name the files
		_, text, _ = strings.Cut(text, "\n")
	}
	for line := range strings.Lines(text) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return text, added, removed
}
