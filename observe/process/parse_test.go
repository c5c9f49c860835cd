package process

import (
	"strings"
	"testing"
)

func TestParseIO(t *testing.T) {
	f := func(text string, want ioStat, wantErr bool) {
		t.Helper()
		st, err := parseIO([]byte(text))
		if st != want || (err != nil) != wantErr {
			t.Fatalf("parseIO(%q) = %+v, %v", text, st, err)
		}
	}
	f("rchar: 7503\nsyscw: 5\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n", ioStat{4096, 8192, 5}, false)
	f("", ioStat{}, true)
	f("syscw: 5\nread_bytes: 4096\n", ioStat{}, true)
	f("syscw: 5\nread_bytes: -1\nwrite_bytes: 8192\n", ioStat{}, true)
}

func TestParseLimit(t *testing.T) {
	f := func(text string, want uint64, wantOK bool) {
		t.Helper()
		n, ok := parseLimit([]byte(text), limitFiles)
		if n != want || ok != wantOK {
			t.Fatalf("parseLimit(%q) = %d, %t", text, n, ok)
		}
	}
	f("Limit  Soft Limit\nMax open files            1024                 524288               files\n", 1024, true)
	f("Max open files            unlimited            unlimited            files\n", 0, false)
	f("Max open files", 0, false)
	f("", 0, false)
}

func TestParseSwitches(t *testing.T) {
	f := func(text string, want switchStat, wantOK bool) {
		t.Helper()
		st, ok := parseSwitches([]byte(text))
		if st != want || ok != wantOK {
			t.Fatalf("parseSwitches(%q) = %+v, %t", text, st, ok)
		}
	}
	f("Name:\ta\nvoluntary_ctxt_switches:\t741\nnonvoluntary_ctxt_switches:\t190\n", switchStat{741, 190}, true)
	f("Name:\ta\nnonvoluntary_ctxt_switches:\t190\n", switchStat{}, false)
	f("Name:\ta\nvoluntary_ctxt_switches:\t741\n", switchStat{}, false)
	f("Name:\ta\nvoluntary_ctxt_switches:\t\nnonvoluntary_ctxt_switches:\t1\n", switchStat{}, false)
}

func TestFullName(t *testing.T) {
	f := func(comm, cmdline, want string) {
		t.Helper()
		if got := fullName([]byte(comm), cmdline); string(got) != want {
			t.Fatalf("fullName(%q, %q) = %q, want %q", comm, cmdline, got, want)
		}
	}
	f("mariadbd-worker", "./mariadbd-worker-long-name", "mariadbd-worker-long-name")
	f("mariadbd-worker", "/usr/bin/python3", "mariadbd-worker")
	f("mariadbd-worker", "", "mariadbd-worker")
	f("mariadbd-worker", "mariadbd-worker"+strings.Repeat("x", nameMax), "mariadbd-worker") // no program's
}

func TestWithoutWork(t *testing.T) {
	f := func(comm, want string) {
		t.Helper()
		if got := withoutWork([]byte(comm)); string(got) != want {
			t.Fatalf("withoutWork(%q) = %q, want %q", comm, got, want)
		}
	}
	f("kworker/0:1-events", "kworker/0:1")
	f("kworker/u8:3-flush-254:0", "kworker/u8:3")
	f("kworker/1:0+mm_percpu_wq", "kworker/1:0")
	f("kworker/R-mm_percpu_wq", "kworker/R-mm_percpu_wq")
	f("jbd2/vda-8", "jbd2/vda-8")
}

func TestParseSched(t *testing.T) {
	f := func(text string, want schedStat, wantOK bool) {
		t.Helper()
		if st, ok := parseSched([]byte(text)); st != want && ok || ok != wantOK {
			t.Fatalf("parseSched(%q) = %+v, %t", text, st, ok)
		}
	}
	f("40790 79853 2\n", schedStat{40790, 79853}, true)
	f("40790\n", schedStat{}, false)
	f("", schedStat{}, false)
}

func TestParseHostCPU(t *testing.T) {
	f := func(text string, want uint64, wantOK bool) {
		t.Helper()
		if n, ok := parseHostCPU([]byte(text)); n != want || ok != wantOK {
			t.Fatalf("parseHostCPU(%q) = %d, %t", text, n, ok)
		}
	}
	f("cpu  10 20 30 400 5 0 7 8 0 0\ncpu0 1 1 1 1\n", 60, true)
	f("cpu0 10 20 30 400\n", 0, false)
	f("cpu 1 2\n", 0, false)
}
