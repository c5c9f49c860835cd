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

// A Pair is one variant as the runs of two directories have it.
type Pair struct {
	Lab, Variant string
	Here, There  []string // "IDX-04 table chair 2.6 %": what the one has to 2 % and more, and the other lacks
}

// Compare returns what of the runs of one variant the other ones lack. Several runs have what most of them have,
// so that what comes and goes by chance is of neither side. Findings are the same when their
// id and object are; which programs use the CPU (HW-01) depends on who else runs on the host, and is apart.
func Compare(c Case, here, there []*kasoku.Diagnosis) Pair {
	return Pair{Lab: c.Lab.Name, Variant: c.Variant, Here: lacking(here, there), There: lacking(there, here)}
}

// lacking lists findings that most runs have to 2 % and more, while most of the others have them not at all.
func lacking(of, in []*kasoku.Diagnosis) (out []string) {
	var seen []string
	for _, d := range of {
		for i := range d.Findings {
			f := &d.Findings[i]
			name := f.ID + " " + f.Object.String()
			if f.ID == "HW-01" || slices.Contains(seen, name) {
				continue
			}
			seen = append(seen, name)
			had, share := having(of, f, notable)
			if has, _ := having(in, f, 0); 2*had > len(of) && 2*has <= len(in) {
				out = append(out, fmt.Sprintf("%s %.1f %%", name, 100*share))
			}
		}
	}
	return out
}

// having counts the runs that have a finding to a share at least, and returns the mean of it there.
func having(runs []*kasoku.Diagnosis, f *kasoku.Finding, least float64) (n int, mean float64) {
	for _, d := range runs {
		i := slices.IndexFunc(d.Findings, func(o kasoku.Finding) bool {
			return o.ID == f.ID && o.Object.String() == f.Object.String() && o.Impact.Share >= least
		})
		if i >= 0 {
			n++
			mean += d.Findings[i].Impact.Share
		}
	}
	return n, mean / max(float64(n), 1)
}

// Pairs are all variants as the runs of two directories have them.
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
