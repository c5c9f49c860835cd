package showcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/store"
)

// NewNote returns the command note, which changes the note of a run.
func NewNote(e *cli.Env) *cobra.Command {
	var o cli.Output
	cmd := &cobra.Command{
		Use:   "note RUN [TEXT…]",
		Short: "Change the note of a run: what was changed",
		Long: `Change the note of a run, of a group all its notes. Without TEXT the note is opened
in $VISUAL or $EDITOR. An empty TEXT removes it.`,
		Example: "  kasoku note latest index on orders.user_id\n  kasoku note before",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			note := strings.Join(args[1:], " ")
			if len(args) == 1 {
				var err error
				if note, err = editedNote(cmd, e, o.Dir, args[0]); err != nil {
					return err
				}
			}
			return editRuns(e, o.Dir, args[0], func(ed *store.Editor, i store.Info) (string, error) {
				return fromTo("note", i.Note, note), ed.SetNote(note)
			})
		},
	}
	o.RegisterDir(cmd)
	return cmd
}

// editedNote lets the user change the present note in an editor.
func editedNote(cmd *cobra.Command, e *cli.Env, dir, name string) (string, error) {
	if !e.StdinTTY() {
		return "", cli.Usagef("give it after the run; '' removes the note", "the note's text is missing, and standard "+
			"input is no terminal for an editor")
	}
	path, err := cli.FindRun(dir, name)
	if err != nil {
		return "", err
	}
	if ed, err := store.Edit(path); err != nil { // it must not fail once the note is written
		return "", err
	} else if err := ed.Close(); err != nil {
		return "", err
	}
	return editText(cmd, e, store.Describe(path).Note)
}

// editText returns the text as it is after the user's editor.
func editText(cmd *cobra.Command, e *cli.Env, text string) (edited string, err error) {
	dir, err := private.MakeTempDir("", "kasoku-note-")
	if err != nil {
		return "", fmt.Errorf("edit note: %w", err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	file := dir.File("NOTE")
	if err := private.State.WriteNew(file, []byte(text+"\n")); err != nil {
		return "", fmt.Errorf("edit note: %w", err)
	}
	editor := cmp.Or(e.Getenv("VISUAL"), e.Getenv("EDITOR"), "vi")
	// A shell takes the editor's own arguments apart, as git and crontab have it.
	p, err := command.Start(cmd.Context(), command.Spec{
		Path: "sh", Args: []string{"-c", editor + ` "$1"`, editor, file},
		Stdin: e.Stdin, Stdout: terminal.Raw(e.Stderr), Stderr: terminal.Raw(e.Stderr), KeepForeground: true,
	})
	if err != nil {
		return "", fmt.Errorf("edit note: %w", err)
	}
	res, err := p.Wait()
	switch {
	case err != nil:
		return "", fmt.Errorf("edit note: %w", err)
	case !res.Success():
		return "", cli.WithHint(fmt.Errorf("edit note: editor %q: %s", editor, res), "the note is as it was; $VISUAL "+
			"or $EDITOR names another editor")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("edit note: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}
