package stacks

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
)

// TestTake_Hostile: a process of many threads that all wait and run at different places takes
// no more than what is allotted, here and in the kernel.
func TestTake_Hostile(t *testing.T) {
	turn.Wait(t)
	needs(t)
	threads := "1500"
	if os.Getenv("KASOKU_LONG") != "" {
		threads = "30000"
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, "-c", `
import sys, threading, time, mmap
threading.stack_size(64 * 1024)
maps = []
for i in range(3000): # mappings without a file, that hold code
    maps.append(mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC if i % 2 else mmap.PROT_READ))
def wait(): time.sleep(60)
n = 0
try:
    for i in range(`+threads+`):
        threading.Thread(target=wait, daemon=True).start(); n += 1
except RuntimeError: pass
print("ready", n, flush=True)
def churn():
    while True:
        t = threading.Thread(target=lambda: None); t.start(); t.join()
end = time.time() + 60
while time.time() < end: churn()
`)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Log(line)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := take(t, Options{PIDs: []int{c.Process.Pid}, For: 2 * time.Second, CPU: true, Waits: true})
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 80<<20 {
		t.Errorf("%d MB more are taken", grown>>20)
	}
	if len(p.CPU) == 0 || len(p.Waits) == 0 || len(p.CPU)+len(p.Waits) > mostKept+mostStill {
		t.Errorf("%d and %d samples", len(p.CPU), len(p.Waits))
	}
}
