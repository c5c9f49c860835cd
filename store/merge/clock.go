package merge

import (
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// What a shift must show before it is believed.
const (
	// widest is how far clocks may be apart, s: one that no time service keeps loses
	// about a second a day (adjtimex(2): up to 500 ppm is 43 s a day).
	widest = 120.0
	// fits is the least correlation of two series of the same traffic. Series of
	// different traffic that rise and fall together seldom reach it.
	fits = 0.8
	// rival is how near, as a share of the best, another shift's correlation may be
	// that is not next to it; traffic that repeats itself has several.
	rival = 0.97
	// groups is how many parts are left out in turn for the error.
	groups = 8
	// leastSeconds is the least that two recordings must share; it must be half of
	// the shorter one too, since few seconds fit many.
	leastSeconds = 16
	// smear is what taking traffic as even between two ticks may move the fit by, as
	// a share of a tick of 1 s; the jackknife does not see it (TestOffsets).
	smear = 0.05
)

// A fit is how far b's clock is ahead of a's, as two signals say.
type fit struct {
	offset, err float64 // s
	r           float64 // correlation at the offset
	why         string
}

// bestFit tries all pairs of signals of the same traffic and returns the one with
// the least error.
func bestFit(a, b map[string]signal) (fit, bool) {
	var best fit
	found := false
	for _, w := range wires {
		x, okX := a[w[0]]
		y, okY := b[w[1]]
		if !okX || !okY {
			continue
		}
		f, ok := align(&x, &y)
		if ok && (!found || f.err < best.err) {
			best, found = f, true
		}
	}
	return best, found
}

// align finds the shift of y that makes it most like x.
func align(x, y *signal) (fit, bool) {
	const coarse = 0.25
	scores := map[int]float64{}
	at, most := 0, math.Inf(-1)
	for i := -int(widest / coarse); i <= int(widest/coarse); i++ {
		r, ok := correlation(x, y, float64(i)*coarse, -1)
		if !ok {
			continue
		}
		scores[i] = r
		if r > most {
			at, most = i, r
		}
	}
	if most < fits {
		return fit{}, false
	}
	const near = int(3 / coarse) // s; the flanks of the same peak
	for i, r := range scores {
		if (i < at-near || i > at+near) && r > rival*most {
			return fit{}, false
		}
	}
	offset := refine(x, y, float64(at)*coarse, coarse, -1)
	var left [groups]float64
	mean := 0.0
	for g := range groups {
		left[g] = refine(x, y, offset, coarse, g)
		mean += left[g] / groups
	}
	square := 0.0
	for _, v := range left {
		square += (v - mean) * (v - mean)
	}
	se := math.Sqrt(square * (groups - 1) / groups)
	return fit{offset: offset, err: 2*se + smear, r: most,
		why: fmt.Sprintf("%s here fit %s there, r = %.2f", spoken[y.name], spoken[x.name], most)}, true
}

// refine climbs to the top of the correlation near a shift by golden section.
//
// Source: J. Kiefer, "Sequential minimax search for a maximum", 1953.
func refine(x, y *signal, about, within float64, without int) float64 {
	r := func(shift float64) float64 {
		v, ok := correlation(x, y, shift, without)
		if !ok {
			return math.Inf(-1)
		}
		return v
	}
	lo, hi := about-within, about+within
	ratio := (math.Sqrt(5) - 1) / 2
	c, d := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	rc, rd := r(c), r(d)
	for hi-lo > 0.002 {
		if rc > rd {
			hi, d, rd = d, c, rc
			c = hi - ratio*(hi-lo)
			rc = r(c)
		} else {
			lo, c, rc = c, d, rd
			d = lo + ratio*(hi-lo)
			rd = r(d)
		}
	}
	return (lo + hi) / 2
}

// correlation is Pearson's r of what both counted in each second that they share,
// when y's clock is taken to be ahead by shift. A group of seconds may be left
// out; -1 leaves out none.
//
// Each second is taken as the mean of two that overlap by half: otherwise a shift
// that lies between the ticks of y would look worse only because y is smoothed
// there.
func correlation(x, y *signal, shift float64, without int) (r float64, ok bool) {
	from := math.Ceil(max(x.from(), y.from()-shift))
	n := int(math.Floor(min(x.to(), y.to()-shift)) - from - 1)
	if n < leastSeconds || float64(n) < min(x.to()-x.from(), y.to()-y.from())/2 {
		return 0, false
	}
	var sx, sy, sxx, syy, sxy, k float64
	for i := range n {
		if i*groups/n == without {
			continue
		}
		t := from + float64(i)
		a := (x.until(t+2) - x.until(t)) + (x.until(t+1.5) - x.until(t+0.5))
		u := t + shift
		b := (y.until(u+2) - y.until(u)) + (y.until(u+1.5) - y.until(u+0.5))
		sx, sy, sxx, syy, sxy, k = sx+a, sy+b, sxx+a*a, syy+b*b, sxy+a*b, k+1
	}
	vx, vy := sxx-sx*sx/k, syy-sy*sy/k
	if vx <= 1e-9*sxx || vy <= 1e-9*syy {
		return 0, false // steady traffic has no shape
	}
	return (sxy - sx*sy/k) / math.Sqrt(vx*vy), true
}

// offsetOf describes how far a host's clock is from the reference's, how sure that is,
// and how it was found.
func offsetOf(ref, rec *kasoku.Recording) (offset, off time.Duration, note string, warning *kasoku.Warning) {
	if sameBoot(ref, rec) {
		return 0, 0, "one machine, one clock", nil
	}
	a := signalsOf(ref, 0)
	b := signalsOf(rec, rec.Run.Started.Sub(ref.Run.Started))
	f, found := bestFit(a, b)
	kernel, synced := kernelError(ref, rec)
	name := hostName(rec)
	switch {
	case found && synced && math.Abs(f.offset) <= f.err+kernel.Seconds() && kernel.Seconds() <= f.err:
		return 0, kernel, "both clocks kept by a time service, and the traffic agrees: " + f.why, nil
	case found:
		if synced && math.Abs(f.offset) > f.err+kernel.Seconds() {
			warning = &kasoku.Warning{Code: "clocks-disagree",
				Text: fmt.Sprintf("host %s: its traffic says that its clock is %s off, its kernel that it is at most %s off; the traffic was believed",
					name, unit.Duration(seconds(math.Abs(f.offset))), unit.Duration(kernel)),
				Hint: "`--offset '" + name + "=0'` believes the kernel"}
		}
		return seconds(f.offset), seconds(f.err), f.why, warning
	case synced:
		return 0, kernel, "both clocks kept by a time service; the traffic says nothing", nil
	}
	return 0, kernel, "not known: wall clocks as they were", &kasoku.Warning{Code: "clocks-unknown",
		Text: fmt.Sprintf("host %s: how far its clock is off is not known: no time service keeps it, and no traffic that both hosts counted has a shape to compare", name),
		Hint: fmt.Sprintf("run chrony on all hosts, or say `--offset '%s=DURATION'` (its clock minus the first host's)", name)}
}

// sameBoot reports whether both were recorded on one machine that did not start
// anew between them; containers share its clock too.
func sameBoot(a, b *kasoku.Recording) bool {
	return len(a.Run.Hosts) > 0 && len(b.Run.Hosts) > 0 &&
		a.Run.Hosts[0].BootID != "" && a.Run.Hosts[0].BootID == b.Run.Hosts[0].BootID
}

// kernelError adds up how far both kernels think their clocks may be off.
func kernelError(a, b *kasoku.Recording) (sum time.Duration, synced bool) {
	synced = true
	for _, r := range []*kasoku.Recording{a, b} {
		if len(r.Run.Hosts) == 0 || r.Run.Hosts[0].ClockError == 0 {
			return 0, false
		}
		sum += r.Run.Hosts[0].ClockError
	}
	return sum, synced
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}

func hostName(r *kasoku.Recording) string {
	if len(r.Run.Hosts) == 0 {
		return r.Run.ID
	}
	return r.Run.Hosts[0].Name
}
