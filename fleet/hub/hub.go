// Package hub is the bus of a fleet: a NATS server in this process, which lets in who
// coordinates and the hosts whose keys its directory has, and whom a token lets join.
//
// What each may do is given with its key: a host hears the questions for itself and answers
// them, who coordinates asks. Everything else is refused and logged. Messages are not kept.
// A host that is taken out of the directory is cut off within a second, and so is the older
// of two connections with one key, as both would answer.
package hub

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/hubdir"
)

// The limits of a hub.
const (
	maxMessage = 1 << 20
	maxConns   = 1024    // those that have not shown their key yet, too
	maxPending = 8 << 20 // bytes that a connection may lag; it is cut then
	joinTime   = 5 * time.Second
)

// Run serves at an address until ctx is done. ready is called with the address that it
// listens at.
//
// note is called when it cannot keep its logs, so that no one is let in.
func Run(ctx context.Context, d *hubdir.Dir, listen string, ready func(address string), note func(error)) error {
	cert, err := d.Certificate()
	if err != nil {
		return err
	}
	access, err := d.Operator()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("listen: bad port %q", port)
	}
	// The server would log that it cannot listen, and wait.
	if l, err := net.Listen("tcp", listen); err != nil {
		return err
	} else if err := l.Close(); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	door := &door{dir: d, operator: access.Public, note: note}
	s, err := server.NewServer(&server.Options{
		ServerName: "kasoku-hub", Host: host, Port: number, NoSigs: true, NoSystemAccount: true,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}},
		TLSHandshakeFirst: true, TLSTimeout: joinTime.Seconds(), AuthTimeout: joinTime.Seconds(),
		AlwaysEnableNonce: true, CustomClientAuthentication: door,
		MaxPayload: maxMessage, MaxConn: maxConns, MaxSubs: 64, MaxPending: maxPending, MaxControlLine: 4096,
		PingInterval: 5 * time.Second, MaxPingsOut: 2, WriteDeadline: joinTime,
	})
	if err != nil {
		return fmt.Errorf("start the hub: %w", err)
	}
	s.SetLoggerV2(&logger{dir: d}, false, false, false)
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(joinTime) {
		return errors.New("start the hub: it cannot listen at " + listen)
	}
	ready(s.Addr().String())
	tick := time.NewTicker(cutEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			door.cut(s)
		}
	}
}

const cutEvery = time.Second

// cut ends the connections of hosts that are no members any more, and of those that have come
// again: the newest of a key stays.
func (d *door) cut(s *server.Server) {
	members, err := d.dir.Members()
	if err != nil {
		return // no one is let in meanwhile, see [door.admit]
	}
	known := map[string]string{d.operator: ""}
	for host, key := range members {
		known[key] = host
	}
	all, err := s.Connz(&server.ConnzOptions{Username: true, Limit: maxConns, Sort: server.ByCid})
	if err != nil {
		return
	}
	newest := map[string]bool{}
	for _, c := range slices.Backward(all.Conns) {
		key := c.AuthorizedUser
		host, isMember := known[key]
		switch {
		case key == "", key == d.operator: // it has not shown its key, and has some seconds; who coordinates may do so twice
			continue
		case !isMember:
			d.end(s, c, host, "its host is no member any more")
		case newest[key]:
			d.end(s, c, host, "the host has connected again")
		}
		newest[key] = true
	}
}

func (d *door) end(s *server.Server, c *server.ConnInfo, host, why string) {
	if s.DisconnectClientByID(c.Cid) == nil {
		_ = d.dir.Log(hubdir.Event{Time: time.Now().UTC(), What: hubdir.Cut, Host: host, Key: clip(c.AuthorizedUser),
			From: net.JoinHostPort(c.IP, strconv.Itoa(c.Port)), Reason: why}) // the disk is full
	}
}

// A door decides who comes in, and what he may do.
type door struct {
	dir      *hubdir.Dir
	operator string // public key
	note     func(error)
}

// Check implements [server.Authentication].
func (d *door) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	e := hubdir.Event{Time: time.Now().UTC(), Key: clip(o.Nkey)}
	if a := c.RemoteAddress(); a != nil {
		e.From = a.String()
	}
	user, what, err := d.admit(c, o)
	if err != nil {
		e.What, e.Claims, e.Reason = hubdir.Refused, clip(o.Name), err.Error()
	} else {
		e.What, e.Host = what, user.Username
	}
	// What cannot be logged is not let in.
	logErr := d.dir.Log(e)
	if logErr != nil && err == nil {
		d.note(fmt.Errorf("%s is not let in, as that cannot be logged: %w", cmp.Or(e.Host, clip(o.Name)), logErr))
	}
	if err != nil || logErr != nil {
		return false
	}
	c.RegisterUser(user)
	return true
}

func clip(s string) string { return s[:min(len(s), 80)] }

func (d *door) admit(c server.ClientAuthentication, o *server.ClientOpts) (*server.User, string, error) {
	key, err := nkeys.FromPublicKey(o.Nkey)
	if err != nil {
		return nil, "", errors.New("it has no key")
	}
	sig, err := base64.RawURLEncoding.DecodeString(o.Sig)
	if err != nil || key.Verify(c.GetNonce(), sig) != nil {
		return nil, "", errors.New("it does not hold the key that it names")
	}
	if o.Nkey == d.operator {
		return operator(), hubdir.Connected, nil
	}
	host, err := d.dir.HostOf(o.Nkey)
	switch {
	case err != nil:
		return nil, "", err
	case host != "":
		return member(host), hubdir.Connected, nil
	case o.Token == "":
		return nil, "", errors.New("its key is no member's")
	}
	if err := d.dir.Join(o.Name, o.Nkey, o.Token, time.Now()); err != nil {
		return nil, "", err
	}
	return member(o.Name), hubdir.Joined, nil
}

// member may hear the questions for itself, and answer each once.
func member(host string) *server.User {
	var hears []string // one by one: a star would also let in the subjects below
	for _, verb := range fleet.Verbs {
		hears = append(hears, fleet.Subject(host, verb))
	}
	return &server.User{Username: host, Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{"kasoku.none"}},
		Subscribe: &server.SubjectPermission{Allow: hears},
		Response:  &server.ResponsePermission{MaxMsgs: 1, Expires: 30 * time.Second},
	}}
}

// operator may ask, and hear the answers.
func operator() *server.User {
	return &server.User{Username: fleet.Operator, Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{fleet.AllQuestions}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX." + fleet.Operator + ".>"}},
	}}
}

// logger keeps what the server says of connections that do what they may not.
type logger struct{ dir *hubdir.Dir }

func (l *logger) note(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if strings.Contains(text, "authentication error") { // the door has logged it
		return
	}
	_ = l.dir.Log(hubdir.Event{Time: time.Now().UTC(), What: hubdir.Violation, Reason: text}) // the disk is full
}

// Noticef is not kept: the server's start and end.
func (l *logger) Noticef(string, ...any) {}

// Debugf is not kept.
func (l *logger) Debugf(string, ...any) {}

// Tracef is not kept.
func (l *logger) Tracef(string, ...any) {}

// Warnf implements [server.Logger].
func (l *logger) Warnf(format string, v ...any) { l.note(format, v...) }

// Errorf implements [server.Logger].
func (l *logger) Errorf(format string, v ...any) { l.note(format, v...) }

// Fatalf implements [server.Logger]; it does not end the process.
func (l *logger) Fatalf(format string, v ...any) { l.note(format, v...) }
