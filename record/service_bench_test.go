package record

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// BenchmarkKeepUp is what is done for the members each second, of five with a hundred
// children each that are no workers. The CPU time is ours alone.
func BenchmarkKeepUp(b *testing.B) {
	w := &serviceWatch{recorder: &recorder{}, config: &configuration{recorder: &recorder{}}}
	for range 5 {
		p := exec.Command("sh", "-c", "for i in $(seq 100); do sleep 600 & done; echo; wait")
		p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := p.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
			_ = p.Wait()
		})
		if _, err := out.Read(make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		w.found.Members = append(w.found.Members, kasoku.Member{Processes: []kasoku.MemberProcess{
			{PID: os.Getpid(), Ended: 1}, {PID: p.Process.Pid, Leader: true}}})
	}
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it does not fail
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := used()
	for b.Loop() {
		if w.keepUp() {
			b.Fatal("a leader has gone")
		}
	}
	b.ReportMetric(float64((used()-began).Microseconds())/float64(b.N), "cpu-us/op")
}
