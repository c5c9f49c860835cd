package host

import (
	"bytes"
	"errors"
	"fmt"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/procfile"
)

// A softnet is what /proc/net/softnet_stat counts, over all CPUs.
//
// Kernel: softnet_seq_show in net/core/net-procfs.c. A line a CPU, all numbers in
// hexadecimal: packets taken from the cards, packets dropped because the CPU's
// backlog was full (net.core.netdev_max_backlog), and how often the CPU stopped
// with packets left, because its time or budget was used up.
type softnet struct{ processed, dropped, squeezed uint64 }

func parseSoftnet(text []byte) (softnet, error) {
	var sum softnet
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			return sum, nil
		}
		text = rest
		var n [3]uint64
		for i := range n {
			var word []byte
			word, line = procfile.Word(line)
			if n[i], ok = procfile.Hex(word); !ok {
				return softnet{}, fmt.Errorf("bad number %q", word)
			}
		}
		sum.processed += n[0]
		sum.dropped += n[1]
		sum.squeezed += n[2]
	}
}

// collectSoftnet appends the sums. The kernel's counters have 32 bits and a CPU can
// be switched off, which takes its line away: a sum that falls is a reset.
func (s *Source) collectSoftnet(text []byte, f *kasoku.Frame) error {
	sum, err := parseSoftnet(text)
	if err != nil {
		return err
	}
	f.Counter(SoftnetProcessed, "", "count", float64(sum.processed))
	f.Counter(SoftnetDropped, "", "count", float64(sum.dropped))
	f.Counter(SoftnetSqueezed, "", "count", float64(sum.squeezed))
	return nil
}

// collectConntrack takes how many connections the table of tracked connections
// refused or threw out because it was full, over all CPUs. insert_failed is none of
// them: it counts two packets that made one connection at the same moment.
//
//	entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop …
//
// Kernel: ct_cpu_seq_show in net/netfilter/nf_conntrack_standalone.c; hexadecimal,
// a line a CPU. Which column is which is in the heading.
func (s *Source) collectConntrack(text []byte, f *kasoku.Frame) error {
	heading, text, _ := procfile.Line(text)
	drop, early := column(heading, "drop"), column(heading, "early_drop")
	if drop < 0 || early < 0 {
		return errors.New("columns are missing")
	}
	var sum uint64
	for {
		line, rest, ok := procfile.Line(text)
		if !ok {
			f.Counter(ConntrackDrops, "", "count", float64(sum))
			return nil
		}
		text = rest
		for _, c := range [...]int{drop, early} {
			word, _ := procfile.Word(procfile.Skip(line, c))
			n, ok := procfile.Hex(word)
			if !ok {
				return fmt.Errorf("bad number %q", word)
			}
			sum += n
		}
	}
}

// column returns the place of a word in a line, -1 when it is not there.
func column(line []byte, name string) int {
	for i := 0; ; i++ {
		var word []byte
		word, line = procfile.Word(line)
		if len(word) == 0 {
			return -1
		}
		if bytes.Equal(word, []byte(name)) {
			return i
		}
	}
}
