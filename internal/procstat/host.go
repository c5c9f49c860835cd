package procstat

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// A Host is how much the cores of this host have worked until a moment.
type Host struct {
	At    time.Time
	Busy  float64 // CPU time of all cores that was neither idle nor stolen, 1/UserHz s
	Cores int
}

// ReadHost reads what this host has worked until now.
//
// Source: proc_stat(5).
func ReadHost() (Host, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Host{}, err
	}
	return parseHost(string(text), time.Now()), nil
}

func parseHost(text string, at time.Time) Host {
	h := Host{At: at}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) < 9 || !strings.HasPrefix(f[0], "cpu"):
		case f[0] != "cpu":
			h.Cores++
		default:
			for i, word := range f[1:9] { // user nice system idle iowait irq softirq steal
				if n, err := strconv.ParseFloat(word, 64); err == nil && i != 3 && i != 4 && i != 7 {
					h.Busy += n
				}
			}
		}
	}
	return h
}

// CoresSince returns how many cores were at work since an earlier moment.
func (h Host) CoresSince(before Host) float64 {
	seconds := h.At.Sub(before.At).Seconds()
	if seconds <= 0 {
		return 0
	}
	return min(max((h.Busy-before.Busy)/UserHz/seconds, 0), float64(h.Cores))
}
