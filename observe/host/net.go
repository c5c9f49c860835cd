package host

import (
	"bytes"
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
		f.Counter(NetRxBytes, known.name, "bytes", float64(n.rxBytes))
		f.Counter(NetRxPackets, known.name, "count", float64(n.rxPackets))
		f.Counter(NetTxBytes, known.name, "bytes", float64(n.txBytes))
		f.Counter(NetTxPackets, known.name, "count", float64(n.txPackets))
		f.Counter(NetErrors, known.name, "count", float64(n.rxErrors+n.txErrors))
		f.Counter(NetDrops, known.name, "count", float64(n.rxDrops+n.txDrops))
	}
}
