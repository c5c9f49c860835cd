package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/internal/command"
)

// dirOf is the directory of a hub or an agent: the one that was named, else one below the
// state directory.
func dirOf(e *cli.Env, named, name string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	state, err := e.Journals()
	if err != nil {
		return "", cli.Usage(errors.New("no directory for keys: HOME is not set"), "--dir names one")
	}
	return filepath.Join(filepath.Dir(state), name), nil
}

// become replaces this process by the second program. It returns only with an error.
func become(o relay.Options) error {
	path, err := relay.Find()
	if err != nil {
		return err
	}
	o.Kasoku = cli.VersionString()
	return command.Become(path, relay.Program, relay.Env, o.String())
}

// A Connection asks hosts by a child that is connected to the hub.
type Connection struct {
	*relay.Client
	child *command.Process
	pipes []*os.File
}

// Connect connects to the hub whose directory is named, else to the own one. note, when not nil,
// is called with what becomes of the connection. The caller closes it.
func Connect(ctx context.Context, e *cli.Env, named string, note func(string)) (*Connection, error) {
	dir, err := dirOf(e, named, "hub")
	if err != nil {
		return nil, err
	}
	path, err := relay.Find()
	if err != nil {
		return nil, err
	}
	questions, ask, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	answers, answer, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run %s: %w", path, err), questions.Close(), ask.Close())
	}
	c := &Connection{pipes: []*os.File{ask, answers}}
	// A group of its own: Ctrl-C is for who coordinates, and the hosts are asked what they counted after it.
	c.child, err = command.Start(context.WithoutCancel(ctx), command.Spec{Path: path, Name: relay.Program,
		Env:   []string{relay.Env + "=" + relay.Options{Ask: &relay.Ask{Dir: dir}, Kasoku: cli.VersionString()}.String()},
		Stdin: questions, Stdout: answer, Stderr: os.Stderr, EndWithParent: true})
	err = errors.Join(err, questions.Close(), answer.Close())
	if err == nil {
		c.Client, err = relay.NewClient(answers, ask, note)
	}
	if err != nil {
		c.Close()
		return nil, cli.WithHint(err, "`kasoku hub` is the hub, on this host and as this user; --hub names its directory")
	}
	return c, nil
}

// Close ends the child.
func (c *Connection) Close() {
	for _, p := range c.pipes {
		_ = p.Close() // it ends as its questions do
	}
	if c.child != nil {
		_, _ = c.child.Stop()
	}
}
