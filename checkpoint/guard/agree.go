package guard

import (
	"context"
	"fmt"
	"slices"

	"github.com/kasoku/kasoku/mysql"
)

// exclusive are the values that two recordings may want to differ: the server has one for
// all of them. The other values are the same for each recording.
var exclusive = []string{"log_slow_rate_limit"}

// A DisagreeError reports that a recording which goes on needs another value than is wanted
// now: to change it would make untrue what that one says of itself.
type DisagreeError struct {
	Name      string
	Is, Wants string
	PID       int // of the recording that goes on
}

// Error names the value and the other recording.
func (e *DisagreeError) Error() string {
	return fmt.Sprintf("%s is %s for another recording (pid %d), and %s is wanted", e.Name, e.Is, e.PID, e.Wants)
}

// Hint returns what to do.
func (e *DisagreeError) Hint() string {
	return "wait until that recording has ended, or record with the same --mysql-sample (kasoku.toml: sample in [mysql])"
}

// Check returns a [*DisagreeError] when what a purpose needs would spoil what a recording
// that goes on gets. Nothing is changed; Apply checks it again.
func (h *Hold) Check(ctx context.Context, p Planner) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.turn(ctx, func(j *Journal, _ func() error) error {
		plan, err := p.Plan(ctx)
		if err != nil {
			return err
		}
		return j.agrees(&h.me, plan)
	})
}

// agrees returns a [*DisagreeError] when a plan changes an exclusive value while another
// living recording needs something of the same plan.
func (j *Journal) agrees(me *Holder, plan mysql.Plan) error {
	for _, c := range plan.Changes {
		if !slices.Contains(exclusive, c.Name) {
			continue
		}
		for i := range j.Holders {
			h := &j.Holders[i]
			if h.same(me) || !h.Alive() || !slices.ContainsFunc(plan.Needs, func(name string) bool { return slices.Contains(h.Needs, name) }) {
				continue
			}
			return &DisagreeError{Name: c.Name, Is: c.Before, Wants: c.During, PID: h.PID}
		}
	}
	return nil
}
