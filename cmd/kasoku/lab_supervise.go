package main

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

	"github.com/kasoku/kasoku/command"
)

// labState is what a running lab leaves in its directory for up and down.
type labState struct {
	Name      string `json:"name"`
	Pid       int    `json:"pid"` // of the supervisor; its end stops all
	AppPid    int    `json:"app_pid"`
	DBPid     int    `json:"db_pid"`
	NginxPid  int    `json:"nginx_pid,omitempty"`
	URL       string `json:"url"`
	AppURL    string `json:"app_url,omitempty"` // of the service behind nginx
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

// text tells where a lab runs.
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

func waitLab(ctx context.Context, e *env, name string, p *command.Process) (labState, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
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
		case <-ctx.Done():
			_, err := p.Stop()
			return labState{}, errors.Join(fmt.Errorf("lab %s did not start within a minute", name), err)
		}
	}
}

// didNotStart passes on what the supervisor said before it ended.
func didNotStart(name, log string) error {
	said, hint, _ := strings.Cut(strings.TrimSpace(log), "\nkasoku: hint: ")
	return hinted{fmt.Errorf("lab %s did not start: %s", name, strings.TrimPrefix(said, "kasoku: error: ")), hint}
}

func newLabDown(e *env) *cobra.Command {
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
			s, err := readLab(e, name)
			if err != nil || !alive(s.Pid) {
				fmt.Fprintf(e.stdout, "%s does not run\n", name)
				return os.RemoveAll(labDir(e, name))
			}
			if err := syscall.Kill(s.Pid, syscall.SIGTERM); err != nil {
				return fmt.Errorf("stop lab %s: %w", name, err)
			}
			if err := waitGone(cmd.Context(), s.Pid); err != nil {
				return fmt.Errorf("lab %s (pid %d) did not stop: %w", name, s.Pid, err)
			}
			fmt.Fprintf(e.stdout, "%s stopped\n", name)
			return os.RemoveAll(labDir(e, name))
		},
	}
}

// waitGone waits until the process has ended, at most 20 s.
func waitGone(ctx context.Context, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// newLabSupervise is the background process that owns database and service.
func newLabSupervise(e *env) *cobra.Command {
	var o labFlags
	cmd := &cobra.Command{
		Use: "supervise NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given(cmd.Flags())
			ctx, _, stop := interruptible(cmd.Context())
			defer stop()
			return supervise(ctx, args[0], &o)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&o.dir, "dir", "", "")
	return cmd
}

func supervise(ctx context.Context, name string, o *labFlags) (err error) {
	l, err := labNamed(name)
	if err != nil {
		return err
	}
	if o.self, err = os.Executable(); err != nil {
		return err
	}
	s, down, err := l.start(ctx, o)
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
		return usagef("", "--db %q: want mariadb or mysql", name)
	}
	return nil
}

// labDir is where a lab keeps its data and state.
func labDir(e *env, name string) string {
	base := e.getenv("XDG_STATE_HOME")
	if base == "" {
		base = filepath.Join(e.getenv("HOME"), ".local", "state")
	}
	return filepath.Join(base, "kasoku", "labs", name)
}

func readLab(e *env, name string) (labState, error) {
	b, err := os.ReadFile(filepath.Join(labDir(e, name), "state.json"))
	if err != nil {
		return labState{}, err
	}
	var s labState
	return s, json.Unmarshal(b, &s)
}

// alive reports whether a process with the pid exists.
func alive(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }
