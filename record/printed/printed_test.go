package printed

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/score"
)

// TestOutput: a line has the time at which it was printed, on whichever output; stdout goes
// before stderr.
func TestOutput(t *testing.T) {
	var now time.Duration
	o := New(func() time.Duration { return now })
	out, err := o.Writers(io.Discard, io.Discard)
	at := func(s time.Duration, w io.Writer, text string) {
		now = s
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	at(time.Second, err, "starting\n")
	at(2*time.Second, err, "POST /x: timeout\n")
	at(3*time.Second, out, "error: early\n")
	at(4*time.Second, err, "POST /x: time")
	at(5*time.Second, err, "out\n")
	at(9*time.Second, out, `{"pass":true,"score":7,"messages":["POST /y: failed"]}`+"\n")
	at(9*time.Second, err, `{"pass":true,"score":8,"messages":[]}`+"\n")
	s, failed := o.Score(score.Pattern{}, score.Pattern{})
	if failed != nil || s.Value != 7 || s.Outcome != kasoku.Passed {
		t.Fatalf("%+v, %v", s, failed)
	}
	var got []string
	for _, m := range o.Words().Messages {
		got = append(got, fmt.Sprintf("%d %s %v-%v", m.Count, m.Sample, m.First, m.Last))
	}
	want := "2 POST /x: timeout 2s-4s\n1 POST /y: failed 9s-9s\n1 early 3s-3s"
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got %q, want %q", s, want)
	}
	if text, cut := o.Tail(); cut || !strings.HasPrefix(text, "starting\nPOST /x: timeout\nerror: early\n") {
		t.Errorf("%q, %v", text, cut)
	}
}

// TestOutput_Bounded: a command that prints without end keeps its last lines and their times.
func TestOutput_Bounded(t *testing.T) {
	var now time.Duration
	o := New(func() time.Duration { return now })
	out, _ := o.Writers(io.Discard, io.Discard)
	line := strings.Repeat("x", 199) + "\n"
	for i := range 20_000 {
		now = time.Duration(i) * time.Second
		if i == 19_990 {
			_, _ = io.WriteString(out, "error: late\n")
		}
		_, _ = io.WriteString(out, line)
	}
	said := o.Words().Messages
	if len(said) != 1 || said[0].First > 19_990*time.Second || said[0].First < 19_980*time.Second {
		t.Errorf("%+v", said)
	}
	if n := len(o.stdout.marks); n > mostMarks {
		t.Errorf("%d marks", n)
	}
	if text, cut := o.Tail(); !cut || len(text) > Kept {
		t.Errorf("%d bytes, cut: %v", len(text), cut)
	}
}
