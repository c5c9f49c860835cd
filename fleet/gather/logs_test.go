package gather

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/internal/contain"
)

// A logMember is a host of a test that reads logs. It says what the test has it say.
type logMember struct {
	file    []byte
	zone    *fleet.LogZone
	asked   []fleet.LogsQuestion
	say     func(*fleet.LogsAnswer)
	spoil   func([]byte) []byte // what it hands over
	lost    int                 // answers that do not come
	absence error
}

type logBus map[string]*logMember

func (b logBus) Ask(_ context.Context, name, verb string, question, answer any) error {
	m := b[name]
	if m == nil || m.absence != nil {
		return errors.New("it is not connected to the hub")
	}
	var out any
	switch verb {
	case fleet.Hello:
		out = fleet.Greeting{Version: fleet.Version}
	case fleet.Clock:
		now, _ := fleet.Monotonic()
		out = fleet.ClockAnswer{Received: now, Sent: now}
	case fleet.Part:
		p := question.(fleet.PartQuestion)
		data := m.file
		if m.spoil != nil {
			data = m.spoil(data)
		}
		data = data[min(p.Offset, int64(len(data))):]
		out = fleet.PartAnswer{Data: data[:min(len(data), fleet.MaxPiece)]}
	case fleet.Logs:
		q := question.(fleet.LogsQuestion)
		m.asked = append(m.asked, q)
		if m.lost > 0 && len(q.Begin) > 0 {
			m.lost--
			return errors.New("timeout")
		}
		a := fleet.LogsAnswer{State: fleet.Ready, Logs: 1, Zone: m.zone, Total: 100}
		if len(q.Begin) > 0 {
			sum := sha256.Sum256(m.file)
			a.State, a.Size, a.Sum, a.Done = fleet.Over, int64(len(m.file)), hex.EncodeToString(sum[:]), 100
		}
		if m.say != nil {
			m.say(&a)
		}
		out = a
	}
	encoded, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, answer)
}

// readAll has hosts a and b read.
func readAll(t *testing.T, b logBus, change func(*LogOptions)) ([]ReadLogs, error) {
	t.Helper()
	o := LogOptions{Hosts: []HostLogs{{"a", []string{"/a/*"}}, {"b", []string{"/b/*"}}}, Kind: fleet.AccessLog,
		Options: json.RawMessage(`{}`), Dir: t.TempDir(), Hard: t.Context(), Patience: 2 * time.Second,
		Begin: func(*fleet.LogZone) (any, error) { return map[string]int{"Since": 1}, nil }}
	if change != nil {
		change(&o)
	}
	return Logs(t.Context(), b, o)
}

// TestLogs: tables of all hosts come, each whole, and nothing is left there; answers that do not come are asked
// for again.
func TestLogs(t *testing.T) {
	b := logBus{"a": {file: []byte(strings.Repeat("abc", fleet.MaxPiece)), zone: &fleet.LogZone{Ahead: 60}}, "b": {file: nil, lost: 2}}
	var zone *fleet.LogZone
	var done, total int64
	all, err := readAll(t, b, func(o *LogOptions) {
		o.Begin = func(z *fleet.LogZone) (any, error) { zone = z; return "word", nil }
		o.Progress = func(d, n int64) { done, total = d, n }
	})
	if err != nil || len(all) != 2 || zone == nil || zone.Ahead != 60 || done != 200 || total != 200 {
		t.Fatalf("%+v, zone %+v, %d of %d, %v", all, zone, done, total, err)
	}
	for i, name := range []string{"a", "b"} {
		got, err := os.ReadFile(all[i].Path)
		if err != nil || string(got) != string(b[name].file) || all[i].Host != name {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		last := b[name].asked[len(b[name].asked)-1]
		if !last.Forget || last.Kind != fleet.AccessLog || last.Paths[0] != "/"+name+"/*" {
			t.Errorf("%s was asked last: %+v", name, last)
		}
	}
}

// TestLogs_Refused: where one host does not read, none does.
func TestLogs_Refused(t *testing.T) {
	for want, m := range map[string]*logMember{
		"b: refused: no": {say: func(a *fleet.LogsAnswer) { a.State, a.Error, a.Fix = fleet.Failed, "refused: no\x1b[2J", "ask \x1b" }},
		"not connected":  {absence: errors.New("gone")},
		"ended before":   {say: func(a *fleet.LogsAnswer) { a.State = fleet.Over }},
	} {
		b := logBus{"a": {}, "b": m}
		all, err := readAll(t, b, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") || all != nil {
			t.Errorf("%s: %v, %v", want, all, err)
		}
		for _, q := range b["a"].asked {
			if len(q.Begin) > 0 {
				t.Errorf("%s: the other one reads", want)
			}
		}
	}
	b := logBus{"a": {}, "b": {}}
	if _, err := readAll(t, b, func(o *LogOptions) {
		o.Begin = func(*fleet.LogZone) (any, error) { return nil, errors.New("bad time") }
	}); err == nil || !b["a"].asked[len(b["a"].asked)-1].Forget {
		t.Errorf("what is not begun is not forgotten: %v", err)
	}
}

// TestLogs_Liar: a host that lies of what it read costs its own part, and what it says of sizes nothing more.
func TestLogs_Liar(t *testing.T) {
	over := func(change func(*fleet.LogsAnswer)) func(*fleet.LogsAnswer) {
		return func(a *fleet.LogsAnswer) {
			if a.State == fleet.Over {
				change(a)
			}
		}
	}
	for want, m := range map[string]*logMember{
		"at most":         {say: over(func(a *fleet.LogsAnswer) { a.Size = fleet.MaxPart + 1 })},
		"of -5 bytes":     {say: over(func(a *fleet.LogsAnswer) { a.Size = -5 })},
		"another SHA-256": {say: over(func(a *fleet.LogsAnswer) { a.Sum = "" })},
		"at 0 of 9":       {say: over(func(a *fleet.LogsAnswer) { a.Size = 9 })},
		"it measured":     {spoil: func(b []byte) []byte { return append(b, "more"...) }},
		"SHA-256":         {spoil: func(b []byte) []byte { return []byte(strings.ToUpper(string(b))) }},
		"why not": {say: func(a *fleet.LogsAnswer) {
			if a.State == fleet.Over {
				a.State, a.Error = fleet.Failed, "why not\nroot:"
			}
		}},
	} {
		if m.say == nil {
			m.file = []byte("tables")
		}
		all, err := readAll(t, logBus{"a": {file: []byte("whole")}, "b": m}, nil)
		if err != nil || all[0].Lost != "" || all[1].Path != "" || !strings.Contains(all[1].Lost, want) || strings.Contains(all[1].Lost, "\n") {
			t.Errorf("%s: %+v, %v", want, all, err)
		}
	}
	var most int64
	_, err := readAll(t, logBus{"a": {}, "b": {say: func(a *fleet.LogsAnswer) { a.Done, a.Total, a.Kept = math.MaxInt64, math.MaxInt64, -1 }}},
		func(o *LogOptions) { o.Progress = func(done, total int64) { most = max(most, total) } })
	if err != nil || most <= 0 || most > maxLogBytes+100 {
		t.Errorf("%d bytes, %v", most, err)
	}
}

// TestLogs_Stop: who asks stops; what was read until then comes.
func TestLogs_Stop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	running := func(a *fleet.LogsAnswer) { a.State = fleet.Running }
	b := logBus{"a": {file: []byte("some")}, "b": {}}
	m := b["a"]
	m.say = func(a *fleet.LogsAnswer) {
		if q := m.asked[len(m.asked)-1]; a.State == fleet.Over && !q.Stop {
			running(a)
			stop()
		}
	}
	o := LogOptions{Hosts: []HostLogs{{"a", []string{"/a"}}, {"b", []string{"/b"}}}, Dir: t.TempDir(), Hard: t.Context(),
		Begin: func(*fleet.LogZone) (any, error) { return 1, nil }}
	all, err := Logs(ctx, b, o)
	if err != nil || all[0].Path == "" || all[1].Path == "" {
		t.Errorf("%+v, %v", all, err)
	}
	hard, cancel := context.WithCancel(t.Context())
	m.say = func(a *fleet.LogsAnswer) {
		if a.State == fleet.Over {
			running(a)
			cancel()
		}
	}
	o.Hard, o.Dir = hard, t.TempDir()
	if all, err = Logs(t.Context(), b, o); err != nil || all[0].Path != "" || !strings.Contains(all[0].Lost, "not waited for") {
		t.Errorf("given up: %+v, %v", all, err)
	}
}

// TestLogs_Still: a host that says for ever that it looks for its logs, or reads, is given up, and what the other one
// read comes; one that waits for the other is not.
func TestLogs_Still(t *testing.T) {
	still := func(notes *[]string) func(*LogOptions) {
		return func(o *LogOptions) { o.Still, o.Note = time.Second, func(n string) { *notes = append(*notes, n) } }
	}
	for _, state := range []string{fleet.Running, "\x1bfor ever\n", fleet.Ready} {
		var notes []string
		m := &logMember{say: func(a *fleet.LogsAnswer) {
			if a.State == fleet.Over {
				*a = fleet.LogsAnswer{State: state, Total: 100, Done: 7}
			}
		}}
		all, err := readAll(t, logBus{"a": {file: []byte("whole")}, "b": m}, still(&notes))
		if err != nil || all[0].Path == "" || all[1].Path != "" || !strings.Contains(all[1].Lost, "nothing more for 1s") ||
			strings.ContainsAny(all[1].Lost, "\x1b\n") || len(notes) != 1 || !strings.HasPrefix(notes[0], "b has read nothing") {
			t.Errorf("%q: %+v, %v; %q", state, all, err, notes)
		}
	}
	var notes []string
	looks := &logMember{say: func(a *fleet.LogsAnswer) { a.State = fleet.Preparing }}
	if all, err := readAll(t, logBus{"a": {}, "b": looks}, still(&notes)); err == nil ||
		!strings.Contains(err.Error(), "nothing more for 1s") {
		t.Errorf("it looks for its logs for ever: %+v, %v", all, err)
	}
	began := time.Now()
	slow := &logMember{}
	done := int64(0)
	slow.say = func(a *fleet.LogsAnswer) {
		if a.State == fleet.Over && time.Since(began) < 2*time.Second {
			done++
			*a = fleet.LogsAnswer{State: fleet.Running, Total: 1000, Done: done}
		}
	}
	if all, err := readAll(t, logBus{"a": {}, "b": slow}, still(&notes)); err != nil || all[1].Path == "" {
		t.Errorf("it reads slowly: %+v, %v", all, err)
	}
}

// TestPlantedReading: a bug in asking a host is its error.
func TestPlantedReading(t *testing.T) {
	defer contain.Forget()
	remove := contain.Plant(readPart)
	defer remove()
	if all, err := readAll(t, logBus{"a": {}, "b": {}}, nil); err == nil || !strings.Contains(err.Error(), contain.Phrase) {
		t.Errorf("%+v, %v", all, err)
	}
}
