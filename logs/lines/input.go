package lines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// An Input is a log, or a part of one, that is read from one end to the other:
// a file, plain or compressed, standard input, or any reader. It is read once
// when it is a stream, as often as one likes when it is a file.
type Input struct {
	Path string    // "-": standard input
	R    io.Reader // is read instead of a file when not nil; Path is its name then

	// A part of a plain file, in bytes. To 0 means the end that the file has
	// when it is opened. Parts of compressed files and of streams cannot be read.
	From, To int64

	file  *os.File // open already, and closed by who opened it; From and To hold as they are
	begun *content // a stream that Peek has begun to read
}

// Inputs returns the inputs that are named: files, patterns as in
// [filepath.Match], which are sorted and need not be expanded by a shell, and
// "-" for standard input, which no name at all means as well. A file that is
// missing, cannot be read or is a directory, and a pattern that nothing
// matches, are errors with a Hint method.
func Inputs(args []string) ([]Input, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	var out []Input
	for _, arg := range args {
		paths, err := expandArgument(arg)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			in := Input{Path: p}
			if err := in.check(); err != nil {
				return nil, err
			}
			out = append(out, in)
		}
	}
	return out, nil
}

// inputHint says what an input may be.
const inputHint = `expected a log file, a quoted pattern like "/var/log/nginx/access.log*", or - for standard input`

// expandArgument returns the files that a name or pattern means, sorted. A file with
// that very name comes before a pattern.
func expandArgument(arg string) ([]string, error) {
	if arg == "-" || !strings.ContainsAny(arg, `*?[\`) {
		return []string{arg}, nil
	}
	if _, err := pathwalk.Stat(arg); err == nil {
		return []string{arg}, nil
	}
	all, err := pathwalk.Glob(arg)
	if err != nil {
		return nil, &inputError{fmt.Errorf("input %q: %w", arg, err), inputHint}
	}
	var files []string
	for _, p := range all {
		if st, err := pathwalk.Stat(p); err != nil || !pathwalk.IsDir(&st) {
			files = append(files, p)
		}
	}
	switch {
	case len(all) == 0:
		return nil, &inputError{fmt.Errorf("input %q: no file matches the pattern", arg), inputHint}
	case len(files) == 0:
		return nil, &inputError{fmt.Errorf("input %q: only directories match the pattern", arg), dirHint(arg)}
	}
	return files, nil
}

// dirHint describes how the files of a directory are named.
func dirHint(dir string) string {
	return fmt.Sprintf("name its files: %q", filepath.Join(dir, "*.log*"))
}

// check finds out whether a file can be opened. A pipe is left alone: its
// writer would notice.
func (in *Input) check() error {
	if in.R != nil || in.file != nil || in.Path == "-" {
		return nil
	}
	st, err := pathwalk.Stat(in.Path)
	if err == nil && !pathwalk.IsDir(&st) && !pathwalk.IsRegular(&st) {
		return nil
	}
	f, _, err := in.handle()
	if err == nil {
		f.Close()
	}
	return err
}

// handle returns the file of an input and whether to close it after use; nil
// when it is a reader that is no file.
func (in *Input) handle() (f *os.File, own bool, err error) {
	switch {
	case in.file != nil:
		return in.file, false, nil
	case in.R != nil:
		f, _ := in.R.(*os.File)
		return f, false, nil
	case in.Path == "-":
		return os.Stdin, false, nil
	}
	// Not blocking: the wait for a pipe without a writer is where it can be stopped.
	f, err = pathwalk.OpenNamed(in.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, &inputError{fmt.Errorf("read log: %w", err), inputHint}
	}
	if err != nil {
		return nil, false, fmt.Errorf("read log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &inputError{fmt.Errorf("read log: %s is a directory", in.Path), dirHint(in.Path)}
	}
	if err != nil {
		f.Close()
		return nil, false, err
	}
	return f, true, nil
}

// name is how messages call the input.
func (in *Input) name() string {
	if in.Path == "" || in.Path == "-" {
		return "standard input"
	}
	return in.Path
}

// Peek returns the first n bytes of the input, fewer only when it has no more,
// decompressed, without consuming them. A stream can be peeked again with a
// larger n; who reads it afterwards must use this Input or a copy made after
// the first Peek.
func (in *Input) Peek(n int) ([]byte, error) { return in.PeekContext(context.Background(), n) }

// PeekContext is Peek, and ends with the context while it waits for a pipe or a
// terminal.
func (in *Input) PeekContext(ctx context.Context, n int) ([]byte, error) {
	c, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	if c.again {
		defer c.Close()
	} else {
		in.begun = c
	}
	return c.peek(n)
}

// Segment describes the first n bytes of the input, as part of its file.
func (in *Input) Segment(n int64) Segment {
	seg := Segment{Path: in.Path, From: in.From, To: in.From + n}
	if in.R != nil {
		return seg
	}
	if st, err := pathwalk.Stat(in.Path); err == nil && pathwalk.IsRegular(&st) {
		seg.Device, seg.Inode = st.Dev, st.Ino
	}
	return seg
}

// An inputError is an error that says what to do about it.
type inputError struct {
	err  error
	hint string
}

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// Hint returns what to do.
func (e *inputError) Hint() string { return e.hint }
