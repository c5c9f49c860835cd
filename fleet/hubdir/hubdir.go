// Package hubdir is the directory of a hub: its key and certificate, the key of who
// coordinates, which hosts are members, the tokens that are not used yet, and the log of
// who came.
//
// All of it is private (0700, 0600). Of hosts only public keys are kept. A token is a file
// named by its hash, so that the directory does not hold what would let somebody join, and
// using it is removing the file, which one process alone can do.
package hubdir

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/keys"
	"github.com/kasoku/kasoku/internal/private"
)

// A Dir is the directory of a hub. It is safe for concurrent use in one process, and
// several processes may make tokens.
type Dir struct {
	Path string

	mu sync.Mutex // of members and the log
}

const (
	keyFile      = "hub.pem"
	operatorFile = "operator.json"
	membersFile  = "members.json"
	tokensDir    = "tokens"
	logFile      = "audit.log"
	refusedFile  = "refused.log" // a file of its own: strangers cannot push out of the other who came
	lockFile     = "lock"
	serveFile    = "serving"

	maxFile = 1 << 20 // of what is read whole
	maxLog  = 8 << 20 // then it becomes audit.log.1
)

// Open returns the directory, which is made with its keys when it is not there. address is
// HOST:PORT by which hosts reach the hub; empty: that of before.
func Open(path, address string) (*Dir, error) {
	d := &Dir{Path: path}
	if err := private.State.MkdirAll(filepath.Join(path, tokensDir)); err != nil {
		return nil, fmt.Errorf("make the hub's directory: %w", err)
	}
	if err := CheckPrivate(path); err != nil {
		return nil, err
	}
	if _, err := d.read(keyFile); errors.Is(err, fs.ErrNotExist) {
		if err := d.makeKey(); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return d, d.setOperator(address)
}

// OpenCluster returns the directory of who coordinates by a NATS server of his own, at HOST:PORT and with the key that
// ca names, and adds hosts to its members, by their public keys.
func OpenCluster(path, address, ca string, hosts map[string]string) (d *Dir, err error) {
	d = &Dir{Path: path}
	if err := private.State.MkdirAll(filepath.Join(path, tokensDir)); err != nil {
		return nil, fmt.Errorf("make the hub's directory: %w", err)
	}
	if err := CheckPrivate(path); err != nil {
		return nil, err
	}
	free, err := d.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, free()) }()
	a, err := d.Operator()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		seed, public, err := keys.New()
		if err != nil {
			return nil, err
		}
		a = Access{CA: ca, Public: public, Seed: string(seed), Cluster: true}
	case err != nil:
		return nil, err
	case !a.Cluster:
		return nil, fmt.Errorf("%s is that of a hub of kasoku's", path)
	case a.CA != ca:
		return nil, fmt.Errorf("the key of %s is %s, and that of the server before was %s", address, ca, a.CA)
	}
	a.Address = address
	members, err := d.members()
	if err != nil {
		return nil, err
	}
	maps.Copy(members, hosts)
	return d, errors.Join(d.writeJSON(operatorFile, a), d.writeJSON(membersFile, members))
}

// Existing returns the directory of a hub that was made before. The error wraps fs.ErrNotExist
// when there is none.
func Existing(path string) (*Dir, error) {
	if err := CheckPrivate(path); err != nil {
		return nil, err
	}
	d := &Dir{Path: path}
	_, err := d.Operator()
	return d, err
}

// CheckPrivate refuses a directory of keys that another user could have written to.
func CheckPrivate(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("open the directory of keys: %w", err)
	}
	if !private.Mine(st) || st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the directory of keys, %s, is open to others: want mode 0700, and you as its owner", path)
	}
	return nil
}

// Alone makes this process the one that serves the directory, until free is called.
func (d *Dir) Alone() (free func() error, err error) {
	f, err := private.State.Open(d.file(serveFile), 0)
	if err != nil {
		return nil, fmt.Errorf("lock the hub's directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another hub serves %s", d.Path), f.Close())
	}
	return f.Close, nil
}

func (d *Dir) file(name string) string { return filepath.Join(d.Path, name) }

func (d *Dir) read(name string) ([]byte, error) {
	st, err := os.Stat(d.file(name))
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxFile {
		return nil, fmt.Errorf("%s: want a regular file of at most %d bytes", d.file(name), maxFile)
	}
	return os.ReadFile(d.file(name))
}

// makeKey makes the key and a certificate that it signs itself.
func (d *Dir) makeKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the hub's key: %w", err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kasoku hub"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(20, 0, 0)}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("make the hub's certificate: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("make the hub's key: %w", err)
	}
	b := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})...)
	return private.State.WriteNew(d.file(keyFile), b)
}

// Certificate returns the key and the certificate of the hub.
func (d *Dir) Certificate() (tls.Certificate, error) {
	b, err := d.read(keyFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the hub's key: %w", err)
	}
	c, err := tls.X509KeyPair(b, b)
	if err != nil {
		return c, fmt.Errorf("read the hub's key: %w", err)
	}
	c.Leaf, err = x509.ParseCertificate(c.Certificate[0])
	return c, err
}

// An Access is how who coordinates connects.
type Access struct {
	Address string
	CA      string
	Public  string // key
	Seed    string

	Cluster bool `json:",omitempty"` // the hub is a NATS server of the user's own
}

// setOperator makes the key of who coordinates, and keeps the address.
func (d *Dir) setOperator(address string) error {
	a, err := d.Operator()
	if err == nil && a.Cluster {
		return fmt.Errorf("%s is that of %s, a NATS server of your own", d.Path, a.Address)
	}
	if err == nil && (address == "" || address == a.Address) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		seed, public, err := keys.New()
		if err != nil {
			return err
		}
		cert, err := d.Certificate()
		if err != nil {
			return err
		}
		a = Access{CA: keys.Fingerprint(cert.Leaf), Public: public, Seed: string(seed)}
	} else if err != nil {
		return err
	}
	a.Address = address
	return d.writeJSON(operatorFile, a)
}

// Operator returns how who coordinates connects. The error wraps fs.ErrNotExist when there
// is no hub.
func (d *Dir) Operator() (a Access, err error) {
	b, err := d.read(operatorFile)
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		return a, fmt.Errorf("read the hub's access: %w", err)
	}
	return a, nil
}

func (d *Dir) writeJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = private.State.WriteFile(d.file(name), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// lock keeps other goroutines and processes from changing the members until free is called.
func (d *Dir) lock() (free func() error, err error) {
	f, err := private.State.Open(d.file(lockFile), 0)
	if err != nil {
		return nil, fmt.Errorf("lock the hub's directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the hub's directory: %w", err), f.Close())
	}
	d.mu.Lock()
	return func() error {
		d.mu.Unlock()
		return f.Close()
	}, nil
}

// members returns the public key of each host. The caller holds mu.
func (d *Dir) members() (map[string]string, error) {
	b, err := d.read(membersFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	m := map[string]string{}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	return m, nil
}

// Members returns the public key of each host by its name.
func (d *Dir) Members() (map[string]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.members()
}

// HostOf returns the host that a public key is of; empty: none.
func (d *Dir) HostOf(public string) (string, error) {
	m, err := d.Members()
	for host, key := range m {
		if key == public {
			return host, nil
		}
	}
	return "", err
}

// Remove takes a host out, whose key is refused from then on.
func (d *Dir) Remove(host string) (err error) {
	free, err := d.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	m, err := d.members()
	if err != nil {
		return err
	}
	if _, ok := m[host]; !ok {
		return fmt.Errorf("no host of the name %q is a member", host)
	}
	delete(m, host)
	return d.writeJSON(membersFile, m)
}

// token is what a file of a token holds.
type token struct {
	Host  string // who may use it; empty: whoever is no member yet
	Until time.Time
}

func tokenName(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return filepath.Join(tokensDir, hex.EncodeToString(sum[:]))
}

// Invite makes a token for one host, of that name when host is not empty, and returns what
// it joins with.
func (d *Dir) Invite(host string, until time.Time) (fleet.Ticket, error) {
	a, err := d.Operator()
	if err != nil {
		return fleet.Ticket{}, err
	}
	if a.Cluster {
		return fleet.Ticket{}, fmt.Errorf("%s is a NATS server of your own: it has no join lines for one use, and `kasoku "+
			"hub cluster` prints the users of its configuration", a.Address)
	}
	if host != "" {
		if err := checkJoining(host); err != nil {
			return fleet.Ticket{}, err
		}
	}
	var random [20]byte
	_, _ = rand.Read(random[:]) // it never fails
	secret := base64.RawURLEncoding.EncodeToString(random[:])
	if err := d.writeJSON(tokenName(secret), token{Host: host, Until: until}); err != nil {
		return fleet.Ticket{}, err
	}
	return fleet.Ticket{Address: a.Address, CA: a.CA, Token: secret, Until: until}, nil
}

func checkJoining(host string) error {
	if host == fleet.Operator {
		return fmt.Errorf("bad host name %q: it is who coordinates", host)
	}
	return fleet.CheckHost(host)
}

// Join makes a host with this key a member, which uses the token up. now decides whether it
// is still good. It fails without using it when the name is another's.
func (d *Dir) Join(host, public, secret string, now time.Time) (err error) {
	if err := checkJoining(host); err != nil {
		return err
	}
	free, err := d.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	name := tokenName(secret)
	b, err := d.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the token is unknown, or was used")
	}
	var t token
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		return fmt.Errorf("read token: %w", err)
	}
	m, err := d.members()
	switch {
	case err != nil:
		return err
	case !now.Before(t.Until):
		return errors.Join(errors.New("the token is too old"), os.Remove(d.file(name)))
	case t.Host != "" && t.Host != host:
		return fmt.Errorf("the token is for %s", t.Host)
	case m[host] != "":
		return errors.New("another key has this name; `kasoku hub remove` takes it out")
	}
	if err := os.Remove(d.file(name)); err != nil {
		return errors.New("the token was used")
	}
	m[host] = public
	return d.writeJSON(membersFile, m)
}

// What an [Event] is of.
const (
	Joined    = "joined"
	Connected = "connected"
	Refused   = "refused"
	Violation = "violation" // a host did what it may not
	Cut       = "cut"
)

// An Event is a line of the log of who came.
type Event struct {
	Time   time.Time
	What   string
	Host   string `json:",omitempty"` // whose key it is
	Claims string `json:",omitempty"` // the name that who was refused gave
	Key    string `json:",omitempty"`
	From   string `json:",omitempty"` // address
	Reason string `json:",omitempty"`
}

// Log appends a line to audit.log, or to refused.log what was refused. Each keeps the newest 8
// to 16 MiB.
func (d *Dir) Log(e Event) error {
	const most = 200
	if len(e.Reason) > most {
		e.Reason = e.Reason[:most]
	}
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	name := logFile
	if e.What == Refused {
		name = refusedFile
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := private.State.Open(d.file(name), os.O_APPEND)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	_, err = f.Write(append(bytes.ToValidUTF8(b, nil), '\n'))
	st, statErr := f.Stat()
	err = errors.Join(err, statErr, f.Close())
	if err == nil && st.Size() > maxLog {
		err = os.Rename(d.file(name), d.file(name+".1"))
	}
	return err
}
