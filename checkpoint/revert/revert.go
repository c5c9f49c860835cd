// Package revert puts configuration files and indexes back as they were in a run.
//
// The one idea: nothing is written that was not shown. [Make] compares a run with
// this machine and returns a [Plan]: for each file a unified diff from now to then,
// for each index the statement. [Plan.Apply] writes exactly that, a file at a time
// and a statement at a time, and refuses a file that has changed since.
//
// A run file may come from elsewhere, so it decides nothing: a file is written only
// where this machine's own configuration names it, or the caller does; indexes only
// when each part of their definition is known; columns and tables never. Secrets,
// which a run does not hold, are taken from the present file: from the line that
// reads the same but for the secret.
package revert

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/compare"
)

// Options configure what may be put back.
type Options struct {
	Host string   // this machine; texts of others are left out
	Only []string // paths or tables, or ends of paths; none: all
	// Globs are those by which files are captured here: a file that is gone is
	// written only when one of them matches it, or Only names it.
	Globs []string
	Root  string // of the file system, for tests; empty is /
}

// A Plan is how this machine differs from a run, and what would put it back.
type Plan struct {
	Files   []File
	Indexes []Index
	Notes   []string // what is left as it is, and why
}

// A File is one file that differs.
type File struct {
	Kind, Path     string
	Diff           string // hunks of a unified diff from now to then, secrets masked
	Added, Removed int    // lines
	Refused        string // why it cannot be put back; empty when it can

	target   string // links followed
	old, now string // the present text; the text to write, secrets filled in
	exists   bool
	mode     uint32
	uid, gid int
}

// An Index is one index that differs.
type Index struct {
	Table, Name string
	Statement   string // that puts it back
	Refused     string // why it is not executed; empty when it is
}

// Empty reports whether nothing differs that could be put back.
func (p *Plan) Empty() bool { return len(p.Files) == 0 && len(p.Indexes) == 0 }

// Refused returns how many files and indexes cannot be put back.
func (p *Plan) Refused() int {
	n := 0
	for _, f := range p.Files {
		if f.Refused != "" {
			n++
		}
	}
	for _, i := range p.Indexes {
		if i.Refused != "" {
			n++
		}
	}
	return n
}

// isFile reports whether texts of a kind are files.
func isFile(kind string) bool {
	switch kind {
	case capture.KindNginx, capture.KindMySQL, capture.KindVCL, capture.KindUnit, capture.KindFile:
		return true
	}
	return false
}

// Make compares a run with what is in force now.
func Make(run *kasoku.Recording, now *capture.Taken, o Options) *Plan {
	if o.Root == "" {
		o.Root = "/"
	}
	m := &maker{o: o, now: now, plan: &Plan{}}
	var schema []kasoku.Config
	then := map[string]bool{} // names in the run
	kinds := map[string]bool{}
	for _, c := range run.Configs {
		if c.Host != "" && o.Host != "" && c.Host != o.Host {
			m.elsewhere(c.Host)
			continue
		}
		then[c.Name], kinds[c.Kind] = true, true
		switch {
		case c.Kind == capture.KindSchema:
			schema = append(schema, c)
		case isFile(c.Kind) && strings.HasPrefix(c.Name, "/") && m.wanted(c.Name):
			m.file(c)
		}
	}
	for _, c := range now.Configs {
		if isFile(c.Kind) && kinds[c.Kind] && !then[c.Name] && m.wanted(c.Name) {
			m.note("%s is new since that run; it is not removed", c.Name)
		}
	}
	m.indexes(schema)
	return m.plan
}

// A maker makes a plan.
type maker struct {
	o    Options
	now  *capture.Taken
	plan *Plan
}

func (m *maker) note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(m.plan.Notes, s) {
		m.plan.Notes = append(m.plan.Notes, s)
	}
}

func (m *maker) elsewhere(host string) {
	m.note("what was captured on %s is left out: this is %s", host, m.o.Host)
}

// wanted reports whether a path or table is asked for.
func (m *maker) wanted(name string) bool {
	return len(m.o.Only) == 0 || slices.ContainsFunc(m.o.Only, func(only string) bool {
		return name == only || strings.HasSuffix(name, "/"+only)
	})
}

// mayWrite reports whether a file is one that this machine, or the caller, names.
func (m *maker) mayWrite(path string) bool {
	inForce := func(c kasoku.Config) bool { return isFile(c.Kind) && c.Name == path && c.Mode != 0 }
	matches := func(glob string) bool { ok, err := filepath.Match(glob, path); return err == nil && ok }
	return slices.Contains(m.o.Only, path) || slices.ContainsFunc(m.now.Configs, inForce) ||
		slices.ContainsFunc(m.o.Globs, matches)
}

// file compares one file.
func (m *maker) file(c kasoku.Config) {
	switch {
	case c.Mode == 0:
		m.note("%s was not a file of this machine", c.Name)
		return
	case c.Note != "":
		m.note("%s: its text was not kept: %s", c.Name, c.Note)
		return
	case c.Text == "":
		m.note("%s: the run holds no text of it", c.Name)
		return
	}
	f := File{Kind: c.Kind, Path: c.Name, mode: c.Mode & 0o777, uid: c.UID, gid: c.GID}
	if err := f.read(m.o.Root); err != nil {
		f.Refused = err.Error()
	}
	masked, _ := capture.Mask(c.Kind, f.old)
	f.Diff, f.Added, f.Removed = compare.Unified(masked, c.Text)
	if f.Diff == "" && f.Refused == "" {
		if f.exists && f.mode != c.Mode&0o777 {
			m.note("%s has mode %#o, then %#o: left as it is", f.Path, f.mode, c.Mode&0o777)
		}
		return
	}
	if f.Refused == "" && !m.mayWrite(c.Name) {
		f.Refused = "nothing here names it: --only " + c.Name + " allows it to be written"
	}
	if f.Refused == "" {
		var err error
		if f.now, err = fill(c.Kind, c.Text, f.old); err != nil {
			f.Refused = err.Error()
		}
	}
	m.plan.Files = append(m.plan.Files, f)
}

// fill puts the secrets of the present text where the recorded one has masks: those
// of the line that reads the same once it is masked. Where such lines differ in their
// secret, both texts must have as many of them, and they are matched in order.
func fill(kind, recorded, present string) (string, error) {
	if !strings.Contains(recorded, kasoku.MaskedSecret) {
		return recorded, nil
	}
	masked, _ := capture.Mask(kind, present)
	plain, lines := strings.Split(present, "\n"), strings.Split(masked, "\n")
	want := strings.Split(recorded, "\n")
	out := slices.Clone(want)
	count := func(line string) int {
		n := 0
		for _, l := range want {
			if l == line {
				n++
			}
		}
		return n
	}
	seen := map[string]int{}
	for i, line := range want {
		if !strings.Contains(line, kasoku.MaskedSecret) {
			continue
		}
		var found []string
		for k, l := range lines {
			if l == line {
				found = append(found, plain[k])
			}
		}
		nth := seen[line]
		seen[line]++
		switch {
		case len(found) == 0:
			return "", fmt.Errorf("line %d holds a secret that the run does not know, and the present file has no such line: %s", i+1, strings.TrimSpace(line))
		case !slices.ContainsFunc(found, func(s string) bool { return s != found[0] }):
			out[i] = found[0]
		case len(found) == count(line):
			out[i] = found[nth]
		default:
			return "", fmt.Errorf("line %d holds a secret that the run does not know, and the present file has %d such lines: %s", i+1, len(found), strings.TrimSpace(line))
		}
	}
	return strings.Join(out, "\n"), nil
}
