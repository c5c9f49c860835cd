// Package program is what Mackerel plugins and checks share as programs: their
// flags, --help and --version, and the files in which they remember something from
// one run to the next.
//
// The one idea: a plugin is a function of its command line and its environment, so
// that a test runs it in process: [Flags.Parse] answers --help, --version and
// mistakes by itself and says with which status to exit; [WriteFile] replaces a
// file in one step, so that two runs at once, or a full disk, leave the old one or
// the new one.
package program

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/jessevdk/go-flags"

	"github.com/kasoku/kasoku/internal/private"
)

// version is set by the linker for a release:
// -X github.com/kasoku/kasoku/wire/mackerel/program.version=1.2.3.
var version string

// MaxStateBytes is the most that [ReadFile] reads: state files lie in a directory
// that others may write to.
const MaxStateBytes = 8 << 20

// Flags is how a program reads its command line.
type Flags struct {
	Name    string // of the program, as it is called: "mackerel-plugin-maxcpu"
	Usage   string // after the name in --help; empty: "[OPTIONS]"
	About   string // what the program does, in --help; may be empty
	Mistake int    // the exit status for a bad command line; 0: 1, which is what plugins do
	// Keep leaves all words after the first that is no flag alone, for a program that
	// runs a command.
	Keep   bool
	Stdout io.Writer // of --help and --version
	Stderr io.Writer // of mistakes
}

// versionFlag is what every program has in addition to its own flags.
type versionFlag struct {
	Version bool `short:"v" long:"version" description:"Show version"`
}

// Parse reads a command line, without the program's name, into a pointer to a
// struct with the tags of go-flags. It returns the words that are no flags. When
// done is true, the program has answered and exits with code.
func (f Flags) Parse(into any, args []string) (rest []string, code int, done bool) {
	options := flags.Options(flags.HelpFlag | flags.PassDoubleDash)
	if f.Keep {
		options |= flags.PassAfterNonOption
	}
	parser := flags.NewNamedParser(f.Name, options)
	parser.Usage = cmp.Or(f.Usage, "[OPTIONS]")
	parser.LongDescription = f.About
	var v versionFlag
	_, err := parser.AddGroup("Application Options", "", into)
	if err == nil {
		_, err = parser.AddGroup("Version Options", "", &v)
	}
	if err != nil {
		return nil, f.mistake(err), true
	}
	rest, err = parser.ParseArgs(args)
	var fault *flags.Error
	switch {
	case v.Version && (err == nil || errors.As(err, &fault) && fault.Type == flags.ErrRequired):
		fmt.Fprint(f.Stdout, Version(f.Name))
		return nil, 0, true
	case errors.As(err, &fault) && fault.Type == flags.ErrHelp:
		fmt.Fprintln(f.Stdout, fault.Message)
		return nil, 0, true
	case err != nil:
		return nil, f.mistake(err), true
	}
	return rest, 0, false
}

// mistake reports a bad command line. What stands where a flag's value is missing is
// not shown: it may be a password that begins with a dash.
func (f Flags) mistake(err error) int {
	text, _, cut := strings.Cut(err.Error(), ", but got option")
	if cut {
		text += ": one that begins with - goes after a ="
	}
	fmt.Fprintf(f.Stderr, "%s: %s\n%s: hint: %s --help\n", f.Name, text, f.Name, f.Name)
	return cmp.Or(f.Mistake, 1)
}

// Version returns what --version prints: the name with the version, and what it
// was built by and from.
func Version(name string) string {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 7 {
				commit = s.Value[:7]
			}
		}
	}
	return fmt.Sprintf("%s-%s\n%s/%s, %s, %s\n",
		name, cmp.Or(version, "0.1.0-dev"), runtime.GOOS, runtime.GOARCH, runtime.Version(), commit)
}

// WorkDir returns where plugins and checks keep their files:
// $MACKEREL_PLUGIN_WORKDIR, which mackerel-agent sets, else the directory for
// temporary files.
func WorkDir(getenv func(string) string) string {
	return cmp.Or(getenv("MACKEREL_PLUGIN_WORKDIR"), getenv("TMPDIR"), "/tmp")
}

// ReadFile returns the content of a state file. The error wraps fs.ErrNotExist on
// the first run. What is no regular file, or above [MaxStateBytes], is an error.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: not a regular file", path)
	case info.Size() > MaxStateBytes:
		return nil, fmt.Errorf("read %s: %d bytes are more than a state file has", path, info.Size())
	}
	return os.ReadFile(path)
}

// WriteFile replaces a file in one step, see [private.Kind.Replace]: with mode 0600, also
// where it had another. A symbolic link at the path is replaced, not followed.
func WriteFile(path string, content []byte) error {
	return private.State.WriteFile(path, content)
}
