package comparison

import (
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
)

// What of diffs is shown at most.
const (
	mostDiffs     = 30
	mostDiffLines = 1500 // of all
)

// configDiffs shows how the texts of the configuration differ.
func configDiffs(diffs []compare.ConfigDiff) (out []report.Block) {
	lines := 0
	var rest []string
	for i := range diffs {
		c := &diffs[i]
		d := report.NewDiff(textName(c.Host, c.Kind, c.Name), c.String(), c.Diff, c.Left)
		if lines += len(d.Lines); i >= mostDiffs || lines > mostDiffLines {
			rest = append(rest, d.Name)
			continue
		}
		if len(d.Lines) == 0 {
			d.More = whyNoDiff(c)
		}
		out = append(out, d)
	}
	if n := len(rest); n > 0 {
		out = append(out, &report.Notes{List: []report.Note{{Sign: "·", Tone: report.Dim,
			Label: unit.Count(n) + " more", Text: strings.Join(rest, ", ")}}})
	}
	return out
}

func whyNoDiff(c *compare.ConfigDiff) string {
	for _, side := range []*kasoku.Config{c.Before, c.After} {
		if side != nil && side.Note != "" {
			return "the text was not kept: " + side.Note
		}
	}
	return ""
}

// textName is what a text of the configuration is called: a path says enough.
func textName(host, kind, name string) string {
	if !strings.HasPrefix(name, "/") {
		name = kind + " " + name
	}
	if host != "" {
		name = host + " " + name
	}
	return name
}
