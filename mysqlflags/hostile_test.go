package mysqlflags

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// A hostileServer speaks as much of MySQL's protocol as it takes to ask for what it is
// not to get, and keeps all that it was sent.
type hostileServer struct {
	auth   string // method that it asks for after the login; empty: it lets everybody in
	key    string // public key, in PEM, that it gives where the method asks for one
	infile string // file that it asks for after each statement

	mu   sync.Mutex
	sent bytes.Buffer
}

// read reads a packet, and returns its number.
func (h *hostileServer) read(conn net.Conn) (seq byte, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(conn, head); err != nil {
		return 0, err
	}
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err = io.ReadFull(conn, body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent.Write(body)
	return head[3], err
}

func (h *hostileServer) serve(conn net.Conn) {
	defer conn.Close()
	say := func(seq byte, body string) {
		_, _ = conn.Write(append([]byte{byte(len(body)), byte(len(body) >> 8), 0, seq}, body...))
	}
	const ok = "\x00\x00\x00\x02\x00\x00\x00"
	// Handshake V10: version, connection, salt, capabilities without TLS, method.
	say(0, "\x0a5.7.44\x00\x07\x00\x00\x00AAAAAAAA\x00\xff\xf7\x21\x02\x00\xff\x81\x15"+
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00BBBBBBBBBBBB\x00mysql_native_password\x00")
	seq, err := h.read(conn)
	if err != nil {
		return
	}
	if h.auth != "" {
		say(seq+1, "\xfe"+h.auth+"\x00AAAAAAAABBBBBBBBBBBB\x00")
		if seq, err = h.read(conn); err != nil {
			return
		}
	}
	if h.key != "" {
		if h.auth == "caching_sha2_password" {
			say(seq+1, "\x01\x04") // full authentication
			if seq, err = h.read(conn); err != nil {
				return
			}
		}
		say(seq+1, "\x01"+h.key)
		if seq, err = h.read(conn); err != nil {
			return
		}
	}
	say(seq+1, ok)
	for {
		if _, err := h.read(conn); err != nil {
			return
		}
		say(1, "\xfb"+h.infile)
		seq, err := h.read(conn) // the file, or nothing
		for sent := h.length(); err == nil && h.length() > sent; {
			sent = h.length()
			seq, err = h.read(conn)
		}
		say(seq+1, ok)
	}
}

func (h *hostileServer) length() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent.Len()
}

// TestHostileServer: no server gets a file of this host, or the password itself over a
// connection without TLS, and none ends the program.
func TestHostileServer(t *testing.T) {
	secret := "hunter2-" + t.Name()
	file := filepath.Join(t.TempDir(), "private")
	if err := os.WriteFile(file, []byte("file of "+secret), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(what string, h *hostileServer, params string) {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go h.serve(conn)
			}
		}()
		db, err := OpenBounded(fmt.Sprintf("app:%s@tcp(%s)/shop%s", secret, l.Addr(), params))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := db.ExecContext(ctx, "SET /* kasoku */ SESSION long_query_time = 3600"); err == nil {
			t.Errorf("%s: no error", what)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.sent.Len() == 0 || bytes.Contains(h.sent.Bytes(), []byte(secret)) {
			t.Errorf("%s: it was sent %q", what, h.sent.Bytes())
		}
	}
	f("a file", &hostileServer{infile: file}, "")
	f("a file, with the DSN of an application that loads some", &hostileServer{infile: file}, "?allowAllFiles=true")
	f("the password in clear", &hostileServer{auth: "mysql_clear_password"}, "")
	f("the password by an old method", &hostileServer{auth: "mysql_old_password"}, "")
	f("a dialog", &hostileServer{auth: "dialog"}, "")
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	f("a key of another kind", &hostileServer{auth: "caching_sha2_password", key: key}, "")
	f("a key of another kind at once", &hostileServer{auth: "sha256_password", key: key}, "")
}
