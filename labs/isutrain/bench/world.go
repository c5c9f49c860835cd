package bench

import (
	"fmt"
	"sort"
	"time"
)

// What there is, as the contest's manual says it. A day's trains leave in pairs, in the same
// minute: which of a pair comes first says its name.
const (
	line       = 96 // stations
	perDay     = 64 // trains
	longest    = 16 // cars
	kilometres = 14 // from one station to the next
	mostShown  = 10
	minutes    = 9 // the seed of departures
)

var (
	tokyo   = time.FixedZone("JST", 9*60*60)
	opening = time.Date(2026, 9, 1, 0, 0, 0, 0, tokyo)
)

// A service is a class of trains.
type service struct {
	name       string
	hop        time.Duration // from one station to the next
	rows       int           // of each car, five seats each
	multiplier float64
}

var services = [...]service{
	{"最速", time.Minute, 10, 1.6},
	{"中間", 90 * time.Second, 12, 1.3},
	{"遅いやつ", 2 * time.Minute, 14, 1},
}

// seatPrices multiply the fare.
var seatPrices = map[string]float64{"premium": 1.5, "reserved": 1, "non-reserved": 0.8}

// carClass is what seats a car has, and whether people smoke there.
func carClass(car int) (class string, smoking bool) {
	switch {
	case car < 4:
		class = "premium"
	case car < 13:
		class = "reserved"
	default:
		class = "non-reserved"
	}
	return class, car%3 == 0
}

// A departure is a train of a day.
type departure struct {
	*service
	number  string
	inbound bool // to station 1
	leaves  time.Duration
}

// passes is when it leaves a station, since midnight.
func (d *departure) passes(station int) time.Duration {
	hops := station - 1
	if d.inbound {
		hops = line - station
	}
	return d.leaves + time.Duration(hops)*d.hop
}

// reaches is when it gets there.
func (d *departure) reaches(station int) time.Duration {
	if at := d.passes(station) - 20*time.Second; at > d.leaves {
		return at
	}
	return d.leaves
}

// halts reports whether it stops at a station.
func (d *departure) halts(station int) bool { return stopsAt(d.service, station) }

func stopsAt(s *service, station int) bool {
	every := map[string]int{services[0].name: 12, services[1].name: 4, services[2].name: 1}[s.name]
	return station == line || (station-1)%every == 0
}

// board are the trains of a day, in the order in which they are shown.
func board(day int) []departure {
	var all []departure
	for k := 0; k < perDay; k++ {
		pair, inbound := k/4, k%2
		lcg := uint32(minutes)*1_000_003 + uint32(day)*8191 + uint32(pair)*131 + uint32(inbound)*17
		lcg = lcg*1664525 + 1013904223
		all = append(all, departure{
			service: &services[(k/2+day)%len(services)], number: fmt.Sprint((37*k+11*day)%perDay + 1), inbound: inbound == 1,
			leaves: 6*time.Hour + time.Duration(pair*56+int(lcg>>24)%20)*time.Minute,
		})
	}
	sort.Slice(all, func(a, b int) bool {
		if all[a].leaves != all[b].leaves {
			return all[a].leaves < all[b].leaves
		}
		return all[a].number < all[b].number
	})
	return all
}

// shown are the trains that a search has to show.
func shown(day, from, to int, after time.Duration, class string) (out []departure) {
	for _, d := range board(day) {
		if d.inbound == (from > to) && d.halts(from) && d.halts(to) && (class == "" || class == d.name) &&
			d.passes(from) > after && len(out) < mostShown {
			out = append(out, d)
		}
	}
	return out
}

// price is what people pay together.
func price(train *service, class string, from, to, adults, children int) int64 {
	far := (to - from) * kilometres
	if far < 0 {
		far = -far
	}
	one := int64(float64(1000+far/50*700) * (train.multiplier * seatPrices[class]))
	return int64(adults)*one + int64(children)*(one/2)
}

// clockOf writes a time since midnight as trains are shown.
func clockOf(d time.Duration) string {
	return time.Time{}.Add(d).Format(time.TimeOnly)
}

func dayText(day int) string { return opening.AddDate(0, 0, day).Format(time.DateOnly) }
