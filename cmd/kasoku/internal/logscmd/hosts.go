package logscmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/fleetcmd"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/fleet/gather"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report/logfile"
)

// hostsOf returns the logs of hosts that arguments such as web1:/var/log/nginx/*.gz name; none where
// they name logs of this host.
func hostsOf(args []string) (out []gather.HostLogs, err error) {
	for i, arg := range args {
		host, path, ok := hostArgument(arg)
		if ok != (len(out) > 0) && i > 0 {
			return nil, cli.Usagef("an agent of this host is asked as any other",
				"logs of hosts and of this one are not read at once")
		}
		if !ok {
			continue
		}
		if err := fleet.CheckLogPath(path); err != nil {
			return nil, cli.Usage(fmt.Errorf("%s: %w", host, err), "web1:'/var/log/nginx/*.gz' names logs of host web1")
		}
		at := slices.IndexFunc(out, func(h gather.HostLogs) bool { return h.Host == host })
		switch {
		case at < 0:
			out = append(out, gather.HostLogs{Host: host, Paths: []string{path}})
		case at == len(out)-1:
			out[at].Paths = append(out[at].Paths, path)
		default:
			return nil, cli.Usagef("", "the logs of %s stand apart: name them one after another", host)
		}
	}
	return out, nil
}

// hostArgument cuts web1:/var/log/nginx/*.gz, unless a file of this host has the name.
func hostArgument(arg string) (host, path string, ok bool) {
	host, path, ok = strings.Cut(arg, ":")
	if !ok || fleet.CheckHost(host) != nil || !strings.HasPrefix(path, "/") {
		return "", "", false
	}
	if _, err := os.Lstat(arg); err == nil {
		return "", "", false
	}
	return host, path, true
}

// registerHub registers the flag that names the hub.
func registerHub(cmd *cobra.Command, hub *string) {
	cmd.Flags().StringVar(hub, "hub", "", "`DIRECTORY` of the hub that asks hosts; default that of kasoku hub")
}

// A hostReading has hosts of a fleet read their logs.
type hostReading struct {
	hub      string // its directory; empty: the user's
	kind     string
	hosts    []gather.HostLogs
	options  any
	begin    func(zone *fleet.LogZone) (any, error)
	progress *reading

	// take takes what was read of a log, which is the one of that number.
	take func(host string, p *logs.Part, number int) error
}

// A hostOutcome is how that ended.
type hostOutcome struct {
	zone    *fleet.LogZone // of the first log
	stopped string         // why not all was read; empty when it was
}

// run returns an error when nothing was read.
func (h *hostReading) run(parent context.Context, e *cli.Env) (out hostOutcome, err error) {
	ctx, hard, stop := cli.Interruptible(parent)
	defer stop()
	options, err := json.Marshal(h.options)
	if err != nil {
		return out, err
	}
	conn, err := fleetcmd.Connect(ctx, e, h.hub, h.progress.Say)
	if err != nil {
		return out, err
	}
	defer conn.Close()
	dir, err := private.MakeTempDir("", "kasoku-fleet-")
	if err != nil {
		return out, err
	}
	defer func() { _ = dir.Close() }()
	all, err := gather.Logs(ctx, conn, gather.LogOptions{Hosts: h.hosts, Kind: h.kind, Options: options, Dir: dir.Path,
		Hard: hard, Progress: h.progress.progress,
		Begin: func(zone *fleet.LogZone) (any, error) { out.zone = zone; return h.begin(zone) },
		Note:  h.progress.Say})
	h.progress.Clear()
	if err != nil && ctx.Err() != nil {
		out.stopped = "Stopped by " + context.Cause(ctx).Error() + " before anything was read."
		return out, nil
	}
	if refused := new(coordinate.RefusedError); errors.As(err, &refused) {
		return out, cli.WithHint(refused, cli.HintOf(refused))
	} else if err != nil {
		return out, cli.WithHint(err, "`kasoku hub status` lists the hosts; `kasoku fleet up` brings them up")
	}
	number := 0
	var lost []string
	for i := range all {
		why := all[i].Lost
		if why == "" {
			if err := h.takeAll(&all[i], &number); err != nil {
				why = fleet.Clean(err.Error())
			}
		}
		if why != "" {
			lost = append(lost, all[i].Host+": "+why)
		}
		h.progress.hosts = append(h.progress.hosts, hostCost(&all[i]))
	}
	switch {
	case ctx.Err() != nil:
		out.stopped = "Stopped by " + context.Cause(ctx).Error() + ": " + h.progress.far() + " were read."
	case len(lost) == len(all):
		return out, errors.New(strings.Join(lost, "; "))
	case len(lost) > 0:
		out.stopped = "Not all hosts are in it: " + strings.Join(lost, "; ") + "."
	}
	return out, nil
}

// mostHostLogs bounds the logs of a host, each of which takes memory and a line of the report.
const mostHostLogs = 10_000

// takeAll takes what was read of a host's logs. Either all of it is taken or, with an error, what
// stood before the one that cannot be.
func (h *hostReading) takeAll(read *gather.ReadLogs, number *int) error {
	f, err := os.Open(read.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	first := *number
	for parts := logs.NewPartReader(f); ; *number++ {
		p, err := parts.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if *number-first >= mostHostLogs {
			return fmt.Errorf("more than %d logs", mostHostLogs)
		}
		if err == nil && p.Window.Kind != h.kind {
			err = errors.New("what it read is of another kind")
		}
		if err == nil {
			p.Window.Host, p.Window.Path = read.Host, read.Host+":"+p.Window.Path
			err = h.take(read.Host, p, *number)
		}
		if err != nil {
			return err
		}
	}
}

// hostCost describes what the reading of a host took.
func hostCost(r *gather.ReadLogs) string {
	a := &r.Last
	if r.Lost != "" {
		return r.Host + ": nothing came"
	}
	read := a.Done - a.Kept
	out := fmt.Sprintf("%s: read %s of %s in %s, %s", r.Host, unit.Bytes(uint64(read)),
		unit.Counted(uint64(max(a.Logs, 0)), "log", "logs"), unit.Duration(a.Wall), perSecond(read, a.Wall))
	if a.CPU > 0 {
		out += fmt.Sprintf(", %s of CPU time, %s per core", unit.Duration(a.CPU), perSecond(read, a.CPU))
	}
	if a.Kept > 0 {
		out += ", " + unit.Bytes(uint64(a.Kept)) + " were read before"
	}
	return out
}

// hostLocation is the zone in which the first log of a host is written; nil when it is not known.
func hostLocation(z *fleet.LogZone) *time.Location {
	const farthest = 18 * 60 * 60 // s, that a zone may be ahead
	if z == nil || z.Ahead < -farthest || z.Ahead > farthest {
		return time.Local
	}
	return zoneAt(time.Unix(z.At, 0), z.Ahead)
}

// checkHosts refuses what does not go with logs of other hosts.
func (f *accessRead) checkHosts() error {
	byTime := slices.ContainsFunc(f.by, func(k string) bool { return k == "second" || k == "minute" || k == "hour" })
	switch {
	case f.nginxConf != "":
		return cli.Usagef("--format takes its log_format", "--nginx-conf does not go with logs of hosts: a host reads no "+
			"configuration for another")
	case byTime && f.zone == "":
		return cli.Usagef("--location Asia/Tokyo, say", "--by second, minute and hour of several hosts need one time zone")
	}
	return nil
}

// collectHosts has hosts read their access logs into what is reported of them, as one reading of
// all of them would.
func (f *accessRead) collectHosts(
	ctx context.Context, e *cli.Env, hub string, hosts []gather.HostLogs, p *reading,
) (*logfile.AccessLog, error) {
	o := f.options
	t := accesslog.NewTable(o)
	var windows []kasoku.LogWindow
	var unknown []error
	h := hostReading{hub: hub, kind: fleet.AccessLog, hosts: hosts, progress: p,
		options: accessOrder{Format: f.format, Where: f.where, Bots: f.bots, Zone: f.zone, By: f.by, Slowest: f.slowest,
			Workers: f.workers, Routes: *f.mapped},
		begin: func(zone *fleet.LogZone) (word any, err error) {
			at := f.location
			if at == nil {
				at = hostLocation(zone)
			}
			o.Since, o.Until, err = f.times(e, at)
			t = accesslog.NewTable(o)
			return accessBegin{o.Since, o.Until}, err
		},
		take: func(_ string, part *logs.Part, number int) error {
			made, err := accesslog.Read(o, part.Table, number)
			if err != nil {
				return err
			}
			t.Merge(made)
			windows = append(windows, part.Window)
			if w := &part.Window; w.Records == 0 && w.Dropped > 0 && len(w.BadSample) > 0 {
				unknown = append(unknown, accessformat.NotUnderstood(w.Path, w.BadSample[0], o.Format))
			}
			return nil
		}}
	out, err := h.run(ctx, e)
	if err != nil {
		return nil, err
	}
	zone := f.location
	if zone == nil {
		zone = hostLocation(out.zone)
	}
	log := accessLog(t, zone)
	log.Logs, log.Stopped = windows, out.stopped
	if len(unknown) == 1 {
		err = unknown[0]
	} else {
		err = errors.Join(unknown...)
	}
	if t.Records() == 0 && err != nil && log.Stopped == "" {
		return nil, err
	}
	return log, err
}

// collectHosts has hosts read their logs of statements into what is reported of them.
func (f *slowRead) collectHosts(
	ctx context.Context, e *cli.Env, hub string, hosts []gather.HostLogs, p *reading,
) (*logfile.SlowLog, error) {
	t := slowlog.NewTable(f.options)
	var windows []kasoku.LogWindow
	order := slowOrder{Kind: f.kind, By: f.by, Match: f.match, User: f.user, Schema: f.db, Host: f.host, Slower: f.slower,
		Zone: f.zone, Workers: f.workers}
	if !f.options.Since.IsZero() {
		order.Since = &f.options.Since
	}
	if !f.options.Until.IsZero() {
		order.Until = &f.options.Until
	}
	h := hostReading{hub: hub, kind: fleet.SlowLog, hosts: hosts, progress: p, options: order,
		begin: func(*fleet.LogZone) (any, error) { return true, nil },
		take: func(_ string, part *logs.Part, number int) error {
			made, err := slowlog.Read(f.options, part.Table, number)
			if err != nil {
				return err
			}
			t.Merge(made)
			windows = append(windows, part.Window)
			return nil
		}}
	out, err := h.run(ctx, e)
	if err != nil {
		return nil, err
	}
	log := f.slowLog(t, t.Noted(windows))
	log.Stopped = out.stopped
	return log, nil
}
