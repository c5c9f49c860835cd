package contesttest

import (
	"bufio"
	"context"
	"io"
	"log"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kasoku/kasoku/internal/command"
)

// A Victim is the test binary as a service in a process of its own, which is killed again and again.
// Base may be used concurrently.
type Victim struct {
	t    *testing.T
	env  string
	app  *command.Process
	base atomic.Pointer[string]
}

// NewVictim returns one whose service gets a value in a variable of the environment; see [Main].
func NewVictim(t *testing.T, name, value string) *Victim {
	return &Victim{t: t, env: name + "=" + value}
}

// Main runs the tests, or where the variable is set the service, until it is killed: with its value, and
// what has to be called with the address once requests are accepted.
func Main(m *testing.M, name string, serve func(value string, ready func(address string)) error) {
	value := os.Getenv(name)
	if value == "" {
		os.Exit(m.Run())
	}
	ready := func(address string) {
		if _, err := io.WriteString(os.Stdout, address+"\n"); err != nil {
			log.Fatal(err)
		}
	}
	if err := serve(value, ready); err != nil {
		log.Fatal(err)
	}
}

// Start starts the service, and waits until it accepts requests.
func (v *Victim) Start() {
	v.t.Helper()
	out, said := io.Pipe()
	app, err := command.Start(context.Background(), command.Spec{Path: os.Args[0], Env: []string{v.env}, Stdout: said,
		Stderr: v.t.Output(), DieWithParent: true})
	if err != nil {
		v.t.Fatal(err)
	}
	v.app = app
	go func() {
		<-app.Done()
		_ = said.Close() // a pipe of memory
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		v.t.Fatalf("the service did not start: %v", err)
	}
	base := "http://" + strings.TrimSpace(address)
	v.base.Store(&base)
}

// Kill kills it with SIGKILL.
func (v *Victim) Kill() {
	if _, err := v.app.Kill(); err != nil {
		v.t.Error(err)
	}
}

// Base returns the URL of the service, without a slash at its end.
func (v *Victim) Base() string { return *v.base.Load() }
