package store

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
)

// childVariable names the environment variable that makes this test binary one
// of the programs below instead of running tests.
const childVariable = "KASOKU_RUNSTORE_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch mode, path, _ := strings.Cut(os.Getenv(childVariable), ":"); mode {
	case "":
		os.Exit(m.Run())
	case "record":
		err = childRecord(path)
	case "limited":
		err = childLimited(path)
	case "open":
		err = childOpen(path)
	case "memory":
		err = childMemory(path)
	default:
		err = fmt.Errorf("unknown child %q", mode)
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func child(tb testing.TB, mode, path string) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+mode+":"+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// childRecord records a simulated second every few milliseconds until it is
// killed, and says which ones are in the file.
func childRecord(path string) error {
	w, err := Create(path, sampleRun())
	if err != nil {
		return err
	}
	sim := simulate(100)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		for _, f := range sim.tick(n) {
			if err := w.Frame(f); err != nil {
				return err
			}
		}
		second := kasoku.LoadSecond{Second: n, Step: 1, Target: "POST /users", Asked: uint64(n),
			Codes: map[int]uint64{200: uint64(n)}, Latency: histogramOf(time.Duration(n))}
		if err := w.AddSeconds([]kasoku.LoadSecond{second}); err != nil {
			return err
		}
		fmt.Println("tick", n)
		<-tick.C
	}
}

// childLimited records until its file may not grow any further.
func childLimited(path string) error {
	limit := unix.Rlimit{Cur: 300_000, Max: 300_000}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	w, err := Create(path, sampleRun())
	if err != nil {
		return err
	}
	sim := simulate(700)
	for n := 1; n < 1000; n++ {
		for _, f := range sim.tick(n) {
			if err := w.Frame(f); err != nil {
				h, _ := err.(interface{ Hint() string })
				fmt.Printf("tick %d\nmessage %s\nhint %s\n", n, err, h.Hint())
				w.Finish(sampleRun()) // cannot succeed either; must not do harm
				return nil
			}
		}
	}
	return fmt.Errorf("no error in spite of the limit")
}

// childMemory records two minutes and says by how much its resident memory
// grew.
func childMemory(path string) error {
	sim := simulate(700)
	sim.tick(1)
	before := residentBytes()
	w, err := Create(path, sampleRun())
	if err != nil {
		return err
	}
	for n := 1; n <= 150; n++ {
		for _, f := range sim.tick(n) {
			if err := w.Frame(f); err != nil {
				return err
			}
		}
	}
	fmt.Println("grew", residentBytes()-before)
	runtime.KeepAlive(w)
	return w.Finish(sampleRun())
}

// residentBytes reads the second field of /proc/self/statm, in pages.
func residentBytes() int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b)
	pages, _ := strconv.Atoi(string(fields[1]))
	return pages * os.Getpagesize()
}

// said returns what follows a word at the start of a line.
func said(output, word string) string {
	for line := range strings.Lines(output) {
		if rest, ok := strings.CutPrefix(line, word+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// lastTick reads a recorder's output to its end and returns the last tick of
// which it said that it is in the file.
func lastTick(r io.Reader, seen func(n int)) int {
	last := 0
	for s := bufio.NewScanner(r); s.Scan(); {
		if n, err := strconv.Atoi(strings.TrimPrefix(s.Text(), "tick ")); err == nil {
			last = n
			seen(n)
		}
	}
	return last
}

func TestRecorderMemory(t *testing.T) {
	out, err := child(t, "memory", tempRun(t)).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	grew, _ := strconv.Atoi(said(string(out), "grew"))
	t.Logf("recording 700 series takes %d kB of resident memory", grew/1000)
	if grew == 0 || grew > 24e6 {
		t.Errorf("resident memory grew by %d bytes", grew)
	}
}
