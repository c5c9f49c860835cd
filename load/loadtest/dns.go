package loadtest

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// A DNS is a name server on a loopback port, over UDP. It knows the names that it
// was given, and no others. It is safe for concurrent use.
type DNS struct {
	Addr string // IP:PORT

	mu    sync.Mutex
	names map[string][]netip.Addr
	asked map[string]int
}

// StartDNS starts a name server that ends with the test.
func StartDNS(t testing.TB) *DNS {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &DNS{Addr: conn.LocalAddr().String(), names: map[string][]netip.Addr{}, asked: map[string]int{}}
	var served sync.WaitGroup
	served.Go(func() { s.serve(conn) })
	t.Cleanup(func() {
		_ = conn.Close() // it ends serve
		served.Wait()
	})
	return s
}

// Set sets which addresses a name has from now on.
func (s *DNS) Set(name string, addrs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[name] = nil
	for _, a := range addrs {
		s.names[name] = append(s.names[name], netip.MustParseAddr(a))
	}
}

// Asked returns how many questions for a name there were. Who looks a name up asks
// for its IPv4 and its IPv6 addresses, each by itself.
func (s *DNS) Asked(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

func (s *DNS) serve(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if out := s.answer(buf[:n]); out != nil {
			_, _ = conn.WriteTo(out, from) // who asked asks again
		}
	}
}

// answer returns the answer to a query, nil when that is none.
func (s *DNS) answer(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := strings.TrimSuffix(q.Name.String(), ".")
	s.mu.Lock()
	addrs, known := s.names[name]
	s.asked[name]++
	s.mu.Unlock()
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionDesired: m.RecursionDesired,
		RecursionAvailable: true}
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	m.Additionals = nil
	for _, a := range addrs {
		h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h,
				Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}
