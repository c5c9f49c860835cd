package cli

import (
	"bytes"
	"context"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/report/terminal"
)

// standardHeight is taken when the height of the terminal is not known.
const standardHeight = 24

// RegisterPager adds --no-pager to a command whose text may be long.
func (o *Output) RegisterPager(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.noPager, "no-pager", false, "on a terminal: print all at once; as $NO_PAGER, or PAGER=cat")
}

// Pages reports whether text that is longer than the screen goes through a pager: on a
// terminal, unless --no-pager, $NO_PAGER, an empty $PAGER or a dumb terminal says otherwise.
func (o *Output) Pages(e *Env) bool {
	text := o.Format == "text" || o.Format == "table"
	if !e.StdoutTTY || !text || o.noPager || e.Getenv("NO_PAGER") != "" || e.Getenv("TERM") == "dumb" {
		return false
	}
	_, ok := e.pager()
	return ok
}

// pager returns the pager: what $PAGER says, as a shell reads it, else less of the system.
// ok is false where neither is there.
func (e *Env) pager() (spec command.Spec, ok bool) {
	spec = command.Spec{Stdout: terminal.Raw(e.Stdout), Stderr: terminal.Raw(e.Stderr), KeepForeground: true}
	if named := e.Getenv("PAGER"); named != "" {
		spec.Path, spec.Args = "sh", []string{"-c", named}
		if e.Getenv("LESS") == "" {
			spec.Env = []string{"LESS=FRX"}
		}
		return spec, named != "cat"
	}
	// F: end where it fits; R: colours; X: leave it on the screen.
	spec.Path, spec.Args, spec.Trusted = "less", []string{"-FRX"}, true
	spec.Env = []string{"TERM=" + e.Getenv("TERM"), "LESSCHARSET=utf-8", "LESSSECURE=1"}
	_, err := command.TrustedPath(spec.Path)
	return spec, err == nil
}

// page writes a text through the pager, or at once where it fits the screen or no pager
// starts. Ctrl-C is the pager's meanwhile.
func (e *Env) page(text []byte) error {
	height := e.Height
	if height <= 0 {
		height = standardHeight
	}
	if bytes.Count(text, []byte("\n")) >= height {
		if spec, _ := e.pager(); throughPager(spec, text) {
			return nil
		}
	}
	_, err := e.Stdout.Write(text)
	return err
}

// throughPager reports whether a pager took the text.
func throughPager(spec command.Spec, text []byte) bool {
	spec.Stdin = bytes.NewReader(text)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	p, err := command.Start(context.Background(), spec)
	if err != nil {
		return false
	}
	res, err := p.Wait()
	return err == nil && res.ExitCode != 127 // a shell's, of a program that is not there
}
