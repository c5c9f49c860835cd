package neighbours

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/quota"
)

// The parts.
const (
	hostPart      = "host"
	containerPart = "container"
)

// planVariable hands a part its plan.
const planVariable = "KASOKU_NEIGHBOURS"

// A plan is what a part has to do.
type plan struct {
	Name, Word, Dir string
	Groups          []string // the cgroup's directories
	Build           bool
}

// Main makes the process a part of a bed when it was started as one; it then does not
// return.
func Main() {
	text := os.Getenv(planVariable)
	if text == "" {
		return
	}
	var p plan
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = os.Unsetenv(planVariable)
	}
	if err == nil {
		err = p.run()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "neighbours: the part %s: %v\n", p.Name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run starts the part, prints what it is, and keeps it until the standard input ends.
func (p *plan) run() error {
	if err := quota.Enter(p.Groups); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if p.Name == containerPart {
		if _, err := command.Run(ctx, command.Spec{Path: "ip", Args: []string{"link", "set", "lo", "up"}}); err != nil {
			return err
		}
	}
	part := Part{Name: p.Name, Ports: map[string]int{}}
	project, err := StartProject(ctx, p.Dir, p.Word)
	if err != nil {
		return err
	}
	defer project.Stop()
	part.Ports["mariadb"], part.Ports["nginx"] = project.DB.Port, project.Web.Port
	if p.Name == hostPart {
		idle, err := sandbox.MariaDB(ctx, sandbox.Options{Dir: filepath.Join(p.Dir, "idle")})
		if err != nil {
			return err
		}
		defer stop(idle)
		part.Ports["idle mariadb"] = idle.Port
		files, err := sandbox.Nginx(ctx, sandbox.NginxOptions{Dir: filepath.Join(p.Dir, "files")})
		if err != nil {
			return err
		}
		defer stop(files)
		part.Ports["nginx of files"] = files.Port
	}
	if err := p.startPrograms(ctx); err != nil {
		return err
	}
	loaded := p.startLoad(ctx, project)
	if err := json.NewEncoder(os.Stdout).Encode(part); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // its end is what is waited for
	cancel()
	<-loaded
	return nil
}

// stop stops a server; what the cgroup still has afterwards is killed.
func stop(s interface{ Stop(context.Context) error }) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.Stop(ctx)
}

// fill puts the word and the directory into a text.
func (p *plan) fill(text string) string {
	return strings.NewReplacer("{word}", p.Word, "{here}", p.Dir).Replace(text)
}

// startPrograms starts the one that forks, as another user, and the build.
func (p *plan) startPrograms(ctx context.Context) error {
	const other = 61004 // no host gives this number to a user
	forks := p.fill(`while :; do sh -c ': {word}'; sleep 0.02; done`)
	if _, err := command.Start(ctx, command.Spec{
		Path: "sh", Args: []string{"-c", forks}, As: &command.Identity{UID: other, GID: other}, CleanEnv: true, Dir: "/",
	}); err != nil || !p.Build {
		return err
	}
	build := p.fill(`while :; do go build -a -p 1 -o {here}/build/{word} net/http || sleep 1; done`)
	if err := os.Mkdir(filepath.Join(p.Dir, "build"), 0o755); err != nil {
		return err
	}
	_, err := command.Start(ctx, command.Spec{
		Path: "sh", Args: []string{"-c", build}, Dir: p.Dir, Env: []string{"GOCACHE=" + filepath.Join(p.Dir, "build"), "GOFLAGS="},
	})
	return err
}

// perSecond is the load of a project.
const perSecond = 20

// startLoad asks for the project's page again and again. What it returns is closed when
// it has ended.
func (p *plan) startLoad(ctx context.Context, project *Project) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second / perSecond)
		defer tick.Stop()
		for i := 1; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = project.Ask(ctx, i) // a slow neighbour is a neighbour all the same
			}
		}
	}()
	return done
}
