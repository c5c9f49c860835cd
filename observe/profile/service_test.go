package profile_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// serviceEnv makes this test binary the service that is profiled; its value says
// whether it samples waits.
const serviceEnv = "KASOKU_TEST_PROFILED"

func TestMain(m *testing.M) {
	if how := os.Getenv(serviceEnv); how != "" {
		serve(how)
		return
	}
	os.Exit(m.Run())
}

var sink struct {
	sync.Mutex
	sum   uint64
	kept  []byte
	burnt atomic.Uint64
}

// burnCycles is where the service spends its CPU time.
//
//go:noinline
func burnCycles(n int) (sum uint64) {
	for i := range n {
		sum = sum*31 + uint64(i)
	}
	return sum
}

// makeGarbage is where it allocates.
//
//go:noinline
func makeGarbage() []byte { return make([]byte, 64<<10) }

// holdLock is where others wait.
//
//go:noinline
func holdLock() {
	sink.Lock()
	sink.sum += burnCycles(20_000)
	sink.Unlock()
}

func serve(how string) {
	if how == "waits" {
		runtime.SetMutexProfileFraction(1)
		runtime.SetBlockProfileRate(1)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	for range 3 {
		go func() {
			for {
				holdLock()
			}
		}()
	}
	go func() {
		for {
			sink.kept = makeGarbage()
			sink.burnt.Add(burnCycles(2_000_000))
		}
	}()
	fmt.Println(l.Addr())
	srv := &http.Server{}
	if how == "hurried" {
		srv.WriteTimeout = 3 * time.Second
	}
	panic(srv.Serve(l))
}

// service starts one as a process of its own and returns where its profiles are.
func service(t *testing.T, how string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a service that keeps all cores busy")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serviceEnv+"="+how)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // Wait returns how it ended
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(line) + "/debug/pprof/"
}
