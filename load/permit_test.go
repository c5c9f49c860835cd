package load

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestPermit(t *testing.T) {
	f := func(ok bool, addr, host string, named ...string) {
		t.Helper()
		err := Permit{Hosts: named}.Check(host, netip.MustParseAddr(addr))
		var forbidden *ForbiddenError
		if (err == nil) != ok || err != nil && (!errors.As(err, &forbidden) || forbidden.Hint() == "") {
			t.Errorf("%s of %s, named %q: error is %v, want none: %v", addr, host, named, err, ok)
		}
	}
	own := []string{
		"127.0.0.1", "127.255.3.4", "::1", "::ffff:127.0.0.1", // loopback
		"0.0.0.0", "::", // lead there
		"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "::ffff:10.1.1.1", // RFC 1918
		"fd00::1", "fc12::1", // RFC 4193
		"fe80::1", "fe80::1%eth0", // one link
	}
	for _, a := range own {
		f(true, a, "h")
	}
	foreign := []string{
		"8.8.8.8", "::ffff:8.8.8.8", "2001:db8::1", "2606:4700::1111",
		"172.15.255.255", "172.32.0.0", "192.169.0.1", "11.0.0.0", "0.0.0.1",
		"100.64.0.1", "100.127.255.254", // the carrier's
		"169.254.169.254", "::ffff:169.254.169.254", // the cloud's
		"64:ff9b::7f00:1", "::127.0.0.1", "2002:7f00:1::", // wrapped, and a router's to unwrap
		"224.0.0.1", "ff02::1", "255.255.255.255",
	}
	for _, a := range foreign {
		f(false, a, "h")
		f(false, a, "h", "other", "h.example")
		f(true, a, "h", "other", "H")
		f(true, a, "H.", "h")
		f(true, a, "h", a)
	}
	f(true, "2001:db8::1", "2001:db8::1", "[2001:DB8:0::1]")
	f(true, "2001:db8::1", "h", "2001:db8::1%eth0")
	f(false, "8.8.8.8", "", "8.8.8.80")
}

func TestForbiddenErrorSaysWhat(t *testing.T) {
	f := func(e ForbiddenError, want string) {
		t.Helper()
		if got := e.Error(); got != want {
			t.Errorf("error is %q, want %q", got, want)
		}
		if !strings.Contains(e.Hint(), "--allow "+e.Host) {
			t.Errorf("hint is %q", e.Hint())
		}
	}
	addr := netip.MustParseAddr("192.0.2.1")
	f(ForbiddenError{"www.example.com", addr}, "not sent: 192.0.2.1 of www.example.com is neither loopback nor private")
	f(ForbiddenError{"192.0.2.1", addr}, "not sent: 192.0.2.1 is neither loopback nor private")
	f(ForbiddenError{Host: "www.example.com"}, "not sent: www.example.com is reached through a proxy and has no address that is known here")
}

func TestASCIIHost(t *testing.T) {
	f := func(host, want string) {
		t.Helper()
		if got := ASCIIHost(host); got != want {
			t.Errorf("%q is %q, want %q", host, got, want)
		}
	}
	f("Example.COM", "Example.COM")
	f("bücher.example", "xn--bcher-kva.example")
	f("BÜCHER.example", "xn--bcher-kva.example")
	f("例え.テスト", "xn--r8jz45g.xn--zckzah")
	f("a\u200eb", "a\u200eb") // not a name
	p := Permit{Hosts: []string{"Bücher.example"}}
	if !p.Names("xn--bcher-kva.example") || !p.Names("BÜCHER.example") || p.Names("bucher.example") {
		t.Error("a host is not known in both of its spellings")
	}
}
