package kit_test

import (
	"testing"

	"github.com/kasoku/kasoku/labs/kit"
)

func TestParse(t *testing.T) {
	l := &kit.Lab{Defects: []kit.Defect{{ID: "DRV-01"}, {ID: "DBC-01"}, {ID: "HW-11"}},
		Controls: []kit.Defect{{ID: "NGX-09"}}}
	for in, want := range map[string]string{
		"all": "DRV-01,DBC-01,HW-11", "none": "none", "": "none",
		" hw-11 , drv-01,HW-11": "DRV-01,HW-11", "ngx-09,DBC-01": "DBC-01,NGX-09",
	} {
		if got, err := l.Parse(in); err != nil || got.String() != want {
			t.Errorf("Parse(%q) = %s, %v, want %s", in, got, err, want)
		}
	}
	if _, err := l.Parse("DRV-01,QRY-04"); err == nil || err.Error() != `unknown defect "QRY-04": want DRV-01,DBC-01,HW-11,NGX-09, all or none` {
		t.Errorf("an unknown id: %v", err)
	}
}

func TestWithout(t *testing.T) {
	const text = "a;\nb; # mends NGX-01\nc; # mends NGX-03\nd; # seeds NGX-09\n"
	for _, tt := range []struct {
		d    kit.Set
		want string
	}{
		{nil, "a;\nb; # mends NGX-01\nc; # mends NGX-03\n"},
		{kit.Set{"NGX-09"}, text},
		{kit.Set{"NGX-01"}, "a;\nc; # mends NGX-03\n"},
		{kit.Set{"NGX-01", "NGX-03"}, "a;\n"},
	} {
		if got := kit.Without(text, tt.d); got != tt.want {
			t.Errorf("without %s: %q, want %q", tt.d, got, tt.want)
		}
	}
}
