package neighbours

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// TestBed: what a bed starts is accounted for, and all of it is gone afterwards.
func TestBed(t *testing.T) {
	turn.Wait(t)
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("makes cgroups and namespaces: root alone, not in short mode")
	}
	bed, err := Start(t.Context(), Options{Container: true})
	if err != nil {
		t.Fatal(err)
	}
	before, err := bed.CPU()
	if err != nil {
		t.Fatal(err)
	}
	if len(bed.Parts) != 2 || len(bed.Parts[0].Ports) != 4 || len(bed.Parts[1].Ports) != 2 {
		t.Errorf("parts %v", bed.Parts)
	}
	if seen := processesOf(t, bed.Word); seen < 10 {
		t.Errorf("%d processes have the word in their command line", seen)
	}
	after := before
	for end := time.Now().Add(30 * time.Second); after == before && time.Now().Before(end); {
		if after, err = bed.CPU(); err != nil {
			t.Fatal(err)
		}
	}
	if after == before {
		t.Error("neighbours that use no CPU")
	}
	dirs := bed.group.Dirs()
	if err := bed.Stop(); err != nil {
		t.Error(err)
	}
	if err := bed.Stop(); err != nil {
		t.Error("a second time:", err)
	}
	if left := processesOf(t, bed.Word); left > 0 {
		t.Errorf("%d processes are left", left)
	}
	for _, path := range append(dirs, bed.Dir) {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
}

// TestProject: a context that ends while a project starts leaves nothing.
func TestProject(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers; not in short mode")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err := StartProject(ctx, t.TempDir(), "shop")
	if err == nil {
		p.Stop()
		t.Fatal("it started")
	}
}

// processesOf counts the processes with a word in their command line.
func processesOf(t *testing.T, word string) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-eo", "args").Output()
	if err != nil {
		t.Fatal(err)
	}
	return linesWith(string(out), word)
}

func linesWith(text, word string) (n int) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			n++
		}
	}
	return n
}
