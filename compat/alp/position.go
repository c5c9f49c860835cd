package alp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/logs/lines"
)

// A position is how far a log was read, kept in a file.
type position struct {
	file   string // of --pos; empty: none
	noSave bool
	start  int64 // what the file says
}

// inputs returns the logs to read: --file or files after the command, else
// standard input, from where --pos says.
func (o *options) inputs(files []string, stdin io.Reader, stderr io.Writer) ([]lines.Input, error) {
	if o.file != "" {
		files = append([]string{o.file}, files...)
	}
	if o.pos.file != "" && len(files) > 1 {
		return nil, errors.New("--pos is for one log")
	}
	from, err := o.pos.read()
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		r := bufio.NewReader(stdin)
		if o.pos.file == "" {
			return []lines.Input{{Path: "-", R: stdin}}, nil
		}
		if _, err := io.CopyN(io.Discard, r, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("skip to --pos: %w", err)
		}
		return []lines.Input{{Path: "-", R: r}}, nil
	}
	in, err := lines.Inputs(files)
	if err != nil || from == 0 {
		return in, err
	}
	info, err := os.Stat(in[0].Path)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	if info.Size() < from {
		fmt.Fprintf(stderr, "alp: %s is shorter than --pos says, so it was rotated or truncated: it is read from its start\n", in[0].Path)
		o.pos.start = 0
		return in, nil
	}
	in[0].From, in[0].To = from, info.Size()
	return in, nil
}

// read reads the file of --pos. A missing one means the start.
func (p *position) read() (int64, error) {
	if p.file == "" {
		return 0, nil
	}
	b, err := os.ReadFile(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read position: %w", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("read position %s: bad offset %q", p.file, b)
	}
	p.start = n
	return n, nil
}

// save notes how far the log was read.
func (p *position) save(read int64) error {
	if p.file == "" || p.noSave {
		return nil
	}
	if err := private.Output.WriteFile(p.file, strconv.AppendInt(nil, p.start+read, 10)); err != nil {
		return fmt.Errorf("save position: %w", err)
	}
	return nil
}
