package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Latest is the name of the newest finished run of a directory; checkpoints, which
// measured nothing, are left out.
const Latest = "latest"

// Resolve finds the file of the run that name means: [Latest], the path of a
// file, a file's name in dir with or without its extension, an id, a label (the
// newest run that has it), or the beginning of exactly one id. The error wraps
// [ErrNotFound] and hints at what is near.
func Resolve(dir, name string) (string, error) {
	if path, ok := resolveFile(dir, name); ok {
		return path, nil
	}
	runs, err := List(dir)
	if err != nil {
		return "", err
	}
	if name == Latest {
		return resolveLatest(runs)
	}
	for _, field := range []func(Info) string{id, label} {
		if i := slices.IndexFunc(runs, func(r Info) bool { return name != "" && field(r) == name }); i >= 0 {
			return runs[i].Path, nil
		}
	}
	return resolvePrefix(dir, name, runs)
}

// ResolveAll finds the files of the runs that name means: those of a group when
// name is the group's id, or a label whose newest run is one of a group, the first
// repeat first; else the one that [Resolve] finds. Runs that were not finished are
// left out of a group.
func ResolveAll(dir, name string) ([]string, error) {
	if path, ok := resolveFile(dir, name); ok && strings.ContainsRune(name, filepath.Separator) {
		return []string{path}, nil
	}
	runs, err := List(dir)
	if err != nil {
		return nil, err
	}
	group := name
	if i := slices.IndexFunc(runs, func(r Info) bool {
		return name != "" && r.Err == nil &&
			label(r) == name
	}); i >= 0 {
		group = runs[i].Group
	}
	var out []string
	for _, r := range slices.Backward(runs) {
		if group != "" && r.Err == nil && r.Group == group && r.State == kasoku.Finished {
			out = append(out, r.Path)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	path, err := Resolve(dir, name)
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}

func id(r Info) string    { return r.ID }
func label(r Info) string { return r.Label }

// resolveFile takes name for that of a file.
func resolveFile(dir, name string) (string, bool) {
	if name == "" {
		return "", false
	}
	tries := []string{filepath.Join(dir, name), filepath.Join(dir, name+Extension)}
	if strings.ContainsRune(name, filepath.Separator) || filepath.Ext(name) == Extension {
		tries = append([]string{name, name + Extension}, tries...)
	}
	for _, path := range tries {
		if st, err := os.Stat(path); err == nil && !st.IsDir() && (filepath.Ext(path) == Extension || path == name) {
			return path, true
		}
	}
	return "", false
}

func resolveLatest(runs []Info) (string, error) {
	i := slices.IndexFunc(runs, func(r Info) bool {
		return r.Err == nil && r.State == kasoku.Finished &&
			!r.Checkpoint()
	})
	if i >= 0 {
		return runs[i].Path, nil
	}
	e := notFound{what: "no finished run", hint: "`kasoku record -- COMMAND` makes one, `kasoku demo` shows how"}
	if i := slices.IndexFunc(runs, func(r Info) bool { return r.Err == nil && !r.Checkpoint() }); i >= 0 {
		e.hint = fmt.Sprintf("%s was not finished; name it to see it all the same", quoted(runs[i]))
	}
	return "", e
}

func resolvePrefix(dir, name string, runs []Info) (string, error) {
	var found []Info
	for _, r := range runs {
		if name != "" && strings.HasPrefix(r.ID, name) {
			found = append(found, r)
		}
	}
	e := notFound{what: fmt.Sprintf("no run %q", name)}
	switch {
	case len(found) == 1:
		return found[0].Path, nil
	case len(found) > 1:
		e.what = fmt.Sprintf("%q begins the id of %d runs", name, len(found))
		e.hint = fmt.Sprintf("did you mean %s or %s? `kasoku list` has all", quoted(found[0]), quoted(found[1]))
	case len(runs) == 0:
		e.hint = fmt.Sprintf("there are no runs in %s; `kasoku record -- COMMAND` makes one, `kasoku demo` shows how", dir)
	default:
		e.hint = "`kasoku list` has all"
		if near, ok := nearest(name, runs); ok {
			e.hint = "did you mean " + near + "? `kasoku list` has all"
		}
	}
	return "", e
}

// quoted names a run by its id.
func quoted(r Info) string { return fmt.Sprintf("%q", r.ID) }

// nearest returns the label, id or file name most like name, with the start of
// its run, when one is like it at all.
func nearest(name string, runs []Info) (string, bool) {
	var names []string
	started := map[string]time.Time{}
	for _, r := range runs {
		for _, s := range []string{r.Label, r.ID, fileID(r.Path)} {
			if _, known := started[s]; !known {
				names, started[s] = append(names, s), r.Started
			}
		}
	}
	near, ok := unit.Nearest(name, append(names, Latest))
	text := fmt.Sprintf("%q", near)
	if at := started[near]; !at.IsZero() {
		text += at.Format(" (2 Jan 2006, 15:04)")
	}
	return text, ok
}

// A notFound says that a name means no run.
type notFound struct{ what, hint string }

func (e notFound) Error() string { return e.what }
func (e notFound) Hint() string  { return e.hint }

// Is makes errors.Is(err, ErrNotFound) hold.
func (e notFound) Is(target error) bool { return target == ErrNotFound }
