package settings

import (
	"fmt"
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Shares of the host's memory.
const (
	mostMemory  = 0.85 // that the server should take
	goodMemory  = 0.80 // that is proposed, so that what was proposed stays below the former
	mostThreads = 0.50 // that connections should take, so that something is left for the pool
)

// What a buffer of one connection is lowered to, and from what size on.
const (
	oversized = 16 << 20
	modest    = 4 << 20
)

func memoryLimits() []*check {
	return []*check{{
		id: "MYS-02", area: areaMemory, title: "memory that the server may take", weight: remark,
		formula:   "(server buffers + per connection × max_connections + performance_schema) / RAM",
		threshold: "> 85 %; settings far from the defaults: connections alone > 50 %", needs: []Part{PartMemory},
		run: checkPossible,
	}}
}

// modestThread is what one connection takes with no buffer beyond what checkPossible
// lowers it to.
func (s *state) modestThread() float64 {
	var sum float64
	for _, name := range connectionBuffers {
		sum += min(max(s.willOr(name, 0), 0), modest)
	}
	return sum + max(s.willOr("thread_stack", 0), 0)
}

// connectionBuffers are the buffers that each connection may take.
var connectionBuffers = []string{"sort_buffer_size", "join_buffer_size", "read_buffer_size", "read_rnd_buffer_size",
	"binlog_cache_size"}

// checkPossible reports the worst case under the present settings, and lowers what is
// far from the defaults where connections alone would take half of the memory with
// what is proposed.
func checkPossible(l *look) {
	ram := float64(l.Memory.RAM)
	limit, now := l.v("max_connections"), newState(l.Input)
	threads, all := now.threads(limit), now.footprint(limit)
	measured := fmt.Sprintf("%s: %s of %s, %s of it for %s", unit.Percent(all/ram), sizeWords(all), sizeWords(ram),
		sizeWords(threads), connectionWords(limit))
	changes := lowerBuffers(l, ram)
	if all <= ram*mostMemory && len(changes) == 0 {
		l.well("%s", measured)
		return
	}
	f := found{
		title: "In the worst case the server takes more memory than there is", measured: measured, level: kasoku.Low,
		changes: changes,
		gain:    "The kernel kills no process for lack of memory",
		note:    fmt.Sprintf("That is when all connections sort, join and fill a temporary table at once; at most %s were open.", connectionWords(l.used())),
	}
	if len(changes) > 0 {
		f.weight = costly
	}
	l.fire(f)
}

func lowerBuffers(l *look, ram float64) []change {
	limit, ok := l.state.will("max_connections")
	if !ok || l.threads(limit) <= ram*mostThreads {
		return nil
	}
	var out []change
	for _, name := range connectionBuffers {
		if v, ok := l.number(name); ok && v > oversized {
			out = append(out, l.lower(name, modest)...)
		}
	}
	if l.temporary() > mostTemp {
		out = append(out, l.lower("tmp_table_size", mostTemp)...)
	}
	return append(out, fewerConnections(l, ram)...)
}

// fewerConnections lowers a limit that is far above what was ever used.
func fewerConnections(l *look, ram float64) []change {
	limit, ok := l.state.will("max_connections")
	enough := max(151, math.Ceil(2*max(l.used(), l.Memory.MostOpen)/50)*50)
	if !ok || !l.settled() || limit <= 2*enough || l.threads(limit) <= ram*mostThreads {
		return nil
	}
	return l.lower("max_connections", enough)
}

// checkReached is of the most connections that were open at once. When all of them had
// all of their buffers it is urgent only if the statements that are likely at once fill
// the memory, too. The pool gives way to what is proposed beside it.
func checkReached(l *look) {
	ram, now := float64(l.Memory.RAM), newState(l.Input)
	reached, likely := now.footprint(l.used()), now.likelyFootprint()
	measured := fmt.Sprintf("%s: %s of %s with %s", unit.Percent(reached/ram), sizeWords(reached), sizeWords(ram),
		connectionWords(l.used()))
	f := found{
		title: "The server takes more memory than its host can give", measured: measured, level: kasoku.Medium,
		gain: "No swapping, and no process killed for lack of memory",
		note: fmt.Sprintf("%s: %s. With %s at once it is %s.", l.Memory.From, sizeWords(ram),
			unit.Counted(uint64(l.statements()), "statement", "statements"), unit.Percent(likely/ram)),
	}
	if l.likelyFootprint() > ram*mostMemory {
		if f.changes = shrinkPool(l); len(f.changes) > 0 {
			f.price = "Pages that are read from disk again, where the data is larger"
		}
	}
	switch {
	case max(reached, likely) <= ram*mostMemory && len(f.changes) == 0:
		l.well("%s", measured)
		return
	case likely <= ram*mostMemory && len(f.changes) == 0:
		f.title, f.level, f.weight = "Memory would have run out, had all connections used all of their buffers",
			kasoku.Low, remark
	}
	l.fire(f)
}

// likelyFootprint is what the server takes with the connections and statements that
// are likely.
func (s *state) likelyFootprint() float64 {
	return s.fixed() + max(s.willOr("innodb_buffer_pool_size", 0), 0) + s.likely()
}

func checkOthers(l *look) {
	if !l.Memory.Seen {
		l.blindly("the memory of the other processes was not read", "")
		return
	}
	ram, limit := float64(l.Memory.RAM), l.v("max_connections")
	others := float64(l.Memory.Others)
	all := newState(l.Input).footprint(limit) + others
	measured := fmt.Sprintf("%s + %s of others, of %s", sizeWords(all-others), sizeWords(others), sizeWords(ram))
	f := found{
		title: "In the worst case the server takes memory that other processes hold", measured: measured,
		level: kasoku.Low,
		gain:  "No process killed for lack of memory",
		note:  "Others are all processes of its host, or of its control group.",
	}
	if l.likelyFootprint()+others > ram {
		f.changes = shrinkPool(l)
	}
	if all <= ram && len(f.changes) == 0 {
		l.well("%s", measured)
		return
	}
	if len(f.changes) > 0 {
		f.title, f.level, f.weight = "The server and other processes take more memory than there is", kasoku.Medium,
			urgent
	}
	l.fire(f)
}

// roomForPool is what the buffer pool may take, when the server shall have that
// share of the memory, with the connections and statements that are likely.
func (s *state) roomForPool(share float64) float64 {
	room := float64(s.Memory.RAM)*share - s.fixed() - s.likely()
	if s.Memory.Seen {
		room -= float64(s.Memory.Others)
	}
	return room
}

// leastPool is the smallest pool that is proposed: the servers' default.
const leastPool = 128 << 20

// shrinkPool proposes a pool that fits, when it does not.
func shrinkPool(l *look) []change {
	pool, ok := l.state.will("innodb_buffer_pool_size")
	if !ok || pool <= l.roomForPool(mostMemory) {
		return nil
	}
	target := l.poolSize(l.roomForPool(goodMemory), false)
	if target < leastPool || target >= pool {
		return nil
	}
	return l.to("innodb_buffer_pool_size", wholeWords(target))
}
