package attack

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// program is the kasoku that is attacked, built by TestMain in a directory of its own:
// a process that runs this file is one of ours.
var program string

// seed is where all that is random comes from.
var seed uint64

// TestMain builds the program, or is a helper program that a test started.
func TestMain(m *testing.M) {
	if help, ok := helpers[os.Getenv(helperEnv)]; ok {
		help()
		return
	}
	if reportExecution() {
		return
	}
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run()) // each test skips itself
	}
	if signal.Ignored(syscall.SIGHUP) { // by nohup: who is started would ignore it, too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	waitTogether()
	os.Exit(runBuilt(m))
}

// waitTogether lets more tests run at once than there are processors, unless the command
// line says how many: most of the time they wait for recordings of seconds.
func waitTogether() {
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", "6")
	}
}

func runBuilt(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kasoku-attack-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	_ = os.Chmod(dir, 0o755) // others run it, too
	program = filepath.Join(dir, "kasoku")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "../../../cmd/kasoku")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build kasoku: %v\n%s", err, out)
		return 1
	}
	if seed, err = strconv.ParseUint(os.Getenv("KASOKU_ATTACK_SEED"), 10, 64); err != nil {
		seed = rand.Uint64()
	}
	fmt.Printf("KASOKU_ATTACK_SEED=%d\n", seed)
	return m.Run()
}

// whole reports whether all is to be done, not the part that `make test` does.
func whole() bool { return os.Getenv("KASOKU_ATTACK") == "1" }

// times returns how often something is tried: few in `make test`, many in `make attack`.
func times(few, many int) int {
	if whole() {
		return many
	}
	return few
}

// A world is where kasoku runs during an attack: all that it writes is below dir.
type world struct {
	*testing.T
	dir    string
	rand   *rand.Rand
	stores []*dbServer // database servers that are watched
	ports  []int       // of other servers that are watched
	kept   []string    // files that must stay as they are
	spent  costs
}

// costs is what the kasokus of a world took, added up.
type costs struct {
	cpu  atomic.Int64 // of those that were waited for, with their children; in nanoseconds
	runs atomic.Int64
}

// newWorld returns a world of the test's own.
func newWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the whole program; not in short mode")
	}
	name := fnv.New64()
	_, _ = io.WriteString(name, t.Name())
	// Not t.TempDir: its parents are closed to the users that the liars run as.
	dir, err := os.MkdirTemp("", "kasoku-world-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w := &world{T: t, dir: dir, rand: rand.New(rand.NewPCG(seed, name.Sum64()))}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"work", "tmp", "home", "state"} {
		w.mkdir(sub)
	}
	return w
}

// path returns a path in the directory in which kasoku works.
func (w *world) path(name string) string { return filepath.Join(w.dir, "work", name) }

func (w *world) mkdir(name string) string {
	w.Helper()
	dir := filepath.Join(w.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.Fatal(err)
	}
	return dir
}

// write writes a file in the directory in which kasoku works.
func (w *world) write(name, text string) string {
	w.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
	return w.path(name)
}

// env is the environment of a kasoku of this world.
func (w *world) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home"), "LANG=C.UTF-8",
		"TMPDIR=" + filepath.Join(w.dir, "tmp"), "KASOKU_STATE=" + filepath.Join(w.dir, "state")}
}

// An invocation defines how kasoku is run. The zero value is an ordinary run.
type invocation struct {
	wrap  []string // what runs it, such as prlimit --nofile=20
	env   []string
	stdin io.Reader
	quit  bool // it is sent SIGQUIT: Go's stacks are no panic
	files []*os.File
}

// A proc is a kasoku that runs.
type proc struct {
	w     *world
	args  []string
	quit  bool
	cmd   *exec.Cmd
	mu    sync.Mutex
	text  bytes.Buffer
	ended chan struct{}
	err   error
	held  atomic.Int64 // the most memory that it was seen to hold, in bytes
}

// mostOutput is how much a kasoku may print: a hostile source must not fill a terminal.
const mostOutput = 8 << 20

// Write keeps what the process prints.
func (p *proc) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.text.Len() <= mostOutput {
		p.text.Write(b)
	}
	return len(b), nil
}

func (p *proc) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// start starts kasoku in a process group of its own.
func (w *world) start(args ...string) *proc { return w.startAs(invocation{}, args...) }

func (w *world) startAs(i invocation, args ...string) *proc {
	w.Helper()
	line := append(append([]string{}, i.wrap...), program)
	line = append(line, args...)
	p := &proc{w: w, args: args, quit: i.quit, cmd: exec.Command(line[0], line[1:]...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdin = filepath.Join(w.dir, "work"), append(w.env(), i.env...), i.stdin
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = p, p, i.files
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = 2 * time.Second
	if err := p.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.cmd.Wait()
		w.spent.runs.Add(1)
		w.spent.cpu.Add(int64(p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()))
	}()
	go p.watchMemory()
	w.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *proc) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// signalKilled is the exit code of a process that a signal ended, as a shell has it:
// this and the signal's number.
const signalKilled = 128

// wait waits for the end of a kasoku, at most so long, and returns its exit code. What
// every kasoku owes is looked at: no panic, no control bytes, bounded output.
func (p *proc) wait(limit time.Duration) int {
	p.w.Helper()
	select {
	case <-p.ended:
	case <-time.After(limit):
		p.w.Errorf("kasoku %s does not end within %s\n%s", p.line(), limit, tail(p.printed()))
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	text := p.printed()
	if i := strings.Index(text, "panic: "); i >= 0 || !p.quit && strings.Contains(text, "goroutine 1 [") {
		p.w.Errorf("kasoku %s panics\n%s", p.line(), tail(text[max(0, i):min(len(text), max(0, i)+3000)]))
	}
	if i := strings.IndexAny(text, "\x1b\x07"); i >= 0 {
		p.w.Errorf("kasoku %s prints control bytes: %q", p.line(), text[max(0, i-100):min(len(text), i+100)])
	}
	if len(text) > mostOutput {
		p.w.Errorf("kasoku %s prints more than %d bytes", p.line(), mostOutput)
	}
	return p.code()
}

func (p *proc) code() int {
	var exit *exec.ExitError
	if !errors.As(p.err, &exit) {
		return 0
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return signalKilled + int(s.Signal())
	}
	return exit.ExitCode()
}

func (p *proc) line() string { return tail(strings.Join(p.args, " ")) }

// run runs kasoku to its end, at most so long, and returns its exit code and output.
func (w *world) run(limit time.Duration, args ...string) (int, string) {
	w.Helper()
	return w.runAs(invocation{}, limit, args...)
}

func (w *world) runAs(i invocation, limit time.Duration, args ...string) (int, string) {
	w.Helper()
	p := w.startAs(i, args...)
	code := p.wait(limit)
	return code, p.printed()
}

// wants fails the test unless an exit code is one of those that are right.
func (w *world) wants(what string, code int, output string, right ...int) {
	w.Helper()
	for _, r := range right {
		if code == r {
			return
		}
	}
	w.Errorf("%s: exit %d, want one of %v\n%s", what, code, right, tail(output))
	if code == signalKilled+int(syscall.SIGKILL) {
		w.Log(kernelKills())
	}
}

// kernelKills is what the kernel says of processes that it killed, which looks like a
// kill by a test.
func kernelKills() string {
	text, err := exec.Command("dmesg").Output()
	if err != nil {
		return "who was killed: the kernel's log cannot be read: " + err.Error()
	}
	said := []string{"who was killed by the kernel, the last of them:"}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "Killed process") {
			said = append(said, strings.TrimSpace(line))
		}
	}
	return strings.Join(append(said[:1], said[max(1, len(said)-5):]...), "\n")
}

// tail bounds a text that is printed.
func tail(s string) string {
	if len(s) > 2000 {
		return "…" + s[len(s)-2000:]
	}
	return s
}

// patience is how long a test waits for what must come, on a machine that is busy with
// other things; mostCPU bounds what a kasoku works on what is hostile.
const (
	patience = 2 * time.Minute
	mostCPU  = 20 * time.Second
)

// eventually waits until a condition holds and reports whether it did.
func eventually(holds func() bool) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if holds() {
			return true
		}
	}
	return holds()
}

// until waits for a condition while a kasoku runs and reports whether it held.
func (p *proc) until(holds func() bool) bool {
	held := false
	eventually(func() bool {
		select {
		case <-p.ended:
			return true
		default:
		}
		held = holds()
		return held
	})
	return held
}
