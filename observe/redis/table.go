package redis

import (
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/kasoku/kasoku/observe"
)

// A Table is [redis] of kasoku.toml: which server is read, and how.
type Table struct {
	At          string `toml:"address" eg:"'127.0.0.1:6379'"`          // host:port, the path of a socket, rediss://host:port for TLS; empty: none is read
	User        string `toml:"user" eg:"'monitor'"`                    // of Redis 6 and later; empty: the default one
	PasswordEnv string `toml:"password_env" eg:"'REDIS_PASSWORD'"`     // environment variable with the password; empty: none is sent
	CACert      string `toml:"cacert,path" eg:"'/etc/redis/ca.crt'"`   // as redis-cli's --cacert; empty: the system's authorities
	Cert        string `toml:"cert,path" eg:"'/etc/redis/client.crt'"` // of this client, with Key
	Key         string `toml:"key,path" eg:"'/etc/redis/client.key'"`
	SNI         string `toml:"sni" eg:"'cache.example'"` // name that the certificate has to be for; empty: the host of the address
	Commands    bool   `toml:"commands" eg:"true"`       // calls and time of each command, too
}

// IsSet reports whether the server is to be read.
func (t *Table) IsSet() bool { return t.At != "" }

// Address returns where the server is.
func (t *Table) Address() string { return t.At }

// Check returns what is wrong with the table.
func (t *Table) Check() (out []observe.Fault) {
	fail := func(key, hint, text string) {
		out = append(out, observe.Fault{Key: key, Text: text, Hint: hint})
	}
	switch u, err := url.Parse(t.At); {
	case t.At == "" && *t != (Table{}):
		fail("", "add address = '127.0.0.1:6379'", "does not say where the server is")
	case t.At == "" || strings.HasPrefix(t.At, "/") || isHostPort(t.At) && !strings.Contains(t.At, "/"):
	case err == nil && u.User != nil:
		fail("address", "user and password_env take them", "a user or a password does not belong into the URL")
	case err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" ||
		u.RawQuery+u.Fragment+strings.Trim(u.Path, "/0123456789") != "":
		fail("address", "such as '127.0.0.1:6379', '/run/redis/redis.sock' or 'rediss://127.0.0.1:6379'",
			"want host:port, the path of a socket, or rediss://host:port for TLS")
	}
	if !strings.HasPrefix(t.At, "rediss://") && t.CACert+t.Cert+t.Key+t.SNI != "" {
		fail("", "the address begins with rediss:// then", "cacert, cert, key and sni are for TLS")
	}
	if (t.Cert == "") != (t.Key == "") {
		fail("", "", "a certificate and its key go together: cert and key")
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	if t.PasswordEnv != "" && strings.Trim(t.PasswordEnv, letters) != "" {
		// What is no name of a variable is likely to be the password itself: it is not repeated.
		fail("password_env", "such as 'REDIS_PASSWORD'; the password itself does not belong into kasoku.toml",
			"want the name of an environment variable")
	}
	return out
}

func isHostPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	return err == nil && port != ""
}

// Open returns the source. The password is that of the environment: without it the
// server refuses, and the gap says so.
func (t *Table) Open() (observe.Source, error) {
	o := Options{Commands: t.Commands, Server: Server{
		Address: t.At, User: t.User, CACert: t.CACert, Cert: t.Cert, Key: t.Key, SNI: t.SNI,
	}}
	if t.PasswordEnv != "" {
		o.Password = os.Getenv(t.PasswordEnv)
	}
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Missing returns what the environment lacks, and how it is given.
func (t *Table) Missing() (what string, how observe.Grant) {
	if t.PasswordEnv == "" || os.Getenv(t.PasswordEnv) != "" {
		return "", observe.Grant{}
	}
	return "the environment variable " + t.PasswordEnv + " is not set",
		observe.Grant{Where: observe.InShell, Line: "export " + t.PasswordEnv + "='…'"}
}
