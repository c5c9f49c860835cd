package rules

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
)

// text prints a diagnosis whole, for goldens.
func text(d *kasoku.Diagnosis) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", d.Verdict)
	for i, f := range d.Findings {
		fmt.Fprintf(&b, "\n%d %s %s\n", i+1, f.ID, f.Title)
		fmt.Fprintf(&b, "  %s; %s; %.1f %% %s", f.Object, f.Severity, 100*f.Impact.Share, f.Impact.Of)
		if f.Impact.Estimate {
			b.WriteString(" (estimate)")
		}
		if len(f.Impact.Shared) > 0 {
			fmt.Fprintf(&b, ", shared with %s", strings.Join(f.Impact.Shared, ", "))
		}
		if len(f.Explains) > 0 {
			fmt.Fprintf(&b, ", explains %s", strings.Join(f.Explains, ", "))
		}
		fmt.Fprintf(&b, "\n  confidence %s, %d of %d signals; %s\n", f.Confidence.Level, f.Confidence.Holds, f.Confidence.Of, f.Confidence.Note)
		fmt.Fprintf(&b, "  clause: %s\n  cause: %s\n", f.Clause, f.Cause)
		for _, e := range f.Evidence {
			strong := " "
			if e.Strong {
				strong = "*"
			}
			fmt.Fprintf(&b, "  %s %-8s %s | %s | %s\n", strong, e.Source, e.Text, e.Note, e.Value)
		}
		for _, x := range f.Fixes {
			fmt.Fprintf(&b, "  fix: %s [%s] (%s)\n", x.Text, x.Risk, x.Where)
			for line := range strings.Lines(x.Code) {
				fmt.Fprintf(&b, "      %s\n", strings.TrimSuffix(line, "\n"))
			}
			if x.Note != "" {
				fmt.Fprintf(&b, "    %s\n", x.Note)
			}
		}
		fmt.Fprintf(&b, "  expect: %s\n  verify: %s\n", f.Expect, f.Verify)
	}
	b.WriteString("\nsilent:\n")
	for _, s := range d.Silences {
		state := fmt.Sprintf("%.2f", s.Near)
		if s.Blind {
			state = "blind"
		}
		fmt.Fprintf(&b, "  %s %s: %s\n", s.ID, state, s.Reason)
	}
	return b.String()
}
