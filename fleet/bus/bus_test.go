package bus

import (
	"bufio"
	"crypto/tls"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/fleet/hubdir"
	"github.com/kasoku/kasoku/fleet/keys"
)

// TestGone: a hub that is so busy that it cuts off who has shown the key ends the connection for good, which who
// holds it hears.
func TestGone(t *testing.T) {
	d, err := hubdir.Open(filepath.Join(t.TempDir(), "hub"), "here")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := d.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS13,
		Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cut := make(chan struct{})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Write([]byte(`INFO {"server_id":"x","version":"2.10.0","headers":true,"nonce":"abc",` +
			`"max_payload":1048576,"tls_required":true}` + "\r\n"))
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "PING") {
				_, _ = c.Write([]byte("PONG\r\n"))
				break
			}
		}
		<-cut
		_, _ = c.Write([]byte("-ERR 'Authentication Timeout'\r\n"))
	}()
	seed, _, err := keys.New()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := Connect(Options{Address: l.Addr().String(), CA: keys.Fingerprint(cert.Leaf), Seed: seed, Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	select {
	case <-conn.Gone():
		t.Fatal("it is gone before the hub says so")
	default:
	}
	close(cut)
	select {
	case <-conn.Gone():
	case <-time.After(10 * time.Second):
		t.Error("who holds it does not hear that it is closed")
	}
}
