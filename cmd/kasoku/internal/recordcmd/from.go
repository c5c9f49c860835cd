package recordcmd

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/record"
)

// sendFrom has the load of a kasoku.toml sent by the hosts of the fleet that it names: by kasoku attack, which
// hands over what they count, as it does below any recording.
func sendFrom(l *config.LoadTable, o *record.Options) error {
	if len(l.From) == 0 {
		return nil
	}
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("load.from: %w", err)
	}
	var rates []string
	for _, r := range l.Steps {
		rates = append(rates, strconv.FormatFloat(r, 'f', -1, 64))
	}
	o.Command = []string{own, "attack", "--from", strings.Join(l.From, ","), "-rate", strings.Join(rates, ","),
		"-duration", l.Each.String(), "-timeout", l.Timeout.String(), "-o", "text"}
	add := func(name, value string, given bool) {
		if given {
			o.Command = append(o.Command, name, value)
		}
	}
	add("--pause", l.Pause.String(), len(rates) > 1)
	add("--arrivals", l.Spacing, l.Spacing != "")
	add("--seed", strconv.Itoa(l.Seed), l.Seed != 0)
	add("--engine", l.Engine, l.Engine != "")
	add("--pacing", l.Pacing, l.Pacing != "")
	add("-max-workers", strconv.Itoa(l.MaxInFlight), l.MaxInFlight != 0)
	add("--allow", strings.Join(l.Allow, ","), len(l.Allow) > 0)
	add("-targets", l.TargetsFile, l.TargetsFile != "")
	if l.Variables != nil && !*l.Variables {
		o.Command = append(o.Command, "--no-variables")
	}
	for _, t := range l.Targets {
		add("--target", t, true)
	}
	o.Run.Load += ", from " + strings.Join(l.From, ", ")
	o.Load = nil
	return nil
}
