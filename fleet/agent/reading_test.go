package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/fleet"
)

// readerScript does what kasoku does as a reader, as far as an agent sees it.
const readerScript = `#!/bin/sh
read order
field() { printf %s "$order" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
tables=$(field Dir)/$(field Run).tables
`

func newReading(t *testing.T, lease time.Duration, script string, allow ...string) (a *Agent, dir string) {
	t.Helper()
	dir = t.TempDir()
	program := filepath.Join(dir, "kasoku")
	if err := os.WriteFile(program, []byte(readerScript+script), 0o755); err != nil {
		t.Fatal(err)
	}
	limit, err := fleet.ParseLimit(allow)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "readings")
	a = New(Options{Limit: limit, Lease: lease, Readings: dir, Kasoku: func() (string, error) { return program, nil }})
	t.Cleanup(a.Close)
	return a, dir
}

func awaitLogs(t *testing.T, a *Agent, state string, q fleet.LogsQuestion) fleet.LogsAnswer {
	t.Helper()
	var last fleet.LogsAnswer
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if last = question[fleet.LogsAnswer](t, a, fleet.Logs, q); last.State == state {
			return last
		}
	}
	t.Fatalf("not %s within 10 s: %+v", state, last)
	return last
}

const wholeReading = `
echo '{"State":"ready","Logs":2}'
read word
echo "{\"State\":\"running\",\"Done\":$(printf %s "$word" | tr -dc 0-9)}"
cat >/dev/null
printf 'whole tables' >"$tables"
echo '{"State":"over","Done":9}'
`

func logsQuestion() fleet.LogsQuestion {
	return fleet.LogsQuestion{Run: run, Kind: fleet.AccessLog, Paths: []string{"/var/log/a"}, Options: json.RawMessage(`{"By":["uri"]}`)}
}

// TestLogs: a reading goes through its states by what is asked, its tables come in pieces, and are removed when
// they have come.
func TestLogs(t *testing.T) {
	a, dir := newReading(t, time.Minute, wholeReading, "logs=/var/log/*")
	q := logsQuestion()
	if got := awaitLogs(t, a, fleet.Ready, q); got.Logs != 2 {
		t.Errorf("%+v", got)
	}
	other := q
	other.Run = strings.Repeat("a", 16)
	if got := question[fleet.LogsAnswer](t, a, fleet.Logs, other); !strings.Contains(got.Error, "other logs are being read") || got.Fix == "" {
		t.Errorf("a second one: %+v", got)
	}
	q.Begin = json.RawMessage("{\"Since\":\n 7}")
	if got := awaitLogs(t, a, fleet.Running, q); got.Done != 7 {
		t.Errorf("%+v", got)
	}
	q.Stop = true
	got := awaitLogs(t, a, fleet.Over, q)
	if got.Size != 12 || len(got.Sum) != 64 || got.Done != 9 {
		t.Errorf("%+v", got)
	}
	if p := question[fleet.PartAnswer](t, a, fleet.Part, fleet.PartQuestion{Run: run, Offset: 6}); string(p.Data) != "tables" {
		t.Errorf("%q, %s", p.Data, p.Error)
	}
	q.Forget = true
	question[fleet.LogsAnswer](t, a, fleet.Logs, q)
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestLogs_Refused: a host that allows nothing reads nothing, and starts nothing.
func TestLogs_Refused(t *testing.T) {
	a, dir := newReading(t, time.Minute, "touch \"$tables.ran\"", "load=http://a/")
	if got := question[fleet.LogsAnswer](t, a, fleet.Logs, logsQuestion()); got.State != fleet.Failed ||
		!strings.Contains(got.Error, "not allowed here") || !strings.Contains(got.Fix, "--allow logs=") {
		t.Errorf("%+v", got)
	}
	a, dir2 := newReading(t, time.Minute, "touch \"$tables.ran\"", "logs=/var/log/*")
	q := logsQuestion()
	q.Paths = []string{"/var/log/../../etc/passwd"}
	if got := question[fleet.LogsAnswer](t, a, fleet.Logs, q); got.State != fleet.Failed {
		t.Errorf("%+v", got)
	}
	q = logsQuestion()
	q.Stop = true
	if got := question[fleet.LogsAnswer](t, a, fleet.Logs, q); got.State != fleet.Failed || !strings.Contains(got.Error, "knows nothing") {
		t.Errorf("%+v", got)
	}
	for _, d := range []string{dir, dir2} {
		if left, _ := filepath.Glob(d + "/*"); len(left) != 0 {
			t.Errorf("it ran: %v", left)
		}
	}
}

// TestLogs_Ends: one for which no one asks ends; a reader that fails or is killed says so.
func TestLogs_Ends(t *testing.T) {
	a, _ := newReading(t, 50*time.Millisecond, "echo '{\"State\":\"ready\"}'\ncat >/dev/null\nprintf x >\"$tables\"\necho '{\"State\":\"over\"}'\n", "logs=/var/log/*")
	q := logsQuestion()
	question[fleet.LogsAnswer](t, a, fleet.Logs, q)
	a.mu.Lock()
	r := a.reader
	a.mu.Unlock()
	select {
	case <-r.ended:
	case <-time.After(10 * time.Second):
		t.Error("it goes on though no one asks")
	}
	for script, want := range map[string]string{
		"echo '{\"State\":\"failed\",\"Error\":\"no such log\",\"Fix\":\"another\"}'; exit 3": "no such log",
		"echo nonsense; exit 2": "exit status 2", "kill -9 $$": "signal: killed", "echo '{\"State\":\"over\"}'": "no such file",
	} {
		a, _ := newReading(t, time.Minute, script, "logs=/var/log/*")
		if got := awaitLogs(t, a, fleet.Failed, q); !strings.Contains(got.Error, want) {
			t.Errorf("%s: %+v", script, got)
		}
	}
}
