package stack

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// children returns the processes that a process has started itself; none when that
// cannot be read.
//
// Source: proc_tid_children(5); nginx's master has one thread, which starts them all.
func children(pid int) []int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	var out []int
	for _, field := range strings.Fields(string(b)) {
		if child, err := strconv.Atoi(field); err == nil {
			out = append(out, child)
		}
	}
	return out
}
