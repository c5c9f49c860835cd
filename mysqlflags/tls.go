package mysqlflags

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// The ways of using TLS, as MySQL's own clients name them.
const (
	SSLDisabled       = "DISABLED"        // never
	SSLPreferred      = "PREFERRED"       // where the server can, unverified; not over a socket
	SSLRequired       = "REQUIRED"        // always, unverified
	SSLVerifyCA       = "VERIFY_CA"       // always; the certificate must be of a known authority
	SSLVerifyIdentity = "VERIFY_IDENTITY" // and for the host that was asked for
)

// sslOn is what MariaDB's option ssl means: required, and verified where an
// authority is named.
const sslOn = "ON"

const tlsHint = "ssl-mode is DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY; ssl-ca, ssl-cert and ssl-key are PEM files"

// TLS defines how a connection is encrypted. The zero value is no TLS, the driver's
// own default.
//
// An authority alone means [SSLVerifyCA], a certificate alone [SSLRequired].
type TLS struct {
	Mode string // one of the SSL constants; empty when nothing was said
	CA   string // path of the authorities' certificates; empty: those of the system
	Cert string // path of the client's certificate
	Key  string // path of its key

	noVerify bool // the last option about the name in the certificate was not to verify it
}

// override returns t with what top says in its place. The option ssl on top takes
// nothing away from a mode that verifies.
func (t TLS) override(top TLS) TLS {
	if top.noVerify {
		t.verify(false)
	}
	if verifies := t.is(SSLVerifyCA) || t.is(SSLVerifyIdentity); top.Mode != "" && !(top.is(sslOn) && verifies) {
		t.Mode, t.noVerify = top.Mode, top.noVerify
	}
	for _, f := range []struct {
		to   *string
		from string
	}{{&t.CA, top.CA}, {&t.Cert, top.Cert}, {&t.Key, top.Key}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	return t
}

// set takes one option of a file: those of MySQL's clients and of MariaDB's.
//
// Sources: MySQL 9.7 manual, "Command Options for Encrypted Connections"; MariaDB
// documentation, "Securing Connections for Client and Server".
func (t *TLS) set(o Option) {
	yes := !o.HasValue || isYes(o.Value)
	switch o.Name {
	case "ssl-ca":
		t.CA = o.Value
	case "ssl-cert":
		t.Cert = o.Value
	case "ssl-key":
		t.Key = o.Value
	case "ssl-mode":
		t.Mode, t.noVerify = o.Value, false
	case "skip-ssl", "disable-ssl":
		t.Mode = SSLDisabled
	case "ssl", "enable-ssl":
		switch {
		case !yes:
			t.Mode = SSLDisabled
		case t.Mode == "" || t.is(SSLDisabled):
			t.Mode = sslOn
		}
	case "ssl-verify-server-cert", "enable-ssl-verify-server-cert":
		t.verify(yes)
	case "skip-ssl-verify-server-cert", "disable-ssl-verify-server-cert":
		t.verify(false)
	}
}

// is reports whether a mode was named, in whatever case.
func (t TLS) is(mode string) bool { return strings.EqualFold(t.Mode, mode) }

// verify takes MariaDB's switch for the name in the certificate. Off, it does not
// ask for TLS.
func (t *TLS) verify(on bool) {
	t.noVerify = !on
	switch {
	case on:
		t.Mode = SSLVerifyIdentity
	case t.is(SSLVerifyIdentity):
		t.Mode = sslOn
	}
}

// resolved returns the mode that is meant.
func (t TLS) resolved() (string, error) {
	switch mode := strings.ToUpper(t.Mode); mode {
	case SSLDisabled, SSLPreferred, SSLRequired, SSLVerifyCA, SSLVerifyIdentity:
		return mode, nil
	case "", sslOn:
		switch {
		case t.CA != "":
			return SSLVerifyCA, nil
		case t.Cert != "" || t.Key != "" || mode == sslOn:
			return SSLRequired, nil
		}
		return SSLDisabled, nil
	}
	return "", fmt.Errorf("ssl-mode %q is not known", t.Mode)
}

// apply writes the settings into a driver's configuration. What the driver has no
// word for is registered with it, under a name that holds the settings: equal
// settings have equal names, and [OpenDSN] knows them in another process too.
func (t TLS) apply(cfg *mysql.Config, host string) error {
	mode, err := t.resolved()
	if err != nil {
		return err
	}
	files := t.CA != "" || t.Cert != "" || t.Key != ""
	switch {
	case mode == SSLDisabled, mode == SSLPreferred && cfg.Net == "unix":
		return nil
	case mode == SSLPreferred && !files:
		cfg.TLSConfig = "preferred"
		return nil
	case mode == SSLRequired && !files:
		cfg.TLSConfig = "skip-verify"
		return nil
	case mode == SSLVerifyIdentity && !files && cfg.Net == "tcp":
		cfg.TLSConfig = "true"
		return nil
	}
	t.Mode = mode
	name, err := named{t, host}.register()
	if err != nil {
		return err
	}
	cfg.TLSConfig, cfg.AllowFallbackToPlaintext = name, mode == SSLPreferred
	return nil
}

// named is what the name of a registered configuration holds.
type named struct {
	TLS
	Host string
}

// namePrefix of a configuration's name is followed by base64 of JSON.
const namePrefix = "mysqlflags-"

// register makes the configuration known to the driver, and returns its name.
func (n named) register() (string, error) {
	c, err := n.config(n.Host)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(n)
	if err != nil {
		return "", err
	}
	name := namePrefix + base64.RawURLEncoding.EncodeToString(text)
	return name, mysql.RegisterTLSConfig(name, c)
}

// checkParameters makes the configuration known that a DSN of [CreateDSN] names, perhaps one of
// another process. What it cannot make out is left to the driver, which refuses it.
func checkParameters(dsn string) error {
	_, name, has := strings.Cut(dsn[strings.LastIndexByte(dsn, '/')+1:], "tls="+namePrefix)
	if !has {
		return nil
	}
	name, _, _ = strings.Cut(name, "&")
	var n named
	text, err := base64.RawURLEncoding.DecodeString(name)
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		return nil
	}
	if n.Mode, err = n.resolved(); err == nil {
		_, err = n.register()
	}
	return err
}

// config makes the configuration of a resolved mode.
func (t TLS) config(host string) (*tls.Config, error) {
	c := &tls.Config{ServerName: host}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("ssl-ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ssl-ca: no certificate in %q", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("ssl-cert and ssl-key belong together")
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("ssl-cert: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if t.Mode != SSLVerifyIdentity {
		c.InsecureSkipVerify = true // the name in the certificate is not asked for
	}
	if t.Mode == SSLVerifyCA {
		roots := c.RootCAs
		c.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s.PeerCertificates, roots) }
	}
	return c, nil
}

// verifyChain checks that a server's certificate is of one of the authorities,
// whatever name it bears. No roots are those of the system.
func verifyChain(chain []*x509.Certificate, roots *x509.CertPool) error {
	if len(chain) == 0 {
		return errors.New("the server sent no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	return err
}
