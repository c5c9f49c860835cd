package truth

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// notable is the share of the requests' time from which a finding has to be there again when the
// same variant is run again. It may be smaller there: a run is short, and 2 % lies within its noise.
const notable = 0.02

// A Pair is one variant as two runs have it.
type Pair struct {
	Lab, Variant string
	Here, There  []string // "IDX-04 table chair 2.6 %": what the one has to 2 % and more, and the other lacks
}

// Compare returns what of two diagnoses of one variant the other lacks. Findings are the same when their
// id and object are; which programs use the CPU (HW-01) depends on who else runs on the host, and is apart.
func Compare(c Case, here, there *kasoku.Diagnosis) Pair {
	return Pair{Lab: c.Lab.Name, Variant: c.Variant, Here: lacking(here, there), There: lacking(there, here)}
}

// lacking lists findings of one diagnosis that another has not at all.
func lacking(of, in *kasoku.Diagnosis) (out []string) {
	for i := range of.Findings {
		f := &of.Findings[i]
		same := func(o kasoku.Finding) bool { return o.ID == f.ID && o.Object.String() == f.Object.String() }
		if f.Impact.Share >= notable && f.ID != "HW-01" && !slices.ContainsFunc(in.Findings, same) {
			out = append(out, fmt.Sprintf("%s %s %.1f %%", f.ID, f.Object.String(), 100*f.Impact.Share))
		}
	}
	return out
}

// Pairs are all variants as two directories of runs have them.
type Pairs []Pair

// WriteMarkdown prints the variants that differ, and how many do not.
func (p Pairs) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	same := 0
	for _, x := range p {
		if len(x.Here)+len(x.There) == 0 {
			same++
		}
	}
	fmt.Fprintf(&b, "%d of %d variants have the same findings.\n", same, len(p))
	if same < len(p) {
		b.WriteString("\n| lab | variant | here alone | there alone |\n|---|---|---|---|\n")
	}
	for _, x := range p {
		if len(x.Here)+len(x.There) > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", x.Lab, x.Variant, joinList(x.Here), joinList(x.There))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
