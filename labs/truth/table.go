package truth

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Table is the rows of all runs.
type Table []Row

// Totals are the sums of a table.
type Totals struct {
	Seeded, First3, First5, Remarked, Wrong, False, Right int
}

// Totals adds up. A defect counts once for each run in which it was seeded.
func (t Table) Totals() (s Totals) {
	for _, r := range t {
		s.Seeded += len(r.Seeded)
		s.First3 += len(r.First3)
		s.First5 += min(len(r.First5), len(r.Seeded))
		s.Remarked += len(r.Remarked)
		s.Wrong += len(r.Wrong)
		s.False += len(r.False)
		s.Right += r.Right
	}
	return s
}

// Reachable is how many seeded defects can stand among the first five: of a run
// with more of them five.
func (t Table) Reachable() (n int) {
	for _, r := range t {
		n += min(len(r.Seeded), top)
	}
	return n
}

// Recall is the share of seeded defects that the first five findings name with the
// right object, of those that can stand there.
func (t Table) Recall() float64 { return shareOf(t.Totals().First5, t.Reachable()) }

// Precision is the share of findings that are right.
func (t Table) Precision() float64 {
	s := t.Totals()
	return shareOf(s.Right, s.Right+s.False)
}

func shareOf(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// WriteMarkdown prints the table with its totals.
func (t Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| lab | variant | seeded | in the first 3 | in the first 5 | as remarks | not there | wrong object | false alarms |\n|---|---|--:|--:|--:|---|---|---|---|\n")
	for _, r := range t {
		missed := r.Missed
		if len(r.Seeded) > top && len(r.First5) >= top {
			missed = []string{"more than five"}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s | %s | %s | %s |\n", r.Lab, r.Variant, len(r.Seeded),
			len(r.First3), len(r.First5),
			joinList(r.Remarked), joinList(missed), joinList(r.Wrong), joinList(r.False))
	}
	s := t.Totals()
	fmt.Fprintf(&b, "| **all** | %d runs | %d | %d | %d | %d | | %d | %d |\n\n", len(t), s.Seeded, s.First3, s.First5,
		s.Remarked, s.Wrong, s.False)
	fmt.Fprintf(&b, "Recall in the first five %.1f %% (%d of %d, %d of them as remarks), precision %.1f %% (%d of %d).\n",
		100*t.Recall(), s.First5, t.Reachable(), s.Remarked, 100*t.Precision(), s.Right, s.Right+s.False)
	_, err := io.WriteString(w, b.String())
	return err
}

func joinList(s []string) string { return cmp.Or(strings.Join(s, ", "), "–") }

// WriteByID prints for each id how often it was seeded, found and falsely found.
func (t Table) WriteByID(w io.Writer) error {
	type count struct{ seeded, found, wrong, alarms int }
	all := map[string]*count{}
	at := func(text string) *count {
		id, _, _ := strings.Cut(text, " ")
		if all[id] == nil {
			all[id] = &count{}
		}
		return all[id]
	}
	for _, r := range t {
		for _, id := range r.Seeded {
			at(id).seeded++
		}
		for _, id := range r.First5 {
			at(id).found++
		}
		for _, x := range r.Wrong {
			at(x).wrong++
		}
		for _, x := range r.False {
			at(x).alarms++
		}
	}
	var ids []string
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var b strings.Builder
	b.WriteString("| id | seeded | in the first 5 | wrong object | false alarms |\n|---|--:|--:|--:|--:|\n")
	for _, id := range ids {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", id, all[id].seeded, all[id].found, all[id].wrong,
			all[id].alarms)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
