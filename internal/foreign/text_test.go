package foreign

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestSplitArguments(t *testing.T) {
	f := func(cmdline string, want ...string) {
		t.Helper()
		if got := splitArguments([]byte(cmdline)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", cmdline, got, want)
		}
	}
	f("nginx\x00-c\x00/a b\x00", "nginx", "-c", "/a b")
	f("nginx: master process\x00\x00\x00\x00", "nginx: master process")
	f("a\x00\x00b\x00", "a", "", "b")
	f("", "")
}

// TestEnvironmentHas: a text is found wherever it begins, also where two blocks meet.
func TestEnvironmentHas(t *testing.T) {
	const mark = "KASOKU_TEST_MARK=5d0c"
	for _, before := range []int{0, 100, 64<<10 - 25, 64<<10 - 12, 64<<10 - 1, 100_000} {
		cmd := exec.Command("sleep", "60")
		for left := before; left > 0; left -= 30_000 {
			cmd.Env = append(cmd.Env, "A="+strings.Repeat("x", max(min(left, 30_000)-3, 0)))
		}
		cmd.Env = append(cmd.Env, mark)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The kernel says that the program runs before it says where its environment lies.
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
			if b, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/environ"); err != nil || len(b) > 0 {
				break
			}
		}
		if !EnvironmentHas(cmd.Process.Pid, mark) {
			t.Errorf("%d bytes before it: not found", before)
		}
		if EnvironmentHas(cmd.Process.Pid, mark+"x") {
			t.Errorf("%d bytes before it: found what is not there", before)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}
	if args, err := Arguments("/proc", os.Getpid()); err != nil || !slices.Equal(args, os.Args) {
		t.Errorf("%q, %v; want %q", args, err, os.Args)
	}
}

// TestPatiently: what does not answer costs one wait for each user, and no other user's.
func TestPatiently(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	hang := func() (int, error) { <-never; return 0, nil }
	answer := func() (int, error) { return 7, nil }
	const eve, ann, unknown = 1<<40 + 1, 1<<40 + 3, -1 // no process has the first two
	if _, err := Patiently(eve, hang); !errors.Is(err, ErrHung) {
		t.Errorf("what hangs: %v", err)
	}
	if _, err := Patiently(eve, answer); !errors.Is(err, ErrHung) {
		t.Errorf("another of the same user's: %v", err)
	}
	if got, err := Patiently(ann, answer); got != 7 || err != nil {
		t.Errorf("another user's: %d, %v", got, err)
	}
	hung.Store(eve, time.Now().Add(-hungFor))
	if got, err := Patiently(eve, answer); got != 7 || err != nil {
		t.Errorf("later: %d, %v", got, err)
	}
	for _, uid := range []int{0, unknown} {
		if _, err := Patiently(uid, hang); !errors.Is(err, ErrHung) {
			t.Errorf("uid %d: what hangs: %v", uid, err)
		}
		if got, err := Patiently(uid, answer); got != 7 || err != nil {
			t.Errorf("uid %d: after what hangs: %d, %v", uid, got, err)
		}
	}
}
