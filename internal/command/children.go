package command

import (
	"bytes"
	"os"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku/internal/procstat"
)

const (
	threadsEvery = 10   // each so many turns ask others than the first thread
	threadsLook  = 8    // threads that such a turn asks
	mostThreads  = 4096 // that are listed
)

// ThreadChildren returns the processes that a process has started: those of its first thread, and
// each tenth turn those of eight others, in rotation, as programs in Go and Java start others
// from any thread. It is nil when the process is not there.
//
// Source: proc_tid_children(5).
func ThreadChildren(pid, turn int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	var out []int
	buf := make([]byte, 4096)
	for _, thread := range threadsOf(tasks, strconv.Itoa(pid), turn) {
		text, _ := procstat.ReadFile(tasks+"/"+thread+"/children", buf[:0]) // it has ended: it has none
		for word := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

// threadsOf returns the first thread, and those whose turn it is.
func threadsOf(tasks, first string, turn int) []string {
	out := []string{first}
	if turn%threadsEvery != 0 {
		return out
	}
	dir, err := os.Open(tasks)
	if err != nil {
		return out
	}
	all, _ := dir.Readdirnames(mostThreads) // what was listed until then is there
	_ = dir.Close()
	all = slices.DeleteFunc(all, func(name string) bool { return name == first })
	for i := range min(len(all), threadsLook) {
		out = append(out, all[(turn/threadsEvery*threadsLook+i)%len(all)])
	}
	return out
}
