package finalize

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/onehost"
)

// commandWithin bounds one command of a unit: systemd's own limit to start and to
// stop is 90 s.
const commandWithin = 2 * time.Minute

// Units returns the units of a kasoku.toml, run by their commands or, where a
// command is empty, by systemctl. Without systemd every unit needs its own.
func Units(units []config.Unit) ([]Unit, error) {
	// Source: sd_booted(3).
	_, err := os.Stat("/run/systemd/system")
	return unitsOf(units, err == nil)
}

func unitsOf(units []config.Unit, systemd bool) ([]Unit, error) {
	var out []Unit
	for _, u := range units {
		s := &commands{name: u.Name, start: u.Start, stop: u.Stop, check: u.Check, systemd: systemd && u.Start == ""}
		if !systemd {
			for _, c := range []struct{ key, command string }{{"start", u.Start}, {"stop", u.Stop},
				{"check", u.Check}} {
				if c.command == "" {
					return nil, noSystemd{u.Name, c.key}
				}
			}
		}
		out = append(out, Unit{Name: u.Name, Needs: u.Needs, Service: s})
	}
	return out, nil
}

// noSystemd says that a unit's command is missing where systemctl cannot stand in.
type noSystemd struct{ name, key string }

// Error names the unit and the key.
func (e noSystemd) Error() string {
	return fmt.Sprintf("finalize.units %q: no %s command, and there is no systemd here", e.name, e.key)
}

// Hint returns what to write.
func (e noSystemd) Hint() string {
	return "give start, stop and check of the unit in kasoku.toml, such as start = 'docker start app'"
}

// commands is a unit that is run by commands.
type commands struct {
	name               string
	start, stop, check string
	systemd            bool // the unit is systemd's, so its state can be asked
}

// Start runs the start command. systemd first forgets that the unit failed, as it
// would refuse to start one that failed too often.
func (c *commands) Start(ctx context.Context) error {
	if c.systemd {
		// it fails for one that has not failed
		_, _ = command.Run(ctx, command.Spec{Path: "systemctl", Args: []string{"reset-failed", "--", c.name},
			Trusted: true})
	}
	return c.run(ctx, c.start, "start")
}

// Stop runs the stop command.
func (c *commands) Stop(ctx context.Context) error { return c.run(ctx, c.stop, "stop") }

// Check asks the URL, or runs the check command.
func (c *commands) Check(ctx context.Context) error {
	url := strings.TrimPrefix(c.check, "GET ")
	if strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") {
		return askURL(ctx, url)
	}
	return c.run(ctx, c.check, "is-active")
}

// run runs a shell command or, when it is empty, systemctl's.
func (c *commands) run(ctx context.Context, shell, verb string) error {
	ctx, cancel := context.WithTimeout(ctx, commandWithin)
	defer cancel()
	spec := command.Spec{Path: "systemctl", Args: []string{verb, "--", c.name}, Trusted: true}
	if shell != "" {
		spec = command.Spec{Path: "sh", Args: []string{"-c", shell}}
	}
	_, err := command.Output(ctx, spec, 0)
	if err != nil {
		return fmt.Errorf("%s %s: %w", verb, c.name, err)
	}
	return nil
}

// State returns what systemd says of the unit, empty for one that is not its.
func (c *commands) State(ctx context.Context) string {
	if !c.systemd {
		return ""
	}
	return capture.UnitState(ctx, c.name)
}

// errNotUp is the answer of a service that is not ready.
var errNotUp = errors.New("not up")

// askURL asks a URL; any answer but an error of the server's is one, a redirect too.
func askURL(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := onehost.NewClient(&http.Transport{DisableKeepAlives: true}, 0).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		return fmt.Errorf("%w: %s answers %s", errNotUp, url, resp.Status)
	}
	return nil
}
