// Command check-mackerel-host-status is a check for Mackerel and a gate for health
// checks: is this host working, as Mackerel has it?
//
// A host that is set to maintenance, standby or poweroff, or is retired, is
// CRITICAL, so that a load balancer whose health check runs this takes it out. It
// fails open: while the API does not answer, the last answer counts, and after an
// hour the host is taken as working. The API is asked once a minute, however often
// the check runs: the question is remembered before it is asked, so that a run that
// is killed while it waits is the only one to wait.
//
// What cannot get better by waiting, such as a refused key, is UNKNOWN, or OK with
// --gate, where only a known status may close.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel/check"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

const name = "check-mackerel-host-status"

type options struct {
	Status  string        `short:"s" long:"status" default:"working" value-name:"A,B" description:"statuses that are good: working, standby, maintenance, poweroff"`
	HostID  string        `long:"host-id" value-name:"ID" description:"host to ask about (default: that of the agent here)"`
	IDFile  string        `long:"id-file" value-name:"FILE" description:"file with the host's id (default: id in the agent's root, /var/lib/mackerel-agent)"`
	Conf    string        `long:"conf" default:"/etc/mackerel-agent/mackerel-agent.conf" value-name:"FILE" description:"the agent's configuration: apikey, apibase, root"`
	APIBase string        `long:"apibase" value-name:"URL" description:"of the API (default: the configuration's, else https://api.mackerelio.com)"`
	TTL     time.Duration `long:"ttl" default:"60s" value-name:"DURATION" description:"how long an answer, or the lack of one, is not asked for again"`
	Keep    time.Duration `long:"keep" default:"1h" value-name:"DURATION" description:"how long the last answer counts while the API does not answer"`
	Timeout time.Duration `long:"timeout" default:"3s" value-name:"DURATION" description:"for the answer of the API; less than that of the health check which runs this"`
	Gate    bool          `long:"gate" description:"exit 0 unless the status is known and not good"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Getenv)) }

func run(args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	var o options
	f := program.Flags{
		Name: name, Mistake: check.Unknown.Code(), Stdout: stdout, Stderr: stderr,
		About: "Reports whether this host is working as Mackerel has it; fails open. The key is that of the agent's " +
			"configuration, or $MACKEREL_APIKEY.",
	}
	if _, code, done := f.Parse(&o, args); done {
		return code
	}
	r := o.result(getenv, stderr)
	if o.Gate && r.Status == check.Unknown {
		r.Status = check.OK
	}
	return check.Exit(stdout, r)
}

func (o options) result(getenv func(string) string, stderr io.Writer) check.Result {
	t, err := o.target(getenv)
	if err != nil {
		return check.New(name, check.Unknown, "%s", program.Explanation(err))
	}
	path := t.cachePath(getenv)
	now := time.Now()
	m := readMemory(path)
	if !m.fresh(now, o.TTL) {
		// A caller may kill this run while it waits. The next one does not wait then.
		_ = m.asking(now).write(path) // the write below reports when that fails
		m = t.refresh(o, m, now)
		if err := m.write(path); err != nil {
			fmt.Fprintf(stderr, "%s: remember the answer: %v\n", name, err)
		}
	}
	return o.judge(t.id, m, now)
}

// refresh asks the API and returns what is to be remembered.
func (t target) refresh(o options, m memory, now time.Time) memory {
	m.Asked, m.Failure, m.Refused = now.Unix(), "", ""
	h, err := t.ask(context.Background(), o.Timeout)
	switch {
	case err == nil:
		m.Status, m.Retired, m.Answered = h.Status, h.Retired, now.Unix()
	case isDown(err):
		m.Failure = err.Error()
	default:
		m.Refused = program.Explanation(err)
	}
	return m
}

// judge describes what a memory comes to.
func (o options) judge(id string, m memory, now time.Time) check.Result {
	if m.Refused != "" {
		return check.New(name, check.Unknown, "%s", m.Refused)
	}
	since := now.Sub(time.Unix(m.Answered, 0)).Truncate(time.Second)
	if m.Failure != "" && (m.Answered == 0 || since > o.Keep) {
		return check.New(name, check.OK, "host %s is taken as working: the API does not answer: %s", id, m.Failure)
	}
	status, word := check.OK, fmt.Sprintf("%q", m.Status)
	good := strings.FieldsFunc(o.Status, func(r rune) bool { return r == ',' || r == ' ' })
	switch {
	case m.Retired:
		status, word = check.Critical, "retired"
	case slices.Contains(good, m.Status):
		word = m.Status
	default:
		status = check.Critical
		if slices.Contains([]string{"working", "standby", "maintenance", "poweroff"}, m.Status) {
			word = m.Status
		}
	}
	text := fmt.Sprintf("host %s is %s", id, word)
	if since > 0 {
		text += fmt.Sprintf(" (%s ago)", since)
	}
	if m.Failure != "" {
		text += "; the API does not answer: " + m.Failure
	}
	return check.Result{Name: name, Status: status, Message: text}
}
