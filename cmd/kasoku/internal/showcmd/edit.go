package showcmd

import (
	"errors"
	"fmt"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// What the commands that change kept runs share.

// editRuns changes the runs that a name means, of a group all, and says for each what
// was changed.
func editRuns(e *cli.Env, dir, name string, change func(*store.Editor, store.Info) (string, error)) error {
	paths, err := findRuns(dir, name)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := editRun(e, path, change); err != nil {
			return err
		}
	}
	return nil
}

func editRun(e *cli.Env, path string, change func(*store.Editor, store.Info) (string, error)) error {
	info := store.Describe(path)
	ed, err := store.Edit(path)
	if err != nil {
		return err
	}
	said, err := change(ed, info)
	if err := errors.Join(err, ed.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s: %s\n", terminal.Clean(info.ID), said)
	return err
}

// fromTo describes how a text was changed.
func fromTo(what, from, to string) string {
	switch {
	case from == "":
		return fmt.Sprintf("%s %q", what, to)
	case to == "":
		return fmt.Sprintf("%s %q removed", what, from)
	}
	return fmt.Sprintf("%s %q → %q", what, from, to)
}
