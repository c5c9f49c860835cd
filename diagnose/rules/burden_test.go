package rules

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A burden is what each request of the ledger costs its host, and what the
// ledger may use of it. The zero value is none, and no limit.
type burden struct {
	Query  time.Duration `json:",omitempty"` // CPU of the database
	Spin   time.Duration `json:",omitempty"` // CPU of the service
	Task   time.Duration `json:",omitempty"` // a process is started that lives so long
	Memory int           `json:",omitempty"` // MiB that are held for a fifth of a second

	Files  uint64   `json:",omitempty"` // that may be open (RLIMIT_NOFILE)
	Opened int      `json:",omitempty"` // that are open from the start
	Space  uint64   `json:",omitempty"` // MiB of address space beyond that of the start (RLIMIT_AS)
	Groups []string `json:",omitempty"` // control groups to join: their directories
}

// A carrier carries a burden.
type carrier struct {
	burden
	ledger *ledger
	rounds float64 // of the database's hash that take 1 ms
	hashes float64 // of the service's
	opened []*os.File
}

// carry measures what the costs need, then takes the limits.
func carry(ctx context.Context, l *ledger, b burden) (*carrier, error) {
	c := &carrier{burden: b, ledger: l}
	if b.Query > 0 {
		const rounds = 50_000
		best, err := fastest(func() error { return c.query(ctx, rounds) })
		if err != nil {
			return nil, err
		}
		c.rounds = rounds / (best.Seconds() * 1000)
	}
	if b.Spin > 0 {
		const hashes = 20_000
		best, _ := fastest(func() error { spin(hashes); return nil })
		c.hashes = hashes / (best.Seconds() * 1000)
	}
	for range b.Opened {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return nil, err
		}
		c.opened = append(c.opened, f)
	}
	return c, c.limit(ctx)
}

func fastest(do func() error) (best time.Duration, err error) {
	best = time.Hour
	for range 5 {
		began := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		best = min(best, time.Since(began))
	}
	return best, nil
}

func (c *carrier) limit(ctx context.Context) error {
	if c.Task > 0 {
		manyThreads(16)
		go reap(ctx) // ends with the process
	}
	for _, group := range c.Groups {
		if err := os.WriteFile(group+"/cgroup.procs", []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
			return err
		}
	}
	if c.Files > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: c.Files, Max: c.Files}); err != nil {
			return err
		}
	}
	if c.Space == 0 {
		return nil
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, err := strconv.ParseUint(strings.Fields(string(statm))[0], 10, 64)
	if err != nil {
		return err
	}
	most := pages*uint64(os.Getpagesize()) + c.Space<<20
	return unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most})
}

// bear costs what one request costs.
func (c *carrier) bear(ctx context.Context) error {
	if c.Query > 0 {
		if err := c.query(ctx, int(c.rounds*c.Query.Seconds()*1000)); err != nil {
			return err
		}
	}
	if c.Spin > 0 {
		spin(int(c.hashes * c.Spin.Seconds() * 1000))
	}
	if c.Task > 0 {
		_, err := os.StartProcess("/bin/sleep", []string{"sleep", fmt.Sprint(c.Task.Seconds())}, &os.ProcAttr{})
		if err != nil {
			return err
		}
	}
	if c.Memory > 0 {
		held, err := unix.Mmap(-1, 0, c.Memory<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return fmt.Errorf("make room for the statement: %w", err)
		}
		for i := 0; i < len(held); i += os.Getpagesize() {
			held[i] = 1
		}
		pause(200 * time.Millisecond)
		return unix.Munmap(held)
	}
	return nil
}

func (c *carrier) query(ctx context.Context, rounds int) error {
	_, err := c.ledger.plain.ExecContext(ctx, "DO BENCHMARK(?, SHA2('balance of the account', 512))", rounds)
	return err
}

func spin(hashes int) {
	var sum [sha256.Size]byte
	for range hashes {
		sum = sha256.Sum256(sum[:])
	}
	runtime.KeepAlive(sum)
}

func pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	<-t.C
}

// manyThreads makes the runtime start its threads now: one that it cannot start
// later ends the process.
func manyThreads(n int) {
	var all, up sync.WaitGroup
	up.Add(n)
	for range n {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			up.Done()
			up.Wait()
		})
	}
	all.Wait()
}

// reap collects the processes that have ended, without a thread for each.
func reap(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if pid <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
	}
}
