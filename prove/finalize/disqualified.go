package finalize

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// What a contest's organisers look for when they start the hosts anew: one implementation
// that comes up by itself, a clock that goes as it should, and a score that comes again.

// languages are the last words in the names of units of which a contest ships one for each
// language, such as isucondition.go.service and isuumo-python.service.
var languages = []string{"deno", "elixir", "go", "golang", "java", "node", "nodejs", "perl", "php", "python", "ruby", "rust",
	"scala", "typescript"}

// atBoot looks at what comes up by itself, where systemd is what brings it up.
func (w *walker) atBoot(ctx context.Context) {
	if _, err := os.Stat("/run/systemd/system"); err == nil { // sd_booted(3)
		w.implementations(ctx)
	}
}

// implementations looks for several implementations of one service that systemd starts at
// boot: the one that comes first takes the port, whichever was tuned.
func (w *walker) implementations(ctx context.Context) {
	const what = "implementations"
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	// Source: systemctl(1), list-unit-files.
	out, err := command.Output(ctx, command.Spec{Path: "systemctl", Trusted: true, Args: []string{"list-unit-files",
		"--type=service", "--state=enabled", "--no-legend", "--no-pager", "--plain"}}, 0)
	if err != nil {
		w.result.skip(PartRestart, what, "systemctl does not list the units that are enabled: "+err.Error())
		return
	}
	bad, fix := severalEnabled(string(out))
	w.result.check(PartRestart, what, bad, []string{"no two of one service are enabled"}, fix)
}

// severalEnabled reads a list of enabled units, a line each that begins with the name, and
// returns the services of which several implementations are among them.
func severalEnabled(list string) (bad []string, fix string) {
	of := map[string][]string{}
	var stems []string
	for line := range strings.Lines(list) {
		unit, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimSuffix(unit, ".service")
		at := strings.LastIndexAny(name, ".-_")
		if at <= 0 || !slices.Contains(languages, name[at+1:]) {
			continue
		}
		stem := name[:at]
		if of[stem] == nil {
			stems = append(stems, stem)
		}
		of[stem] = append(of[stem], unit)
	}
	for _, stem := range stems {
		if units := of[stem]; len(units) > 1 {
			bad = append(bad, fmt.Sprintf("%d of %s are enabled: %s", len(units), stem, strings.Join(units, ", ")))
			fix = "leave one: `systemctl disable --now " + units[len(units)-1] + "`, or the other"
		}
	}
	return bad, fix
}

// clockStep is how far the wall clock may go from the monotonic one during a walk. A clock
// that is disciplined goes wrong by 500 ppm at most: 0.9 s in half an hour.
//
// Source: adjtimex(2); chronyd and systemd-timesyncd step instead when they begin.
const clockStep = time.Second

// clockMoved judges how long the walk took by both clocks.
func clockMoved(wall, monotonic time.Duration) Item {
	i := Item{Part: PartRun, What: "clock", Status: OK, Saw: []string{"it went on evenly during the walk"}}
	if moved := wall - monotonic; moved.Abs() > clockStep {
		i.Status, i.Saw = Bad, []string{fmt.Sprintf("it was set by %+.1f s during the walk", moved.Seconds())}
		i.Fix = "let chronyd or systemd-timesyncd keep it, and nothing else set it: answers with times, and a benchmark's " +
			"measure, are wrong where it jumps"
	}
	return i
}

// leastOfBest is the part of the best score that organisers want again after a cold start;
// what stays below it is disqualified by the rules of many contests.
const leastOfBest = 0.8
