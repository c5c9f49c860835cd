package ptquerydigest

import (
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	in := "a\tb\n\x1b[31mred\x00 \u0085 é \xc2"
	want := "a\tb\n\\x1B[31mred\\x00 \\xC2\\x85 é "
	for n := 1; n < 5; n++ {
		var b strings.Builder
		v := &visible{w: &b}
		for i := 0; i < len(in); i += n {
			if _, err := v.Write([]byte(in[i:min(i+n, len(in))])); err != nil {
				t.Fatal(err)
			}
		}
		if b.String() != want {
			t.Errorf("%d at a time: %q, want %q", n, b.String(), want)
		}
	}
}

// TestRun_Hostile: nothing of a log moves a terminal's cursor.
func TestRun_Hostile(t *testing.T) {
	log := write(t, "slow.log", "# Time: 261120  8:00:00\n# User@Host: \x1b]0;x\x07[a] @ \x1b[2J []\n# Query_time: 1.0  Lock_time: 0.0  Rows_sent: 0  Rows_examined: 0\n"+
		"use a\x1b[1m;\nselect '\x1b[2J\x00' from t\x1b;\n")
	for _, args := range [][]string{{log}, {"--group-by", "user", log}, {"--group-by", "distill", log}, {"--report-format", "profile", log}} {
		if out := ours(t, args...); strings.ContainsAny(out, "\x1b\x07\x00") {
			t.Errorf("%q: %q", args, out)
		}
	}
}
