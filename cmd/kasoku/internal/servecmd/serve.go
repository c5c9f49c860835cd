package servecmd

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/localhttp"
	"github.com/kasoku/kasoku/serve"
	"github.com/kasoku/kasoku/store"
)

// defaultListen is where the page is, unless another place is asked for.
const defaultListen = "127.0.0.1:9797"

// What a page may change, each by a word of --allow.
const (
	allowNote  = "note"
	allowScore = "score"
	allowRun   = "run"
)

var changes = []string{allowNote, allowScore, allowRun}

// rulesFrom is how much of a run has to be there before rules look at it: a first figure of a minute is worth
// nothing after a second.
const rulesFrom = 10 * time.Second

// serveFlags are the flags of serve as they were typed.
type serveFlags struct {
	dir    string
	listen string
	token  string // file with it
	open   bool
	allow  []string
	names  []string
	tls    tlsFlags
	links  []config.Link // of kasoku.toml
}

// NewServe returns the command serve, which shows all runs to a browser.
func NewServe(e *cli.Env) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show all runs, live and recorded, as a page that a team keeps open",
		Long: `Show all runs to browsers: the story of the tuning, each run with its findings, charts
and tables, two runs side by side, and the run that is being recorded, second by second.

A drag over the charts selects seconds: tables are then of these alone; with Shift it
selects others to compare them with. A click on an endpoint or a statement opens what it
runs, plans, indexes and findings beside the page. The address holds what is seen.

The page is for this machine alone, and for who has the address that is printed, with the
token in it; "ssh -L 9797:127.0.0.1:9797 HOST" brings it to another one. Other addresses
are served by TLS, with a certificate of their own unless one is given.

Nothing is changed but what --allow names: notes and scores of runs, and "kasoku run"
itself, which a button begins and GET /api/group/collect, as benchmarks call that know
pprotein. Each change is printed. [serve] of kasoku.toml says the same. The same data is JSON below /api/v1/, see /api/v1/openapi.json.`,
		Example: `  kasoku serve
  kasoku serve --dir runs --allow note,score,run
  kasoku serve --listen 0.0.0.0:9797 --token-file token
  curl -H "Authorization: Bearer $(cat token)" http://127.0.0.1:9797/api/v1/runs`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.fill(cmd); err != nil {
				return err
			}
			ctx, _, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return f.serve(ctx, e)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.dir, "dir", "", "`DIRECTORY` of run files; default runs, and the working directory")
	fl.StringVar(&f.listen, "listen", defaultListen, "`ADDRESS` of the page")
	fl.StringVar(&f.token, "token-file", "", "`FILE` with the token; default one that is made now")
	fl.BoolVar(&f.open, "open", false, "without a token: whoever reaches the address reads all runs")
	fl.StringSliceVar(&f.allow, "allow", nil, "what the page may change: `WORD`,…: "+strings.Join(changes, ", "))
	fl.StringSliceVar(&f.names, "hostname", nil, "other `NAME`s of the page, such as that of a proxy before it")
	f.tls.register(fl)
	return cmd
}

// check refuses what makes no sense.
func (f *serveFlags) check() error {
	for _, word := range f.allow {
		if !slices.Contains(changes, word) {
			return cli.Usagef("there is "+strings.Join(changes, ", "),
				"--allow %q: the page changes nothing of the kind", word)
		}
	}
	if f.open && f.token != "" {
		return cli.Usagef("", "--open and a token: give one")
	}
	if f.open && len(f.allow) > 0 && !localhttp.IsLoopback(f.listen) {
		return cli.Usagef("leave out --open: the address that is printed has the token in it",
			"--open and --allow %s at %s: whoever reaches it could change it", strings.Join(f.allow, ","), f.listen)
	}
	if (f.tls.cert == "") != (f.tls.key == "") {
		return cli.Usagef("", "--tls-cert and --tls-key go together")
	}
	return cli.CheckDir(f.dir)
}

// fill takes from kasoku.toml what no flag says.
func (f *serveFlags) fill(cmd *cobra.Command) error {
	c, err := cli.ReadConfig("")
	if err != nil || c == nil {
		return err
	}
	given := cmd.Flags().Changed
	if !given("listen") && c.Serve.Listen != "" {
		f.listen = c.Serve.Listen
	}
	if !given("token-file") && !f.open {
		f.token = c.Serve.TokenFile
	}
	if !given("allow") {
		f.allow = c.Serve.Allow
	}
	for _, text := range c.Serve.Links {
		l, err := config.ParseLink(text)
		if err != nil {
			return fmt.Errorf("serve.links: %q: %w", text, err) // it was looked at when the file was read
		}
		f.links = append(f.links, l)
	}
	return nil
}

func (f *serveFlags) serve(ctx context.Context, e *cli.Env) error {
	if err := f.check(); err != nil {
		return err
	}
	access := localhttp.Access{Hosts: f.names}
	if !f.open {
		access.Token = rand.Text()
		if f.token != "" {
			var err error
			if access.Token, err = cli.ReadToken(f.token); err != nil {
				return err
			}
			if access.Token == "" {
				return cli.Usagef("`head -c 18 /dev/urandom | base64 > token` makes one", "%s has no token", f.token)
			}
			if err := cli.CheckToken(access.Token); err != nil {
				return err
			}
		}
	}
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return cli.WithHint(fmt.Errorf("serve: %w", err), "--listen 127.0.0.1:0 takes a free port")
	}
	scheme := "http"
	var secure *tls.Config
	if f.tls.wanted(listener.Addr()) {
		scheme, access.Secure = "https", true
		if secure, err = f.tls.config(e); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	access.Cookie = "kasoku-" + port // browsers send cookies to all ports of a host
	at := url.URL{Scheme: scheme, Host: shown(listener.Addr()), Path: "/"}
	if access.Token != "" {
		at.RawQuery = url.Values{"token": {access.Token}}.Encode()
	}
	if access.Token == "" && !localhttp.IsLoopback(listener.Addr().String()) {
		e.Caution("the page is open: whoever reaches "+at.Host+" reads all runs", "")
	}
	fmt.Fprintln(e.Stdout, at.String())
	fmt.Fprintln(e.Stderr, "serving the runs of "+strings.Join(cli.RunDirs(f.dir), ", ")+" (Ctrl-C ends it)")
	return serve.New(f.options(e, access)).Serve(ctx, listener, secure)
}

// shown is an address that a browser of this machine finds: 0.0.0.0 is none.
func shown(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

func (f *serveFlags) options(e *cli.Env, access localhttp.Access) serve.Options {
	o := serve.Options{
		Dirs: cli.RunDirs(f.dir), Access: access, Report: e.ReportOptions, Complete: cli.Complete, Now: e.Now,
		Links: f.links,
		Open: func(path string) (*kasoku.Recording, error) {
			rec, err := store.Open(path)
			if err == nil && rec.Diagnosis == nil && (rec.Run.State != kasoku.Running || rec.Run.Length >= rulesFrom) {
				cli.Rediagnose(rec, nil)
			}
			return rec, err
		},
	}
	edit := func(path, what string, change func(*store.Editor) error) error {
		ed, err := store.Edit(path)
		if err != nil {
			return err
		}
		if err := errors.Join(change(ed), ed.Close()); err != nil {
			return err
		}
		e.SayLine("%s: %s, by the page", serve.NameOf(path), what)
		return nil
	}
	if slices.Contains(f.allow, allowNote) {
		o.Note = func(path, text string) error {
			return edit(path, fmt.Sprintf("note %q", text), func(ed *store.Editor) error { return ed.SetNote(text) })
		}
	}
	if slices.Contains(f.allow, allowNote) {
		o.Marked = func(x serve.Mark) { e.SayLine("%s: marked %q, by the page", x.Finding, x.Mark) }
	}
	if slices.Contains(f.allow, allowRun) {
		o.Starter = &starter{e: e}
	}
	if slices.Contains(f.allow, allowScore) {
		o.Score = func(path string, value *float64) error {
			if value == nil {
				return edit(path, "score removed", func(ed *store.Editor) error { return ed.SetScore(nil) })
			}
			return edit(path, fmt.Sprintf("score %v", *value), func(ed *store.Editor) error {
				return ed.SetScore(&kasoku.Score{Value: *value, Source: "typed"})
			})
		}
	}
	return o
}
