package logscmd

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/report/terminal"
)

// A peer is another program whose command line kasoku takes and whose output it
// prints.
type peer struct {
	name string
	run  func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int
}

// asPeer is --as of a command. What stands after its value belongs to the peer;
// logs may be named before it, and are the peer's standard input then.
type asPeer struct {
	name  string
	peers []peer
}

// peersAnnotation marks commands that have --as.
const peersAnnotation = "peers"

func (a *asPeer) register(cmd *cobra.Command) {
	cmd.Annotations = map[string]string{peersAnnotation: "as"}
	cmd.Flags().StringVar(&a.name, "as", "", "take the arguments of `NAME` after it and print what "+
		"it prints: "+strings.Join(a.names(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(a.names(), cobra.ShellCompDirectiveNoFileComp))
}

func (a *asPeer) names() []string {
	var out []string
	for _, p := range a.peers {
		out = append(out, p.name)
	}
	return out
}

// asked reports whether --as was given.
func (a *asPeer) asked(cmd *cobra.Command) bool { return cmd.Flags().Changed("as") }

// run runs the peer with the arguments after --as NAME, and ends with its exit
// code.
func (a *asPeer) run(cmd *cobra.Command, e *cli.Env, args []string) error {
	i := slices.IndexFunc(a.peers, func(p peer) bool { return p.name == a.name })
	if i < 0 {
		return cli.Usagef("", "--as %q: want %s", a.name, strings.Join(a.names(), ", "))
	}
	files := args[:max(cmd.ArgsLenAtDash(), 0)]
	ctx, stop := e.ReadingInterruptible(cmd.Context())
	defer stop()
	stdin := e.Stdin
	if len(files) > 0 {
		logs, err := openLogs(files)
		if err != nil {
			return err
		}
		defer logs.Close()
		stdin = logs
	}
	code := a.peers[i].run(ctx, args[len(files):], stdin, terminal.Raw(e.Stdout), terminal.Raw(e.Stderr))
	if code == 0 {
		return nil
	}
	return cli.PassExit(code)
}

// ShieldPeer puts -- after --as NAME, so that what follows, flags and words that
// are commands of kasoku's own as well, reaches the peer as it is.
func ShieldPeer(root *cobra.Command, args []string) []string {
	for i, a := range args {
		switch {
		case a == "--":
			return args
		case a == "--as":
			i++
		case strings.HasPrefix(a, "--as="):
		default:
			continue
		}
		if i++; i > len(args) {
			return args
		}
		cmd, _, err := root.Find(args[:i])
		if err != nil || cmd.Annotations[peersAnnotation] == "" {
			return args
		}
		return slices.Insert(slices.Clone(args), i, "--")
	}
	return args
}

// openLogs opens logs to be read one after another, decompressed. A single file is
// given as it is, so that a peer can read it with several workers.
func openLogs(paths []string) (io.ReadCloser, error) {
	if len(paths) == 1 && paths[0] != "-" {
		if f, err := pathwalk.OpenNamed(paths[0]); err == nil {
			return f, nil
		}
	}
	in, err := lines.Inputs(paths)
	if err != nil {
		return nil, err
	}
	w, err := lines.Open(in, 0)
	if err != nil {
		return nil, err
	}
	return &lineReader{Window: w}, nil
}

// A lineReader is the lines of a window as a stream of bytes.
type lineReader struct {
	*lines.Window
	rest []byte
}

// Read reads the lines, each with a newline.
func (r *lineReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if !r.Scan() {
			return 0, cmp.Or(r.Err(), io.EOF)
		}
		r.rest = append(append(r.rest[:0], r.Bytes()...), '\n')
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
