package vegeta

import (
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/load"
)

// ScheduleOptions say when the requests of an attack are due. Vegeta has the rate
// and the duration.
type ScheduleOptions struct {
	Rate     float64       // requests per second; 0: a closed loop, as many at once as the cap lets through
	Duration time.Duration // of the attack, or of each step of a ladder; 0: until stopped
	Steps    []float64     // a ladder instead of Rate
	Pause    time.Duration // between the steps of a ladder
}

// Closed reports whether it is a closed loop.
func (o *ScheduleOptions) Closed() bool { return o.Rate == 0 && len(o.Steps) == 0 }

// Told says what is asked besides the rates, empty when requests are spaced evenly.
func (o *ScheduleOptions) Told() string { return "" }

// Validate reports options that contradict each other.
func (o *ScheduleOptions) Validate() error {
	switch {
	case len(o.Steps) > 0 && o.Duration <= 0:
		return errors.New("a ladder needs the duration of a step")
	case o.Duration < 0:
		return fmt.Errorf("bad duration %s", o.Duration)
	}
	return nil
}

// Schedule returns the schedule.
func (o *ScheduleOptions) Schedule() (load.Schedule, error) {
	if len(o.Steps) > 0 {
		return load.Ladder(o.Steps, o.Duration, o.Pause)
	}
	if o.Closed() {
		return load.Closed(o.Duration)
	}
	return load.Constant(o.Rate, o.Duration)
}
