package stacks

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
)

// FuzzRecord: what is read of the kernel and of procfs is an error or is within its bounds.
func FuzzRecord(f *testing.F) {
	b := make([]byte, userAt+16)
	binary.LittleEndian.PutUint32(b[recordKernel:], 8)
	binary.LittleEndian.PutUint32(b[recordUser:], 16)
	f.Add(b)
	f.Add([]byte("[<0>] futex_wait_queue+0x60/0x90\n[<0>] do_futex+0xc5/0x190\n"))
	f.Add([]byte("202 0x7f0 0x80 0x0 0x0 0x0 0x0 0x7ffd 0x7f1\n"))
	f.Add([]byte("0-3,8\n"))
	f.Add([]byte("go1.26.8"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRecord(b)
		if err != nil && r.kernel != nil || len(r.kernel) > kernelRoom/8 || len(r.user) > len(b)/8 {
			t.Errorf("%v: %d and %d", err, len(r.kernel), len(r.user))
		}
		if got := parseStack(string(b)); len(got) > mostFrames {
			t.Error(len(got))
		}
		if _, fd := parseCall(string(b)); fd < -1 {
			t.Error(fd)
		}
		if l, ok := layoutOf(string(b)); ok && l.length > 256 {
			t.Error(l)
		}
		if stack := walk(b, seenRoutine{pc: 1, sp: 0x1000}, 0x1000); len(stack) > mostDepth {
			t.Error(len(stack))
		}
	})
}

func TestParseRecord(t *testing.T) {
	b := make([]byte, userAt+16)
	le := binary.LittleEndian
	le.PutUint32(b[recordKind:], kindWait)
	le.PutUint32(b[recordPID:], 7)
	le.PutUint32(b[recordFD:], 0xffffffff)
	le.PutUint32(b[recordKernel:], 8)
	le.PutUint32(b[recordUser:], 16)
	le.PutUint64(b[kernelAt:], 0xffffffff81000000)
	le.PutUint64(b[userAt+8:], 0x401000)
	r, err := parseRecord(b)
	if err != nil || r.kind != kindWait || r.pid != 7 || r.fd != -1 || !slices.Equal(r.kernel, []uint64{0xffffffff81000000}) ||
		!slices.Equal(r.user, []uint64{0, 0x401000}) {
		t.Errorf("%v: %+v", err, r)
	}
	if _, err := parseRecord(b[:userAt-1]); err == nil {
		t.Error("a record that is cut off is read")
	}
}

func TestParseStill(t *testing.T) {
	if got := parseStack("[<0>] futex_wait_queue+0x60/0x90\n[<ffffffff81>] do_futex+0xc5/0x190\nnonsense\n"); len(got) != 2 || got[1].Name != "do_futex" {
		t.Errorf("%+v", got)
	}
	if call, fd := parseCall("0 0x5 0x7f 0x1000\n"); runtime.GOARCH == "amd64" && (call != 0 || fd != 5) {
		t.Errorf("%d %d", call, fd)
	}
	if _, fd := parseCall("running\n"); fd != -1 {
		t.Error(fd)
	}
}

// TestReasons: functions of the kernel, of the outermost of a wait, and what they mean.
func TestReasons(t *testing.T) {
	for name, want := range map[string]Reason{
		"futex_wait_queue": Lock, "do_nanosleep": Sleep, "ep_poll": Events, "inet_csk_accept": Accept, "tcp_recvmsg_locked": Socket,
		"io_schedule_timeout": Disk, "anon_pipe_read": Pipe, "do_wait": Child, "rwsem_down_read_slowpath": Kernel, "do_task_dead": Ended,
	} {
		if got, ok := kernelReason(name); !ok || got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got, ok := kernelReason("vfs_read"); ok {
		t.Errorf("vfs_read is %s", got)
	}
}
