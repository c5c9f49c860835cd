package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
)

// TestTableIsSound: each fault has a name of its own, a kind and a verdict, and there
// are at least two of each kind.
func TestTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	of := map[Kind]int{}
	for _, f := range Table() {
		if seen[f.Name] {
			t.Errorf("%q is there twice", f.Name)
		}
		seen[f.Name] = true
		of[f.Kind]++
		if (f.Strict == "") != (f.Kind == Liberty) {
			t.Errorf("%q: a liberty has no message, a fault has one", f.Name)
		}
		if !slices.Contains([]Verdict{Overlooked, Reported, Failed, ByChance}, f.Contest) {
			t.Errorf("%q: verdict %q", f.Name, f.Contest)
		}
	}
	for _, k := range Kinds() {
		if of[k] < 2 {
			t.Errorf("%d faults of the kind %q, want 2 or more", of[k], k)
		}
		delete(of, k)
	}
	if len(of) > 0 {
		t.Errorf("kinds that are not listed: %v", of)
	}
}

// TestTable_Golden: the table for people is that of the code.
func TestTable_Golden(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What a service of isuumo can do wrong\n\n" +
		"The lab's benchmark catches each of these faults, and says nothing about the liberties.\n" +
		"The last column is what the contest's own benchmark makes of them: the run failed, it\n" +
		"passed with messages (reported) or without one (overlooked), or what was drawn decides (by\n" +
		"chance). Written by the tests of this directory.\n")
	for _, k := range Kinds() {
		fmt.Fprintf(&b, "\n## %s\n\n| the service | the contest's benchmark |\n|---|---|\n", k)
		for _, f := range Table() {
			if f.Kind == k {
				fmt.Fprintf(&b, "| %s | %s |\n", f.Name, f.Contest)
			}
		}
	}
	golden.CheckString(t, "faults.md", b.String())
}

// TestDocs: both pages about the lab have the right numbers of each kind of fault.
func TestDocs(t *testing.T) {
	var want []string
	for _, k := range Kinds() {
		if k == Liberty {
			continue
		}
		all, overlooked, chance := 0, 0, 0
		for _, f := range Table() {
			if f.Kind != k {
				continue
			}
			all++
			switch f.Contest {
			case Overlooked:
				overlooked++
			case ByChance:
				chance++
			}
		}
		want = append(want, fmt.Sprintf("%s %d %d %d", k, all, overlooked, chance))
	}
	for _, page := range []string{"lab-isuumo.md", filepath.Join("ja", "lab-isuumo.md")} {
		b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(string(b), "<!-- faults -->\n")
		table, _, _ = strings.Cut(table, "<!-- /faults -->")
		var got []string
		for line := range strings.Lines(table) {
			cells := strings.Split(line, "|")
			if len(cells) < 7 || !strings.ContainsAny(cells[2], "0123456789") {
				continue
			}
			k := "" // the first cell is in the page's language
			if i := len(got); i < len(want) {
				k, _, _ = strings.Cut(want[i], fmt.Sprintf(" %s", strings.TrimSpace(cells[2])))
			}
			for i := 2; i < 5; i++ {
				k += " " + strings.TrimSpace(cells[i])
			}
			got = append(got, k)
		}
		if !slices.Equal(got, want) {
			t.Errorf("docs/%s has\n%s\nwant\n%s", page, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
