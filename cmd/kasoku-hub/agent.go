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

	"golang.org/x/sys/unix"

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
	Cluster           bool   `json:",omitempty"` // the hub is a NATS server of somebody's own
}

const (
	memberFile  = "member.json"
	joiningFile = "joining.json" // a key that the hub may know, when the host was cut off as it joined
)

func readMember(dir string) (m member, err error) {
	path := filepath.Join(dir, memberFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(dir, joiningFile)
		b, err = os.ReadFile(path)
	}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return m, hinted{errors.New("this host has joined no hub"),
			"kasoku agent JOIN-LINE, with a line that `kasoku hub` prints"}
	}
	if err != nil {
		return m, fmt.Errorf("read %s: %w", path, err)
	}
	return m, nil
}

func (m *member) write(dir, file string) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = private.State.WriteFile(filepath.Join(dir, file), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the key: %w", err)
	}
	return nil
}

// again reports whether the host is a member of the line's hub already, so that the line is not
// used: somebody gave the command once more.
func (m *member) again(t *fleet.Ticket, name string) bool {
	return m.Seed != "" && m.CA == t.CA && (name == "" || m.Name == name)
}

// join makes a key for the hub of a join line.
func join(o *relay.Agent, t *fleet.Ticket) (m member, err error) {
	m = member{Name: o.Name, Address: t.Address, CA: t.CA, Token: t.Token, Cluster: t.Cluster}
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
	return m, nil
}

// enter connects to the hub of the join line, else to that of before. It returns neither a
// connection nor an error when ctx is done.
func enter(ctx context.Context, o *relay.Agent, notes *notes) (*bus.Conn, member, error) {
	m, err := readMember(o.Dir)
	if o.Join == "" {
		if err != nil {
			return nil, m, err
		}
		conn, err := connect(ctx, &m, o, notes)
		return conn, m, err
	}
	t, err := fleet.ParseTicket(o.Join)
	if err != nil {
		return nil, m, err
	}
	if m.again(&t, o.Name) {
		m.Address = t.Address
		if conn, err := connect(ctx, &m, o, notes); !errors.Is(err, bus.ErrRefused) {
			return conn, m, err
		}
	}
	if m, err = join(o, &t); err != nil {
		return nil, m, err
	}
	// The key is on disk before the hub hears of it, as a token is for one use; beside the one of
	// before, as this one may be refused.
	file := joiningFile
	if m.Cluster {
		file = memberFile // the key is the host's whenever the cluster takes it
	}
	if err := m.write(o.Dir, file); err != nil {
		return nil, m, err
	}
	conn, err := connect(ctx, &m, o, notes)
	if errors.Is(err, bus.ErrRefused) {
		_ = os.Remove(filepath.Join(o.Dir, joiningFile)) // the next line has a key of its own
	}
	return conn, m, err
}

func servingFile(dir string) string { return filepath.Join(dir, "serving") }

// end takes away the file for as long as which an agent runs, and waits until it has ended.
func end(ctx context.Context, o *relay.Agent) error {
	if err := os.Remove(o.While); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the agent: %w", err)
	}
	f, err := os.Open(servingFile(o.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there never was one
	} else if err != nil {
		return fmt.Errorf("end the agent: %w", err)
	}
	defer f.Close()
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("end the agent: it does not end")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// alone makes this process the one that answers with the key in a directory: of two the hub
// would cut off one after the other.
func alone(dir string) (free func() error, err error) {
	f, err := private.State.Open(servingFile(dir), 0)
	if err != nil {
		return nil, fmt.Errorf("lock the agent's directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(hinted{errors.New("another agent answers with the key in " + dir),
			"one agent answers for a host; another --dir has a key of its own, and joins by a line of its own"}, f.Close())
	}
	return f.Close, nil
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
	free, err := alone(o.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = free() }() // the process ends
	notes := &notes{w: stdout}
	conn, m, err := enter(ctx, o, notes)
	if err != nil || conn == nil {
		return err
	}
	defer func() { conn.Close() }()
	m.Token = ""
	if err := m.write(o.Dir, memberFile); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(o.Dir, joiningFile)) // it is read where there is no other
	if o.JoinOnly {
		notes.say(m.Name + " has joined hub " + m.Address)
		return nil
	}
	a := agent.New(agent.Options{Program: version, Limit: limit, Lease: o.Lease, Note: notes.say,
		Recordings: filepath.Join(o.Dir, "recordings"), Readings: filepath.Join(o.Dir, "readings"),
		Kasoku: relay.FindFirst})
	defer a.Close()
	again := *o
	again.Join = "" // from now on it waits for its hub
	for {
		err := conn.Serve(m.Name, a.Answer)
		if err == nil {
			sayAnswers(o, &m, notes)
			select {
			case <-ctx.Done():
				return nil
			case <-conn.Gone():
				err = errors.New("the connection is closed")
			}
		}
		notes.say("the hub is gone: " + err.Error())
		conn.Close()
		next, err := connect(ctx, &m, &again, notes)
		if err != nil || next == nil {
			return err
		}
		conn = next
	}
}

func sayAnswers(o *relay.Agent, m *member, notes *notes) {
	if len(o.Allow) == 0 {
		notes.say(m.Name + " answers at hub " + m.Address + ", and nothing is allowed: --allow load=URL, " +
			"--allow record=FILE, --allow logs=PATTERN")
	} else {
		notes.say(m.Name + " answers at hub " + m.Address)
	}
}

// attempts is how often a host that joins tries to connect to a hub that is there.
const attempts = 5

// connect connects; where the host is a member already it waits for its hub.
func connect(ctx context.Context, m *member, o *relay.Agent, notes *notes) (*bus.Conn, error) {
	once := o.Join != "" && !m.Cluster
	waiting := false
	for attempt := 1; ; attempt++ {
		conn, err := bus.Connect(bus.Options{Address: m.Address, CA: m.CA, Seed: []byte(m.Seed), Name: m.Name, Token: m.Token, Via: o.Via,
			Cluster: m.Cluster,
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
		case m.Cluster && errors.Is(err, bus.ErrRefused):
			if !waiting {
				waiting = true
				if err := m.sayKey(notes); err != nil {
					return nil, err
				}
			}
		case errors.Is(err, bus.ErrRefused):
			return nil, hinted{err, "a join line is for one host and one use, in its time; `kasoku hub invite` prints another, " +
				"and " +
				"`kasoku hub remove " + m.Name + "` takes the name's old key out"}
		case errors.As(err, new(*bus.PinError)), once && (errors.Is(err, bus.ErrNone) || attempt == attempts):
			return nil, err // else a hub that many join at once has cut it off
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

// sayKey says which key the cluster has to let in.
func (m *member) sayKey(n *notes) error {
	public, err := keys.Public([]byte(m.Seed))
	if err == nil {
		n.say("waiting until " + m.Address + " lets in the key of this host: " + m.Name + "=" + public)
	}
	return err
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
