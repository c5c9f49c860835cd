// Package neighbours runs what else lives on a host beside the service that is measured.
//
// The one idea: a bed of real servers and programs that belong to no one's measurement:
// three databases, three nginx, a second project under load, a program that starts 50
// shells a second, a build; one third of it in network, process and mount namespaces of
// its own, as a container has them. One word stands in every path, configuration,
// statement, log line and page of the bed ([Bed.Word]), so that a test finds whatever of
// it has got into a run. A cgroup holds all of it to a share of one core, and accounts
// for what it used.
//
// A program that starts a bed calls [Main] first thing: the bed's parts are the same
// program again. It takes root, cgroups (version 1 or 2) with the controller cpu, and
// the programs mariadbd, nginx, php-fpm with mysqli, unshare and ip.
package neighbours

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox/quota"
)

// DefaultQuota is what a bed may use, in cores.
const DefaultQuota = 0.5

// startLimit is how long the parts may take to come up.
const startLimit = 2 * time.Minute

// Options configure what bed is made. The zero value is the whole one.
type Options struct {
	// Quota is what all of it may use together once it runs, in cores; 0: DefaultQuota.
	Quota float64
	// Container is whether a part runs in namespaces of its own.
	Container bool
	// Build is whether a Go program is built over and over.
	Build bool
}

// Whole has everything.
func Whole() Options { return Options{Quota: DefaultQuota, Container: true, Build: true} }

// A Part is what runs in one set of namespaces: on the host, or in the container.
type Part struct {
	Name  string         // "host" or "container"
	Ports map[string]int // that are listened on in its network namespace, by server
}

// A Bed is running until [Bed.Stop]. Its methods are not safe for concurrent use.
type Bed struct {
	Word  string // stands in all that the bed has
	Dir   string // of all its files; its name has the word
	Parts []Part

	group *quota.Group
	parts []*running
}

// running is a part as its maker sees it.
type running struct {
	process *command.Process
	hold    *os.File // closed: the part ends
}

// Start makes a bed, and returns when each of its projects has answered a request. The
// context bounds the start alone.
func Start(ctx context.Context, o Options) (bed *Bed, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("neighbours: root is needed, for cgroups and namespaces")
	}
	if o.Quota == 0 {
		o.Quota = DefaultQuota
	}
	random := make([]byte, 4)
	if _, err := rand.Read(random); err != nil {
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	b := &Bed{Word: "neighbour" + hex.EncodeToString(random)}
	if b.Dir, err = os.MkdirTemp("", b.Word+"-"); err != nil {
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Stop())
			bed = nil
		}
	}()
	if err := os.Chmod(b.Dir, 0o755); err != nil { // workers of other users enter it
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	if b.group, err = quota.New(b.Word); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	names := []string{hostPart}
	if o.Container {
		names = append(names, containerPart)
	}
	for _, name := range names {
		part, err := b.startPart(ctx, name, o.Build && name == hostPart)
		if err != nil {
			return nil, fmt.Errorf("neighbours: the part %s: %w", name, err)
		}
		b.Parts = append(b.Parts, part)
	}
	return b, b.group.Limit(o.Quota) // a start at half a core takes a minute
}

// startPart starts this program again as a part, and waits for what it prints when ready.
func (b *Bed) startPart(ctx context.Context, name string, build bool) (Part, error) {
	dir := filepath.Join(b.Dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return Part{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return Part{}, err
	}
	plan, err := json.Marshal(plan{Name: name, Word: b.Word, Dir: dir, Groups: b.group.Dirs(), Build: build})
	if err != nil {
		return Part{}, err
	}
	in, hold, err := os.Pipe()
	if err != nil {
		return Part{}, err
	}
	defer in.Close()
	out, say, err := os.Pipe()
	if err != nil {
		return Part{}, errors.Join(err, hold.Close())
	}
	defer out.Close()
	spec := command.Spec{
		Path: exe, Env: []string{planVariable + "=" + string(plan), "TMPDIR=" + dir},
		Stdin: in, Stdout: say, Stderr: os.Stderr, EndWithParent: true,
	}
	if name == containerPart {
		spec.Path, spec.Args = "unshare", []string{"--mount", "--pid", "--net", "--ipc", "--uts",
			"--fork", "--mount-proc", "--kill-child", exe}
	}
	process, err := command.Start(context.WithoutCancel(ctx), spec)
	_ = say.Close() // the part has it
	if err != nil {
		return Part{}, errors.Join(err, hold.Close())
	}
	b.parts = append(b.parts, &running{process: process, hold: hold})
	stop := context.AfterFunc(ctx, func() { _ = out.SetReadDeadline(time.Now()) })
	defer stop()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var part Part
	if err == nil {
		err = json.Unmarshal(line, &part)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it ended before it was ready; what it printed stands above")
	}
	return part, err
}

// CPU returns what the bed has used, by its cgroup's account.
func (b *Bed) CPU() (time.Duration, error) { return b.group.Used() }

// Stop ends all that the bed started, and removes its files. More than once is as good as
// once.
func (b *Bed) Stop() error {
	var errs []error
	if b.group != nil {
		errs = append(errs, b.group.Limit(0)) // an end at half a core takes long
	}
	for _, p := range b.parts {
		_ = p.hold.Close() // it may have ended by itself
		if _, err := p.process.Stop(); err != nil {
			var exit *command.ExitError
			if !errors.As(err, &exit) {
				errs = append(errs, err)
			}
		}
	}
	b.parts = nil
	if b.group != nil {
		errs = append(errs, b.group.Remove())
		b.group = nil
	}
	return errors.Join(append(errs, os.RemoveAll(b.Dir))...)
}
