package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Annotations of flags by the names that they once had.
const (
	flagNow = "kasoku_now" // the name that a flag has now
	flagOld = "kasoku_old" // as it was written
)

// KeepOld lets a command take a flag by the name that it once had. Help does not show it;
// [Env.WarnOld] warns of its use.
func KeepOld(fl *pflag.FlagSet, old, now string) {
	f := fl.Lookup(now)
	fl.AddFlag(&pflag.Flag{Name: old, Usage: "once the name of --" + now, Value: f.Value, DefValue: f.DefValue,
		NoOptDefVal: f.NoOptDefVal, Hidden: true,
		Annotations: map[string][]string{flagNow: {now}, flagOld: {"--" + old}}})
}

// KeepOldShort is [KeepOld] for a shorthand.
func KeepOldShort(fl *pflag.FlagSet, old, now string) {
	f := fl.Lookup(now)
	fl.AddFlag(&pflag.Flag{Name: "once-" + old, Shorthand: old, Usage: "once short for --" + now, Value: f.Value,
		DefValue: f.DefValue, NoOptDefVal: f.NoOptDefVal, Hidden: true,
		Annotations: map[string][]string{flagNow: {now}, flagOld: {"-" + old}}})
}

// WarnOld warns of flags that were given by names that they once had, and counts them as
// given by their own.
func (e *Env) WarnOld(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*formatOrFile); ok && v.isFile && f.Annotations == nil {
			fl.Lookup("out").Changed = true
			e.Caution("-o names a format of the output in every command; "+
				fmt.Sprintf("%q is taken for the file", *v.file), "write --out "+*v.file)
		}
		now := f.Annotations[flagNow]
		if len(now) == 0 {
			return
		}
		fl.Lookup(now[0]).Changed = true
		e.Caution(fmt.Sprintf("%s is an old spelling of --%s", f.Annotations[flagOld][0], now[0]),
			"write --"+now[0]+"; the old one will go")
	})
}

// formatOrFile is the value of -o where it once named a run file: a format, or else that
// file.
type formatOrFile struct {
	format, file *string
	isFile       bool
}

// String implements pflag.Value.
func (v *formatOrFile) String() string {
	if v.format == nil {
		return ""
	}
	return *v.format
}

// Type implements pflag.Value.
func (v *formatOrFile) Type() string { return "string" }

// Set implements pflag.Value. What looks like a file is one; a misspelt format is left for
// [Output.Check].
func (v *formatOrFile) Set(s string) error {
	if v.isFile = !slices.Contains(Formats, s) && strings.ContainsAny(s, "./"); v.isFile {
		*v.file = s
		return nil
	}
	*v.format = s
	return nil
}
