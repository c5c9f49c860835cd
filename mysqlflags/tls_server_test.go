package mysqlflags_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// An authority signs certificates for a test, and writes them as PEM files.
type authority struct {
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	n    int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.sign(t, "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// sign makes NAME.pem and NAME-key.pem.
func (a *authority) sign(t *testing.T, name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.n++
	c.SerialNumber, c.Subject = big.NewInt(a.n), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{a.path(name): {Type: "CERTIFICATE", Bytes: der}, a.path(name + "-key"): {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name+".pem") }

// Every mode against servers with TLS: what is let in, what is refused, and why.
func TestTLS_Server(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	a.sign(t, "server", &x509.Certificate{DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.sign(t, "client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	vars := map[string]string{"ssl_ca": a.path("ca"), "ssl_cert": a.path("server"), "ssl_key": a.path("server-key")}
	sandboxtest.Each(t, sandbox.Options{Vars: vars}, func(t *testing.T, s *sandbox.Server) {
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE USER anna@localhost REQUIRE X509", "CREATE USER anna@'127.0.0.1' REQUIRE X509")
		_, port, _ := strings.Cut(s.Addr(), ":")
		f := func(lines string, o mysqlflags.MyOpts, cipher bool, refusal, hint string) {
			t.Helper()
			o.MySQLDefaultsExtraFile = filepath.Join(t.TempDir(), "extra.cnf")
			if err := os.WriteFile(o.MySQLDefaultsExtraFile, []byte("[client]\nuser=root\nhost=127.0.0.1\nport="+port+"\n"+lines), 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := mysqlflags.OpenDBContext(t.Context(), o, 5*time.Second, false)
			if refusal != "" {
				if err == nil || !strings.Contains(err.Error(), refusal) || !strings.Contains(hintOf(err), hint) {
					t.Errorf("%q %+v: %v\nhint: %s", lines, o, err, hintOf(err))
				}
				return
			}
			if err != nil {
				t.Errorf("%q %+v: %v", lines, o, err)
				return
			}
			defer db.Close()
			var said map[string]string
			if err := mysqlflags.Query(db, "SHOW SESSION STATUS LIKE 'Ssl_cipher'").Scan(&said); err != nil || (said["Ssl_cipher"] != "") != cipher {
				t.Errorf("%q %+v: %v, %v", lines, o, said, err)
			}
		}
		var no mysqlflags.MyOpts
		f("", no, false, "", "")
		f("ssl-mode=PREFERRED", no, true, "", "")
		f("ssl", no, true, "", "")
		f("ssl-ca="+a.path("ca"), no, true, "", "")
		f("ssl-ca="+stranger.path("ca"), no, true, "unknown authority", "ssl-ca")
		f("ssl-ca="+stranger.path("ca"), mysqlflags.MyOpts{MySQLSSLCA: a.path("ca")}, true, "", "")
		f("ssl-ca="+a.path("ca"), mysqlflags.MyOpts{MySQLSSLVerify: true}, true, "127.0.0.1", "VERIFY_CA")
		f("ssl-ca="+a.path("ca")+"\nhost=localhost\nssl-verify-server-cert", no, true, "", "")
		f("ssl-mode=VERIFY_IDENTITY\nhost=localhost", no, true, "unknown authority", "ssl-ca")
		f("user=anna", no, false, "Access denied", "wrong user")
		f("user=anna\nssl-cert="+a.path("client")+"\nssl-key="+a.path("client-key"), no, true, "", "")
		f("user=anna\nssl-ca="+a.path("ca")+"\nssl-cert="+a.path("client")+"\nssl-key="+a.path("client-key"), no, true, "", "")
	})
	t.Run("none", func(t *testing.T) {
		// From 11.4 on it has a certificate of its own where none is named.
		s := sandboxtest.MariaDB(t, sandbox.Options{Args: []string{"--skip-ssl"}})
		err := ping(t, s.DSN("", "")+"?tls=skip-verify")
		if err == nil || !strings.Contains(hintOf(err), "PREFERRED") {
			t.Errorf("%v, hint %q", err, hintOf(err))
		}
		if err := ping(t, s.DSN("", "")+"?tls=preferred"); err != nil {
			t.Error(err)
		}
	})
}
