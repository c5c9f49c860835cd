package thishost

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseMemTotal(t *testing.T) {
	f := func(text string, want uint64) {
		t.Helper()
		if got := parseMemTotal([]byte(text)); got != want {
			t.Errorf("%.60q: %d, want %d", text, got, want)
		}
	}
	f("MemTotal:       24684092 kB\nMemFree:        20182212 kB\n", 24684092*1024)
	f("MemFree: 1 kB\nMemTotal: 2 kB", 2048)
	f("", 0)
	f("MemTotal:", 0)
	f("MemTotal: many kB", 0)
	f("MemTotal: -5 kB", 0)
	f("MemTotal: 99999999999999999999 kB", 0)
	f("XMemTotal: 5 kB", 0)
}

func TestParsePrettyName(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := parsePrettyName([]byte(text)); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
	f("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n", "Debian GNU/Linux 12 (bookworm)")
	f("ID=alpine\nPRETTY_NAME='Alpine Linux v3.20'\n", "Alpine Linux v3.20")
	f("PRETTY_NAME=Plain", "Plain")
	f("NAME=x\n", "")
	f("", "")
	f("X_PRETTY_NAME=y\n", "")
	f(strings.Repeat("x", 1<<20)+"\nPRETTY_NAME=far\n", "") // a line too long ends the reading
}

func FuzzHostInfo(f *testing.F) {
	f.Add([]byte("MemTotal:       24684092 kB\n"))
	f.Add([]byte("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := parseMemTotal(b); n%1024 != 0 {
			t.Errorf("%d is no number of kB", n)
		}
		if name := parsePrettyName(b); strings.Contains(name, "\n") {
			t.Errorf("%q has a newline", name)
		}
	})
}

func TestInfo(t *testing.T) {
	h := Info()
	if h.Cores < 1 || h.MemoryBytes < 1<<20 || h.Kernel == "" || h.Arch == "" || strings.TrimSpace(h.BootID) != h.BootID {
		t.Errorf("%+v", h)
	}
}

// TestRevision: a checkout is named by branch and commit, with whether it was
// changed; another directory has none.
func TestRevision(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if rev, dirty := Revision(t.Context()); rev != "" || dirty {
		t.Errorf("outside a checkout: %q, %t", rev, dirty)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile("file", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "work")
	write("one")
	git("add", "file")
	git("commit", "-q", "-m", "first")
	if rev, dirty := Revision(t.Context()); !strings.HasPrefix(rev, "work@") || len(rev) < len("work@")+7 || dirty {
		t.Errorf("clean: %q, %t", rev, dirty)
	}
	write("two")
	if rev, dirty := Revision(t.Context()); !strings.HasPrefix(rev, "work@") || !dirty {
		t.Errorf("changed: %q, %t", rev, dirty)
	}
}
