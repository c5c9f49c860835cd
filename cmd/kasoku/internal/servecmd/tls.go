package servecmd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/localhttp"
	"github.com/kasoku/kasoku/internal/private"
)

// tlsFlags say by which certificate the page is served.
type tlsFlags struct {
	cert, key string
	plain     bool
}

func (f *tlsFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.cert, "tls-cert", "",
		"`FILE` of the certificate, PEM; default one of its own for addresses that others reach")
	fl.StringVar(&f.key, "tls-key", "", "`FILE` of the certificate's key, PEM")
	fl.BoolVar(&f.plain, "plain", false, "no TLS on addresses that others reach: for a proxy that has it")
}

// wanted reports whether the page is served by TLS.
func (f *tlsFlags) wanted(at net.Addr) bool {
	return f.cert != "" || !f.plain && !localhttp.IsLoopback(at.String())
}

// config is how the page is served by TLS.
func (f *tlsFlags) config(e *cli.Env) (*tls.Config, error) {
	c, err := f.certificate()
	if err != nil {
		return nil, err
	}
	if f.cert == "" {
		sum := sha256.Sum256(c.Certificate[0])
		e.SayLine("certificate of its own, SHA-256 %s", strings.ToUpper(fmt.Sprintf("% x", sum[:])))
	}
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}}, nil
}

// certificate reads the one that was given, else its own, which it makes when there is none yet.
func (f *tlsFlags) certificate() (c tls.Certificate, err error) {
	if f.cert != "" {
		if c, err = tls.LoadX509KeyPair(f.cert, f.key); err != nil {
			return c, fmt.Errorf("read certificate: %w", err)
		}
		return c, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return c, cli.WithHint(fmt.Errorf("own certificate: %w", err), "--tls-cert and --tls-key name another one")
	}
	path := filepath.Join(dir, "kasoku", "serve.pem")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = newCertificate(time.Now()); err != nil {
			return c, err
		}
		if err := private.State.MkdirAll(filepath.Dir(path)); err != nil {
			return c, fmt.Errorf("own certificate: %w", err)
		}
		err = private.State.WriteNew(path, text)
	}
	if err != nil {
		return c, fmt.Errorf("own certificate: %w", err)
	}
	c, err = tls.X509KeyPair(text, text)
	if err == nil && time.Now().After(c.Leaf.NotAfter) {
		if text, err = newCertificate(time.Now()); err == nil {
			err = private.State.WriteFile(path, text)
		}
		if err == nil {
			c, err = tls.X509KeyPair(text, text)
		}
	}
	if err != nil {
		return c, cli.WithHint(fmt.Errorf("own certificate %s: %w", path, err), "remove the file; another one is made")
	}
	return c, nil
}

// newCertificate makes a key and a certificate of it that nothing but its sum vouches for, in PEM.
func newCertificate(now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("own certificate: %w", err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(now.Unix()), Subject: pkix.Name{CommonName: "kasoku serve"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(2, 0, 0), DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("own certificate: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("own certificate: %w", err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...), nil
}
