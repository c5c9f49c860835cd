package advise

import (
	"fmt"
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/unit"
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
		id: "MYS-02", area: areaMemory, title: "memory that the server may take", weight: costly,
		formula:   "(server buffers + per connection × max_connections + performance_schema) / RAM",
		threshold: "> 85 %, or connections alone > 50 %", needs: []Part{PartMemory}, run: checkPossible,
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
var connectionBuffers = []string{"sort_buffer_size", "join_buffer_size", "read_buffer_size", "read_rnd_buffer_size", "binlog_cache_size"}

func checkPossible(l *look) {
	ram := float64(l.Memory.RAM)
	limit := l.will("max_connections")
	threads := l.threads(limit)
	all := l.footprint(limit)
	measured := fmt.Sprintf("%s: %s of %s, %s of it for %s", unit.Percent(all/ram), size(all), size(ram), size(threads), connections(limit))
	if all <= ram*mostMemory && threads <= ram*mostThreads {
		l.well("%s", measured)
		return
	}
	f := found{
		title: "All connections at once would take more memory than there is", measured: measured, level: kasoku.Low,
		gain: "The kernel kills no process for lack of memory",
		note: fmt.Sprintf("That is the worst case; at most %s were open at once.", connections(l.used())),
	}
	if threads > ram*mostThreads {
		for _, name := range connectionBuffers {
			if v, ok := l.number(name); ok && v > oversized {
				f.changes = append(f.changes, l.lower(name, modest)...)
			}
		}
		if l.temporary() > mostTemp {
			f.changes = append(f.changes, l.lower("tmp_table_size", mostTemp)...)
		}
		f.changes = append(f.changes, l.fewerConnections(ram)...)
	}
	l.fire(f)
}

// fewerConnections lowers a limit that is far above what was ever used.
func (l *look) fewerConnections(ram float64) []change {
	limit, ok := l.state.will("max_connections")
	enough := max(151, math.Ceil(2*l.used()/50)*50)
	if !ok || !l.settled() || limit <= 2*enough || l.threads(limit) <= ram*mostThreads {
		return nil
	}
	return l.lower("max_connections", enough)
}

// checkReached is of the most connections that were open at once.
func checkReached(l *look) {
	ram := float64(l.Memory.RAM)
	reached := l.footprint(l.used())
	measured := fmt.Sprintf("%s: %s of %s with %s", unit.Percent(reached/ram), size(reached), size(ram), connections(l.used()))
	if reached <= ram*mostMemory {
		l.well("%s", measured)
		return
	}
	l.fire(found{
		title: "The server takes more memory than its host can give", measured: measured, level: kasoku.Medium, weight: urgent,
		changes: l.shrinkPool(), gain: "No swapping, and no process killed for lack of memory", price: "Pages that are read from disk again, where the data is larger",
		note: l.Memory.From + ". Buffers of connections count as if all took all of theirs.",
	})
}

func checkOthers(l *look) {
	if !l.Memory.Seen {
		l.blindly("the memory of the other processes was not read", "")
		return
	}
	ram, limit := float64(l.Memory.RAM), l.will("max_connections")
	others := float64(l.Memory.Others)
	all := l.footprint(limit) + others
	measured := fmt.Sprintf("%s + %s of others, of %s", size(all-others), size(others), size(ram))
	if all <= ram {
		l.well("%s", measured)
		return
	}
	f := found{
		title: "The server may take memory that other processes hold", measured: measured, level: kasoku.Low,
		changes: l.shrinkPool(), gain: "No process killed for lack of memory", note: "Other processes: all others on its host or in its control group.",
	}
	if len(f.changes) == 0 {
		f.note += " With the connections that were open at most it fits, or the buffer pool is not what is large."
	}
	l.fire(f)
}

// roomForPool is what the buffer pool may take, when the server shall have that
// share of the memory.
func (s *state) roomForPool(share float64) float64 {
	room := float64(s.Memory.RAM)*share - s.fixed() - s.threads(s.used())
	if s.Memory.Seen {
		room -= float64(s.Memory.Others)
	}
	return room
}

// leastPool is the smallest pool that is proposed: the servers' default.
const leastPool = 128 << 20

// shrinkPool proposes a pool that fits, when it does not.
func (l *look) shrinkPool() []change {
	pool, ok := l.state.will("innodb_buffer_pool_size")
	if !ok || pool <= l.roomForPool(mostMemory) {
		return nil
	}
	target := l.poolSize(l.roomForPool(goodMemory), false)
	if target < leastPool || target >= pool {
		return nil
	}
	return l.to("innodb_buffer_pool_size", whole(target))
}
