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

const run = "0123456789abcdef"

// recorderScript does what kasoku does as a recorder, as far as an agent sees it.
const recorderScript = `#!/bin/sh
field() { printf %s "$KASOKU_HOST_RECORDER" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
whole=$(field Dir)/$(field Run).kasoku
`

// newRecorded returns an agent whose kasoku is a script.
func newRecorded(t *testing.T, lease time.Duration, script string, allow ...string) (*Agent, string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "kasoku")
	if err := os.WriteFile(program, []byte(recorderScript+script), 0o755); err != nil {
		t.Fatal(err)
	}
	limit, err := fleet.ParseLimit(allow)
	if err != nil {
		t.Fatal(err)
	}
	a := New(Options{Limit: limit, Lease: lease, Recordings: filepath.Join(dir, "recordings"),
		Kasoku: func() (string, error) { return program, nil }})
	t.Cleanup(a.Close)
	return a, filepath.Join(dir, "recordings")
}

// question asks as the bus does, by JSON.
func question[T any](t *testing.T, a *Agent, verb string, q any) (out T) {
	t.Helper()
	b, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = json.Marshal(a.Answer(verb, b)); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// await asks until a recording has a state.
func await(t *testing.T, a *Agent, state string, q fleet.RecordingQuestion) fleet.RecordingAnswer {
	t.Helper()
	var last fleet.RecordingAnswer
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if last = question[fleet.RecordingAnswer](t, a, fleet.Recording, q); last.State == state {
			return last
		}
	}
	t.Fatalf("not %s within 10 s: %+v", state, last)
	return last
}

const wholeScript = `
echo '{"State":"ready"}'
read begin
echo "{\"State\":\"running\",\"Began\":$(printf %s "$begin" | tr -dc 0-9)}"
cat >/dev/null
echo '{"State":"analysing"}'
printf 'a whole file' >"$whole"
echo '{"State":"over"}'
`

// TestRecording: a recording goes through its states by what is asked, its file comes in pieces, and is
// removed when it has come.
func TestRecording(t *testing.T) {
	a, dir := newRecorded(t, time.Minute, wholeScript, "record=/home/a/kasoku.toml")
	if ack := question[fleet.Ack](t, a, fleet.Record, fleet.RecordOrder{Run: run}); ack.Error != "" {
		t.Fatal(ack.Error)
	}
	await(t, a, fleet.Ready, fleet.RecordingQuestion{Run: run})
	if ack := question[fleet.Ack](t, a, fleet.Record, fleet.RecordOrder{Run: strings.Repeat("a", 16)}); !strings.Contains(ack.Error, "another recording") {
		t.Errorf("a second one: %+v", ack)
	}
	if got := await(t, a, fleet.Running, fleet.RecordingQuestion{Run: run, Begin: 77}); got.Began != 77 {
		t.Errorf("%+v", got)
	}
	question[fleet.RecordingAnswer](t, a, fleet.Recording, fleet.RecordingQuestion{Run: run, Begin: 99}) // once is enough
	got := await(t, a, fleet.Over, fleet.RecordingQuestion{Run: run, Stop: true})
	if got.Size != 12 || len(got.Sum) != 64 || got.Short != "" || got.Began != 77 {
		t.Errorf("%+v", got)
	}
	for offset, want := range map[int64]string{0: "a whole file", 8: "file", 12: "", 1 << 40: "", -5: "a whole file"} {
		if p := question[fleet.PartAnswer](t, a, fleet.Part, fleet.PartQuestion{Run: run, Offset: offset}); string(p.Data) != want || p.Error != "" {
			t.Errorf("at %d: %q, %s", offset, p.Data, p.Error)
		}
	}
	question[fleet.RecordingAnswer](t, a, fleet.Recording, fleet.RecordingQuestion{Run: run, Forget: true})
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestRecording_Refused: no order names a file, and a host that allows nothing records nothing.
func TestRecording_Refused(t *testing.T) {
	a, dir := newRecorded(t, time.Minute, "touch \"$whole.ran\"", "load=http://a/")
	ack := question[fleet.Ack](t, a, fleet.Record, fleet.RecordOrder{Run: run})
	if !strings.Contains(ack.Error, "not allowed here") || !strings.Contains(ack.Fix, "--allow record=") {
		t.Errorf("%+v", ack)
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 0 {
		t.Errorf("it ran: %v", left)
	}
	a, dir = newRecorded(t, time.Minute, wholeScript, "record")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(filepath.Dir(dir), "secret.kasoku")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, run+".kasoku")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "../secret", "0123456789abcde", "0123456789ABCDEF", run + "\x00", run + "/", "..", "0123456789abcdeg", run} {
		if p := question[fleet.PartAnswer](t, a, fleet.Part, fleet.PartQuestion{Run: name}); p.Error == "" || len(p.Data) > 0 {
			t.Errorf("a piece of %q: %q", name, p.Data)
		}
		if got := question[fleet.RecordingAnswer](t, a, fleet.Recording, fleet.RecordingQuestion{Run: name, Forget: true}); got.State != fleet.Failed {
			t.Errorf("the recording %q: %+v", name, got)
		}
		if ack := question[fleet.Ack](t, a, fleet.Record, fleet.RecordOrder{Run: name}); ack.Error == "" {
			t.Errorf("the order %q is taken", name)
		}
	}
	if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
		t.Errorf("%q, %v", b, err)
	}
	if ack := question[fleet.Ack](t, a, fleet.Record, fleet.RecordOrder{Run: strings.Repeat("b", 16), Label: strings.Repeat("x", 300)}); ack.Error == "" {
		t.Error("a long label is taken")
	}
}

// TestRecording_Ends: a recording that no one asks for ends in order by itself, with its reason; one whose recorder
// fails says why; what an agent before this one left is there.
func TestRecording_Ends(t *testing.T) {
	a, dir := newRecorded(t, 300*time.Millisecond, wholeScript, "record")
	question[fleet.Ack](t, a, fleet.Record, fleet.RecordOrder{Run: run})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, run+".kasoku")); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("it does not end by itself")
		}
	}
	if got := await(t, a, fleet.Over, fleet.RecordingQuestion{Run: run}); !strings.Contains(got.Short, "no one asked for it in 300ms") {
		t.Errorf("%+v", got)
	}
	after := New(Options{Limit: a.opts.Limit, Recordings: dir, Kasoku: a.opts.Kasoku})
	if got := await(t, after, fleet.Over, fleet.RecordingQuestion{Run: run}); got.Size != 12 || !strings.Contains(got.Short, "started again") {
		t.Errorf("%+v", got)
	}
	for script, want := range map[string]string{
		"echo '{\"State\":\"failed\",\"Error\":\"no such file\"}'; exit 3": "no such file",
		"echo nonsense; exit 2": "exit status 2", "echo '{\"State\":\"over\"}'": "no such file or directory",
	} {
		a, _ := newRecorded(t, time.Minute, script, "record")
		question[fleet.Ack](t, a, fleet.Record, fleet.RecordOrder{Run: run})
		if got := await(t, a, fleet.Failed, fleet.RecordingQuestion{Run: run}); !strings.Contains(got.Error, want) {
			t.Errorf("%s: %+v", script, got)
		}
	}
}
