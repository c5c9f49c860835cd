package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/store"
)

// LogInputs are the logs that a command line names.
func (e *Env) LogInputs(args []string) ([]lines.Input, error) {
	if len(args) == 0 && e.StdinTTY() {
		return nil, Usagef("name a log, or pipe one in: kasoku accesslog "+
			"access.log", "no log is named, and standard input is a terminal")
	}
	in, err := lines.Inputs(args)
	if err != nil {
		return nil, UsageIf(errors.Is(err, fs.ErrNotExist), err)
	}
	for i := range in {
		if in[i].Path == "-" {
			in[i].R = e.Stdin
		}
	}
	return in, nil
}

// NamesLogs reports whether an argument names logs rather than a run: a file that is
// no run file, a pattern, or the standard input.
func NamesLogs(arg string) bool {
	_, err := os.Stat(arg)
	return err == nil && !strings.HasSuffix(arg, store.Extension) || strings.ContainsAny(arg, "*?[") || arg == "-"
}

// IsMissing reports whether nothing is at the path.
func IsMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
