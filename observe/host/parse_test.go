package host

import (
	"testing"

	kasoku "github.com/kasoku/kasoku"
)

func TestParseStat_Failure(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if _, _, err := parseStat([]byte(text), nil); err == nil {
			t.Fatalf("no error for %q", text)
		}
	}
	f("")
	f("ctxt 1\n")
	f("cpu 1 2 3\n")
	f("cpu a b c d e\n")
	f("cpu 1 2 3 4 5\nctxt many\n")
	f("cpu 1 2 3 4 5\nprocs_running\n")
}

func TestParseLoad_Failure(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if v, err := parseLoad([]byte(text)); err == nil || v != 0 {
			t.Fatalf("parseLoad(%q) = %v, %v", text, v, err)
		}
	}
	f("")
	f("x 1 2")
	f("-0.1 1 2")
}

func TestParsePressure_Success(t *testing.T) {
	f := func(text string, want stall) {
		t.Helper()
		got, err := parsePressure([]byte(text))
		if err != nil || got != want {
			t.Fatalf("parsePressure(%q) = %+v, %v", text, got, err)
		}
	}
	f("", stall{})
	f("some avg10=2.33 avg60=1.34 avg300=1.55 total=23741892\n", stall{some: 23741892, hasSome: true})
	f("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		stall{some: 1, hasSome: true, hasFull: true})
}

func TestParsePressure_Failure(t *testing.T) {
	f := func(text string) {
		t.Helper()
		if got, err := parsePressure([]byte(text)); err == nil || got != (stall{}) {
			t.Fatalf("parsePressure(%q) = %+v, %v", text, got, err)
		}
	}
	f("some avg10=2.33\n")
	f("some total=\n")
	f("some total=1\nfull total=-1\n")
}

func TestParseDisk(t *testing.T) {
	f := func(line, wantName string, want diskStat, wantErr bool) {
		t.Helper()
		name, d, err := parseDisk([]byte(line))
		if string(name) != wantName || d != want || (err != nil) != wantErr {
			t.Fatalf("parseDisk(%q) = %q, %+v, %v", line, name, d, err)
		}
	}
	// Before 4.18 there are 11 fields, before 5.5 there are 15.
	old := diskStat{reads: 1, readSect: 3, readMS: 4, writes: 5, writeSect: 7, writeMS: 8, inFlight: 9, busyMS: 10, queueMS: 11}
	f("8 0 sda 1 2 3 4 5 6 7 8 9 10 11", "sda", old, false)
	f("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "sda", old, false)
	now := old
	now.flushes, now.flushMS, now.hasFlushes = 16, 17, true
	f("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "sda", now, false)
	f("", "", diskStat{}, true)
	f("8 0 sda 1 2 3", "", diskStat{}, true)
	f("8 0", "", diskStat{}, true)
}

func TestParseNIC(t *testing.T) {
	f := func(line, wantName string, want nicStat, wantOK, wantErr bool) {
		t.Helper()
		name, n, ok, err := parseNIC([]byte(line))
		if string(name) != wantName || n != want || ok != wantOK || (err != nil) != wantErr {
			t.Fatalf("parseNIC(%q) = %q, %+v, %t, %v", line, name, n, ok, err)
		}
	}
	want := nicStat{1, 2, 3, 4, 9, 10, 11, 12}
	f(" face |bytes    packets errs", "", nicStat{}, false, false)
	f("  eth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "eth0", want, true, false)
	f("eth0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16", "eth0:1", want, true, false)
	f("eth0: 1 2 3", "", nicStat{}, false, true)
	f(": 1 2 3 4 5 6 7 8 9 10 11 12 13", "", nicStat{}, false, true)
}

func TestParseGroup(t *testing.T) {
	f := func(text, want string, wantErr bool) {
		t.Helper()
		var got string
		err := parseGroup([]byte(text), "Tcp:", func(name, value []byte) error {
			got += string(name) + "=" + string(value) + " "
			return nil
		})
		if got != want || (err != nil) != wantErr {
			t.Fatalf("parseGroup(%q) = %q, %v", text, got, err)
		}
	}
	f("Ip: A\nIp: 1\nTcp: B C\nTcp: 2 -1\n", "B=2 C=-1 ", false)
	f("Tcp: B C\nTcp: 2\n", "B=2 ", true)
	f("Tcp: B\nTcp: 2 3\n", "B=2 ", true)
	f("Tcp: B\n", "", true)
	f("", "", true)
}

func TestParseSockets(t *testing.T) {
	f := func(text, want string, wantErr bool) {
		t.Helper()
		var got string
		err := parseSockets([]byte(text), func(name, value []byte) error {
			got += string(name) + "=" + string(value) + " "
			return nil
		})
		if got != want || (err != nil) != wantErr {
			t.Fatalf("parseSockets(%q) = %q, %v", text, got, err)
		}
	}
	f("sockets: used 17\nTCP: inuse 1 tw 2\n", "inuse=1 tw=2 ", false)
	f("sockets: used 17\n", "", true)
}

func TestBadValuesAreErrors(t *testing.T) {
	f := func(collect func(*Source, []byte, *kasoku.Frame) error, text string) {
		t.Helper()
		if err := collect(&Source{}, []byte(text), &kasoku.Frame{}); err == nil {
			t.Fatalf("no error for %q", text)
		}
	}
	f((*Source).collectMemory, "MemTotal: many kB\n")
	f((*Source).collectVM, "oom_kill -1\n")
	f((*Source).collectSNMP, "Tcp: CurrEstab\nTcp: x\n")
	f((*Source).collectSNMP, "Tcp: OutRsts\nTcp: x\n")
	f((*Source).collectTCPExt, "TcpExt: ListenDrops\nTcpExt: x\n")
	f((*Source).collectSNMP, "Tcp: OutRsts\nTcp: 1\nUdp: NoPorts\nUdp: x\n")
	f((*Source).collectSockets, "TCP: tw x\n")
	f((*Source).collectSoftnet, "19226c8e 000014bc\n")
	f((*Source).collectSoftnet, "19226c8e 000014bg 0\n")
	f((*Source).collectConntrack, "entries found\n0 0\n")
	f((*Source).collectConntrack, "insert_failed drop early_drop\n0 x 0\n")
	f(single("conntrack.count"), "-1\n")
	f((*Source).collectFiles, "593 0\n")
	f((*Source).collectFiles, "1 2 3\n")
}
