package sockets

import (
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/threadtime"
)

// A port is one end of connections: a service that was called, or one that answers.
type port struct {
	number uint16
	here   bool // the service listens here
}

func (p port) String() string {
	if p.here {
		return "at " + strconv.Itoa(int(p.number))
	}
	return "to " + strconv.Itoa(int(p.number))
}

// connections counts those of one port by state.
type connections struct {
	port     port
	instance string // empty until there are enough for a series
	by       [closeWait + 1]uint32
	all      uint32
}

// count asks for all connections and appends how many each port has in which state.
// It returns the CPU time that it took.
func (s *Source) count(f *kasoku.Frame) (took time.Duration, err error) {
	began := threadtime.Now()
	for _, c := range s.counted {
		c.by, c.all = [closeWait + 1]uint32{}, 0
	}
	if s.diag != nil {
		err = s.diag.tcp(connected, s.buf, s.onCount)
	} else {
		err = s.readTable("net/tcp", connected, s.onCount)
		if err6 := s.readTable("net/tcp6", connected, s.onCount); err6 == nil {
			err = nil // one of the families may be off
		}
	}
	took = threadtime.Now() - began
	if err != nil {
		return took, err
	}
	named := 0
	kept := s.counted[:0]
	for _, c := range s.counted {
		if c.instance != "" {
			named++
		}
		if c.instance == "" && c.all >= fewest && named < s.most.ports {
			c.instance = c.port.String()
			named++
		}
		if c.instance == "" {
			delete(s.ports, c.port) // ports come and go
			continue
		}
		kept = append(kept, c)
		f.Gauge(TCPEstablished, c.instance, "count", float64(c.by[established]))
		f.Gauge(TCPTimeWait, c.instance, "count", float64(c.by[timeWait]))
		f.Gauge(TCPCloseWait, c.instance, "count", float64(c.by[closeWait]))
		f.Gauge(TCPSynSent, c.instance, "count", float64(c.by[synSent]))
	}
	clear(s.counted[len(kept):])
	s.counted = kept
	return took, nil
}

// connection counts one connection.
func (s *Source) connection(k *socket) {
	if k.state > closeWait {
		return
	}
	p := port{number: k.peer}
	if s.serves(k.local) {
		p = port{number: k.local.port, here: true}
	}
	c := s.ports[p]
	if c == nil {
		c = &connections{port: p}
		s.ports[p] = c
		s.counted = append(s.counted, c)
	}
	c.by[k.state]++
	c.all++
}

// serves reports whether something listens at an address's port: there, or at any
// address.
func (s *Source) serves(at address) bool {
	if l := s.tcp[at]; l != nil && l.tick == s.tick {
		return true
	}
	for _, wide := range [...]address{{port: at.port}, {port: at.port, v6: true}} {
		if l := s.tcp[wide]; l != nil && l.tick == s.tick {
			return true
		}
	}
	return false
}
