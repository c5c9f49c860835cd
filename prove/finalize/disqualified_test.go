package finalize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// TestImplementations reads what systemctl lists, as a stand-in prints it.
func TestImplementations(t *testing.T) {
	dir := t.TempDir()
	command.StandIns = []string{dir}
	t.Cleanup(func() { command.StandIns = nil })
	f := func(list string, want Status, saw string) {
		t.Helper()
		script := "#!/bin/sh\nset -e\n[ \"$1 $3\" = 'list-unit-files --state=enabled' ]\ncat <<'E'\n" + list + "E\n"
		if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		w := walker{}
		w.implementations(t.Context())
		i := w.result.Items[0]
		if i.Status != want || strings.Join(i.Saw, "; ") != saw || (want == Bad) != (i.Fix != "") {
			t.Errorf("%+v, want %s %q", i, want, saw)
		}
	}
	f("isucondition.go.service enabled enabled\nnginx.service enabled enabled\nmysql.service enabled enabled\n", OK,
		"no two of one service are enabled")
	f("isucondition.go.service enabled enabled\nisucondition.ruby.service enabled enabled\n", Bad,
		"2 of isucondition are enabled: isucondition.go.service, isucondition.ruby.service")
	f("shop-python.service enabled\nshop-worker.service enabled\nblog-php.service enabled\nnode.service enabled\n", OK,
		"no two of one service are enabled")
}

func TestClockMoved(t *testing.T) {
	f := func(wall time.Duration, want Status) {
		t.Helper()
		if i := clockMoved(wall, time.Minute); i.Status != want || (want == Bad) != (i.Fix != "") {
			t.Errorf("%s in a minute: %+v", wall, i)
		}
	}
	f(time.Minute, OK)
	f(time.Minute+900*time.Millisecond, OK)
	f(time.Minute+1100*time.Millisecond, Bad)
	f(time.Minute-time.Hour, Bad)
}
