package load_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

func newResolver(t testing.TB, o load.ResolverOptions) *load.Resolver {
	t.Helper()
	r, err := load.NewResolver(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func spell(addrs []netip.AddrPort) string {
	s := fmt.Sprint(addrs)
	return s[1 : len(s)-1]
}

func TestResolver_Options(t *testing.T) {
	f := func(o load.ResolverOptions, want string) {
		t.Helper()
		if _, err := load.NewResolver(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	for _, s := range []string{"", "a", "a:1", "a:1:b", "a:1:b:", "a:1:b:x", "a:1:b:2:c", ":1:b:2", "a:1::2", "a:0:b:2", "a:1:b:65536", "::1:80:b:2", "[::1:80:b:2", "[::1]80:b:2"} {
		f(load.ResolverOptions{ConnectTo: []string{s}}, fmt.Sprintf("bad connect-to %q", s))
	}
	for _, s := range []string{"", "localhost", "1.2.3", "1.2.3.4:", "1.2.3.4:x", "1.2.3.4:0", "[::1]:70000"} {
		f(load.ResolverOptions{Servers: []string{s}}, fmt.Sprintf("bad resolver %q", s))
	}
	newResolver(t, load.ResolverOptions{Servers: []string{"127.0.0.1", "127.0.0.1:5353", "::1", "[::1]", "[::1]:53"}})
}

func TestResolver_ConnectTo(t *testing.T) {
	r := newResolver(t, load.ResolverOptions{ConnectTo: []string{
		"a.example:80:127.0.0.1:8001", "A.example:80:127.0.0.1:8002", "[2001:DB8::1]:80:[::1]:8003", "192.0.2.1:443:127.0.0.9:1"}})
	f := func(hostport string, want ...string) {
		t.Helper()
		for _, w := range want {
			if got, err := r.Next(t.Context(), hostport); err != nil || spell(got) != w {
				t.Errorf("%s leads to %s, %v; want %s", hostport, spell(got), err, w)
			}
		}
	}
	f("a.example:80", "127.0.0.1:8001", "127.0.0.1:8002", "127.0.0.1:8001")
	f("A.Example:80", "127.0.0.1:8001", "127.0.0.1:8002")
	f("[2001:db8::1]:80", "[::1]:8003")
	f("192.0.2.1:443", "127.0.0.9:1")
	f("127.0.0.3:80", "127.0.0.3:80")
	if got, err := r.Addrs(t.Context(), "a.example:80"); err != nil || spell(got) != "127.0.0.1:8001 127.0.0.1:8002" {
		t.Errorf("all addresses are %s, %v", spell(got), err)
	}
	// Only this port is led elsewhere, and what is dialled must be allowed.
	var forbidden *load.ForbiddenError
	if _, err := r.Next(t.Context(), "192.0.2.1:80"); !errors.As(err, &forbidden) || forbidden.Host != "192.0.2.1" {
		t.Errorf("error is %v", err)
	}
	lead := func(hosts ...string) (err error) {
		r := newResolver(t, load.ResolverOptions{ConnectTo: []string{"a.example:80:192.0.2.7:80"}, Permit: load.Permit{Hosts: hosts}})
		_, err = r.Next(t.Context(), "a.example:80")
		return err
	}
	if err := lead(); !errors.As(err, &forbidden) || forbidden.Host != "a.example" || forbidden.Addr.String() != "192.0.2.7" {
		t.Errorf("error is %v", err)
	}
	for _, named := range []string{"a.example", "192.0.2.7"} {
		if err := lead(named); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"a", "127.0.0.1:http", "127.0.0.1:99999"} {
		if _, err := r.Addrs(t.Context(), bad); err == nil {
			t.Errorf("%q has an address", bad)
		}
	}
}

func TestResolver_Servers(t *testing.T) {
	one, two := loadtest.StartDNS(t), loadtest.StartDNS(t)
	for _, s := range []*loadtest.DNS{one, two} {
		s.Set("many.test", "127.0.0.2", "127.0.0.3", "127.0.0.4", "fd00::1", "fd00::2")
		s.Set("mixed.test", "127.0.0.2", "192.0.2.1")
	}
	r := newResolver(t, load.ResolverOptions{Servers: []string{one.Addr, two.Addr}, TTL: -1})
	seen := map[netip.AddrPort]bool{}
	for range 6 {
		addrs, err := r.Next(t.Context(), "many.test:8080")
		if err != nil || len(addrs) != 5 {
			t.Fatalf("addresses are %s, %v", spell(addrs), err)
		}
		// One family comes after the other.
		if !slices.IsSortedFunc(addrs, func(a, b netip.AddrPort) int {
			if a.Addr().Is4() == b.Addr().Is4() {
				return 0
			}
			if a.Addr().Is4() == addrs[0].Addr().Is4() {
				return -1
			}
			return 1
		}) {
			t.Errorf("families are mixed: %s", spell(addrs))
		}
		seen[addrs[0]] = true
	}
	if len(seen) < 2 {
		t.Errorf("the addresses do not take turns: %v", seen)
	}
	if one.Asked("many.test") == 0 || two.Asked("many.test") == 0 {
		t.Errorf("asked %d and %d times: the servers do not take turns", one.Asked("many.test"), two.Asked("many.test"))
	}
	var forbidden *load.ForbiddenError
	if _, err := r.Addrs(t.Context(), "mixed.test:80"); !errors.As(err, &forbidden) || forbidden.Host != "mixed.test" || forbidden.Addr.String() != "192.0.2.1" {
		t.Errorf("error is %v", err)
	}
	var dns *net.DNSError
	if _, err := r.Addrs(t.Context(), "none.test:80"); !errors.As(err, &dns) || !dns.IsNotFound {
		t.Errorf("error is %v", err)
	}
}

func TestResolver_CheckViaProxy(t *testing.T) {
	s := loadtest.StartDNS(t)
	s.Set("own.test", "10.0.0.1")
	s.Set("public.test", "192.0.2.1")
	r := newResolver(t, load.ResolverOptions{Servers: []string{s.Addr}, Permit: load.Permit{Hosts: []string{"named.test"}}})
	f := func(host string, ok bool) {
		t.Helper()
		var forbidden *load.ForbiddenError
		err := r.CheckViaProxy(t.Context(), host)
		if ok != (err == nil) || err != nil && (!errors.As(err, &forbidden) || forbidden.Host != host) {
			t.Errorf("%s: error is %v", host, err)
		}
	}
	f("127.0.0.1", true)
	f("own.test", true)
	f("named.test", true)
	f("192.0.2.1", false)
	f("public.test", false)
	f("unknown.test", false)
}

func TestResolver_TTL(t *testing.T) {
	f := func(ttl time.Duration, lookups int, want ...string) {
		t.Helper()
		s := loadtest.StartDNS(t)
		r := newResolver(t, load.ResolverOptions{Servers: []string{s.Addr}, TTL: ttl})
		for i, w := range want {
			s.Set("a.test", fmt.Sprintf("127.0.0.%d", i+1))
			if got, err := r.Next(t.Context(), "a.test:1"); err != nil || spell(got) != w {
				t.Errorf("ttl %s: connection %d goes to %s, %v; want %s", ttl, i+1, spell(got), err, w)
			}
		}
		if got := s.Asked("a.test") / 2; got != lookups { // IPv4 and IPv6
			t.Errorf("ttl %s: the name is looked up %d times, want %d", ttl, got, lookups)
		}
	}
	f(0, 1, "127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:1")
	f(time.Hour, 1, "127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:1")
	f(1, 3, "127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1") // over before the next one
	f(-1, 3, "127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1")
}
