// Command check-lastlog is a check for Mackerel: which users have not logged in
// for long?
//
// Users and their shells are those of passwd(5). When they last logged in is in
// the file lastlog(5), an array of fixed records by user id, or, where the
// system keeps lastlog2, in a database that the command lastlog2(8) is asked
// for. A user without a record has never logged in, which is critical.
//
// It takes the flags of kazeburo/check-lastlog. Times are on the system's
// clock, ages in days of 86,400 s.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel/check"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

const name = "check-lastlog"

// timeout bounds the whole check: the agent gives it 30 s.
const timeout = 20 * time.Second

type options struct {
	Before      *int64 `long:"before" value-name:"DAYS" description:"deprecated: sets both --warning and --critical"`
	Warning     int64  `short:"w" long:"warning" default:"60" value-name:"DAYS" description:"warn when the last login is longer ago"`
	Critical    int64  `short:"c" long:"critical" default:"85" value-name:"DAYS" description:"critical when the last login is longer ago, or there was none"`
	MinUID      uint32 `long:"min-uid" default:"500" value-name:"UID" description:"lowest user id to look at"`
	MaxUID      uint32 `long:"max-uid" default:"60000" value-name:"UID" description:"highest user id to look at"`
	White       string `long:"white-user-names" value-name:"A,B" description:"users to leave out"`
	LastlogFile string `long:"lastlog-file" value-name:"FILE" description:"file of records (default: lastlog2 where the system keeps it, else /var/log/lastlog)"`
	PasswdFile  string `long:"passwd-file" default:"/etc/passwd" value-name:"FILE" description:"file of users"`
	Verbose     bool   `short:"V" long:"verbose" description:"report each user on stderr"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Getenv)) }

// run is the program; the environment says nothing to it.
func run(args []string, stdout, stderr io.Writer, _ func(string) string) int {
	var o options
	f := program.Flags{
		Name: name, Mistake: check.Unknown.Code(), Stdout: stdout, Stderr: stderr,
		About: "Reports users who have not logged in for long.",
	}
	if _, code, done := f.Parse(&o, args); done {
		return code
	}
	if o.Before != nil {
		o.Warning, o.Critical = *o.Before, *o.Before
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	found, err := look(ctx, o, stderr)
	if err != nil {
		return check.Exit(stdout, check.New(name, check.Unknown, "%v", err))
	}
	return check.Exit(stdout, found.result())
}

// A source defines when users last logged in, by name and id.
type source interface {
	lastLogins(ctx context.Context, users []user) (map[string]int64, error)
}

// stale is the users who were away for too long, by the state that each is in.
type stale struct{ critical, warning []string }

// look finds the users who are to be reported.
func look(ctx context.Context, o options, stderr io.Writer) (stale, error) {
	src, err := chooseSource(o.LastlogFile, standard())
	if err != nil {
		return stale{}, err
	}
	users, err := readUsers(o.PasswdFile, o.wants)
	if err != nil {
		return stale{}, err
	}
	last, err := src.lastLogins(ctx, users)
	if err != nil {
		return stale{}, err
	}
	var out stale
	now := time.Now()
	for _, u := range users {
		at := last[u.name]
		item := u.name + "(" + age(at, now) + ")"
		status := check.OK
		switch {
		case at < now.Unix()-o.Critical*86400:
			out.critical, status = append(out.critical, item), check.Critical
		case at < now.Unix()-o.Warning*86400:
			out.warning, status = append(out.warning, item), check.Warning
		}
		if o.Verbose {
			fmt.Fprintf(stderr, "%s uid=%d shell=%s %s\n", item, u.uid, u.shell, status)
		}
	}
	return out, nil
}

// wants reports whether a user is looked at.
func (o options) wants(u user) bool {
	if u.uid < o.MinUID || u.uid > o.MaxUID || noLogin(u.shell) {
		return false
	}
	for n := range strings.SplitSeq(o.White, ",") {
		if strings.TrimSpace(n) == u.name {
			return false
		}
	}
	return true
}

// result is what the check says: the worst state, and all users that it found.
func (s stale) result() check.Result {
	r := check.Result{Name: name, Status: check.OK, Message: "No users were found who have not logged in recently"}
	if len(s.critical)+len(s.warning) == 0 {
		return r
	}
	r.Status = check.Warning
	if len(s.critical) > 0 {
		r.Status = check.Critical
	}
	all := append(append([]string(nil), s.critical...), s.warning...)
	r.Message = "Found users who have not logged in recently: " + strings.Join(all, ", ")
	return r
}

// age describes how long ago a login was.
func age(at int64, now time.Time) string {
	if at == 0 {
		return "*Never logged in*"
	}
	return fmt.Sprintf("%d days", max(0, now.Unix()-at)/86400)
}
