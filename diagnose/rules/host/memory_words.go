package host

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
)

// The words of logs about memory, in lower case, by what they say.
var (
	// outOfMemory are those of ENOMEM in C, Go and Python, and of runtimes that say it in their
	// own.
	outOfMemory = []string{"cannot allocate memory", "out of memory", "std::bad_alloc", "outofmemoryerror", "memoryerror"}
	// heapWords are those of runtimes that keep to a limit of their own: Node.js, and Java by
	// the detail message of its OutOfMemoryError.
	heapWords = []string{"heap out of memory", "java heap space", "metaspace", "gc overhead limit exceeded",
		"compressed class space", "direct buffer memory"}
	// killWords are those of the kernel and of systemd.
	killWords = []string{"oom-kill", "oom_kill", "out of memory: kill"}
	// threadWords are of a limit of tasks, which OS-02 reports.
	threadWords = []string{"native thread"}
)

// What a line says about memory.
type memoryWords int

const (
	saysNothing   memoryWords = iota
	refusesMemory             // an allocation failed
	fillsHeap                 // a runtime's own limit is met
	endsProcess               // the kernel killed a process
)

// memoryWordsOf returns what a line says about memory.
func memoryWordsOf(line string) memoryWords {
	switch {
	case wording.ContainsFold(line, threadWords...):
		return saysNothing
	case wording.ContainsFold(line, "outofmemoryerror", "out of memory") && wording.ContainsFold(line, heapWords...):
		return fillsHeap
	case wording.ContainsFold(line, killWords...):
		return endsProcess
	case wording.ContainsFold(line, outOfMemory...):
		return refusesMemory
	}
	return saysNothing
}

// memorySaid returns the lines of the application's log that say that.
func memorySaid(c *diagnose.Case, what memoryWords) []diagnose.Said {
	return c.Lines().Said(func(m *kasoku.Message) bool { return !m.SQL && memoryWordsOf(m.Sample) == what })
}

// heapFix is the switch of the runtime that wrote the line.
func heapFix(line string) kasoku.Fix {
	f := kasoku.Fix{Text: "See what the program keeps in memory; then raise the limit of its heap",
		Where: "where the program is started", Risk: kasoku.RiskAppRestart, Note: "In Java: -Xmx."}
	switch {
	case wording.ContainsFold(line, "javascript"):
		f.Note = "In Node.js: --max-old-space-size, in MiB, also by NODE_OPTIONS."
	case wording.ContainsFold(line, "metaspace"):
		f.Note = "In Java: -XX:MaxMetaspaceSize, which limits classes, not objects."
	case wording.ContainsFold(line, "compressed class"):
		f.Note = "In Java: -XX:CompressedClassSpaceSize, which limits classes, not objects."
	case wording.ContainsFold(line, "direct buffer"):
		f.Note = "In Java: -XX:MaxDirectMemorySize, which limits buffers outside of the heap."
	}
	return f
}
