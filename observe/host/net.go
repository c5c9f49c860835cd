package host

import (
	"bytes"
	"errors"
	"fmt"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A nicStat is one line of /proc/net/dev: what one network interface has
// carried since it was made.
//
//	eth0: 450246755   16064    0    0    0     0          0         0  1123573   11203    0    0    0     0       0          0
//
// Kernel: Documentation/networking/statistics.rst and net/core/net-procfs.c;
// the drops there contain the missed packets.
type nicStat struct {
	rxBytes, rxPackets, rxErrors, rxDrops uint64
	txBytes, txPackets, txErrors, txDrops uint64
}

// A nic holds the name of a known interface.
type nic struct{ name string }

// parseNIC reads one line. The name points into the line, which is a heading
// when ok is false.
func parseNIC(line []byte) (name []byte, n nicStat, ok bool, err error) {
	// The colon may stand against the first number: an alias such as eth0:1 has
	// colons of its own, so the last one counts.
	i := bytes.LastIndexByte(line, ':')
	if i < 0 {
		return nil, nicStat{}, false, nil
	}
	var v [12]uint64
	name, _ = procfile.Word(line[:i])
	if len(name) == 0 || procfile.Uints(v[:], line[i+1:]) < len(v) {
		return nil, nicStat{}, false, fmt.Errorf("bad line %q", line)
	}
	return name, nicStat{
		rxBytes: v[0], rxPackets: v[1], rxErrors: v[2], rxDrops: v[3],
		txBytes: v[8], txPackets: v[9], txErrors: v[10], txDrops: v[11],
	}, true, nil
}

// collectNet takes every interface that has carried something, the loopback
// included: on one machine it carries what the application says to its database.
func (s *Source) collectNet(text []byte, f *kasoku.Frame) error {
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return nil
		}
		text = rest
		name, n, ok, err := parseNIC(line)
		if err != nil {
			return err
		}
		if !ok || n.rxPackets+n.txPackets == 0 {
			continue
		}
		known := s.nics[string(name)]
		if known == nil {
			known = &nic{name: string(name)}
			s.nics[known.name] = known
		}
		f.Counter("net.rx_bytes", known.name, "bytes", float64(n.rxBytes))
		f.Counter("net.rx_packets", known.name, "count", float64(n.rxPackets))
		f.Counter("net.tx_bytes", known.name, "bytes", float64(n.txBytes))
		f.Counter("net.tx_packets", known.name, "count", float64(n.txPackets))
		f.Counter("net.errors", known.name, "count", float64(n.rxErrors+n.txErrors))
		f.Counter("net.drops", known.name, "count", float64(n.rxDrops+n.txDrops))
	}
}

// collectTCP takes the Tcp group of /proc/net/snmp.
//
// Source: RFC 4022 (the names of the TCP MIB) and the kernel's
// Documentation/networking/snmp_counter.rst.
func (s *Source) collectTCP(text []byte, f *kasoku.Frame) error {
	return parseGroup(text, "Tcp:", func(name, value []byte) error {
		if string(name) == "CurrEstab" {
			return gauge(f, "tcp.established", value)
		}
		switch string(name) {
		case "ActiveOpens":
			return counter(f, "tcp.active_opens", value)
		case "PassiveOpens":
			return counter(f, "tcp.passive_opens", value)
		case "RetransSegs":
			return counter(f, "tcp.retrans", value)
		case "AttemptFails":
			return counter(f, "tcp.attempt_fails", value)
		case "EstabResets":
			return counter(f, "tcp.estab_resets", value)
		case "OutRsts":
			return counter(f, "tcp.out_resets", value)
		}
		return nil
	})
}

// collectTCPExt takes what a full accept queue leaves in the TcpExt group of
// /proc/net/netstat: overflows, and drops for this and any other reason.
//
// Kernel: Documentation/networking/snmp_counter.rst, TcpExtListenOverflows and
// TcpExtListenDrops.
func (s *Source) collectTCPExt(text []byte, f *kasoku.Frame) error {
	return parseGroup(text, "TcpExt:", func(name, value []byte) error {
		switch string(name) {
		case "ListenOverflows":
			return counter(f, "tcp.listen_overflows", value)
		case "ListenDrops":
			return counter(f, "tcp.listen_drops", value)
		}
		return nil
	})
}

// collectSockets takes the TCP line of /proc/net/sockstat: connections in
// TIME_WAIT and sockets allocated, over IPv4 and IPv6 together.
//
//	TCP: inuse 1 orphan 0 tw 0 alloc 1 mem 202
//
// Source: proc(5), /proc/net/sockstat.
func (s *Source) collectSockets(text []byte, f *kasoku.Frame) error {
	return parseSockets(text, func(name, value []byte) error {
		switch string(name) {
		case "tw":
			return gauge(f, "tcp.time_wait", value)
		case "alloc":
			return gauge(f, "tcp.alloc", value)
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
