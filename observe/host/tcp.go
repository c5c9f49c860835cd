package host

import (
	"errors"
	"fmt"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A named value of a group and its series.
type named struct{ name, series string }

// tcpCounters are taken of the Tcp group of /proc/net/snmp, udpCounters of Udp, and
// extCounters of the TcpExt group of /proc/net/netstat: what a full accept queue or
// a full list of half-open connections leaves, what was sent again, and what was
// thrown away for want of memory.
//
// Source: RFC 4022 and RFC 4113 (the names of the MIBs); the kernel's
// Documentation/networking/snmp_counter.rst and net/ipv4/proc.c.
var (
	tcpCounters = []named{
		{"ActiveOpens", TCPActiveOpens}, {"PassiveOpens", TCPPassiveOpens},
		{"AttemptFails", TCPAttemptFails}, {"EstabResets", TCPEstabResets},
		{"InSegs", TCPInSegments}, {"OutSegs", TCPOutSegments},
		{"RetransSegs", TCPRetrans}, {"InErrs", TCPInErrors}, {"OutRsts", TCPOutResets},
	}
	udpCounters = []named{
		{"InDatagrams", UDPIn}, {"NoPorts", UDPNoPort}, {"InErrors", UDPInErrors},
		{"OutDatagrams", UDPOut}, {"RcvbufErrors", UDPReceiveFull}, {"SndbufErrors", UDPSendFull},
	}
	extCounters = []named{
		{"SyncookiesSent", TCPSyncookies}, {"PruneCalled", TCPPrunes},
		{"ListenOverflows", TCPListenOverflows}, {"ListenDrops", TCPListenDrops},
		{"TCPLostRetransmit", TCPLostRetrans}, {"TCPTimeouts", TCPTimeouts},
		{"TCPBacklogDrop", TCPBacklogDrops}, {"TCPTimeWaitOverflow", TCPTimeWaitOverflows},
		{"TCPReqQFullDrop", TCPSYNQueueDrops}, {"TCPAbortOnMemory", TCPMemoryAborts},
		{"TCPAbortOnTimeout", TCPTimeoutAborts}, {"TCPSynRetrans", TCPSYNRetrans},
		{"TCPRcvQDrop", TCPReceiveQueueDrops},
	}
)

// collectSNMP takes the groups Tcp and Udp of /proc/net/snmp.
func (s *Source) collectSNMP(text []byte, f *kasoku.Frame) error {
	err := parseGroup(text, "Tcp:", func(name, value []byte) error {
		if string(name) == "CurrEstab" {
			return gauge(f, TCPEstablished, value)
		}
		return counters(f, tcpCounters, name, value)
	})
	if err != nil {
		return err
	}
	return parseGroup(text, "Udp:", func(name, value []byte) error { return counters(f, udpCounters, name, value) })
}

// collectTCPExt takes the TcpExt group of /proc/net/netstat.
func (s *Source) collectTCPExt(text []byte, f *kasoku.Frame) error {
	return parseGroup(text, "TcpExt:", func(name, value []byte) error { return counters(f, extCounters, name, value) })
}

// counters appends a value whose name is among the wanted ones.
func counters(f *kasoku.Frame, wanted []named, name, value []byte) error {
	for i := range wanted {
		if string(name) == wanted[i].name {
			return counter(f, wanted[i].series, value)
		}
	}
	return nil
}

// collectSockets takes the TCP line of /proc/net/sockstat: connections in
// TIME_WAIT, sockets that no process holds any more, sockets allocated, over IPv4
// and IPv6 together, and the pages of memory that their buffers take.
//
//	TCP: inuse 1 orphan 0 tw 0 alloc 1 mem 202
//
// Source: proc(5), /proc/net/sockstat.
func (s *Source) collectSockets(text []byte, f *kasoku.Frame) error {
	return parseSockets(text, func(name, value []byte) error {
		switch string(name) {
		case "tw":
			return gauge(f, TCPTimeWait, value)
		case "orphan":
			return gauge(f, TCPOrphans, value)
		case "alloc":
			return gauge(f, TCPAlloc, value)
		case "mem":
			return gauge(f, TCPMemoryPages, value)
		}
		return nil
	})
}

// parseSockets calls each for the pairs of the TCP line.
func parseSockets(text []byte, each func(name, value []byte) error) error {
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return errors.New(`no line "TCP:"`)
		}
		text = rest
		word, line := procfile.Word(line)
		if string(word) != "TCP:" {
			continue
		}
		for {
			var name, value []byte
			name, line = procfile.Word(line)
			value, line = procfile.Word(line)
			if len(name) == 0 {
				return nil
			}
			if err := each(name, value); err != nil {
				return err
			}
		}
	}
}

// parseGroup finds the two lines of a group, a heading with names and a line
// with values in the same order, and calls each for every pair.
func parseGroup(text []byte, group string, each func(name, value []byte) error) error {
	var names []byte
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return fmt.Errorf("no group %q", group)
		}
		text = rest
		word, line := procfile.Word(line)
		if string(word) != group {
			continue
		}
		if names == nil {
			names = line
			continue
		}
		return pair(names, line, each)
	}
}

func pair(names, values []byte, each func(name, value []byte) error) error {
	for {
		var name, value []byte
		name, names = procfile.Word(names)
		value, values = procfile.Word(values)
		if len(name) == 0 && len(value) == 0 {
			return nil
		}
		if len(name) == 0 || len(value) == 0 {
			return errors.New("as many names as values expected")
		}
		if err := each(name, value); err != nil {
			return err
		}
	}
}

func counter(f *kasoku.Frame, series string, value []byte) error {
	n, ok := procfile.Uint(value)
	if !ok {
		return fmt.Errorf("bad %s %q", series, value)
	}
	f.Counter(series, "", "count", float64(n))
	return nil
}

func gauge(f *kasoku.Frame, series string, value []byte) error {
	n, ok := procfile.Uint(value)
	if !ok {
		return fmt.Errorf("bad %s %q", series, value)
	}
	f.Gauge(series, "", "count", float64(n))
	return nil
}
