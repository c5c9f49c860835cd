package find

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// What a host of many programs has.
const (
	manyProcesses = 500
	manySockets   = 5000
)

// crowd starts processes that hold connections, both ends of each held by one of them.
func crowd(b *testing.B) {
	b.Helper()
	runtime.LockOSThread() // the children die with the thread that started them
	b.Cleanup(runtime.UnlockOSThread)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	pairs := manySockets / manyProcesses / 2
	for range manyProcesses {
		var held []*os.File
		keep := func(c net.Conn, err error) {
			if err != nil {
				b.Fatal(err)
			}
			f, err := c.(*net.TCPConn).File()
			if err != nil {
				b.Fatal(err)
			}
			_ = c.Close()
			held = append(held, f)
		}
		for range pairs {
			keep(net.Dial("tcp", l.Addr().String()))
			keep(l.Accept())
		}
		p := exec.Command("sleep", "600")
		p.ExtraFiles, p.SysProcAttr = held, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := p.Start(); err != nil {
			b.Fatal(err)
		}
		for _, f := range held {
			_ = f.Close()
		}
		b.Cleanup(func() {
			_ = p.Process.Kill()
			_ = p.Wait()
		})
	}
}

// cpu is the CPU time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it does not fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFind is one look at a host of 500 processes and 5,000 sockets. The wall time is
// that of the host, which may be busy; the CPU time is ours. A look that was cut short, as on a
// host that is very busy, took less than it takes: their share is reported.
func BenchmarkFind(b *testing.B) {
	crowd(b)
	dir := b.TempDir()
	ask := Ask{URLs: []string{"http://127.0.0.1:1/"}, Logs: []string{filepath.Join(dir, "access.log")}, Loaded: true}
	began, cut := cpu(), 0
	for b.Loop() {
		s, err := Look(b.Context(), ask)
		if err != nil {
			b.Fatal(err)
		}
		cut += min(len(s.snap.Cut), 1)
	}
	b.ReportMetric(float64((cpu()-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(cut)/float64(b.N), "cut/op")
}
