package showcmd

import (
	"io"
	"path"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/spf13/pflag"
)

// textFlags ask for the texts of the configuration that a run was kept with.
type textFlags struct {
	all  bool
	name string
}

func (f *textFlags) register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.all, "configs", false, "list the texts of the configuration that the run was kept with")
	fl.StringVar(&f.name, "config-text", "",
		"print the text of `NAME`: a path, or the end of one; a table; HEAD or diff of git")
	cli.KeepOld(fl, "config", "config-text")
}

func (f *textFlags) asked() bool { return f.all || f.name != "" }

func (f *textFlags) show(e *cli.Env, o *cli.Output, rec *kasoku.Recording, file string) error {
	if f.name == "" {
		ro := e.ReportOptions(file)
		return o.Print(e, cli.Printer{
			Doc:  recording.Texts(rec, ro),
			JSON: func(w io.Writer) error { return encode.RunJSON(w, rec, ro) },
		})
	}
	c, err := findText(rec.Configs, f.name)
	if err != nil {
		return err
	}
	if c.Note != "" {
		e.Caution(c.Name+": "+c.Note, "")
	}
	text := c.Text
	if e.StdoutTTY {
		text = terminalSafe(text)
	}
	_, err = io.WriteString(e.Stdout, text)
	return err
}

// terminalSafe takes out of a text what acts on a terminal instead of showing.
func terminalSafe(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= 0x20 && (r < 0x7f || r > 0x9f) && (r < 0x202a || r > 0x202e) &&
			(r < 0x2066 || r > 0x2069) {
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
		return nil, cli.Usagef("--configs lists the names", "no configuration %q in the run", name)
	case 1:
		return found[0], nil
	}
	return nil, cli.Usagef("name one: "+strings.Join(names, ", "), "%q means %d texts", name, len(found))
}
