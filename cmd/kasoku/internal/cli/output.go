package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// PlainLine makes one line of a text that may hold anything.
func PlainLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(s, "?"))
}

// SayLine prints a line of what a journal or a server says.
func (e *Env) SayLine(format string, args ...any) {
	line := logs.AppendSafe(nil, fmt.Appendf(nil, format, args...), 4<<10)
	fmt.Fprintf(e.Stdout, "%s\n", line)
}

// OrEmpty returns the value, and the word empty for none.
func OrEmpty(v string) string {
	if v == "" {
		return "empty"
	}
	return v
}

// Output is how an answer is printed, the same for every command that has one.
type Output struct {
	Format  string
	HTML    string
	Dir     string
	formats []string // that the command has; nil: those of most
	noPager bool

	limit     int // of rows, 0 all
	limitFlag *pflag.Flag
}

// Register serves most commands: -o for the format, --html and --dir.
func (o *Output) Register(cmd *cobra.Command) {
	RegisterFormats(cmd, &o.Format, Formats)
	o.registerHTML(cmd)
	o.RegisterDir(cmd)
}

// RegisterLog serves commands that read logs: they also print the page, and one
// table for spreadsheets.
func (o *Output) RegisterLog(cmd *cobra.Command) {
	o.formats = logFormats
	RegisterFormats(cmd, &o.Format, logFormats)
	o.registerHTML(cmd)
}

// shownRows is how many rows of a log people are shown when they do not say.
const shownRows = 20

// RegisterLimit serves commands with a table of rows that can be long.
func (o *Output) RegisterLimit(cmd *cobra.Command, rows string) {
	cmd.Flags().IntVarP(&o.limit, "limit", "n", shownRows,
		"show `N` "+rows+", 0 all; default 20 in table and md, else all")
	o.limitFlag = cmd.Flags().Lookup("limit")
}

// Rows is how many of them a format has, 0 all: programs get all unless --limit is
// given.
func (o *Output) Rows(format string) int {
	if format == "table" || format == "md" || o.limitFlag.Changed {
		return o.limit
	}
	return 0
}

// Machine reports whether the format is one table, for programs.
func (o *Output) Machine() bool { return o.Format == "tsv" || o.Format == "csv" }

// RegisterMade serves commands that make a run file, which --out names, and print it: -o
// named the file once.
func (o *Output) RegisterMade(cmd *cobra.Command, file *string) {
	fl := cmd.Flags()
	o.Format = "text"
	fl.VarP(&formatOrFile{format: &o.Format, file: file}, formatFlag, "o", formatUsage(Formats))
	completeFormats(cmd, Formats)
	KeepOld(fl, "format", formatFlag)
	o.registerHTML(cmd)
}

// RegisterReport serves commands whose --output is a file of something else.
func (o *Output) RegisterReport(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.Format, formatFlag, "o", "text", "print the report, as `FORMAT`: text, json, tsv or md")
	completeFormats(cmd, Formats)
	o.registerHTML(cmd)
}

func (o *Output) registerHTML(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.HTML, "html", "", "also write the report as one HTML file to `FILE`")
}

// formatFlag is the flag for the format of what is printed, -o for short, in every command.
const formatFlag = "output-format"

// RegisterFormats adds the flag for the format of what is printed; the first format is the
// default. --output is an old spelling.
func RegisterFormats(cmd *cobra.Command, format *string, formats []string) {
	cmd.Flags().StringVarP(format, formatFlag, "o", formats[0], formatUsage(formats))
	completeFormats(cmd, formats)
	KeepOld(cmd.Flags(), "output", formatFlag)
}

// formatUsage is what help says of the formats.
func formatUsage(formats []string) string {
	last := len(formats) - 1
	return "`FORMAT`: " + strings.Join(formats[:last], ", ") + " or " + formats[last]
}

// completeFormats lets shells complete the formats.
func completeFormats(cmd *cobra.Command, formats []string) {
	// It fails only for a flag that is not there.
	_ = cmd.RegisterFlagCompletionFunc(formatFlag, cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// RegisterDir adds --dir, where run files are.
func (o *Output) RegisterDir(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Dir, "dir", "", "`DIRECTORY` of run files; default runs, and the working directory")
}

// Formats are the values of -o.
var Formats = []string{"text", "json", "tsv", "md"}

// logFormats are those of commands that read logs.
var logFormats = []string{"table", "tsv", "csv", "md", "json", "html"}

// Check refuses a format that the command does not have, and a limit below 0.
func (o *Output) Check() error {
	if o.formats == nil {
		return CheckFormat("-o", o.Format)
	}
	if !slices.Contains(o.formats, o.Format) {
		return Usagef(formatHint(o.Format, o.formats), "-o %q: want %s", o.Format, strings.Join(o.formats, ", "))
	}
	if o.limit < 0 {
		return Usagef("", "--limit %d: want 0 or more", o.limit)
	}
	return nil
}

// formatHint returns what was meant by a format that is none.
func formatHint(format string, formats []string) string {
	if near, ok := unit.Nearest(format, formats); ok {
		return "did you mean -o " + near + "? A file is named by --out FILE, or > FILE"
	}
	return "a file is named by --out FILE, or > FILE"
}

// CheckFormat refuses a format that is none.
func CheckFormat(flag, format string) error {
	if !slices.Contains(Formats, format) {
		return Usagef(formatHint(format, Formats), "%s %q: want %s", flag, format, strings.Join(Formats, ", "))
	}
	return nil
}

// Printer is what a command has to say, in all its forms.
type Printer struct {
	Doc   *report.Document
	Page  *report.Document // of --html; nil: doc
	JSON  func(io.Writer) error
	Brief bool // on a terminal: in few lines
	Long  bool // on a terminal: through a pager where it is longer than the screen
}

// Print writes the answer in the format asked for.
func (o *Output) Print(e *Env, p Printer) error {
	if o.HTML != "" {
		page := cmp.Or(p.Page, p.Doc)
		if err := WriteFile(o.HTML, func(w io.Writer) error { return html.Write(w, page) }); err != nil {
			return fmt.Errorf("write HTML report: %w", err)
		}
	}
	switch o.Format {
	case "json":
		return p.JSON(e.Stdout)
	case "tsv":
		return encode.TSV(e.Stdout, p.Doc)
	case "csv":
		return encode.CSV(e.Stdout, p.Doc)
	case "html":
		return html.Write(e.Stdout, p.Doc)
	case "md":
		return encode.Markdown(e.Stdout, p.Doc)
	}
	t := e.Terminal()
	t.Brief = p.Brief
	if !p.Long || !o.Pages(e) {
		return terminal.Write(e.Stdout, p.Doc, t)
	}
	var text bytes.Buffer
	if err := terminal.Write(terminal.NewScreen(&text), p.Doc, t); err != nil {
		return err
	}
	return e.page(text.Bytes())
}

// ReportOptions are those of every report that this program makes.
func (e *Env) ReportOptions(path string) report.Options {
	return report.Options{Made: e.Now(), File: path, Seen: e.seen}
}

// ShowRun is a run as show prints it; sections limit it.
func (e *Env) ShowRun(rec *kasoku.Recording, path string, sections ...string) Printer {
	o := e.ReportOptions(path)
	o.Sections = sections
	return Printer{
		Doc:  recording.Show(rec, o),
		JSON: func(w io.Writer) error { return encode.RunJSON(w, rec, o) },
	}
}

// Terminal returns how reports are printed on stdout: width, colours, ASCII alone.
func (e *Env) Terminal() terminal.Options {
	return terminal.Options{Width: e.Columns(), Color: e.Colored(), ASCII: e.ASCII}
}

// WriteFile writes a file that has its name only when all of it is written.
func WriteFile(path string, write func(io.Writer) error) error {
	return private.Output.Replace(path, write)
}

// Warn prints warnings on stderr, such as what spoils the figures of a load: the heaviest
// first, and none that it has printed before.
func (e *Env) Warn(all []kasoku.Warning) {
	for _, w := range kasoku.ByWeight(all) {
		if e.Unsaid(w) {
			e.Caution(w.Text, w.Hint)
		}
	}
}

// Unsaid reports whether this program has not printed the very warning yet, and counts it as
// printed. Two that differ in a name or a number are two.
func (e *Env) Unsaid(w kasoku.Warning) bool {
	if e.seen.Printed(w) {
		return false
	}
	e.seen.Now = append(e.seen.Now, w)
	return true
}

// CountBefore counts warnings as those of the run before. Reports say so in a line of what is
// missing, and shorten the hints of what rules cannot see; no warning of this run is left
// unsaid for them.
func CountBefore(e *Env, all []kasoku.Warning) { e.seen.Before = append(e.seen.Before, all...) }
