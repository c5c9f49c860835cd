package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A hub of the test answers with what it was asked; the host late waits for the test's end.
type hub struct{ end chan struct{} }

func (h hub) Ask(ctx context.Context, host, verb string, question, answer any) error {
	switch host {
	case "absent":
		return fmt.Errorf("ask %s: it is not connected to the hub", host)
	case "late":
		select {
		case <-h.end:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b, err := json.Marshal(map[string]any{"host": host, "verb": verb, "question": question})
	if err != nil {
		return err
	}
	return json.Unmarshal(b, answer)
}

// ends returns a client and the end of its relay's questions.
func ends(t *testing.T, ready error, notes chan string) (*Client, io.Closer, error) {
	t.Helper()
	questions, ask := io.Pipe()
	answers, answer := io.Pipe()
	served := make(chan error, 1)
	h := hub{make(chan struct{})}
	go func() {
		r := NewRelay(answer)
		err := r.Begin(ready)
		if err == nil && ready == nil {
			r.Note("hello")
			err = r.Serve(questions, h)
		}
		served <- errors.Join(err, answer.Close())
	}()
	c, err := NewClient(answers, ask, func(text string) { notes <- text })
	t.Cleanup(func() {
		close(h.end)
		if err := ask.Close(); err != nil {
			t.Error(err)
		}
		go io.Copy(io.Discard, answers) // a client that is not made reads nothing
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return c, ask, err
}

// TestRelay: many questions at once each get their own answer, an error keeps its words, and
// a question that is late does not hold up the others.
func TestRelay(t *testing.T) {
	notes := make(chan string, 1)
	c, _, err := ends(t, nil, notes)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-notes; got != "hello" {
		t.Errorf("note %q", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Ask(ctx, "late", "hello", 1, new(any)); !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "deadline") {
		t.Errorf("error is %v", err)
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			var got struct {
				Host     string
				Question int
			}
			host := fmt.Sprintf("gen%d", i)
			if err := c.Ask(t.Context(), host, "hello", i, &got); err != nil || got.Host != host || got.Question != i {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if err := c.Ask(t.Context(), "absent", "hello", 1, new(any)); err == nil || err.Error() != "ask absent: it is not connected to the hub" {
		t.Errorf("error is %v", err)
	}
}

// TestRelay_Gone: where the second program ends, what waits for an answer gets an error.
func TestRelay_Gone(t *testing.T) {
	answers, answer := io.Pipe()
	go func() { _ = NewRelay(answer).Begin(nil) }()
	c, err := NewClient(answers, io.Discard, nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { failed <- c.Ask(t.Context(), "gen1", "hello", 1, new(any)) }()
	for c.waits() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := answer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("error is %v", err)
	}
	if err := c.Ask(t.Context(), "gen1", "hello", 1, new(any)); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("a later one: %v", err)
	}
}

func (c *Client) waits() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting)
}

// TestRelay_Refused: where there is no hub the client says why.
func TestRelay_Refused(t *testing.T) {
	_, _, err := ends(t, errors.New("there is no hub in /x"), make(chan string, 1))
	if err == nil || err.Error() != "there is no hub in /x" {
		t.Errorf("error is %v", err)
	}
}

func TestOptions(t *testing.T) {
	want := Options{Kasoku: "1.2.3", Agent: &Agent{Dir: "/d", Allow: []string{"load=http://a/"}, Lease: time.Minute}}
	got, err := ParseOptions(want.String())
	if err != nil || got.Agent == nil || got.Agent.Dir != "/d" || got.Serve != nil || got.Kasoku != "1.2.3" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "x", strings.Replace(want.String(), `"Version":1`, `"Version":2`, 1)} {
		if _, err := ParseOptions(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestBeside: the second program is run only where no one can have changed it who could not
// change kasoku.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	own, second := filepath.Join(dir, "kasoku"), filepath.Join(dir, Program)
	if err := os.WriteFile(own, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	f := func(want string, prepare func() error) {
		t.Helper()
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		path, err := beside(own, Program)
		if want == "" && (err != nil || path != second) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s, %v; want %q", path, err, want)
		}
	}
	f("not there", func() error { return nil })
	f("no program", func() error { return os.WriteFile(second, nil, 0o644) })
	f("", func() error { return os.Chmod(second, 0o755) })
	f("others may change it", func() error { return os.Chmod(second, 0o775) })
	f("no program", func() error { return errors.Join(os.Remove(second), os.Symlink("/bin/true", second)) })
	if os.Geteuid() == 0 {
		f("others may change it", func() error {
			return errors.Join(os.Remove(second), os.WriteFile(second, nil, 0o755), os.Chown(second, 65534, 65534))
		})
	}
}

// FuzzParseOptions: what parses prints as what parses to the same.
func FuzzParseOptions(f *testing.F) {
	f.Add(Options{Serve: &Serve{Dir: "/d", Listen: "127.0.0.1:7422", Lines: 2}}.String())
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOptions(text)
		if err != nil {
			return
		}
		if again, err := ParseOptions(o.String()); err != nil || again.String() != o.String() {
			t.Errorf("%+v, then %+v, %v", o, again, err)
		}
	})
}
