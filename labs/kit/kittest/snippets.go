// Package kittest has what the findings of a lab's kept runs propose to paste, for the lab's tests to apply.
//
// The one idea: a kept run names the defects that were seeded in it, so a snippet can be applied where they are, and
// the lab asked before and after: it says what it does, and answers stay as they are. Start at [Snippets].
package kittest

import (
	"go/format"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/store"
)

// A Snippet is what a finding of a kept run proposes.
type Snippet struct {
	kasoku.Fix
	Finding *kasoku.Finding
	Case    *diagnose.Case
	Seeds   kit.Set // of the run
}

// Snippets diagnoses the kept runs of a lab, whose directory is the test's, and returns what is proposed in a
// language, each text of a rule once. Without any the test fails.
func Snippets(t *testing.T, l *kit.Lab, lang string) (out []Snippet) {
	t.Helper()
	files, err := filepath.Glob("../truth/testdata/" + l.Name + "-*.kasoku.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kept runs: %v", err)
	}
	for _, path := range files {
		rec, err := store.Open(golden.Unpack(t, path, "run.kasoku"))
		if err != nil {
			t.Fatal(err)
		}
		defects, _ := rec.Setting("app", "defects")
		seeds, err := l.Parse(defects)
		if err != nil {
			t.Fatal(err)
		}
		c := diagnose.NewCase(rec, nil)
		found := diagnose.Diagnose(c, rules.All()).Findings
		for i := range found {
			f := &found[i]
			for _, x := range f.Fixes {
				same := func(s Snippet) bool { return s.Finding.ID == f.ID && s.Code == x.Code }
				if x.Lang == lang && !slices.ContainsFunc(out, same) {
					out = append(out, Snippet{x, f, c, seeds})
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no finding proposes %s", lang)
	}
	return out
}

// IsFor reports whether a snippet is for a server of that kind: variables are of one of them.
func (s *Snippet) IsFor(kind string) bool {
	return !strings.HasPrefix(s.Code, "SET GLOBAL") || (s.Case.Server() == "MariaDB") == (kind == sandbox.KindMariaDB)
}

// Statements are those of a snippet in SQL.
func (s *Snippet) Statements() (out []string) {
	for q := range strings.SplitSeq(s.Code, ";\n") {
		if q = strings.TrimRight(q, "; \n"); q != "" {
			out = append(out, q)
		}
	}
	return out
}

// CheckGo fails for what is no Go: of a change the lines that are added.
func CheckGo(t *testing.T, all []Snippet) {
	t.Helper()
	for _, x := range all {
		var added []string
		for line := range strings.Lines(x.Code) {
			if !strings.HasPrefix(line, "- ") {
				added = append(added, strings.TrimPrefix(line, "+ "))
			}
		}
		if _, err := format.Source([]byte(strings.Join(added, ""))); err != nil {
			t.Errorf("%s: %v\n%s", x.Finding.ID, err, x.Code)
		}
	}
}
