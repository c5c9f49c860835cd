package probe

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku/logs/lines"
)

// Whatever a log holds: no panic, no more samples than lines, each of them once.
func FuzzSamplerRead(f *testing.F) {
	f.Add("time:2026-11-22T12:00:00+00:00\tmethod:GET\turi:/a?b=1\tstatus:200\tsize:1\treqtime:0.1\n", 10)
	f.Add("127.0.0.1 - - [22/Nov/2026:12:00:00 +0000] \"GET /users/1 HTTP/1.1\" 200 5 \"-\" \"x\" 0.021\n", 10)
	f.Add("\n\na:token=AAAA&b@c\n", 1)
	f.Fuzz(func(t *testing.T, log string, most int) {
		s := NewSampler()
		_ = s.Read(lines.NewReader(strings.NewReader(log), 0), most)
		seen := map[Sample]bool{}
		for _, x := range s.Samples() {
			if seen[x] || x.Method == "" {
				t.Fatalf("%q: %+v", log, x)
			}
			seen[x] = true
		}
		if len(seen) > strings.Count(log, "\n")+1 {
			t.Fatalf("%d samples of %q", len(seen), log)
		}
	})
}
