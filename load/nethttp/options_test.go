package nethttp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/loadtest"
)

func TestNew_Failure(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "junk.pem")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(o Options, want string) {
		t.Helper()
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f(Options{H2C: true, NoHTTP2: true}, "h2c")
	f(Options{H2C: true, NoKeepAlive: true}, "h2c")
	f(Options{MaxInFlight: -1}, "-1")
	f(Options{Connections: -2}, "-2")
	f(Options{MaxConnections: -3}, "-3")
	f(Options{Redirects: -4}, "-4")
	f(Options{Dial: Dial{LocalAddr: "localhost"}}, `"localhost"`)
	f(Options{TLS: TLS{KeyFile: "k"}}, "certificate")
	f(Options{TLS: TLS{CertFile: junk}}, junk)
	f(Options{TLS: TLS{RootFiles: []string{junk}}}, junk)
	f(Options{TLS: TLS{RootFiles: []string{junk + "x"}}}, junk+"x")
}

func TestRun_Failure(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	sched, err := load.Constant(1, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	f := func(target load.Target, want string) {
		t.Helper()
		p := load.Plan{Schedule: sched, Targets: []load.Target{target}}
		if _, err := e.Run(t.Context(), p, time.Now(), &loadtest.Collector{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f(load.Target{Method: "G T", URL: "http://h/"}, "invalid method")
	f(load.Target{Method: "GET", URL: "http://h:x/"}, "invalid port")
	f(load.Target{Method: "GET", URL: "ftp://h/"}, `"ftp"`)
	f(load.Target{Method: "GET", URL: "/path"}, `""`)
	f(load.Target{Method: "GET", URL: "http:///path"}, "no host")
	if _, err := e.Run(t.Context(), load.Plan{Schedule: sched}, time.Now(), &loadtest.Collector{}); err != load.ErrNoTargets {
		t.Errorf("error is %v", err)
	}
}

// TestMutualTLS proves that the client's certificate is sent and that the
// server's is checked against the given roots.
func TestMutualTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := selfSigned(t, dir)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(leaf)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) != 1 {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven}
	srv.StartTLS()
	defer srv.Close()

	if h := first(t, Options{TLS: TLS{CertFile: cert, KeyFile: key, RootFiles: []string{cert}}}, get(srv.URL)); h.Code != 200 {
		t.Errorf("with a certificate: %+v", h)
	}
	if h := first(t, Options{TLS: TLS{RootFiles: []string{cert}}}, get(srv.URL)); h.Code != 403 {
		t.Errorf("without a certificate: %+v", h)
	}
}

// selfSigned writes a certificate for 127.0.0.1 that may sign itself.
func selfSigned(t testing.TB, dir string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", keyDER)
}
