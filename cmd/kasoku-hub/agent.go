package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/agent"
	"github.com/kasoku/kasoku/fleet/bus"
	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/keys"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/private"
)

// A member is what a host keeps of its hub: the key is made here and stays here.
type member struct {
	Name, Address, CA string
	Seed              string
	Token             string `json:",omitempty"` // until the hub knows the key
}

func memberFile(dir string) string { return filepath.Join(dir, "member.json") }

func readMember(dir string) (m member, err error) {
	b, err := os.ReadFile(memberFile(dir))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return m, hinted{errors.New("this host has joined no hub"),
			"kasoku agent JOIN-LINE, with a line that `kasoku hub` prints"}
	}
	if err != nil {
		return m, fmt.Errorf("read %s: %w", memberFile(dir), err)
	}
	return m, nil
}

func (m *member) write(dir string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = private.State.WriteFile(memberFile(dir), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the key: %w", err)
	}
	return nil
}

// join makes a key for the hub of a join line.
func join(o *relay.Agent) (m member, err error) {
	t, err := fleet.ParseTicket(o.Join)
	if err != nil {
		return m, err
	}
	m = member{Name: o.Name, Address: t.Address, CA: t.CA, Token: t.Token}
	if m.Name == "" {
		own, err := os.Hostname()
		if err != nil {
			return m, fmt.Errorf("name of this host: %w", err)
		}
		m.Name = fleet.HostName(own)
	}
	if err := fleet.CheckHost(m.Name); err != nil {
		return m, hinted{err, "--name gives it another"}
	}
	seed, _, err := keys.New()
	if err != nil {
		return m, err
	}
	m.Seed = string(seed)
	return m, m.write(o.Dir) // before the hub hears of it: a token is for one use
}

// answer is the agent of this host until ctx is done.
func answer(ctx context.Context, o *relay.Agent, version string, stdout io.Writer) error {
	limit, err := fleet.ParseLimit(o.Allow)
	if err != nil {
		return err
	}
	limit.PerSec = o.PerSec
	if err := private.State.MkdirAll(o.Dir); err != nil {
		return fmt.Errorf("make the agent's directory: %w", err)
	}
	if err := hubdir.CheckPrivate(o.Dir); err != nil {
		return err
	}
	m, err := readMember(o.Dir)
	if o.Join != "" {
		m, err = join(o)
	}
	if err != nil {
		return err
	}
	notes := &notes{w: stdout}
	conn, err := connect(ctx, &m, o.Join != "", notes)
	if err != nil || conn == nil {
		return err
	}
	defer conn.Close()
	if m.Token != "" {
		m.Token = ""
		if err := m.write(o.Dir); err != nil {
			return err
		}
	}
	a := agent.New(agent.Options{Program: version, Limit: limit, Lease: o.Lease, Note: notes.say})
	defer a.Close()
	if err := conn.Serve(m.Name, a.Answer); err != nil {
		return err
	}
	if len(o.Allow) == 0 {
		notes.say(m.Name + " answers at hub " + m.Address + ", and nothing is allowed: --allow load=URL")
	} else {
		notes.say(m.Name + " answers at hub " + m.Address)
	}
	<-ctx.Done()
	return nil
}

// connect connects; where the host is a member already it waits for its hub.
func connect(ctx context.Context, m *member, once bool, notes *notes) (*bus.Conn, error) {
	waiting := false
	for {
		conn, err := bus.Connect(bus.Options{Address: m.Address, CA: m.CA, Seed: []byte(m.Seed), Name: m.Name, Token: m.Token,
			Changed: func(err error) {
				if err != nil {
					notes.say("the hub is gone: " + err.Error())
				} else {
					notes.say("the hub is there again")
				}
			}})
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, bus.ErrRefused):
			return nil, hinted{err, "a join line is for one host and one use, in its time; `kasoku hub invite` prints another, " +
				"and " +
				"`kasoku hub remove " + m.Name + "` takes the name's old key out"}
		case once, errors.As(err, new(*bus.PinError)):
			return nil, err
		}
		if !waiting {
			notes.say("waiting for hub " + m.Address + ": " + err.Error())
			waiting = true
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(2 * time.Second):
		}
	}
}

// notes are lines about what is asked and done, with their time.
type notes struct {
	mu sync.Mutex
	w  io.Writer
}

func (n *notes) say(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintf(n.w, "%s %s\n", time.Now().Format(time.TimeOnly), fleet.Clean(text))
}
