package terminal

import (
	"testing"

	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/attacks"
	"github.com/kasoku/kasoku/report/loadreport"
)

func TestAttackGolden(t *testing.T) {
	for _, x := range []struct {
		name string
		a    *loadreport.Attack
		o    Options
	}{
		{"attack-80", attacks.Good(), Options{Width: 80}},
		{"attack-bad-80", attacks.Bad(), Options{Width: 80}},
		{"attack-bad-120-color", attacks.Bad(), Options{Width: 120, Color: true}},
		{"attack-closed-80-ascii", attacks.Closed(), Options{Width: 80, ASCII: true}},
		{"attack-none-40", attacks.None(), Options{Width: 40}},
	} {
		t.Run(x.name, func(t *testing.T) {
			golden.CheckString(t, "testdata/"+x.name+".golden", write(t, loadreport.AttackDocument(x.a, report.Options{}), x.o))
		})
	}
}
