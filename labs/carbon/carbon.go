// Package carbon is the lab of a time-series database under load: a real carbon-cache, or two
// after a relay, or a go-carbon, each with directories of its own on loopback.
//
// The one idea: what of the points that are sent is written, and which setting decides. A
// [Variant] is a state of the write-up; a defect is one line of carbon.conf, alone on a server
// whose limits are off.
//
// # Units and clock
//
// Points each second; a series has one. Servers report of themselves every five seconds, not
// each minute as they are shipped, so that a run of half a minute has some of their intervals.
package carbon

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
)

// Name is that of the lab.
const Name = "carbon"

// The load: a point each second of each series. The write-up had 600,000 series with a point
// every ten seconds, six times as many points.
const (
	Agents   = 20
	Metrics  = 500 // of an agent
	Interval = time.Second
)

// Series is how many are sent.
const Series = Agents * Metrics

// ReportEvery is how often the servers report of themselves (CARBON_METRIC_INTERVAL).
const ReportEvery = 5 * time.Second

// Settle is for how long a run goes on after its load: what servers report of its end is of it, too.
const Settle = ReportEvery + 2*time.Second

// Least is how long a run has to be: rules look at three of those intervals.
const Least = 30 * time.Second

// schemas are the retentions: what servers report of themselves as often as they report it, all else as
// it is said.
func schemas(retention string) string {
	return `[carbon]
pattern = ^carbon\.
retentions = 5s:1h

[all]
pattern = .*
retentions = ` + retention + "\n"
}

// The retentions: 4,348 bytes a series each.
const (
	tenSeconds = "10s:1h"
	oneSecond  = "1s:6m"
)

// Settings of carbon.conf.
const (
	maxUpdates = "MAX_UPDATES_PER_SECOND"
	maxCreates = "MAX_CREATES_PER_MINUTE"
	maxCache   = "MAX_CACHE_SIZE"
	atEnd      = "MAX_UPDATES_PER_SECOND_ON_SHUTDOWN" // what waits is written before a cache ends
	autoFlush  = "WHISPER_AUTOFLUSH"
	strategy   = "CACHE_WRITE_STRATEGY"
)

// DiskWrites is how many writes a second the imitated slow disk makes.
const DiskWrites = 300

// A Variant is a state of the server.
type Variant struct {
	Name, About string
	Caches      int  // carbon-caches; of more than one a relay is in front
	Go          bool // a go-carbon
	Settings    map[string]string
	Every       time.Duration // between two points of a series; 0: [Interval]
	Grows       bool          // series are added until the end of the load
	// Down puts a relay in front of the cache that sends each point to it and to one that does not run.
	Down bool
	// SlowDisk lets the servers make [DiskWrites] a second together, and each series have its file before the load:
	// on such a disk new files would take all of a run.
	SlowDisk bool
	// Fine gives each series a slot for each second.
	Fine bool
}

// The names of variants.
const (
	Initial   = "initial"
	LimitsOff = "limits-off"
	Caches    = "caches"
	GoCarbon  = "go-carbon"
	Flush     = "flush"
	SlowDisk  = "slow-disk"
	SlowBoth  = "slow-caches"
)

// unlimited are the settings without limits.
func unlimited() map[string]string {
	return map[string]string{maxUpdates: "inf", maxCreates: "inf", atEnd: "1000000"}
}

// Variants are the states of the write-up, in its order.
func Variants() []Variant {
	return []Variant{
		{Name: Initial, About: "carbon.conf as it is shipped: 500 writes a second, 50 new series a minute", Caches: 1,
			Settings: map[string]string{maxUpdates: "500", maxCreates: "50"}},
		{Name: LimitsOff, About: "no limit of writes and of new series", Caches: 1, Settings: unlimited()},
		{Name: Caches, About: "the same, two caches after a relay that hashes", Caches: 2, Settings: unlimited()},
		{Name: GoCarbon, About: "go-carbon, without limits", Caches: 1, Go: true,
			Settings: map[string]string{"whisper.max-updates-per-second": "0"}},
		{Name: Flush, About: "no limits, each write waits for the disk (WHISPER_AUTOFLUSH)", Caches: 1,
			Settings: flushing()},
		{Name: SlowDisk, About: fmt.Sprintf("the same on a disk of %d writes a second, which is imitated", DiskWrites),
			Caches: 1, Settings: flushing(), SlowDisk: true},
		{Name: SlowBoth, About: "the same disk, two caches after a relay that hashes", Caches: 2, Settings: flushing(),
			SlowDisk: true},
	}
}

// flushing are the settings without limits of a cache that waits for the disk at each write.
func flushing() map[string]string {
	out := unlimited()
	out[autoFlush] = "True"
	return out
}

// A Defect is one setting that limits the server, or a load that it is not made for.
type Defect struct {
	ID, About string
	alone     bool // not with the others: it hides them
	seed      func(*Variant)
}

// Defects are those that can be seeded.
//
// The write-up's 500 writes a second were 1 for 1,200 series; 50 are 1 for 200 here, so that the
// cache grows for longer than a run.
func Defects() []Defect {
	set := func(name, value string) func(*Variant) { return func(v *Variant) { v.Settings[name] = value } }
	return []Defect{
		{"TS-01", "50 writes a second", false, set(maxUpdates, "50")},
		{"TS-02", "50 new series a minute", false, set(maxCreates, "50")},
		{"TS-03", "100 points a second of each series, more than a core takes", true,
			func(v *Variant) { v.Every = Interval / 100 }},
		{"TS-04", "two caches after a relay, on a disk that is slower than one of them", true, func(v *Variant) {
			v.Caches, v.SlowDisk = 2, true
			v.Settings[autoFlush] = "True"
		}},
		{"TS-05", "a load that grows until its end", true, func(v *Variant) { v.Grows = true }},
		{"TS-06", "a cache of 4,000 points", true, set(maxCache, "4000")},
		{"TS-07", "a slot for each second, a point each five", true,
			func(v *Variant) { v.Fine, v.Every = true, 5*Interval }},
		{"TS-08", "a relay to two caches, of which one does not run", true, func(v *Variant) { v.Down = true }},
	}
}

// Named returns the variant of that name.
func Named(name string) (Variant, error) {
	var names []string
	for _, v := range Variants() {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Variant{}, fmt.Errorf("no variant %q: want %s", name, strings.Join(names, ", "))
}

// Seeded returns a cache without limits but for those of the defects: ids with commas, all or
// none.
func Seeded(ids string) (Variant, error) {
	v := Variant{Name: "defects " + ids, Caches: 1, Settings: maps.Clone(unlimited())}
	for id := range strings.SplitSeq(ids, ",") {
		id = strings.ToUpper(strings.TrimSpace(id))
		if id == "" || id == "NONE" {
			continue
		}
		known := false
		for _, d := range Defects() {
			if d.ID == id || id == "ALL" && !d.alone {
				d.seed(&v)
				known = true
			}
		}
		if !known {
			return v, fmt.Errorf("%q: want all, none or %s", id, strings.Join(IDs(), ", "))
		}
	}
	return v, nil
}

// IDs are those of the defects.
func IDs() (out []string) {
	for _, d := range Defects() {
		out = append(out, d.ID)
	}
	return out
}

// VariantNames are those of the variants.
func VariantNames() (out []string) {
	for _, v := range Variants() {
		out = append(out, v.Name)
	}
	return out
}

// Describe lists the settings: "MAX_CREATES_PER_MINUTE = inf, …".
func (v *Variant) Describe() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v.Settings)) {
		parts = append(parts, name+" = "+v.Settings[name])
	}
	return strings.Join(parts, ", ")
}

// Load are the arguments of `kasoku attack` that make the load.
func (v *Variant) Load(address string, d time.Duration) []string {
	every, ramp := Interval, time.Duration(0)
	if v.Every > 0 {
		every = v.Every
	}
	if v.Grows {
		ramp = d
	}
	return []string{"attack", "--carbon", address, "--metrics", fmt.Sprint(Series), "--connections", fmt.Sprint(Agents),
		"--interval", every.String(), "--ramp", ramp.String(), "--duration", d.String(), "--seed", "1",
		"--settle", Settle.String(),
		"--names", "lab.agent.{agent}.metrics.{metric}"}
}

// paths are those of the files of all series, below the directory of files.
func paths() (out []string) {
	for agent := range Agents {
		for metric := range Metrics {
			out = append(out, fmt.Sprintf("lab/agent/%d/metrics/%d.wsp", agent, metric))
		}
	}
	return out
}

// Lab is the lab as the table of truth knows it.
func Lab() (out []kit.Defect) {
	for _, d := range Defects() {
		object := "agents"
		switch d.ID {
		case "TS-04":
			object = "disk"
		case "TS-05":
			object = "load"
		case "TS-07":
			object = "retention"
		case "TS-08":
			object = "relays"
		}
		out = append(out, kit.Defect{ID: d.ID, Object: object})
	}
	return out
}

// Alone are the ids of those that are not seeded with others.
func Alone() (out []string) {
	for _, d := range Defects() {
		if d.alone {
			out = append(out, d.ID)
		}
	}
	return out
}
