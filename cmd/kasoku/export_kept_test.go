package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// shipped are the limits of carbon.conf as it is shipped.
var shipped = map[string]string{"MAX_UPDATES_PER_SECOND": "500", "MAX_CREATES_PER_MINUTE": "50"}

// TestExportKept: of a run that is sent to a carbon-cache as it is shipped most series do not
// come to exist. That is said with the line of carbon.conf, whether its cache is asked or its
// files are read, and is a bad answer; where neither can be asked it is said once that it is
// not known. A carbon without the limits keeps all.
func TestExportKept(t *testing.T) {
	if testing.Short() {
		t.Skip("starts carbon-cache")
	}
	turn.Wait(t)
	dir, _ := exported(t)
	export := func(code int, args ...string) string {
		t.Helper()
		cmd := exec.Command("kasoku", append([]string{"export", "a.kasoku", "--to", "graphite", "--address"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
			t.Errorf("%v: %v, want exit %d\n%s", args, err, code, out)
		}
		return string(out)
	}
	line := "`MAX_CREATES_PER_MINUTE = inf` in section [cache] of carbon.conf"
	for _, by := range []string{"--query", "--storage"} {
		c := sandboxtest.Carbon(t, sandbox.CarbonOptions{Settings: shipped})
		at := map[string]string{"--query": c.QueryAddr(), "--storage": filepath.Join(c.StorageDir, "whisper")}[by]
		out := export(cli.ExitBad, c.LineAddr(), by, at)
		if !strings.Contains(out, "carbon has not created ") || strings.Count(out, line) != 1 ||
			!strings.Contains(out, "exist at the server\n") {
			t.Errorf("%s: it says\n%s", by, out)
		}
	}
	c := sandboxtest.Carbon(t, sandbox.CarbonOptions{})
	out := export(cli.ExitGood, c.PickleAddr(), "--protocol", "pickle", "--query", c.QueryAddr())
	if !strings.Contains(out, "kept  all 20 series that it was asked for, of ") {
		t.Errorf("without limits it says\n%s", out)
	}
	if out := export(cli.ExitGood, c.LineAddr(), "--storage", filepath.Join(c.StorageDir, "whisper")); !strings.Contains(out,
		" series exist at the server\n") {
		t.Errorf("without limits, by its files, it says\n%s", out)
	}
	out = export(cli.ExitGood, c.LineAddr(), "--query", "127.0.0.1:1")
	if strings.Count(out, "warning: whether carbon keeps all ") != 1 || !strings.Contains(out, line) {
		t.Errorf("without an answer it says\n%s", out)
	}
}

// TestExportLiveKept: so of what is live, while it goes on.
func TestExportLiveKept(t *testing.T) {
	if testing.Short() {
		t.Skip("starts carbon-cache")
	}
	turn.Wait(t)
	t.Parallel()
	c := sandboxtest.Carbon(t, sandbox.CarbonOptions{Settings: shipped})
	r := startWith(t, "kasoku.toml", "project = 'x'\n", "export", "--live", "--to", "graphite", "--address", c.LineAddr(),
		"--query", c.QueryAddr(), "--config")
	r.waitFor("the line of carbon.conf", func() bool {
		return strings.Contains(r.said(), "`MAX_CREATES_PER_MINUTE = inf` in section [cache] of carbon.conf")
	})
	r.interrupt(false)
	r.exits(cli.ExitBad, "carbon has not created ")
}
