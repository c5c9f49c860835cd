package load

import (
	"runtime"
	"time"

	"github.com/kasoku/kasoku"
)

// A Meter measures the CPU time of this process over a load, second by second.
// Each is stopped once.
type Meter struct {
	quit chan struct{}
	done chan usage
}

// usage is what a load cost its own process.
type usage struct {
	cpu, wall time.Duration
	peakCores float64 // the most CPU that one second took, in cores
}

// StartMeter begins to measure. The meter looks at the process once a second, on
// a goroutine of its own.
func StartMeter() *Meter {
	m := &Meter{quit: make(chan struct{}), done: make(chan usage, 1)}
	go m.run(time.Now(), CPUTime())
	return m
}

// Stop ends the measurement and fills in CPU, Wall, PeakCores and Cores.
func (m *Meter) Stop(sum *kasoku.LoadSummary) {
	close(m.quit)
	u := <-m.done
	sum.CPU, sum.Wall, sum.PeakCores, sum.Cores = u.cpu, u.wall, u.peakCores, runtime.GOMAXPROCS(0)
}

func (m *Meter) run(began time.Time, cpuBegan time.Duration) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last, cpuLast := began, cpuBegan
	var peak float64
	for {
		var over bool
		select {
		case <-tick.C:
		case <-m.quit:
			over = true
		}
		now, cpu := time.Now(), CPUTime()
		// A second that is cut short says little, unless there is no other.
		if d := now.Sub(last); d >= time.Second/2 || last.Equal(began) {
			peak = max(peak, (cpu-cpuLast).Seconds()/max(d, time.Millisecond).Seconds())
			last, cpuLast = now, cpu
		}
		if over {
			m.done <- usage{cpu: cpu - cpuBegan, wall: now.Sub(began), peakCores: peak}
			return
		}
	}
}
