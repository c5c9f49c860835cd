package mask

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/observe/sockets"
)

// A file is a run file's series.
type file struct{ written []place }

func (f *file) Frame(x *kasoku.Frame) error {
	for _, s := range x.Samples {
		f.written = append(f.written, place{x.Source, s.Name, s.Instance})
	}
	return nil
}

func (f *file) Gap(kasoku.Gap) error     { return nil }
func (f *file) Event(kasoku.Event) error { return nil }

func (f *file) RenameInstances(source string, rename func(series, instance string) string) error {
	for i, p := range f.written {
		if p.source == source {
			f.written[i].instance = rename(p.kind, p.instance)
		}
	}
	return nil
}

func (f *file) String() (s string) {
	for _, p := range f.written {
		s += fmt.Sprintf("%s %s %q\n", p.source, p.kind, p.instance)
	}
	return s
}

// TestCover: while a run goes on its file names the service alone; at its end who turned out to be of it has
// its name back, and who did not has none.
func TestCover(t *testing.T) {
	service := &kasoku.Service{Members: []kasoku.Member{{Program: "nginx", Sure: kasoku.High,
		Processes: []kasoku.MemberProcess{{PID: 7, Leader: true}}, Listeners: []kasoku.Listener{{Network: "tcp", Address: "0.0.0.0:80"}}}}}
	known := false
	names := func() *Names {
		if !known {
			return nil
		}
		return OwnNames(service, nil, nil, func(string) bool { return false })
	}
	var f file
	c := NewCover(&f, names)
	at := time.Duration(0)
	send := func(source string, samples ...kasoku.Sample) {
		t.Helper()
		at += time.Second
		if err := c.Frame(&kasoku.Frame{Source: source, At: at, Samples: slices.Clone(samples)}); err != nil {
			t.Fatal(err)
		}
	}
	of := func(series, instance string) kasoku.Sample { return kasoku.Sample{Name: series, Instance: instance} }
	send(process.Name, of("cpu.user", "5 early"), of("cpu.user", "7 nginx")) // nothing is known yet
	if len(f.written) > 0 {
		t.Errorf("named before anything is known: %s", &f)
	}
	known = true
	send(process.Name, of("cpu.user", "5 early"), of("cpu.user", "7 nginx"), of("cpu.user", "8 puma"), of("cpu.user", "9 secret"),
		of("cpu.user", "9 another"), of("exe.cpu", "puma"), of("exe.cpu", "secret"))
	send(process.Name, of("rss", "8 puma"), of("cpu.user", "8 puma"))
	send(sockets.Name, of("listen", "at 80"), of("listen", "at 8099"), of("listen", "at 8098"))
	send("host", of("cpu", "8 puma")) // of another source
	if got, want := f.String(), `process cpu.user "5 neighbour"
process cpu.user "7 nginx"
process cpu.user "5 neighbour"
process cpu.user "7 nginx"
process cpu.user "8 neighbour"
process cpu.user "9 neighbour"
process cpu.user "9 neighbour #4"
process exe.cpu "neighbour #5"
process exe.cpu "neighbour #6"
process rss "8 neighbour"
process cpu.user "8 neighbour"
sockets listen "at 80"
sockets listen "at others #8"
sockets listen "at others #9"
host cpu "8 puma"
`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	service.Members = append(service.Members, kasoku.Member{Program: "puma", Sure: kasoku.High,
		Processes: []kasoku.MemberProcess{{PID: 8, Leader: true}}, Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:8099"}}})
	all := file{slices.Clone(f.written)} // where nothing is known in the end
	if err := c.Uncover(&f, names()); err != nil {
		t.Fatal(err)
	}
	if got, want := f.String(), `process cpu.user "5 neighbour"
process cpu.user "7 nginx"
process cpu.user "5 neighbour"
process cpu.user "7 nginx"
process cpu.user "8 puma"
process cpu.user "9 neighbour"
process cpu.user "9 neighbour"
process exe.cpu "puma"
process exe.cpu "neighbour"
process rss "8 puma"
process cpu.user "8 puma"
sockets listen "at 80"
sockets listen "at 8099"
sockets listen "at others"
host cpu "8 puma"
`; got != want {
		t.Errorf("in the end %s\nwant %s", got, want)
	}
	if err := c.Uncover(&all, nil); err != nil {
		t.Fatal(err)
	}
	if got := all.written[6].instance + all.written[7].instance + all.written[12].instance; got != "9 anotherpumaat 8099" {
		t.Errorf("without a service: %s", got)
	}
}

// TestCover_Unknown: where nothing becomes known of a service, frames are held for three seconds, or to the end, and
// then all are there with their names.
func TestCover_Unknown(t *testing.T) {
	var f file
	c := NewCover(&f, func() *Names { return nil })
	for s, want := range []int{0, 0, 0, 4, 5} {
		frame := &kasoku.Frame{Source: process.Name, At: time.Duration(5+s) * time.Second, Samples: []kasoku.Sample{{Name: "rss", Instance: "5 any"}}}
		if err := c.Frame(frame); err != nil || len(f.written) != want {
			t.Errorf("frame %d: %d written, want %d: %v", s, len(f.written), want, err)
		}
	}
	var short file
	c = NewCover(&short, func() *Names { return nil })
	if err := errors.Join(c.Frame(&kasoku.Frame{Source: sockets.Name, Samples: []kasoku.Sample{{Instance: "at 1"}}}), c.Uncover(&short, nil)); err != nil {
		t.Fatal(err)
	}
	if got := f.String() + short.String(); strings.Count(got, "5 any") != 5 || strings.Count(got, "at 1") != 1 {
		t.Error(got)
	}
}

// TestCover_Memory: what is held of processes that come and go is that of the last two minutes, however long a run.
func TestCover_Memory(t *testing.T) {
	names := OwnNames(&kasoku.Service{Members: []kasoku.Member{{Program: "nginx", Sure: kasoku.High,
		Processes: []kasoku.MemberProcess{{PID: 7, Leader: true}}}}}, nil, nil, func(string) bool { return false })
	c := NewCover(&file{}, func() *Names { return names })
	for s := range 3600 {
		frame := kasoku.Frame{Source: process.Name, At: time.Duration(s) * time.Second, Samples: []kasoku.Sample{
			{Name: "rss", Instance: "7 nginx"}, {Name: "rss", Instance: fmt.Sprintf("%d sh", 100+s)}, {Name: "exe.cpu", Instance: "sh"}}}
		if err := c.Frame(&frame); err != nil {
			t.Fatal(err)
		}
		if want := "neighbour #2"; frame.Samples[2].Instance != want {
			t.Fatalf("second %d: %s, want %s: what is seen all the time is one series", s, frame.Samples[2].Instance, want)
		}
	}
	if len(c.shown) > 125 || len(c.real) > 125 {
		t.Errorf("%d and %d are remembered of 3,602", len(c.shown), len(c.real))
	}
}

// A fullFile takes no frame.
type fullFile struct{ *file }

func (fullFile) Frame(*kasoku.Frame) error { return errors.New("disk full") }

// TestCover_Full: frames that were held and that a full disk refuses have one error together.
func TestCover_Full(t *testing.T) {
	c := NewCover(fullFile{&file{}}, func() *Names { return nil })
	var err error
	for s := range 5 {
		err = c.Frame(&kasoku.Frame{Source: process.Name, At: time.Duration(s) * time.Second,
			Samples: []kasoku.Sample{{Name: "rss", Instance: "5 any"}}})
		if s == 3 && (err == nil || err.Error() != "disk full") {
			t.Errorf("four frames: %v", err)
		}
	}
}
