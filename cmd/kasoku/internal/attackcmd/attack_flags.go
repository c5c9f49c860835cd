package attackcmd

import (
	"errors"
	"fmt"
	"io"
	rand "math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/vegeta"
)

// attackFlags are the flags of attack, and the options that they set.
type attackFlags struct {
	vegeta    vegeta.AttackOptions
	set       func(flag string) bool // it was given
	rate      string
	stages    string
	arrivals  string
	think     string
	inline    []string
	request   urlRequest
	keepalive bool
	http2     bool
	encoding  string
	pacing    string
	workers   uint64
	export    string
	carbon    carbonFlags
	from      fromFlags
	out       cli.Output
	unread    error // why kasoku.toml could not be read
}

func (f *attackFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	f.set = fl.Changed
	f.registerSchedule(fl)
	f.registerTargets(fl)
	f.registerHTTP(fl)
	f.registerTLS(fl)
	f.registerEngine(fl)
	f.carbon.register(fl)
	fl.StringSliceVar(&f.from.hosts, "from", nil, "send from these hosts of the fleet, `HOST,...`, "+
		"each its share of one schedule")
	fl.StringVar(&f.from.hub, "hub", "", "`DIRECTORY` of the hub of --from; default as `kasoku hub` has it")
	f.out.RegisterReport(cmd)
}

func (f *attackFlags) registerSchedule(fl *pflag.FlagSet) {
	o := &f.vegeta
	fl.StringVar(&f.rate, "rate", "50/1s", "`RATE` N, N/unit or N/duration; 0 or infinity: a closed loop of "+
		"-max-workers; several with commas: a ladder")
	fl.DurationVar(&o.Duration, "duration", 0, "of the attack, or of each step of a ladder; 0: until stopped")
	fl.DurationVar(&o.Pause, "pause", 0, "between the steps of a ladder")
	fl.StringVar(&f.stages, "stages", "", "instead of -rate and -duration: `30s@50,1m@50..200,...`, a duration and "+
		"a rate each; from..to is a ramp")
	fl.StringVar(&f.arrivals, "arrivals", "even", "how requests are spaced: even, poisson or burst:N")
	fl.StringVar(&f.think, "think", "", "of each user of a closed loop, after each answer: `TIME` or FROM..TO")
	fl.Uint64Var(&o.Seed, "seed", 0, "of what is random; default a new one, which the report reports")
	fl.Uint64Var(&o.MaxWorkers, "max-workers", 0, "most requests in flight; default 10,000; the users of a closed loop")
	fl.Uint64Var(&f.workers, "workers", 10, "taken for Vegeta's sake; workers come and go as needed")
}

func (f *attackFlags) registerTargets(fl *pflag.FlagSet) {
	o := &f.vegeta
	fl.StringVar(&o.Targets, "targets", "stdin", "targets `FILE`")
	fl.StringArrayVar(&f.inline, "target", nil, "a target, such as `'GET http://127.0.0.1:8080/'`; '3 GET …' "+
		"gives it a weight; may be repeated")
	fl.StringVar(&o.Format, "format", "http", "of the targets: http or json")
	fl.BoolVar(&o.Lazy, "lazy", false, "read targets as the attack goes on, each for one request")
	fl.StringVar(&o.Body, "body", "", "`FILE` with the body of targets that have none")
	f.request.register(fl)
	fl.VarP(vegeta.HeaderValue{Header: &o.Header}, "header", "H", "request header `'K: V'`; may be repeated")
	fl.StringVar(&o.Table, "csv", "", "`FILE` with a head, for {{csv.COLUMN}} in targets")
	fl.BoolVar(&o.NoVariables, "no-variables", false, "send {{…}} in targets as it is")
	fl.StringSliceVar(&o.Engine.HTTP.Permit.Hosts, "allow", nil, "consent to load `HOST`, which is neither loopback "+
		"nor private; may be repeated")
	fl.StringVar(&o.Name, "name", "", "of the attack, kept in each result")
	fl.StringVar(&o.Output, "output", "", "results `FILE`; default standard output, unless that is a terminal")
	fl.StringVar(&f.encoding, "encoding", "gob", "of the results: gob, json or csv")
	fl.StringVar(&f.export, "prometheus-addr", "", "let Prometheus scrape the attack at `ADDRESS`, such as 0.0.0.0:8880")
}

func (f *attackFlags) registerHTTP(fl *pflag.FlagSet) {
	h := &f.vegeta.Engine.HTTP
	fl.Var(vegeta.TimeoutValue{Timeout: &h.Timeout}, "timeout", "of a request; 0: none")
	fl.IntVar(&h.Connections, "connections", nethttp.DefaultConnections, "idle connections kept per host")
	fl.IntVar(&h.MaxConnections, "max-connections", 0, "connections per host; 0: no limit")
	fl.BoolVar(&f.keepalive, "keepalive", true, "keep connections open")
	fl.BoolVar(&f.http2, "http2", true, "HTTP/2 where the server offers it")
	fl.BoolVar(&h.H2C, "h2c", false, "HTTP/2 without TLS")
	fl.Var(vegeta.RedirectsValue{N: &h.Redirects}, "redirects", "followed; -1: do not follow and count as success")
	fl.Var(vegeta.MaxBodyValue{Bytes: &h.MaxBody}, "max-body", "most bytes of a body that count; -1: all")
	fl.BoolVar(&h.KeepAnswers, "keep-answers", false, "keep headers and bodies of answers in the results, bodies as "+
		"far as -max-body; needs the engine nethttp")
	fl.BoolVar(&h.Chunked, "chunked", false, "send bodies with chunked encoding")
	fl.StringVar(&h.Dial.LocalAddr, "laddr", "", "local IP `ADDRESS`")
	fl.StringVar(&h.Dial.UnixSocket, "unix-socket", "", "connect to this `SOCKET`, whatever the URL's host")
	fl.StringArrayVar(&h.Dial.ConnectTo, "connect-to", nil, "dial `SRC:PORT:DST:PORT`; may be repeated, "+
		"destinations of one source take turns")
	fl.Var(vegeta.DNSTTLValue{TTL: &h.Dial.DNSTTL}, "dns-ttl", "how long addresses of a name are kept; 0: as long "+
		"as the attack, -1: not")
	fl.Var(vegeta.ListValue{Items: &h.Dial.Resolvers}, "resolvers", "name servers, `IP[:PORT],...`, which take turns")
	fl.Var(vegeta.HeaderValue{Header: &h.ProxyHeader}, "proxy-header", "header `'K: V'` for the proxy; may be repeated")
}

func (f *attackFlags) registerTLS(fl *pflag.FlagSet) {
	h := &f.vegeta.Engine.HTTP
	fl.BoolVar(&h.TLS.Insecure, "insecure", false, "accept any certificate")
	fl.StringVar(&h.TLS.CertFile, "cert", "", "client certificate `FILE`, PEM")
	fl.StringVar(&h.TLS.KeyFile, "key", "", "key `FILE`; default the certificate's")
	fl.Var(vegeta.ListValue{Items: &h.TLS.RootFiles}, "root-certs", "certificate authorities, `FILE,...`, PEM")
	fl.BoolVar(&h.TLS.Tickets, "session-tickets", false, "resume TLS sessions")
}

func (f *attackFlags) registerEngine(fl *pflag.FlagSet) {
	o := &f.vegeta.Engine
	fl.StringVar(&o.Engine, "engine", engine.Auto, "auto, epollhttp or nethttp; auto chooses by the targets")
	fl.StringVar(&f.pacing, "pacing", string(load.Precise), "of epollhttp: precise, or economical, which wakes up "+
		"each millisecond")
	fl.IntVar(&o.Pipeline, "pipeline", 0, "requests in flight on one connection, of epollhttp; default 1")
}

// complete turns the flags into options and refuses those that contradict each
// other.
func (f *attackFlags) complete(e *cli.Env) error {
	o := &f.vegeta
	o.Engine.HTTP.NoKeepAlive, o.Engine.HTTP.NoHTTP2 = !f.keepalive, !f.http2
	o.Encoding = vegeta.Encoding(f.encoding)
	o.Stdin, o.Stdout = e.Stdin, e.Stdout
	if err := cli.CheckFormat("-o", f.out.Format); err != nil {
		return err
	}
	if err := errors.Join(f.completeSchedule(), f.completeTargets(), f.request.complete(f)); err != nil {
		return cli.Usage(err, cli.HintOf(err))
	}
	if err := f.completeEngine(); err != nil {
		return err
	}
	if err := errors.Join(o.Validate(), f.checkFrom()); err != nil {
		return cli.Usage(err, cli.HintOf(err))
	}
	return nil
}

func (f *attackFlags) completeSchedule() (err error) {
	o := &f.vegeta.ScheduleOptions
	if o.Spacing, err = load.ParseSpacing(f.arrivals); err != nil {
		return fmt.Errorf("--arrivals: %w", err)
	}
	if f.set("think") {
		if o.ThinkMin, o.ThinkMax, err = load.ParseThink(f.think); err != nil {
			return fmt.Errorf("--think: %w", err)
		}
	}
	if !f.set("seed") {
		o.Seed = uint64(rand.Uint32()) // short enough to be typed again
	}
	if f.set("stages") {
		for _, other := range []string{"rate", "duration", "pause"} {
			if f.set(other) {
				return fmt.Errorf("--stages say the rates and how long they last: without -%s", other)
			}
		}
		if o.Stages, err = load.ParseStages(f.stages); err != nil {
			return fmt.Errorf("--stages: %w", err)
		}
		return nil
	}
	for text := range strings.SplitSeq(f.rate, ",") {
		perSec, err := unit.ParseRate(text)
		if err != nil {
			return cli.WithHint(fmt.Errorf("-rate: %w", err), "-rate 100 is so many a second, -rate 500/1m a minute; "+
				"-rate 10,100,1000 a ladder; -rate 0 -max-workers 10 ten users")
		}
		o.Steps = append(o.Steps, perSec)
	}
	if len(o.Steps) == 1 {
		o.Rate, o.Steps = o.Steps[0], nil
	}
	return nil
}

func (f *attackFlags) completeTargets() error {
	o := &f.vegeta
	if len(f.inline) == 0 {
		return nil
	}
	for _, other := range []string{"targets", "format", "lazy"} {
		if f.set(other) {
			return fmt.Errorf("--target says what is sent: without -%s", other)
		}
	}
	o.Stdin, o.Targets, o.Format = inlineTargets(f.inline), "stdin", vegeta.HTTPTargets
	return nil
}

func (f *attackFlags) completeEngine() (err error) {
	o := &f.vegeta.Engine
	if engines := []string{engine.Auto, engine.EpollHTTP, engine.NetHTTP}; !slices.Contains(engines, o.Engine) {
		return cli.Usagef("", "--engine %q: want %s", o.Engine, strings.Join(engines, ", "))
	}
	if o.Pacing, err = load.ParsePacing(f.pacing); err != nil {
		return cli.Usagef("", "--pacing: %w", err)
	}
	if o.Pipeline < 0 {
		return cli.Usagef("", "--pipeline %d: want 1 or more", o.Pipeline)
	}
	f.permit(&o.HTTP.Permit)
	return nil
}

// inlineTargets puts targets into the form of a targets file. A number before one
// is its weight.
func inlineTargets(all []string) io.Reader {
	var b strings.Builder
	for _, t := range all {
		head, rest, _ := strings.Cut(strings.TrimSpace(t), " ")
		if n, err := strconv.Atoi(head); err == nil {
			fmt.Fprintf(&b, "# weight: %d\n", n)
			t = strings.TrimSpace(rest)
		}
		b.WriteString(t + "\n\n")
	}
	return strings.NewReader(b.String())
}
