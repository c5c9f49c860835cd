package cli

import (
	"errors"
	"path/filepath"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/record"
)

// Guarded describes how what a run changes on servers is put back should this
// process be killed. The option file that names the database may be empty.
func (e *Env) Guarded(o *record.Options, defaultsFile string) error {
	dir, err := e.Journals()
	if err != nil && o.MySQL != "" {
		return err
	}
	if defaultsFile != "" {
		if defaultsFile, err = filepath.Abs(defaultsFile); err != nil {
			return err
		}
	}
	o.Guard = &record.Guard{
		Dir: dir, DefaultsFile: defaultsFile,
		// The program as it runs, even when its file was replaced meanwhile.
		Program: command.Spec{Path: "/proc/self/exe", Name: filepath.Base(e.Name), Args: []string{"guard"}},
	}
	return nil
}

// Journals is the directory of the journals of what is changed on servers.
func (e *Env) Journals() (string, error) {
	dir := e.Getenv("KASOKU_STATE")
	if state := e.Getenv("XDG_STATE_HOME"); dir == "" && state != "" {
		dir = filepath.Join(state, "kasoku")
	}
	if home := e.Getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state", "kasoku")
	}
	if dir == "" {
		return "", WithHint(errors.New("no directory for the journal of changes: HOME "+
			"is not set"), "name one: KASOKU_STATE=/var/lib/kasoku")
	}
	return filepath.Abs(filepath.Join(dir, "servers"))
}
