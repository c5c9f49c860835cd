package settings

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

func connectionChecks() []*check {
	return []*check{
		{
			id: "MYS-20", area: areaCaches, title: "open files", weight: urgent,
			formula: "Open_files / open_files_limit", threshold: "> 85 %", run: checkOpenFiles,
		},
		{
			id: "MYS-08", area: areaConnections, title: "connections in use", weight: urgent,
			formula: "Max_used_connections / max_connections", threshold: "> 85 %", run: checkMaxConnections,
		},
		{
			id: "MYS-09", area: areaConnections, title: "connections that failed", weight: costly,
			formula: "Aborted_connects / Connections", threshold: "> 3 %", run: checkAborted,
		},
		{
			id: "MYS-10", area: areaConnections, title: "names of clients", weight: costly,
			formula: "skip_name_resolve", threshold: "OFF, with networking", run: checkNameResolve,
			absent: func(s *state) string {
				if on(s.Variables["skip_networking"]) {
					return "the server has no network"
				}
				return ""
			},
		},
		{
			id: "MYS-16", area: areaConnections, title: "threads kept for new connections", weight: costly,
			formula: "thread_cache_size", threshold: "0", run: checkThreadCache, absent: pooledThreads,
		},
		{
			id: "MYS-17", area: areaConnections, title: "threads that were there for new connections", weight: costly,
			formula: "1 − Threads_created / Connections", threshold: "≤ 50 %", run: checkThreadHits,
			absent: pooledThreads,
		},
	}
}

// leastFiles is proposed at least where files run out.
const leastFiles = 65535

func checkOpenFiles(l *look) {
	open, limit := l.s(mysql.OpenFiles), l.v("open_files_limit")
	if limit <= 0 || open/limit <= 0.85 {
		l.well("%s of %s", countWords(open), countWords(limit))
		return
	}
	l.fire(found{
		title: "The server runs out of open files", measured: fmt.Sprintf("%s: %s of %s", unit.Percent(open/limit),
			countWords(open), countWords(limit)),
		level: kasoku.High, changes: l.raise("open_files_limit", max(leastFiles, sensibleSize(2*open, true))),
		gain: "No more \"Too many open files\"",
		note: "Below systemd the unit's LimitNOFILE must allow it too.",
	})
}

// moreConnections is what max_connections should be when so many are used of a
// limit: twice as many, cut to fifties. diagnose's POOL-02 proposes the same. Both
// servers let one administrator in beyond the limit.
func moreConnections(used, limit float64) float64 {
	if used == limit+1 {
		used = limit
	}
	return min(max(math.Floor(2*used/50)*50, used+10), 100000)
}

func checkMaxConnections(l *look) {
	used, limit := l.s(mysql.MaxUsedConnections), l.v("max_connections")
	if limit <= 0 || used/limit <= 0.85 {
		l.well("%s of %s", countWords(used), countWords(limit))
		return
	}
	f := found{
		title: "Connections run up to max_connections", measured: fmt.Sprintf("%s: %s of %s", unit.Percent(used/limit),
			countWords(used), countWords(limit)),
		level: kasoku.High, gain: "No Error 1040, \"Too many connections\"",
		note: "First cap the application's pool below the limit and keep its connections open (POOL-02): more connections do not make the server faster.",
	}
	if refused, ok := l.Status[mysql.ConnectionErrorsMaxConnections]; ok && refused > 0 {
		f.measured += fmt.Sprintf("; refused %s", countWords(refused))
	}
	more := moreConnections(used, limit)
	each := l.modestThread()
	if l.Memory.RAM > 0 && l.affords(each*more, 0.4) {
		f.changes = l.raise("max_connections", more)
		f.price = fmt.Sprintf("%s for each connection that is busy, %s with all of them", sizeWords(each), sizeWords(each*more))
	} else if l.Memory.RAM > 0 {
		f.note += fmt.Sprintf(" %s connections would take up to %s.", countWords(more), sizeWords(each*more))
	} else {
		f.note += " " + l.unaffordable(mostBuffers)
	}
	l.fire(f)
}

func checkAborted(l *look) {
	aborted, all := l.g(mysql.AbortedConnects), l.g(mysql.Connections)
	switch {
	case all < few:
		l.well("only %s connections", countWords(all))
	case aborted/all <= 0.03:
		l.well("%s of %s", unit.Percent(aborted/all), countWords(all))
	default:
		note := "Look at passwords, at health checks that only open the port, and at connect_timeout."
		if l.maria() {
			note += " MariaDB counts connections refused at max_connections, too."
		}
		l.fire(found{
			title: "Clients fail to log in", measured: fmt.Sprintf("%s: %s of %s", unit.Percent(aborted/all),
				countWords(aborted), countWords(all)),
			level: kasoku.Medium, counted: true, gain: "Connections that are good for something", note: note,
		})
	}
}

func checkNameResolve(l *look) {
	if on(l.need("skip_name_resolve")) {
		l.well("ON")
		return
	}
	if a := l.Variables["bind_address"]; isLoopback(a) {
		l.well("OFF, and clients come from this host alone, bind_address %s: such are not looked up", a)
		return
	}
	f := found{
		title: "The server looks up the name of each client", measured: "OFF", level: kasoku.Medium,
		gain: "New connections do not wait for DNS",
	}
	switch names := namedHosts(l.Accounts); {
	case !l.AccountsRead:
		f.level = kasoku.Low
		f.note = "It is set where no account names a host: with it 127.0.0.1 is no longer localhost, and clients that come " +
			"by TCP as app@localhost are refused. The accounts were not read: `SELECT user, host FROM mysql.user`."
	case len(names) > 0:
		f.note = "Not as it is: these accounts are known by a name, " + listWords(names) + ". Give them addresses first: " +
			"with it 127.0.0.1 is no longer localhost, and who comes from there by TCP is refused."
	default:
		f.changes = l.to("skip_name_resolve", "ON")
	}
	l.fire(f)
}

// isLoopback reports whether a server that listens there has clients of its own host alone.
func isLoopback(bindAddress string) bool {
	for a := range strings.SplitSeq(bindAddress, ",") {
		if ip, err := netip.ParseAddr(strings.TrimSpace(a)); a != "localhost" && (err != nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// namedHosts returns the accounts whose host is a name. Those of localhost are among them,
// unless they log in by the socket alone, or the same user may come from a loopback address.
func namedHosts(all []Account) []string {
	var out []string
	for _, a := range all {
		if !hasLetter(a.Host) || isAddress(a.Host) || a.Host == "localhost" && (a.SocketOnly ||
			slices.ContainsFunc(all, func(b Account) bool {
				return b.User == a.User && (b.Host == "%" || b.Host == "127.0.0.1" || b.Host == "::1")
			})) {
			continue
		}
		out = append(out, a.User+"@"+a.Host)
	}
	return out
}

// pooledThreads reports that the server keeps no threads for connections.
func pooledThreads(s *state) string {
	if h := s.Variables["thread_handling"]; h == "pool-of-threads" || h == "loaded-dynamically" {
		return "thread_handling is " + h
	}
	return ""
}

// threadCache is how many threads should be kept: as many as were in use at once,
// at least 8, at most a hundred.
func (s *state) threadCache() float64 {
	return min(max(8, math.Ceil(s.used()/8)*8), 104)
}

func checkThreadCache(l *look) {
	if v := l.v("thread_cache_size"); v > 0 {
		l.well("%s", countWords(v))
		return
	}
	l.fire(found{
		title: "Each connection starts a thread", measured: "0", level: kasoku.High,
		changes: l.raise("thread_cache_size", l.threadCache()),
		gain:    "Cheaper connections; a pool in the application saves more",
	})
}

func checkThreadHits(l *look) {
	created, all := l.g(mysql.ThreadsCreated), l.g(mysql.Connections)
	switch hits := 1 - created/max(all, 1); {
	case l.willOr("thread_cache_size", 0) == 0:
		l.well("thread_cache_size is 0")
	case all < few:
		l.well("only %s connections", countWords(all))
	case hits > 0.5:
		l.well("%s of %s", unit.Percent(hits), countWords(all))
	default:
		f := found{
			title: "Most connections start a thread", measured: fmt.Sprintf("%s: %s threads for %s connections",
				unit.Percent(max(hits, 0)), countWords(created), countWords(all)),
			level: kasoku.Medium, counted: true, changes: l.raise("thread_cache_size", l.threadCache()),
			gain: "Cheaper connections",
			note: "A pool that keeps its connections open saves more.",
		}
		l.fire(f)
	}
}
