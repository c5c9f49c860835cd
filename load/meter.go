package load

import (
	"time"
)

// usage is what a load cost its own process.
type usage struct {
	cpu, wall time.Duration
	peakCores float64 // the most CPU that one second took, in cores
}

// A meter measures the CPU time of this process, second by second.
type meter struct {
	quit chan struct{}
	done chan usage
}

func startMeter() *meter {
	m := &meter{quit: make(chan struct{}), done: make(chan usage, 1)}
	go m.run(time.Now(), cpuTime())
	return m
}

func (m *meter) run(began time.Time, cpuBegan time.Duration) {
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
		now, cpu := time.Now(), cpuTime()
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

// stop ends the measurement and returns what it found.
func (m *meter) stop() usage {
	close(m.quit)
	return <-m.done
}
