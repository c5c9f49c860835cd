package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
)

// A question for a host, and what comes of it. The one with ID 0 comes first, with the error
// that there is no hub to ask; later ones with it are notes.
type (
	question struct {
		ID         uint64
		Host, Verb string
		Within     time.Duration
		Question   json.RawMessage
	}
	answer struct {
		ID     uint64
		Answer json.RawMessage `json:",omitempty"`
		Error  string          `json:",omitempty"`
		Note   string          `json:",omitempty"`
	}
)

// An Asker asks hosts.
type Asker interface {
	Ask(ctx context.Context, host, verb string, question, answer any) error
}

// A Relay is the end that has a connection to the hub. It is safe for concurrent use.
type Relay struct {
	mu  sync.Mutex
	out *json.Encoder
}

// NewRelay writes answers to out.
func NewRelay(out io.Writer) *Relay { return &Relay{out: json.NewEncoder(out)} }

func (r *Relay) send(a answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Encode(a)
}

// Begin says that questions are taken, or with an error that none ever will be.
func (r *Relay) Begin(err error) error {
	var a answer
	if err != nil {
		a.Error = err.Error()
	}
	return r.send(a)
}

// Note says what became of the connection, in words for people.
func (r *Relay) Note(text string) { _ = r.send(answer{Note: text}) } // the other end is gone

var askPart = contain.Part{Kind: contain.Step, Name: "ask"}

// Serve takes questions from in until it ends.
func (r *Relay) Serve(in io.Reader, hub Asker) error {
	var under sync.WaitGroup
	defer under.Wait()
	d := json.NewDecoder(in)
	for {
		var q question
		if err := d.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a question: %w", err)
		}
		under.Go(contain.Func(askPart, func() {
			ctx, cancel := context.WithTimeout(context.Background(), q.Within)
			defer cancel()
			a := answer{ID: q.ID}
			if err := hub.Ask(ctx, q.Host, q.Verb, q.Question, &a.Answer); err != nil {
				a.Error = err.Error()
			}
			_ = r.send(a) // the other end is gone
		}))
	}
}

// A Client is the end that asks. It is safe for concurrent use.
type Client struct {
	mu      sync.Mutex
	out     *json.Encoder
	next    uint64
	waiting map[uint64]chan answer
	gone    error // why no answer comes any more
}

// NewClient asks by out and reads the answers from in. It returns when the hub can be asked, or
// with why not. note, when not nil, is called with what becomes of the connection.
func NewClient(in io.Reader, out io.Writer, note func(string)) (*Client, error) {
	c := &Client{out: json.NewEncoder(out), waiting: map[uint64]chan answer{}}
	d := json.NewDecoder(in)
	var first answer
	if err := d.Decode(&first); err != nil {
		return nil, errors.New(Program + " ended before it was ready")
	}
	if first.Error != "" {
		return nil, errors.New(first.Error)
	}
	contain.Go(askPart, func() { c.read(d, note) })
	return c, nil
}

func (c *Client) read(d *json.Decoder, note func(string)) {
	for {
		var a answer
		if err := d.Decode(&a); err != nil {
			c.mu.Lock()
			c.gone = errors.New(Program + " is gone")
			for id, w := range c.waiting {
				close(w)
				delete(c.waiting, id)
			}
			c.mu.Unlock()
			return
		}
		if a.ID == 0 {
			if note != nil {
				note(a.Note)
			}
			continue
		}
		c.mu.Lock()
		if w := c.waiting[a.ID]; w != nil {
			w <- a // it has room for the one
			delete(c.waiting, a.ID)
		}
		c.mu.Unlock()
	}
}

// defaultWithin is how long a question waits whose context has no end.
const defaultWithin = 10 * time.Second

// Ask asks a host and waits for the answer.
func (c *Client) Ask(ctx context.Context, host, verb string, ask, into any) error {
	b, err := json.Marshal(ask)
	if err != nil {
		return fmt.Errorf("ask %s: %w", host, err)
	}
	q := question{Host: host, Verb: verb, Question: b, Within: defaultWithin}
	if end, ok := ctx.Deadline(); ok {
		q.Within = time.Until(end)
	}
	w, err := c.send(&q)
	if err != nil {
		return fmt.Errorf("ask %s: %w", host, err)
	}
	select {
	case a, ok := <-w:
		switch {
		case !ok:
			return fmt.Errorf("ask %s: %s is gone", host, Program)
		case a.Error != "":
			return errors.New(a.Error) // it names the host
		}
		if err := json.Unmarshal(a.Answer, into); err != nil {
			return fmt.Errorf("ask %s: bad answer: %w", host, err)
		}
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.waiting, q.ID)
		c.mu.Unlock()
		return fmt.Errorf("ask %s: %w", host, ctx.Err())
	}
}

func (c *Client) send(q *question) (chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone != nil {
		return nil, c.gone
	}
	c.next++
	q.ID = c.next
	if err := c.out.Encode(q); err != nil {
		return nil, err
	}
	w := make(chan answer, 1)
	c.waiting[q.ID] = w
	return w, nil
}
