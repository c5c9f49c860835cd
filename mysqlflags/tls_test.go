package mysqlflags

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestTLS_File(t *testing.T) {
	f := func(lines, want string) {
		t.Helper()
		d, err := ReadDefaults(writeFile(t, filepath.Join(t.TempDir(), "my.cnf"), "[client]\n"+lines))
		if err != nil {
			t.Fatal(err)
		}
		mode, err := d.TLS.resolved()
		if err != nil {
			mode = err.Error()
		}
		if mode != want {
			t.Errorf("%q: %s, want %s", lines, mode, want)
		}
	}
	f("", SSLDisabled)
	f("ssl", SSLRequired)
	f("ssl=0", SSLDisabled)
	f("ssl\nskip-ssl", SSLDisabled)
	f("skip-ssl\nssl=1", SSLRequired)
	f("ssl-ca=/ca.pem", SSLVerifyCA)
	f("ssl-ca=/ca.pem\nssl_verify_server_cert", SSLVerifyIdentity)
	f("ssl_verify_server_cert=ON\nssl", SSLVerifyIdentity)
	f("ssl-verify-server-cert\ndisable-ssl-verify-server-cert", SSLRequired)
	f("disable-ssl-verify-server-cert", SSLDisabled)
	f("ssl-verify-server-cert=off", SSLDisabled)
	f("ssl-cert=/c.pem\nssl-key=/k.pem", SSLRequired)
	f("ssl-mode=preferred", SSLPreferred)
	f("ssl-mode=verify_identity\n[client-mariadb]\nssl-mode=DISABLED", SSLDisabled)
	f("ssl-mode=disabled\nssl", SSLRequired)
	f("ssl-mode=verify_identity\nskip-ssl-verify-server-cert", SSLRequired)
	f("ssl-mode=often", `ssl-mode "often" is not known`)
}

// A later file wins, but for the option ssl, which is less than to verify.
func TestTLS_Files(t *testing.T) {
	f := func(want string, files ...string) {
		t.Helper()
		var d Defaults
		for _, lines := range files {
			one, err := ReadDefaults(writeFile(t, filepath.Join(t.TempDir(), "my.cnf"), "[client]\n"+lines))
			if err != nil {
				t.Fatal(err)
			}
			d = d.override(one)
		}
		if mode, err := d.TLS.resolved(); err != nil || mode != want {
			t.Errorf("%q: %s, %v, want %s", files, mode, err, want)
		}
	}
	f(SSLVerifyIdentity, "ssl-mode=verify_identity", "ssl")
	f(SSLVerifyIdentity, "ssl-verify-server-cert", "ssl=1")
	f(SSLVerifyCA, "ssl-mode=VERIFY_CA", "ssl")
	f(SSLRequired, "ssl-mode=PREFERRED", "ssl")
	f(SSLDisabled, "ssl-verify-server-cert", "skip-ssl")
	f(SSLRequired, "ssl-verify-server-cert", "skip-ssl-verify-server-cert")
	f(SSLRequired, "ssl-mode=Verify_Identity", "ssl-verify-server-cert=0\nssl")
	f(SSLRequired, "ssl-verify-server-cert", "ssl-verify-server-cert\nskip-ssl-verify-server-cert")
	f(SSLVerifyIdentity, "ssl-verify-server-cert", "skip-ssl-verify-server-cert\nssl-mode=VERIFY_IDENTITY")
	f(SSLVerifyIdentity, "ssl-verify-server-cert", "skip-ssl-verify-server-cert", "ssl-verify-server-cert")
	f(SSLVerifyCA, "ssl-mode=VERIFY_CA", "skip-ssl-verify-server-cert")
	f(SSLDisabled, "", "skip-ssl-verify-server-cert")
}

func TestTLS_DSN(t *testing.T) {
	f := func(d Defaults, o MyOpts, want string) {
		t.Helper()
		got, err := d.DSN(o, 0)
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	on := Defaults{TLS: TLS{Mode: SSLVerifyIdentity}}
	f(on, MyOpts{}, "root@tcp(localhost:3306)/?tls=true")
	f(on, MyOpts{MySQLSSLMode: "required"}, "root@tcp(localhost:3306)/?tls=skip-verify")
	f(on, MyOpts{MySQLSSLMode: SSLPreferred}, "root@tcp(localhost:3306)/?allowFallbackToPlaintext=true&tls=preferred")
	f(on, MyOpts{MySQLSSLMode: SSLPreferred, MySQLSocket: "/s"}, "root@unix(/s)/")
	f(on, MyOpts{MySQLSSLMode: SSLDisabled}, "root@tcp(localhost:3306)/")
	f(on, MyOpts{MySQLDSNParams: map[string]string{"tls": "false"}}, "root@tcp(localhost:3306)/?tls=false")
	f(Defaults{}, MyOpts{MySQLSSLVerify: true}, "root@tcp(localhost:3306)/?tls=true")
	f(Defaults{TLS: TLS{Mode: SSLDisabled}}, MyOpts{MySQLSSLVerify: true}, "root@tcp(localhost:3306)/?tls=true")
}

// Settings that the driver has no word for have a name of their own: the same each
// time, another one for other settings, and known to a process that has the DSN alone.
func TestTLS_Named(t *testing.T) {
	name := func(d Defaults, o MyOpts) string {
		t.Helper()
		dsn, err := d.DSN(o, 0)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil || !strings.HasPrefix(cfg.TLSConfig, namePrefix) || cfg.TLS == nil {
			t.Fatalf("%q: %v", dsn, err)
		}
		mysql.DeregisterTLSConfig(cfg.TLSConfig) // as in another process
		if _, err := mysql.ParseDSN(dsn); err == nil {
			t.Fatal("still known")
		}
		if cfg, err = parseDSN(dsn); err != nil || cfg.TLS == nil || cfg.TLS.ServerName != "localhost" && o.MySQLHost == "" {
			t.Fatalf("%q: %v", dsn, err)
		}
		return cfg.TLSConfig
	}
	caOnly := Defaults{TLS: TLS{Mode: "verify_ca"}}
	a := name(caOnly, MyOpts{})
	if b := name(caOnly, MyOpts{}); a != b {
		t.Error(a, b)
	}
	if b := name(caOnly, MyOpts{MySQLHost: "db1"}); a == b {
		t.Error("one name for two hosts")
	}
}

func FuzzParseDSN(f *testing.F) {
	for _, seed := range []string{"", "u:p@tcp(h:1)/d?timeout=1s", "root@unix(/s)/?tls=mysqlflags-e30", "/?tls=mysqlflags-", "/?tls=mysqlflags-!&x=1", "u@/?tls=mysqlflags-eyJNb2RlIjoieCJ9", ":0@/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, dsn string) {
		cfg, err := parseDSN(dsn)
		if err != nil || cfg.Passwd == "" {
			return
		}
		// What is shown of it can be read again, but for a user who has a colon; a password
		// without a user is not shown at all.
		if shown, err := parseDSN(Redact(dsn)); err == nil && shown.User == cfg.User && shown.Passwd != "xxxx" && (cfg.User != "" || shown.Passwd != "") {
			t.Errorf("%q shows its password: %q", dsn, Redact(dsn))
		}
	})
}

func TestTLS_Failure(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.pem")
	empty := writeFile(t, filepath.Join(t.TempDir(), "empty.pem"), "no PEM")
	f := func(o MyOpts, want string) {
		t.Helper()
		_, err := (Defaults{}).DSN(o, 0)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(hintOf(err), "ssl-mode") {
			t.Errorf("%v, hint %q", err, hintOf(err))
		}
	}
	f(MyOpts{MySQLSSLMode: "often"}, `ssl-mode "often" is not known`)
	f(MyOpts{MySQLSSLCA: none}, "ssl-ca: open")
	f(MyOpts{MySQLSSLCA: empty}, "no certificate in")
	f(MyOpts{MySQLSSLCert: empty}, "belong together")
	f(MyOpts{MySQLSSLCert: empty, MySQLSSLKey: empty}, "ssl-cert: ")
}
