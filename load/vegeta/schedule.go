package vegeta

import (
	"errors"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
)

// ScheduleOptions configure when the requests of an attack are due. Vegeta has the rate
// and the duration.
type ScheduleOptions struct {
	Rate     float64       // requests per second; 0: a closed loop, as many at once as the cap lets through
	Duration time.Duration // of the attack, or of each step of a ladder; 0: until stopped
	Steps    []float64     // a ladder instead of Rate
	Pause    time.Duration // between the steps of a ladder
	Stages   []load.Stage  // instead of Rate and Duration

	Spacing load.Spacing // of the requests of an open loop

	ThinkMin, ThinkMax time.Duration // of each user of a closed loop, after each answer

	Seed uint64 // of what is random: arrivals, think times, variables of targets
}

// Closed reports whether it is a closed loop.
func (o *ScheduleOptions) Closed() bool {
	return o.Rate == 0 && len(o.Steps) == 0 && len(o.Stages) == 0
}

// Random reports whether due times depend on the seed.
func (o *ScheduleOptions) Random() bool {
	return o.Spacing == load.Poisson || o.ThinkMax > o.ThinkMin
}

// Describe returns what is asked for in addition to the rates; empty when requests are spaced evenly.
func (o *ScheduleOptions) Describe() string {
	switch {
	case o.Closed() && o.ThinkMax > o.ThinkMin:
		return "think time " + unit.Exact(o.ThinkMin) + " to " + unit.Exact(o.ThinkMax)
	case o.Closed() && o.ThinkMax > 0:
		return "think time " + unit.Exact(o.ThinkMax)
	case o.Closed():
		return ""
	}
	return o.Spacing.Describe()
}

// Validate reports options that contradict each other.
func (o *ScheduleOptions) Validate() error {
	switch {
	case len(o.Steps) > 0 && o.Duration <= 0:
		return errors.New("a ladder needs the duration of a step")
	case o.Duration < 0:
		return fmt.Errorf("bad duration %s", o.Duration)
	case !o.Closed() && o.ThinkMax > 0:
		return errors.New("a think time goes with a closed loop: -rate 0")
	case o.Closed() && o.Spacing != load.Even:
		return fmt.Errorf("%s arrivals go with a rate: in a closed loop, answers say when requests are due", o.Spacing)
	}
	_, err := o.Schedule()
	return err
}

// Schedule returns the schedule.
func (o *ScheduleOptions) Schedule() (load.Schedule, error) {
	if o.Closed() {
		c, err := load.Closed(o.Duration)
		if err != nil {
			return nil, err
		}
		c.ThinkMin, c.ThinkMax, c.Seed = o.ThinkMin, o.ThinkMax, o.Seed
		return c, nil
	}
	t, err := o.timetable()
	if err != nil || o.Spacing == load.Even {
		return t, err
	}
	return load.Spaced(t, o.Spacing, o.Seed), nil
}

func (o *ScheduleOptions) timetable() (*load.Timetable, error) {
	switch {
	case len(o.Stages) > 0:
		return load.Stages(o.Stages)
	case len(o.Steps) > 0:
		return load.Ladder(o.Steps, o.Duration, o.Pause)
	}
	return load.Constant(o.Rate, o.Duration)
}
