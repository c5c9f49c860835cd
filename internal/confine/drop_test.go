package confine_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/confine"
)

// TestMain is also the process that gives its rights up.
func TestMain(m *testing.M) {
	if os.Getenv("CONFINE_TEST") != "" {
		confined(os.Getenv("CONFINE_TEST") == "programs")
		return
	}
	os.Exit(m.Run())
}

// confined gives up all but CAP_DAC_READ_SEARCH and prints what it still may, on each
// of several threads.
func confined(programs bool) {
	dropped, tried := make(chan bool), make(chan string)
	for range 4 { // threads that were there before
		go func() {
			runtime.LockOSThread()
			<-dropped
			tried <- tries()
		}()
	}
	err := confine.Drop(confine.Options{Keep: confine.SetOf(unix.CAP_DAC_READ_SEARCH), Programs: programs})
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Print("unsupported")
		return
	}
	held, _ := confine.Held()
	_, execErr := exec.Command("true").CombinedOutput()
	fmt.Printf("drop %v, held %s, exec %v\n", err, held, execErr == nil)
	for range 4 {
		dropped <- true
		fmt.Print(<-tried)
	}
	again := confine.Drop(confine.Options{Keep: confine.SetOf(unix.CAP_DAC_READ_SEARCH), Programs: programs})
	fmt.Printf("again %v\n", again)
}

func tries() string {
	_, read := os.ReadFile("/etc/shadow")
	mount := unix.Mount("none", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "")
	trace := unix.PtraceAttach(os.Getppid())
	chown := os.Chown(os.Args[0], 1, 1)
	return fmt.Sprintf("read %v, mount %v, trace %v, chown %v\n", read == nil, mount == nil, trace == nil, chown == nil)
}

// TestDrop: what is given up is gone on all threads, calls that change the host are
// refused, what is kept still works, and a second time is no error.
func TestDrop(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has something to give up")
	}
	t.Parallel()
	for _, mode := range []string{"programs", "none"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CONFINE_TEST="+mode)
		out, err := cmd.CombinedOutput()
		if string(out) == "unsupported" {
			t.Skip("built with CGO")
		}
		want := fmt.Sprintf("drop <nil>, held cap_dac_read_search, exec %t\n", mode == "programs") +
			strings.Repeat("read true, mount false, trace false, chown false\n", 4) + "again <nil>\n"
		if err != nil || string(out) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", mode, err, out, want)
		}
	}
}

// TestNeeds: each need has a name that setcap takes, and says what is lost.
func TestNeeds(t *testing.T) {
	t.Parallel()
	for _, n := range confine.Needs() {
		if confine.Name(n.Capability) == "" || n.For == "" || n.Lost == "" {
			t.Errorf("%+v", n)
		}
	}
	if got := confine.Needed(confine.Processes, confine.Logs).String(); got != "cap_dac_read_search,cap_sys_ptrace" {
		t.Error(got)
	}
}
