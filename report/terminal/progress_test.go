package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	const ms = time.Millisecond
	f := func(o ProgressOptions, draw func(*Progress), want string) {
		t.Helper()
		var b bytes.Buffer
		draw(NewProgress(&b, o))
		if b.String() != want {
			t.Errorf("wrote\n%q, want\n%q", b.String(), want)
		}
	}
	first := StepProgress{Number: 1, Of: 3, PerSec: 10, Elapsed: 4 * time.Second, Planned: 10 * time.Second, OK: 10, P99: 15600 * time.Microsecond}
	third := StepProgress{Number: 3, Of: 3, PerSec: 1000, Elapsed: 6 * time.Second, Planned: 10 * time.Second, OK: 309, Errors: 691, P99: 1087 * ms}
	f(ProgressOptions{Live: true}, func(p *Progress) { p.Step(first) },
		"\r\x1b[Kstep 1/3     10/s  ━━━━━━━━────────────  4 of 10 s   10 ok  0 err    p99 15.6 ms")
	f(ProgressOptions{Live: true}, func(p *Progress) { p.Step(third); p.Clear(); p.Clear() },
		"\r\x1b[Kstep 3/3  1,000/s  ━━━━━━━━━━━━────────  6 of 10 s  309 ok  691 err  p99 1.09 s\r\x1b[K")
	f(ProgressOptions{Live: true, ASCII: true}, func(p *Progress) { p.Work("analyse", 0.5, "slow.log 3.1 of 6.2 MB, 610 MB/s") },
		"\r\x1b[Kanalyse            ==========----------  slow.log 3.1 of 6.2 MB, 610 MB/s")
	f(ProgressOptions{Live: true, Width: 30}, func(p *Progress) { p.Step(first) }, "\r\x1b[Kstep 1/3     10/s  ━━━─────  4")
	f(ProgressOptions{Live: true, Color: true, Width: 60}, func(p *Progress) { p.Work("drain", 1, "now") },
		"\r\x1b[Kdrain              \x1b[36m"+strings.Repeat("━", 20)+"\x1b[0m  now")
	f(ProgressOptions{}, func(p *Progress) {
		p.Step(third)
		p.Work("drain", 1, "now")
		third.Elapsed, third.OK, third.Errors, third.P99 = 10*time.Second, 3050, 6950, 1116*ms
		p.StepDone(third)
		p.Clear()
		p.Say("before ended")
	}, "step 3/3  1,000/s  10 s  3,050 ok  6,950 err  p99 1,116 ms\nbefore ended\n")
	f(ProgressOptions{Live: true}, func(p *Progress) {
		p.Step(StepProgress{Number: 12, PerSec: 16000, Elapsed: 10 * time.Second, Planned: 10 * time.Second, OK: 120345, Errors: 39655, P99: 12 * time.Second})
	}, "\r\x1b[Kstep 12  16,000/s  ━━━━━━━━━━━━━  10 of 10 s  120,345 ok  39,655 err  p99 12.0 s")
	f(ProgressOptions{Live: true}, func(p *Progress) { p.Work("wait", 0, "x\x1b[2J\n"); p.Say("done") },
		"\r\x1b[Kwait               ────────────────────  x\r\x1b[Kdone\n")
}
