package encode

import (
	"bytes"
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/attacks"
	"github.com/kasoku/kasoku/report/loadreport"
)

func TestAttackGolden(t *testing.T) {
	for _, x := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"attack-bad.json", func(b *bytes.Buffer) error { return AttackJSON(b, attacks.Bad(), report.Options{}) }},
		{"attack-none.json", func(b *bytes.Buffer) error { return AttackJSON(b, attacks.None(), report.Options{}) }},
		{"attack-bad.tsv", func(b *bytes.Buffer) error { return TSV(b, loadreport.AttackDocument(attacks.Bad(), report.Options{})) }},
		{"attack-good.md", func(b *bytes.Buffer) error {
			return Markdown(b, loadreport.AttackDocument(attacks.Good(), report.Options{}))
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := x.write(&b); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/"+x.name+".golden", b.Bytes())
		})
	}
}
