package load

import (
	"fmt"
	"testing"
	"time"
)

// TestRecorderOwnTargets: hits of a stream bring their targets with them; their
// names are as bounded as those of a plan.
func TestRecorderOwnTargets(t *testing.T) {
	r := NewRecorder(Plan{}, 0)
	for i := range 3 * maxMessages {
		r.Hits([]Hit{
			{Step: 1, Own: &Target{Method: "GET", URL: fmt.Sprintf("http://a/same?id=%d", i)}, Code: 200},
			{Step: 1, Own: &Target{Method: "GET", URL: fmt.Sprintf("http://a/users/%d", i)}, Err: fmt.Sprintf(`Get "http://a/users/%d": EOF`, i)},
			{Step: 1, Own: &Target{Method: "GET", URL: "http://a"}, Code: 200},
		})
	}
	none := NewRecorder(Plan{}, 0)
	none.Hits([]Hit{{Step: 1, Err: "not sent: x"}})
	if got := none.Targets(); len(got) != 1 || got[0].Name != otherTargets {
		t.Errorf("a hit without a target: %+v", got)
	}
	got := r.Targets()
	if len(got) != maxTargets+1 || got[0].Name != "GET /same" || got[0].Tally.Asked != 3*maxMessages || got[2].Name != "GET /" || got[2].Tally.Asked != 3*maxMessages {
		t.Fatalf("%d targets: %+v", len(got), got)
	}
	if last := got[maxTargets]; last.Name != otherTargets || last.Tally.Asked != 3*maxMessages-(maxTargets-2) {
		t.Errorf("%s has %d", last.Name, last.Tally.Asked)
	}
	if all := r.Tally(0); len(all.Errors) != 1 || all.Errors["Get: EOF"] != 3*maxMessages {
		t.Errorf("errors %v", all.Errors)
	}
	if n := len(r.open.names.lines); n > maxMessages {
		t.Errorf("%d paths are remembered", n)
	}
}

// TestRecorderBoundsMessages: messages that are all different do not fill a run
// that goes on for long.
func TestRecorderBoundsMessages(t *testing.T) {
	r := NewRecorder(Plan{Targets: []Target{{Method: "GET", URL: "http://a/"}}}, 0)
	r.KeepSeconds()
	kept := 0
	for i := range 5 * maxMessages {
		r.Hits([]Hit{{Step: 1, Err: fmt.Sprint("error ", i)}})
		if i%10 == 0 {
			kept += len(r.Take()[0].Errors)
		}
	}
	if all := r.Tally(0); len(all.Errors) > maxMessages+1 || sum(all.Errors) != 5*maxMessages {
		t.Errorf("%d messages of %d", len(all.Errors), sum(all.Errors))
	}
	if kept > maxMessages+5*maxMessages/10 {
		t.Errorf("%d messages were taken", kept)
	}
}

func TestWithoutURL(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := withoutURL(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	f(`Get "http://127.0.0.1/users/17": EOF`, "Get: EOF")
	f(`Post "https://a/\": x": dial tcp: refused`, "Post: dial tcp: refused")
	f(`Get "http://127.0.0.1/`, `Get "http://127.0.0.1/`)
	f(`not sent: "http://a": x`, `not sent: "http://a": x`)
	f("500 Internal Server Error", "500 Internal Server Error")
	f("", "")
}

func TestWithoutPassword(t *testing.T) {
	f := func(url, want string) {
		t.Helper()
		if got := WithoutPassword(url); got != want {
			t.Errorf("%q is shown as %q, want %q", url, got, want)
		}
	}
	f("http://h/a", "http://h/a")
	f("http://h:80/a@b:c", "http://h:80/a@b:c")
	f("http://[::1]:80/", "http://[::1]:80/")
	f("http://me@h:80/", "http://me@h:80/")
	f("http://me:@h/", "http://me:***@h/")
	f("https://me:secret@h:80/{{uuid}}?q=a:b@c#x", "https://me:***@h:80/{{uuid}}?q=a:b@c#x")
	f("http://me:sec@ret@h", "http://me:***@h")
	f("me:secret@h", "me:secret@h") // no URL
}

// TestRecorderNamed: names that were not known beforehand are as bounded as those of a
// plan, and stand beside them.
func TestRecorderNamed(t *testing.T) {
	r := NewRecorder(Plan{Targets: []Target{{Method: "GET", URL: "http://a/"}}}, 0)
	r.KeepSeconds()
	for i := range 3 * maxTargets {
		r.Named(fmt.Sprint("step ", i), &Hit{Step: 2, Code: 200})
		r.Named("GET /", &Hit{Step: 2, Err: fmt.Sprint("error ", i%7)})
		r.Hits([]Hit{{Step: 2, Code: 200}})
	}
	got := r.Targets()
	if len(got) != maxTargets+1 || got[0].Name != "GET /" || got[0].Tally.Asked != 6*maxTargets || len(got[0].Tally.Errors) != 7 {
		t.Fatalf("%d names: %+v", len(got), got)
	}
	if last := got[maxTargets]; last.Name != otherTargets || last.Tally.Asked != 2*maxTargets+1 {
		t.Errorf("%s has %d", last.Name, last.Tally.Asked)
	}
	if got := r.Take(); len(got) != maxTargets+1 {
		t.Errorf("%d seconds", len(got))
	}
	for i := range 100 * maxSlots { // a second each, and no call asks
		r.Named("GET /", &Hit{Step: 2, Due: time.Duration(i) * time.Second})
	}
	if n := len(r.open.slots); n > maxSlots+1 {
		t.Errorf("%d seconds are open", n)
	}
}
