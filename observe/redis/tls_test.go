package redis

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// An authority is one of its own, whose certificates lie in a directory as NAME.crt and
// NAME.key.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.sign(t, "ca", x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign makes a certificate; the first one is the authority's own.
func (a *authority) sign(t *testing.T, name string, c x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if a.cert == nil {
		a.cert, a.key = &c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, &c, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{a.crt(name): {Type: "CERTIFICATE", Bytes: der}, a.keyOf(name): {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (a *authority) crt(name string) string   { return filepath.Join(a.dir, name+".crt") }
func (a *authority) keyOf(name string) string { return filepath.Join(a.dir, name+".key") }

// TestTLS_Server: a real server over TLS, with certificates that please and that do not;
// what does not says what to do.
func TestTLS_Server(t *testing.T) {
	a := newAuthority(t)
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	a.sign(t, "server", x509.Certificate{IPAddresses: loopback, DNSNames: []string{"cache.example"}})
	a.sign(t, "nameless", x509.Certificate{})
	a.sign(t, "elsewhere", x509.Certificate{DNSNames: []string{"cache.example"}})
	start := func(cert, config string) string {
		s := sandboxtest.Redis(t, sandbox.RedisOptions{Password: "s3cret", Config: config, TLS: &sandbox.RedisTLS{Cert: a.crt(cert), Key: a.keyOf(cert), CACert: a.crt("ca")}})
		return s.Addr()
	}
	f := func(o Server, want, hint string) {
		t.Helper()
		o.Password = "s3cret"
		s, err := New(Options{Server: o})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var frame kasoku.Frame
		err = s.Collect(t.Context(), &frame)
		if want == "" {
			if err != nil || values(&frame)["connected_clients"] != 1 {
				t.Errorf("%+v: %v, %v", o, err, values(&frame))
			}
			return
		}
		var h interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &h) || !strings.Contains(h.Hint(), hint) {
			t.Errorf("%+v: %v, hint %v; want %s, %s", o, err, h, want, hint)
		}
	}
	at := start("server", "")
	ca := a.crt("ca")
	f(Server{Address: "rediss://" + at, CACert: ca}, "", "")
	f(Server{Address: "rediss://" + at + "/0", CACert: ca, SNI: "cache.example"}, "", "")
	f(Server{Address: "rediss://" + at, CACert: ca, SNI: "other.example"}, "other.example", `["cache.example" "127.0.0.1"]`)
	f(Server{Address: "rediss://" + at}, "unknown authority", "cacert")
	f(Server{Address: at}, "redis: AUTH: ", "rediss://")
	f(Server{Address: "rediss://" + start("nameless", ""), CACert: ca}, "", "") // as redis-cli
	f(Server{Address: "rediss://" + start("elsewhere", ""), CACert: ca}, "127.0.0.1", "sni")
	strict := start("server", "tls-auth-clients yes\n")
	a.sign(t, "client", x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	f(Server{Address: "rediss://" + strict, CACert: ca}, "certificate required", "cert and key")
	f(Server{Address: "rediss://" + strict, CACert: ca, Cert: a.crt("client"), Key: a.keyOf("client")}, "", "")
	plain := sandboxtest.Redis(t, sandbox.RedisOptions{})
	f(Server{Address: "rediss://" + plain.Addr(), CACert: ca}, "no answer to the handshake", "redis://")
}

func TestTLSFiles(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.crt")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s    Server
		want string
	}{
		{Server{CACert: "/none/ca.crt"}, "cacert: open /none/ca.crt"},
		{Server{CACert: empty}, "holds no certificate"},
		{Server{Cert: empty, Key: empty}, "cert and key: "},
	} {
		if _, err := c.s.config("localhost"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
	if err := verify(nil, nil, "x"); err == nil {
		t.Error("a server without a certificate is taken")
	}
	c, err := Server{SNI: "cache.example"}.config("localhost")
	if err != nil || c.ServerName != "cache.example" || c.InsecureSkipVerify || c.MinVersion != tls.VersionTLS12 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		s    Server
		want string
	}{
		{Server{Address: "127.0.0.1:6379"}, ""},
		{Server{Address: "rediss://cache", CACert: "ca", Cert: "c", Key: "k", SNI: "n"}, ""},
		{Server{Address: "rediss://cache", Cert: "c"}, "go together"},
		{Server{Address: "redis://cache", CACert: "ca"}, "for TLS"},
		{Server{Address: "/run/redis.sock", SNI: "x"}, "for TLS"},
		{Server{Address: "rediss://me:s3cret@cache"}, "password_env"},
		{Server{Address: "rediss://cache\x00s3cret"}, "no URL"},
	} {
		err := c.s.check()
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
}

func TestPlaceOf(t *testing.T) {
	for address, want := range map[string]place{
		"/run/redis.sock":        {"unix", "/run/redis.sock", "", false},
		"cache:1":                {"tcp", "cache:1", "cache", false},
		"redis://cache":          {"tcp", "cache:6379", "cache", false},
		"rediss://cache/7":       {"tcp", "cache:6379", "cache", true},
		"rediss://[::1]:6380/":   {"tcp", "[::1]:6380", "::1", true},
		"rediss://127.0.0.1:999": {"tcp", "127.0.0.1:999", "127.0.0.1", true},
	} {
		if got, err := placeOf(address); err != nil || got != want {
			t.Errorf("%q: %+v, %v", address, got, err)
		}
	}
	for _, bad := range []string{"", "localhost", "a:", "http://x:1/", "rediss://", "rediss://:6379", "redis://x/a", "redis://x?tls=1", "redis://x#a", "unix:///run/x", "://"} {
		if _, err := placeOf(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
