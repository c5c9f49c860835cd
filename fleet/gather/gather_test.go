package gather

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/internal/contain"
)

// A member is a host of a test, whose clock is ahead by offset. It says what the test has it say.
type member struct {
	mu     sync.Mutex
	offset time.Duration
	file   []byte
	run    string
	begin  time.Duration // Clock
	cut    time.Duration // Clock
	stop   bool
	forgot bool
	lost   int // answers that do not come

	refuse string
	say    func(*member, *fleet.RecordingAnswer) // changes what it says
	piece  func(*member, *fleet.PartAnswer)
}

type bus map[string]*member

func (b bus) Ask(_ context.Context, name, verb string, question, answer any) error {
	m := b[name]
	if m == nil {
		return errors.New("it is not connected to the hub")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost > 0 && verb != fleet.Clock {
		m.lost--
		return errors.New("timeout")
	}
	q, err := json.Marshal(question)
	if err != nil {
		return err
	}
	out, err := json.Marshal(m.answer(verb, q))
	if err != nil {
		return err
	}
	return json.Unmarshal(out, answer)
}

func (m *member) answer(verb string, q []byte) any {
	now, err := fleet.Monotonic()
	if err != nil {
		panic(err)
	}
	switch verb {
	case fleet.Hello:
		return fleet.Greeting{Version: fleet.Version}
	case fleet.Clock:
		return fleet.ClockAnswer{Received: now + m.offset, Sent: now + m.offset}
	case fleet.Record:
		var o fleet.RecordOrder
		_ = json.Unmarshal(q, &o)
		m.run = o.Run
		return fleet.Ack{Error: m.refuse, Fix: "ask its owner"}
	case fleet.Recording:
		return m.recording(q)
	case fleet.Part:
		var p fleet.PartQuestion
		_ = json.Unmarshal(q, &p)
		a := fleet.PartAnswer{Data: m.file[min(int(p.Offset), len(m.file)):]}
		a.Data = a.Data[:min(len(a.Data), fleet.MaxPiece)]
		if m.piece != nil {
			m.piece(m, &a)
		}
		return a
	}
	return nil
}

func (m *member) recording(b []byte) fleet.RecordingAnswer {
	var q fleet.RecordingQuestion
	_ = json.Unmarshal(b, &q)
	if q.Begin != 0 {
		m.begin = q.Begin
	}
	if q.Cut != 0 {
		m.cut = q.Cut
	}
	m.stop, m.forgot = m.stop || q.Stop, m.forgot || q.Forget
	a := fleet.RecordingAnswer{State: fleet.Ready}
	if m.begin != 0 {
		a.State, a.Began = fleet.Running, m.begin
	}
	if m.stop {
		sum := sha256.Sum256(m.file)
		a.State, a.Size, a.Sum = fleet.Over, int64(len(m.file)), hex.EncodeToString(sum[:])
	}
	if m.say != nil {
		m.say(m, &a)
	}
	return a
}

// TestGather: hosts begin at one moment by the clock of each, and their files come whole, also where an
// answer is lost.
func TestGather(t *testing.T) {
	big := []byte(strings.Repeat("0123456789", 130_000)) // three pieces
	web, db := &member{offset: 5 * time.Hour, file: big}, &member{offset: -time.Minute, file: []byte("x")}
	dir := t.TempDir()
	g, err := Prepare(t.Context(), bus{"web": web, "db": db}, Options{Hosts: []string{"web", "db"}, Dir: dir,
		Label: "l"})
	if err != nil {
		t.Fatal(err)
	}
	at, err := g.Begin(t.Context(), time.Second)
	if err != nil || time.Until(at) < 0 || time.Until(at) > time.Second {
		t.Fatalf("begins in %s, %v", time.Until(at), err)
	}
	if off := (web.begin - web.offset - (db.begin - db.offset)).Abs(); off > 100*time.Microsecond {
		t.Errorf("the hosts begin %s apart", off)
	}
	if into := (time.Until(at) + now(t) - (web.begin - web.offset)) % time.Second; min(into.Abs(),
		time.Second-into.Abs()) > time.Millisecond {
		t.Errorf("it begins %s into a tick of the hosts", into)
	}
	web.mu.Lock()
	web.lost = 1
	web.mu.Unlock()
	for i, p := range g.Collect() {
		b, err := os.ReadFile(p.Path)
		want := []*member{web, db}[i]
		if err != nil || string(b) != string(want.file) || p.Lost != "" || p.Bound <= 0 || !want.forgot {
			t.Errorf("%+v: %d bytes, %v", p, len(b), err)
		}
		if off := (p.Offset - want.offset).Abs(); off > p.Bound {
			t.Errorf("%s: offset %s, which is %s wrong, more than %s", p.Host, p.Offset, off, p.Bound)
		}
		if off := (p.Began - (want.begin - want.offset)).Abs(); off > p.Bound {
			t.Errorf("%s: began %s off", p.Host, off)
		}
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 2 {
		t.Errorf("files %v", left)
	}
}

func now(t *testing.T) time.Duration {
	t.Helper()
	n, err := fleet.Monotonic()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGather_Liars: what a host says that cannot be ends what is wanted of it, with the reason and without a
// file; the other host's file comes.
func TestGather_Liars(t *testing.T) {
	f := func(want string, liar *member) {
		t.Helper()
		liar.file = []byte("whole")
		dir := t.TempDir()
		g, err := Prepare(t.Context(), bus{"liar": liar, "good": {file: []byte("good")}},
			Options{Hosts: []string{"liar", "good"}, Dir: dir,
				Patience: 2 * time.Second, Analysis: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Begin(t.Context(), time.Second); err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		parts := g.Collect()
		if !strings.Contains(parts[0].Lost, want) || parts[0].Path != "" || parts[1].Path == "" {
			t.Errorf("%q: %+v", want, parts)
		}
		if left, _ := filepath.Glob(dir + "/*"); len(left) != 1 {
			t.Errorf("%q: files %v", want, left)
		}
	}
	over := func(change func(*fleet.RecordingAnswer)) func(*member, *fleet.RecordingAnswer) {
		return func(_ *member, a *fleet.RecordingAnswer) {
			if a.State == fleet.Over {
				change(a)
			}
		}
	}
	f("at most 268435456 are taken", &member{say: over(func(a *fleet.RecordingAnswer) { a.Size = fleet.MaxPart + 1 })})
	f("a run file of -1 bytes", &member{say: over(func(a *fleet.RecordingAnswer) { a.Size = -1 })})
	f("another SHA-256", &member{say: over(func(a *fleet.RecordingAnswer) { a.Sum = strings.Repeat("0", 64) })})
	f("not the one that it measured: 5 bytes", &member{say: over(func(a *fleet.RecordingAnswer) { a.Size = 3 })})
	f("not the one that it measured: 5 bytes at 0 of 9", &member{say: over(func(a *fleet.RecordingAnswer) { a.Size = 9 })})
	f("not the one that it measured", &member{piece: func(_ *member, a *fleet.PartAnswer) {
		a.Data = make([]byte,
			fleet.MaxPiece+1)
	}})
	f("it is gone bad", &member{piece: func(_ *member, a *fleet.PartAnswer) {
		a.Error,
			a.Data = "it is gone\nbad\x1b[2J", nil
	}})
	f("no disk", &member{say: over(func(a *fleet.RecordingAnswer) { a.State, a.Error = fleet.Failed, "no disk" })})
	f("has not analysed", &member{say: over(func(a *fleet.RecordingAnswer) { a.State = fleet.Analysing })})
	f("has not analysed", &member{say: over(func(a *fleet.RecordingAnswer) { a.State = "\x00" })})
	f("has not come whole: timeout", &member{say: func(m *member, a *fleet.RecordingAnswer) {
		if a.State == fleet.Over {
			m.lost = 1000
		}
	}})
}

// TestGather_Refused: where one host refuses, or cannot begin, none goes on, and what they prepared is forgotten.
func TestGather_Refused(t *testing.T) {
	good, bad := &member{}, &member{refuse: "not\x07here"}
	_, err := Prepare(t.Context(), bus{"good": good, "bad": bad}, Options{Hosts: []string{"good", "bad"},
		Dir: t.TempDir()})
	var refused *coordinate.RefusedError
	if !errors.As(err, &refused) || refused.Host != "bad" || refused.Reason != "not here" ||
		refused.Fix != "ask its owner" || !good.forgot {
		t.Errorf("%v; forgotten %t", err, good.forgot)
	}
	if _, err := Prepare(t.Context(), bus{"good": good}, Options{Hosts: []string{"good", "gone"}}); err == nil ||
		!strings.Contains(err.Error(), "not connected") {
		t.Errorf("an absent host: %v", err)
	}
	for _, hosts := range [][]string{nil, {"a", "a"}, {"../a"}} {
		if _, err := Prepare(t.Context(), bus{}, Options{Hosts: hosts}); err == nil {
			t.Errorf("hosts %q are taken", hosts)
		}
	}
	for want, said := range map[string]fleet.RecordingAnswer{
		"bad: no file": {State: fleet.Failed, Error: "no file"},
		"bad: when its recording began cannot be": {State: fleet.Running, Began: 17},
	} {
		good, bad := &member{}, &member{say: func(m *member, a *fleet.RecordingAnswer) {
			if m.begin != 0 || said.State == fleet.Failed {
				*a = said
			}
		}}
		g, err := Prepare(t.Context(), bus{"good": good, "bad": bad}, Options{Hosts: []string{"good", "bad"},
			Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Begin(t.Context(), time.Second); fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
		if g.Cancel(); !good.forgot || !good.stop {
			t.Error("the other goes on")
		}
	}
}

// TestPlantedRecording: a host that is followed no more, by a bug, is one that is lost, and no call waits for it.
func TestPlantedRecording(t *testing.T) {
	defer contain.Forget()
	remove := contain.Plant(followPart)
	g, err := Prepare(t.Context(), bus{"web": {}}, Options{Hosts: []string{"web"}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Begin(t.Context(), time.Second); err == nil || !strings.Contains(err.Error(), contain.Phrase) {
		t.Errorf("%v", err)
	}
	if parts := g.Collect(); parts[0].Path != "" || !strings.Contains(parts[0].Lost, contain.Phrase) {
		t.Errorf("%+v", parts)
	}
	remove()
}
