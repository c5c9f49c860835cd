package main

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/terminal"
)

// captureFlags say what of the configuration in force is kept with a run.
type captureFlags struct {
	files []string
	off   bool
}

func (f *captureFlags) register(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.files, "capture", nil, "also keep the configuration files that `GLOB,...` match; secrets are masked")
	fl.BoolVar(&f.off, "no-capture", false, "keep no configuration: nothing of nginx, option files, schema, kernel, limits, git")
}

// options returns what is kept beside what is found by itself, nil for nothing.
func (f *captureFlags) options() *capture.Options {
	if f.off {
		return nil
	}
	o := capture.Default(".")
	o.Files = absolute(f.files)
	return &o
}

// absolute makes globs absolute: texts are kept under the paths that files have.
func absolute(globs []string) []string {
	out := make([]string, 0, len(globs))
	for _, g := range globs {
		if abs, err := filepath.Abs(g); err == nil {
			g = abs
		}
		out = append(out, g)
	}
	return out
}

// textFlags ask for the texts of the configuration that a run was kept with.
type textFlags struct {
	all  bool
	name string
}

func (f *textFlags) register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.all, "configs", false, "list the texts of the configuration that the run was kept with")
	fl.StringVar(&f.name, "config", "", "print the text of `NAME`: a path, or the end of one; a table; HEAD or diff of git")
}

func (f *textFlags) asked() bool { return f.all || f.name != "" }

func (f *textFlags) show(e *env, o *output, rec *kasoku.Recording, file string) error {
	if f.name == "" {
		ro := e.reportOptions(file)
		return o.print(e, printer{
			doc:  report.Texts(rec, ro),
			json: func(w io.Writer) error { return encode.RunJSON(w, rec, ro) },
		})
	}
	c, err := findText(rec.Configs, f.name)
	if err != nil {
		return err
	}
	if c.Note != "" {
		fmt.Fprintf(e.stderr, "kasoku: warning: %s: %s\n", terminal.Clean(c.Name), terminal.Clean(c.Note))
	}
	text := c.Text
	if e.stdoutTTY {
		text = terminalSafe(text)
	}
	_, err = io.WriteString(e.stdout, text)
	return err
}

// terminalSafe takes out of a text what acts on a terminal instead of showing.
func terminalSafe(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= 0x20 && (r < 0x7f || r > 0x9f) && (r < 0x202a || r > 0x202e) && (r < 0x2066 || r > 0x2069) {
			return r
		}
		return -1
	}, text)
}

// findText finds the text of that name, else the only one whose path ends in it.
func findText(all []kasoku.Config, name string) (*kasoku.Config, error) {
	if i := slices.IndexFunc(all, func(c kasoku.Config) bool { return c.Name == name }); i >= 0 {
		return &all[i], nil
	}
	var found []*kasoku.Config
	var names []string
	for i := range all {
		_, table, _ := strings.Cut(all[i].Name, ".")
		if strings.HasSuffix(all[i].Name, "/"+name) || path.Base(all[i].Name) == name || table == name {
			found, names = append(found, &all[i]), append(names, all[i].Name)
		}
	}
	switch len(found) {
	case 0:
		return nil, usagef("--configs lists the names", "no configuration %q in the run", name)
	case 1:
		return found[0], nil
	}
	return nil, usagef("name one: "+strings.Join(names, ", "), "%q means %d texts", name, len(found))
}
