package stacks

import (
	"strings"

	"github.com/kasoku/kasoku/trace/symbols"
)

// routineReasons are the reasons of waits of goroutines, by a function on their stack. The
// first in the list that is on the stack decides.
var routineReasons = []struct {
	function string // its beginning
	reason   Reason
}{
	{"database/sql.(*DB).conn", Pool},
	{"github.com/jackc/puddle", Pool},
	{"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn", Pool},
	{"net/http.(*Transport).getConn", Pool},
	{"time.Sleep", Sleep},
	{"internal/poll.(*FD).Accept", Accept},
	{"internal/poll.", Socket},
	{"runtime.netpollblock", Socket},
	{"os/exec.(*Cmd).Wait", Child},
	{"os.(*Process).Wait", Child},
	{"sync.(*WaitGroup).Wait", Channel},
	{"golang.org/x/sync/singleflight.", Channel},
	{"sync.(*Mutex)", Lock},
	{"sync.(*RWMutex)", Lock},
	{"sync.(*Cond)", Lock},
	{"sync.runtime_", Lock},
	{"internal/sync.", Lock},
	{"golang.org/x/sync/semaphore.", Lock},
	{"runtime.gcAssist", Memory},
	{"runtime.gcParkAssist", Memory},
	{"runtime.selectgo", Channel},
	{"runtime.chanrecv", Channel},
	{"runtime.chansend", Channel},
	{"runtime.block", Channel},
}

// others are the other ends of a connection, by a function on the stack.
var others = []struct{ function, end string }{
	{"github.com/go-sql-driver/mysql.", "MySQL"},
	{"github.com/jackc/pg", "PostgreSQL"},
	{"github.com/lib/pq.", "PostgreSQL"},
	{"github.com/redis/go-redis/", "Redis"},
	{"github.com/gomodule/redigo/", "Redis"},
	{"github.com/bradfitz/gomemcache/", "memcached"},
	{"net/http.(*persistConn)", "a server that it calls"},
	{"net/http.(*conn)", "clients"},
	{"net/http.(*connReader)", "clients"},
	{"net/http.(*http2serverConn)", "clients"},
}

// nearest is how many functions are between a wait and what decides on its reason, inlined
// ones included: a wait deep in a handler is none of what called the handler.
const nearest = 16

// routineWait returns what a goroutine waits for, by its stack, innermost first. Idle are
// those of the runtime itself.
func routineWait(stack []symbols.Frame) (w Wait) {
	outer := len(stack) - 1
	if outer >= 0 && stack[outer].Name == "runtime.goexit" {
		outer--
	}
	if outer >= 0 && strings.HasPrefix(stack[outer].Name, "runtime.") && stack[outer].Name != "runtime.main" &&
		!strings.HasPrefix(stack[outer].Name, "runtime.gopark") {
		return Wait{Reason: Idle}
	}
	inner := stack[:min(len(stack), nearest)]
	w.Reason = Other
	for _, r := range routineReasons {
		if onStack(inner, r.function) {
			w.Reason = r.reason
			break
		}
	}
	if w.Reason == Socket {
		for _, o := range others {
			if onStack(stack, o.function) {
				w.On = o.end
				break
			}
		}
	}
	return w
}

func onStack(stack []symbols.Frame, function string) bool {
	for _, f := range stack {
		if strings.HasPrefix(f.Name, function) {
			return true
		}
	}
	return false
}
