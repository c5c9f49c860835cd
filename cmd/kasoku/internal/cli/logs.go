package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/kasoku/kasoku/internal/pathwalk"
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
		} else if err := refuseBinary(&in[i]); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// sniffed are the first bytes of a file that say whether it is text.
const sniffed = 512

// refuseBinary refuses a regular file of which a tenth of the first bytes are NUL, as of
// programs, databases and UTF-16, whose bytes are no lines to print. What cannot be read is
// left to who reads it.
func refuseBinary(in *lines.Input) error {
	if st, err := pathwalk.Stat(in.Path); err != nil || !pathwalk.IsRegular(&st) {
		return nil
	}
	head, err := in.Peek(sniffed)
	switch n := bytes.Count(head, []byte{0}); {
	case err != nil || n <= len(head)/10:
		return nil
	case bytes.HasPrefix(head, []byte("SQLite format 3")):
		return Usagef("a run is shown by `kasoku show "+in.Path+"`", "%q is no log: it is a database, such as a run file", in.Path)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return Usagef("iconv -f UTF-16 -t UTF-8 "+in.Path+" | kasoku … -", "%q is in UTF-16", in.Path)
	}
	return Usagef("name the log itself; gzip and zstd are read as they are", "%q is no log: it is no text", in.Path)
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
