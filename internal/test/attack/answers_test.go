package attack

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// A database speaks the MySQL protocol as a MariaDB does that records may read, until it
// turns hostile with the third SHOW GLOBAL STATUS.
type database struct {
	hostile func(a *answer, n int) // answers each statement from then on; nil for an honest one
	asked   atomic.Int64           // SHOW GLOBAL STATUS
	sent    atomic.Int64           // statements
}

// An answer is what one connection is sent.
type answer struct {
	c      net.Conn
	number byte
	err    error
}

func (a *answer) packet(payload string) {
	if a.err == nil {
		_, a.err = io.WriteString(a.c, mysqlPacket(a.number, payload))
	}
	a.number++
}

func lengthText(s string) string {
	if len(s) < 251 {
		return string([]byte{byte(len(s))}) + s
	}
	return string(binary.LittleEndian.AppendUint64([]byte{0xfe}, uint64(len(s)))) + s
}

const (
	okPacket  = "\x00\x00\x00\x02\x00\x00\x00"
	eofPacket = "\xfe\x00\x00\x02\x00"
)

// columns begins a result with columns of texts.
func (a *answer) columns(names ...string) {
	a.packet(string([]byte{byte(len(names))}))
	for _, n := range names {
		a.packet(lengthText("def") + lengthText("") + lengthText("") + lengthText("") + lengthText(n) + lengthText("") +
			"\x0c\x21\x00\xff\x00\x00\x00\xfd\x00\x00\x00\x00\x00")
	}
	a.packet(eofPacket)
}

func (a *answer) row(values ...string) {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(lengthText(v))
	}
	a.packet(b.String())
}

// serve is a conduct: it speaks to one client.
func (d *database) serve(c *net.TCPConn) {
	greet := strings.Replace(greeting(), "9.7.0-\x1b[2Jevil", "5.5.5-10.11.2-MariaDB", 1)
	greet = mysqlPacket(0, greet[4:])
	if _, err := io.WriteString(c, greet); err != nil {
		return
	}
	if _, err := readPacket(c); err != nil {
		return
	}
	a := &answer{c: c, number: 2}
	a.packet(okPacket)
	for a.err == nil {
		text, err := readPacket(c)
		if err != nil || text == "" || text[0] == 1 { // COM_QUIT
			return
		}
		a.number = 1
		d.sent.Add(1)
		if strings.Contains(text, "SHOW GLOBAL STATUS") && !strings.Contains(text, "LIKE") {
			d.asked.Add(1)
		}
		if n := int(d.asked.Load()) - 2; n > 0 && d.hostile != nil {
			d.hostile(a, n)
			continue
		}
		a.honest(text[1:])
	}
}

var setting = regexp.MustCompile(`(?i)^(SET|DO|UPDATE|FLUSH)\b`)

// honest answers as a MariaDB does that has nothing on.
func (a *answer) honest(query string) {
	switch {
	case setting.MatchString(query):
		a.packet(okPacket)
		return
	case strings.Contains(query, "VERSION()"):
		a.columns("v", "id", "s")
		a.row("10.11.2-MariaDB", "7", "0")
	case strings.Contains(query, "UNIX_TIMESTAMP(), VARIABLE_VALUE"):
		a.columns("t", "u")
		a.row("1800000000", "1000")
	case strings.Contains(query, "SHOW GLOBAL STATUS"):
		a.columns("Variable_name", "Value")
		for _, n := range []string{"Uptime", "Questions", "Connections", "Threads_connected", "Innodb_row_lock_waits", "Innodb_row_lock_current_waits"} {
			a.row(n, "1000")
		}
	case strings.Contains(query, "SHOW GLOBAL VARIABLES"):
		a.columns("Variable_name", "Value")
		for _, n := range []string{"hostname", "port", "server_id", "datadir", "version", "slow_query_log", "log_output"} {
			a.row(n, "0")
		}
	default:
		a.packet("\xff\x7a\x04#42S02no such table") // 1146
		return
	}
	a.packet(eofPacket)
}

func readPacket(c net.Conn) (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return "", err
	}
	b := make([]byte, uint32(head[0])|uint32(head[1])<<8|uint32(head[2])<<16)
	_, err := io.ReadFull(c, b)
	return string(b), err
}

// hostileAnswers are what a server can answer to whatever it is asked.
func hostileAnswers() map[string]func(*answer, int) {
	huge := strings.Repeat("a", 1<<20)
	return map[string]func(*answer, int){
		"endless rows": func(a *answer, n int) {
			a.columns("Variable_name", "Value")
			for i := 0; a.err == nil && i < 20_000_000; i++ {
				a.row(fmt.Sprintf("V%d_%d", n, i), "1")
			}
		},
		"new names each time": func(a *answer, n int) {
			a.columns("Variable_name", "Value")
			for i := range 9_000 {
				a.row(fmt.Sprintf("%s%d_%d", huge[:200], n, i), "1")
			}
			a.packet(eofPacket)
		},
		"huge rows": func(a *answer, _ int) {
			a.columns("Variable_name", "Value")
			for i := 0; a.err == nil && i < 1000; i++ {
				a.row(huge, "1")
			}
		},
		"one endless row": func(a *answer, _ int) {
			a.columns("Variable_name", "Value")
			for i := 0; a.err == nil && i < 64; i++ {
				_, a.err = io.WriteString(a.c, "\xff\xff\xff"+string([]byte{a.number})+strings.Repeat("a", 1<<24-1))
				a.number++
			}
		},
		"endless columns": func(a *answer, _ int) {
			a.packet("\xfd\xff\xff\xff")
			for i := 0; a.err == nil && i < 1<<24; i++ {
				a.packet(lengthText("def") + strings.Repeat(lengthText(""), 3) + lengthText(huge[:200]) + lengthText("") + "\x0c\x21\x00\xff\x00\x00\x00\xfd\x00\x00\x00\x00\x00")
			}
		},
	}
}

// mostGrown is how much more memory a record may hold beside a server that turns hostile
// than beside an honest one. The driver makes room for a packet before it reads it, 16 MB
// at most, on each of three connections; the garbage collector comes later.
const mostGrown = 112 << 20

// TestServerTurnsHostile: a database that was honest sends answers without end in the
// middle of a run. The run goes on and holds hardly more memory than any other.
func TestServerTurnsHostile(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	record := func(w *world, d *database, what string) int64 {
		addr := w.hostile(func(c *net.TCPConn, _ *rand.Rand) { d.serve(c) })
		p := w.start("record", "--mysql", "x@tcp("+addr+")/", "--for", "5s", "--out", "db.kasoku", "--no-slowlog")
		w.wants(what, p.wait(patience), p.printed(), 0, 3)
		if d.asked.Load() < 3 {
			w.Errorf("%s: the status was read %d times only, after %d statements\n%s", what, d.asked.Load(), d.sent.Load(), tail(p.printed()))
		}
		if d.hostile != nil {
			rec, err := store.Open(w.path("db.kasoku"))
			if err != nil {
				w.Errorf("%s: %v", what, err)
			} else if len(rec.Gaps) == 0 {
				w.Errorf("%s: the run says nothing of it", what)
			}
		}
		return maxRSS(p)
	}
	idle := record(newWorld(t), &database{}, "an honest server")
	for name, hostile := range hostileAnswers() {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if most := record(w, &database{hostile: hostile}, name); most > idle+mostGrown {
				t.Errorf("kasoku held %d MB, %d MB beside an honest server", most>>20, idle>>20)
			}
		})
	}
}
