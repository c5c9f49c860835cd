package labcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
)

// labState is what a running lab leaves in its directory for up and down.
type labState struct {
	Name      string `json:"name"`
	Pid       int    `json:"pid"` // of the supervisor; its end stops all
	AppPid    int    `json:"app_pid"`
	DBPid     int    `json:"db_pid"`
	NginxPid  int    `json:"nginx_pid,omitempty"`
	URL       string `json:"url"`
	AppURL    string `json:"app_url,omitempty"` // of the service that nginx passes to
	DSN       string `json:"dsn"`
	AccessLog string `json:"access_log"`
	ErrorLog  string `json:"error_log,omitempty"`
	AppLog    string `json:"app_log"`
	Defects   string `json:"defects"`
	Database  string `json:"database"`

	Variant string `json:"variant,omitempty"` // the next four of isuumo
	Size    string `json:"size,omitempty"`
	Data    string `json:"data,omitempty"`
	Seed    uint64 `json:"seed,omitempty"`
}

// text describes where a lab runs.
func (s *labState) text() string {
	out := s.Name + " runs with defects " + s.Defects + "\n"
	if s.Variant != "" {
		out = s.Name + " runs, variant " + s.Variant + ", with defects " + s.Defects + "\n"
	}
	for _, line := range [][2]string{
		{"url", s.URL}, {"service", s.AppURL}, {"database", s.DSN}, {"access log", s.AccessLog}, {"error log", s.ErrorLog},
		{"app log", s.AppLog}, {"app pid", strconv.Itoa(s.AppPid)},
	} {
		if line[1] != "" {
			out += fmt.Sprintf("  %-11s %s\n", line[0], line[1])
		}
	}
	return out
}

// startLab starts the supervisor of a lab in the background and waits until the lab
// runs. Otherwise it leaves nothing but the logs, and not even those when ctx ends.
func startLab(ctx context.Context, e *cli.Env, name string, args []string) (s labState, err error) {
	lock, err := takeLock(labLock(e, name))
	if errors.Is(err, errLocked) {
		return s, runsAlready(e, name)
	}
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	dir := labDir(e, name)
	if err := os.RemoveAll(dir); err != nil {
		return s, err
	}
	if err := private.State.MkdirAll(dir); err != nil {
		return s, err
	}
	p, err := startSupervisor(name, dir, lock, args)
	if err != nil {
		return s, err
	}
	s, err = waitLab(ctx, e, name, p)
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		return s, errors.Join(cli.Stopped("stopped before the lab ran: "+context.Cause(ctx).Error()), os.RemoveAll(dir), os.Remove(lock.Name()))
	}
	return s, errors.Join(err, keepLogs(dir), os.Remove(lock.Name()))
}

// startSupervisor starts the process that owns the lab. It holds the lock, which is
// its standard input, so that none of its own children gets it.
func startSupervisor(name, dir string, lock *os.File, args []string) (*command.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := private.State.Create(filepath.Join(dir, "supervisor.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p, err := command.Start(context.Background(), command.Spec{
		Path: self, Args: append([]string{"lab", "supervise", name, "--dir", dir}, args...),
		Stdin: lock, Stdout: log, Stderr: log, NewSession: true, Grace: stopLimit,
	})
	if err != nil {
		return nil, fmt.Errorf("start lab: %w", err)
	}
	if _, err := fmt.Fprintln(lock, p.Pid()); err != nil {
		_, stopErr := p.Stop()
		return nil, errors.Join(fmt.Errorf("start lab: %w", err), stopErr)
	}
	return p, nil
}

// runsAlready reports what stands in the way of a start.
func runsAlready(e *cli.Env, name string) error {
	where := "is just being started or stopped"
	if s, err := readLab(e, name); err == nil {
		where = "runs already at " + s.URL
	}
	return cli.WithHint(fmt.Errorf("%s %s", name, where), "`kasoku lab down "+name+"` stops it")
}

// keepLogs removes what lies in a lab's directory but for its logs.
func keepLogs(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".log" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// waitLab waits until a lab reports where it runs. Else its supervisor has ended.
func waitLab(ctx context.Context, e *cli.Env, name string, p *command.Process) (labState, error) {
	limit, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if s, err := readLab(e, name); err == nil {
			return s, nil
		}
		select {
		case <-tick.C:
		case <-p.Done():
			log, err := os.ReadFile(filepath.Join(labDir(e, name), "supervisor.log"))
			if err != nil {
				return labState{}, fmt.Errorf("lab %s did not start: %w", name, err)
			}
			return labState{}, didNotStart(name, string(log))
		case <-limit.Done():
			_, err := p.Stop()
			return labState{}, errors.Join(fmt.Errorf("lab %s did not start within a minute", name), err)
		}
	}
}

// didNotStart passes on what the supervisor said before it ended.
func didNotStart(name, log string) error {
	said, hint, _ := strings.Cut(strings.TrimSpace(log), "\nkasoku: hint: ")
	for _, prefix := range []string{"kasoku: error: ", "exit 3: "} {
		said = strings.TrimPrefix(said, prefix)
	}
	return cli.WithHint(fmt.Errorf("lab %s did not start: %s", name, said), hint)
}

func newLabDown(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "down NAME",
		Short:   "Stop a lab and remove its data",
		Example: "  kasoku lab down userapi",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if _, err := labNamed(name); err != nil {
				return err
			}
			was, err := stopLab(cmd.Context(), e, name)
			if err != nil {
				return err
			}
			fmt.Fprintf(e.Stdout, "%s %s\n", name, was)
			return nil
		},
	}
}

// stopLab stops a lab that runs or is being started, and removes what it left.
func stopLab(ctx context.Context, e *cli.Env, name string) (was string, err error) {
	was = "does not run"
	lock, err := takeLock(labLock(e, name))
	if errors.Is(err, errLocked) {
		was = "stopped"
		lock, err = endSupervisor(ctx, e, name)
	}
	if err != nil {
		return was, err
	}
	return was, errors.Join(os.RemoveAll(labDir(e, name)), dropLock(lock))
}

// endSupervisor ends a lab's supervisor, and with it all of the lab, and takes the
// lock that it held.
func endSupervisor(ctx context.Context, e *cli.Env, name string) (*os.File, error) {
	pid, err := supervisorOf(e, name)
	if err != nil {
		return nil, err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return nil, fmt.Errorf("stop lab %s: %w", name, err)
	}
	lock, err := waitLock(ctx, labLock(e, name))
	if err != nil {
		return nil, fmt.Errorf("lab %s (pid %d) did not stop: %w", name, pid, err)
	}
	return lock, nil
}

// stopLimit is how long a lab may take to stop.
const stopLimit = 20 * time.Second

// waitLock waits until the lock is free, and takes it.
func waitLock(ctx context.Context, path string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		f, err := takeLock(path)
		if !errors.Is(err, errLocked) {
			return f, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// newLabSupervise is the background process that owns database and service.
func newLabSupervise(e *cli.Env) *cobra.Command {
	var o labFlags
	cmd := &cobra.Command{
		Use: "supervise NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given(cmd.Flags())
			ctx, _, stop := cli.Interruptible(cmd.Context())
			defer stop()
			return superviseLab(ctx, args[0], &o)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.dir, "dir", "", "")
	return cmd
}

func superviseLab(ctx context.Context, name string, o *labFlags) (err error) {
	l, err := labNamed(name)
	if err != nil {
		return err
	}
	if o.self, err = os.Executable(); err != nil {
		return err
	}
	s, down, err := l.start(ctx, o)
	if err != nil && ctx.Err() != nil {
		return cli.Stopped("stopped before it ran: " + context.Cause(ctx).Error())
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, down(context.WithoutCancel(ctx))) }()
	s.Name, s.Pid, s.Database = name, os.Getpid(), o.database
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	temp := filepath.Join(o.dir, "state.json.new")
	if err := os.WriteFile(temp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(o.dir, "state.json")); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// knownDatabase refuses a value of --db that is none.
func knownDatabase(name string) error {
	if name != "mariadb" && name != "mysql" {
		return cli.Usagef("", "--db %q: want mariadb or mysql", name)
	}
	return nil
}

// labDir is where a lab keeps its data and state.
func labDir(e *cli.Env, name string) string {
	base := e.Getenv("XDG_STATE_HOME")
	if base == "" {
		base = filepath.Join(e.Getenv("HOME"), ".local", "state")
	}
	return filepath.Join(base, "kasoku", "labs", name)
}

func readLab(e *cli.Env, name string) (labState, error) {
	b, err := os.ReadFile(filepath.Join(labDir(e, name), "state.json"))
	if err != nil {
		return labState{}, err
	}
	var s labState
	return s, json.Unmarshal(b, &s)
}
