package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// ErrSeveral means that a change of nginx could be meant for several blocks.
var ErrSeveral = errors.New("several blocks of that name are there: a person has to say which")

// edited returns the files with directives put into them. Each edit is of one block, of one
// file: the blocks of a neighbour may stand beside it.
func (s *Service) edited(edits []kasoku.Edit) (out []file, err error) {
	for _, e := range edits {
		at, found := -1, 0
		for i, path := range s.o.Files {
			text, err := s.text(out, path)
			if err != nil {
				return nil, err
			}
			if n := blocks(text, e.Context); n > 0 {
				at, found = i, found+n
			}
		}
		switch {
		case found == 0:
			return nil, fmt.Errorf("nginx: %q: %w in the files of capture.files", e.Context, nginxconf.ErrNoContext)
		case found > 1:
			return nil, fmt.Errorf("nginx: %q: %w", e.Context, ErrSeveral)
		}
		path := s.o.Files[at]
		text, err := s.text(out, path)
		if err != nil {
			return nil, err
		}
		now, err := nginxconf.Edit(text, e.Context, e.Lines)
		if err != nil {
			return nil, err
		}
		n := slices.IndexFunc(out, func(f file) bool { return f.Path == path })
		if n < 0 {
			n, out = len(out), append(out, file{Path: path, Before: text})
		}
		out[n].During = now
	}
	return slices.DeleteFunc(out, func(f file) bool { return f.Before == f.During }), nil
}

// text is that of a file, with the edits so far.
func (s *Service) text(edits []file, path string) (string, error) {
	for _, f := range edits {
		if f.Path == path {
			return f.During, nil
		}
	}
	c, err := capture.ReadFile(path)
	if err != nil {
		return "", err
	}
	if c.Note != "" {
		return "", fmt.Errorf("%s: %s", path, c.Note)
	}
	return c.Text, nil
}

// blocks is how many blocks of a text a context names; 0 where it is no configuration.
func blocks(text, context string) (n int) {
	conf, err := nginxconf.Parse(text, "nginx.conf")
	if err != nil {
		return 0
	}
	if context == "" {
		return min(len(conf), 1)
	}
	for _, d := range conf {
		if d.Block && strings.Join(d.Words, " ") == strings.Join(strings.Fields(context), " ") {
			n++
		}
	}
	return n
}

// Patch returns what is kept in files, as a unified diff.
func (s *Service) Patch() string {
	first, last := map[string]string{}, map[string]string{}
	var order []string
	for _, ch := range s.j.Kept {
		for _, f := range ch.Files {
			if _, known := first[f.Path]; !known {
				first[f.Path], order = f.Before, append(order, f.Path)
			}
			last[f.Path] = f.During
		}
	}
	var out strings.Builder
	for _, path := range order {
		if diff, _, _ := compare.Unified(first[path], last[path]); diff != "" {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n%s\n", path, path, strings.TrimSuffix(diff, "\n"))
		}
	}
	return out.String()
}
