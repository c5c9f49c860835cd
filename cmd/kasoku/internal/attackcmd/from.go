package attackcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/fleetcmd"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/report/loadreport"
)

// fromFlags name the hosts of a fleet that send the load.
type fromFlags struct {
	hosts []string
	hub   string
	sent  *coordinate.Result // what they came to
}

// attack sends the load, from here or from the hosts of --from.
func (f *attackFlags) attack(ctx context.Context, e *cli.Env, say func(string)) (vegeta.AttackResult, error) {
	if len(f.from.hosts) == 0 {
		return vegeta.Attack(ctx, f.vegeta)
	}
	conn, err := fleetcmd.Connect(ctx, e, f.from.hub, say)
	if err != nil {
		return vegeta.AttackResult{}, err
	}
	defer conn.Close()
	o := coordinate.Options{Hosts: f.from.hosts, Attack: f.vegeta, Note: say}
	o.Attack.Watch = nil
	o.Watch = func(r *vegeta.Running) { _ = f.vegeta.Watch(r) }
	res, err := coordinate.Run(ctx, conn, o)
	if err != nil {
		return vegeta.AttackResult{}, err
	}
	f.from.sent = &res
	return res.AttackResult, lostAll(&res)
}

// lostAll returns an error when no generator sent its share to the end.
func lostAll(res *coordinate.Result) error {
	for _, g := range res.Generators {
		if g.Lost == "" || res.Summary.Stopped != "" {
			return nil
		}
	}
	return errors.New("no generator sent its share to the end")
}

// checkFrom refuses what does not go with other machines.
func (f *attackFlags) checkFrom() error {
	if len(f.from.hosts) == 0 {
		if f.set("hub") {
			return errors.New("--hub goes with --from: it is where the hosts are asked")
		}
		return nil
	}
	if f.set("prometheus-addr") {
		return errors.New("--from does not go with -prometheus-addr: single requests stay on the hosts")
	}
	if f.set("redirects") && f.vegeta.Engine.HTTP.Redirects != -1 {
		return errors.New("--from follows no redirects, as they lead where no host has allowed load; without -redirects")
	}
	if err := coordinate.CheckHosts(f.from.hosts); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	_, err := fleet.NewOrder("", &f.vegeta)
	return err
}

// hosts are the generators as the report has them.
func (f *attackFlags) addHosts(a *loadreport.Attack) {
	if f.from.sent == nil {
		return
	}
	a.Skew, a.Memory = f.from.sent.Skew, 0
	for _, g := range f.from.sent.Generators {
		h := loadreport.AttackHost{Name: g.Host, Due: g.Due, Reported: g.Reported, Offset: g.Offset, Bound: g.Bound,
			P99: g.SendDelay.P99, MaxDelay: g.SendDelay.Max, Cores: g.Cores, PeakCores: g.PeakCores, Lost: g.Lost}
		if g.DriftBound > 0 {
			h.Drift = &g.Drift
		}
		a.Hosts = append(a.Hosts, h)
	}
}
