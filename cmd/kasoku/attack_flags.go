package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/nethttp"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/unit"
)

// attackFlags are the flags of attack that are not Vegeta's options as they are.
type attackFlags struct {
	vegeta    vegeta.AttackOptions
	rate      string
	inline    []string
	keepalive bool
	http2     bool
	encoding  string
	pacing    string
	workers   uint64
	lazy      bool
	out       output
	outFlag   *pflag.Flag
}

func (f *attackFlags) register(cmd *cobra.Command) {
	f.outFlag = f.out.registerReport(cmd)
	o, h, fl := &f.vegeta, &f.vegeta.Engine.HTTP, cmd.Flags()
	fl.StringVar(&f.rate, "rate", "50/1s", "`RATE` N, N/unit or N/duration; 0 or infinity: as fast as -max-workers let; several with commas: a ladder")
	fl.DurationVar(&o.Duration, "duration", 0, "of the attack, or of each step; 0: until stopped")
	fl.DurationVar(&o.Pause, "pause", 0, "between the steps of a ladder")
	fl.StringVar(&o.Targets, "targets", "stdin", "targets `FILE`")
	fl.StringArrayVar(&f.inline, "target", nil, "a target, such as `'GET http://127.0.0.1:8080/'`; may be repeated")
	fl.StringVar(&o.Format, "format", "http", "of the targets: http or json")
	fl.StringVar(&o.Body, "body", "", "`FILE` with the body of targets that have none")
	fl.Var(vegeta.HeaderValue{Header: &o.Header}, "header", "request header `'K: V'`; may be repeated")
	fl.StringVar(&o.Name, "name", "", "of the attack, kept in each result")
	fl.StringVar(&o.Output, "output", "", "results `FILE`; default standard output, unless that is a terminal")
	fl.StringVar(&f.encoding, "encoding", "gob", "of the results: gob, json or csv")
	fl.Var(vegeta.TimeoutValue{Timeout: &h.Timeout}, "timeout", "of a request; 0: none")
	fl.Uint64Var(&o.MaxWorkers, "max-workers", 0, "most requests in flight; default 10,000")
	fl.Uint64Var(&f.workers, "workers", 10, "taken for Vegeta's sake; workers come and go as needed")
	fl.BoolVar(&f.lazy, "lazy", false, "taken for Vegeta's sake; targets are read at once")
	fl.IntVar(&h.Connections, "connections", nethttp.DefaultConnections, "idle connections kept per host")
	fl.IntVar(&h.MaxConnections, "max-connections", 0, "connections per host; 0: no limit")
	fl.BoolVar(&f.keepalive, "keepalive", true, "keep connections open")
	fl.BoolVar(&f.http2, "http2", true, "HTTP/2 where the server offers it")
	fl.BoolVar(&h.H2C, "h2c", false, "HTTP/2 without TLS")
	fl.BoolVar(&h.TLS.Insecure, "insecure", false, "accept any certificate")
	fl.StringVar(&h.TLS.CertFile, "cert", "", "client certificate `FILE`, PEM")
	fl.StringVar(&h.TLS.KeyFile, "key", "", "key `FILE`; default the certificate's")
	fl.Var(vegeta.ListValue{Items: &h.TLS.RootFiles}, "root-certs", "certificate authorities, `FILE,...`, PEM")
	fl.Var(vegeta.RedirectsValue{N: &h.Redirects}, "redirects", "followed; -1: do not follow and count as success")
	fl.Var(vegeta.MaxBodyValue{Bytes: &h.MaxBody}, "max-body", "most bytes of a body that count; -1: all")
	fl.BoolVar(&h.Chunked, "chunked", false, "send bodies with chunked encoding")
	fl.StringVar(&h.LocalAddr, "laddr", "", "local IP `ADDRESS`")
	fl.StringVar(&h.UnixSocket, "unix-socket", "", "connect to this `SOCKET`, whatever the URL's host")
	fl.StringArrayVar(&h.ConnectTo, "connect-to", nil, "dial `SRC:PORT:DST:PORT`; may be repeated, destinations of one source take turns")
	fl.Var(vegeta.DNSTTLValue{TTL: &h.DNSTTL}, "dns-ttl", "how long addresses of a name are kept; 0: as long as the attack, -1: not")
	fl.Var(vegeta.ListValue{Items: &h.Resolvers}, "resolvers", "name servers, `IP[:PORT],...`, which take turns")
	fl.Var(vegeta.HeaderValue{Header: &h.ProxyHeader}, "proxy-header", "header `'K: V'` for the proxy; may be repeated")
	fl.BoolVar(&h.SessionTickets, "session-tickets", false, "resume TLS sessions")
	fl.StringSliceVar(&h.Permit.Hosts, "allow", nil, "consent to load `HOST`, which is neither loopback nor private; may be repeated")
	fl.StringVar(&o.Engine.Engine, "engine", engine.Auto, "auto, epollhttp or nethttp; auto chooses by the targets")
	fl.StringVar(&f.pacing, "pacing", "precise", "of epollhttp: precise, or economical, which wakes up each millisecond")
	fl.IntVar(&o.Engine.Pipeline, "pipeline", 0, "requests in flight on one connection, of epollhttp; default 1")
}

// outSet reports whether the report was asked for.
func (f *attackFlags) outSet() bool { return f.outFlag.Changed || f.out.html != "" }

// complete turns the flags into options.
func (f *attackFlags) complete(e *env) error {
	o := &f.vegeta
	o.Engine.HTTP.NoKeepAlive, o.Engine.HTTP.NoHTTP2 = !f.keepalive, !f.http2
	for text := range strings.SplitSeq(f.rate, ",") {
		perSec, err := unit.ParseRate(text)
		if err != nil {
			return usagef("", "-rate: %w", err)
		}
		o.Steps = append(o.Steps, perSec)
	}
	if len(o.Steps) == 1 {
		o.Rate, o.Steps = o.Steps[0], nil
	}
	o.Encoding = vegeta.Encoding(f.encoding)
	o.Stdin, o.Stdout = e.stdin, e.stdout
	if len(f.inline) > 0 {
		o.Stdin, o.Targets, o.Format = inlineTargets(f.inline), "stdin", "http"
	}
	if err := checkFormat("-o", f.out.format); err != nil {
		return err
	}
	var err error
	if o.Engine.Pacing, err = load.ParsePacing(f.pacing); err != nil {
		return usagef("", "--pacing: %w", err)
	}
	if err := o.Validate(); err != nil {
		return usageError{err, hintOf(err)}
	}
	return nil
}

// inlineTargets puts targets into the form of a targets file.
func inlineTargets(all []string) io.Reader {
	return strings.NewReader(strings.Join(all, "\n\n") + "\n")
}
