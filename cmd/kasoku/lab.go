package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/command"
	"github.com/kasoku/kasoku/labs/userapi"
)

// lab is one sample target; the table of labs stands here and nowhere else.
type lab struct {
	name, about string
	defects     userapi.Defects
}

func labs() []lab {
	return []lab{{
		name:    "userapi",
		about:   "REST API, POST /users writes one row; connection pool, ORM and prepare defects",
		defects: userapi.Known(),
	}}
}

// labState is what a running lab leaves in its directory for up and down.
type labState struct {
	Name      string `json:"name"`
	Pid       int    `json:"pid"` // of the supervisor; its end stops all
	AppPid    int    `json:"app_pid"`
	DBPid     int    `json:"db_pid"`
	URL       string `json:"url"`
	DSN       string `json:"dsn"`
	AccessLog string `json:"access_log"`
	AppLog    string `json:"app_log"`
	Defects   string `json:"defects"`
	Database  string `json:"database"`
}

func newLab(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Start and stop sample services with seeded defects",
		Example: `  kasoku lab list
  kasoku lab up userapi
  kasoku lab up userapi --defects none --db mysql
  kasoku lab down userapi`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLabList(e), newLabUp(e), newLabDown(e), newLabServe(e), newLabSupervise(e))
	return cmd
}

func newLabList(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the labs and which of them run",
		Example: "  kasoku lab list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, l := range labs() {
				status := "stopped"
				if s, err := readLab(e, l.name); err == nil && alive(s.Pid) {
					status = "runs at " + s.URL
				}
				fmt.Fprintf(e.stdout, "%s  %s\n         %s\n         defects %s\n", l.name, status, l.about, l.defects)
			}
			return nil
		},
	}
}

func newLabUp(e *env) *cobra.Command {
	var o labFlags
	cmd := &cobra.Command{
		Use:         "up NAME",
		Short:       "Start a lab with a private database, in the background",
		Annotations: map[string]string{"vegeta": "flags"},
		Example: `  kasoku lab up userapi
  kasoku lab up userapi --defects POOL-01,POOL-02
  kasoku lab up userapi --defects none --db mysql`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return labUp(cmd.Context(), e, args[0], o)
		},
	}
	o.register(cmd)
	return cmd
}

// labFlags are the flags of lab up, passed on to the supervisor.
type labFlags struct {
	defects, database, listen string
}

func (o *labFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.defects, "defects", "all", "seeded defects: `IDS` with commas, all that make it slow, or none")
	cmd.Flags().StringVar(&o.database, "db", "mariadb", "database: mariadb or mysql")
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "`ADDRESS` of the service; port 0 takes a free one")
}

func labUp(ctx context.Context, e *env, name string, o labFlags) error {
	if err := knownLab(name); err != nil {
		return err
	}
	if _, err := userapi.ParseDefects(o.defects); err != nil {
		return usagef("", "--defects: %w", err)
	}
	if err := knownDatabase(o.database); err != nil {
		return err
	}
	if s, err := readLab(e, name); err == nil && alive(s.Pid) {
		return hinted{fmt.Errorf("%s runs already at %s", name, s.URL), "`kasoku lab down " + name + "` stops it"}
	}
	dir := labDir(e, name)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	logFile, err := os.Create(filepath.Join(dir, "supervisor.log"))
	if err != nil {
		return err
	}
	defer logFile.Close()
	p, err := command.Start(context.WithoutCancel(ctx), command.Spec{
		Path: self, Args: []string{"lab", "supervise", name, "--dir", dir, "--defects", o.defects, "--db", o.database, "--listen", o.listen},
		Stdout: logFile, Stderr: logFile, NewSession: true,
	})
	if err != nil {
		return fmt.Errorf("start lab: %w", err)
	}
	s, err := waitLab(ctx, e, name, p)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, `%s runs with defects %s
  url         %s
  database    %s
  access log  %s
  app log     %s
  app pid     %d
next  %s record --mysql '%s' --accesslog %s --applog %s --pid %d,%d -o before.kasoku -- \
        %s attack -rate 10,100,1000 -duration 10s --pause 3s -target 'POST %s/users'
`, s.Name, s.Defects, s.URL, s.DSN, s.AccessLog, s.AppLog, s.AppPid,
		e.name, s.DSN, s.AccessLog, s.AppLog, s.AppPid, s.DBPid, e.name, s.URL)
	return nil
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
			if err := knownLab(name); err != nil {
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
	var dir string
	cmd := &cobra.Command{
		Use: "supervise NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, _, stop := interruptible(cmd.Context())
			defer stop()
			return supervise(ctx, args[0], dir, o)
		},
	}
	o.register(cmd)
	cmd.Flags().StringVar(&dir, "dir", "", "")
	return cmd
}

func supervise(ctx context.Context, name, dir string, o labFlags) (err error) {
	defects, err := userapi.ParseDefects(o.defects)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	stack, err := userapi.Up(ctx, userapi.Options{Dir: dir, Database: o.database, Listen: o.listen, Program: self})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stack.Down(context.WithoutCancel(ctx))) }()
	pid, err := stack.StartApp(ctx, defects, 0)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(labState{
		Name: name, Pid: os.Getpid(), AppPid: pid, DBPid: stack.DB.Pid(), URL: stack.URL(), DSN: stack.DSN,
		AccessLog: stack.AccessLog, AppLog: stack.AppLog, Defects: defects.String(), Database: o.database,
	}, "", "  ")
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, "state.json.new")
	if err := os.WriteFile(temp, append(b, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, "state.json")); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// newLabServe is the service itself, a process of its own.
func newLabServe(e *env) *cobra.Command {
	var listen, defects, accessLog, ready string
	var maxIdle int
	cmd := &cobra.Command{
		Use: "serve NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := knownLab(args[0]); err != nil {
				return err
			}
			d, err := userapi.ParseDefects(defects)
			if err != nil {
				return usagef("", "--defects: %w", err)
			}
			out, err := os.OpenFile(accessLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			defer out.Close()
			ctx, _, stop := interruptible(cmd.Context())
			defer stop()
			return userapi.Serve(ctx, userapi.Config{
				Listen: listen, DSN: e.getenv("KASOKU_LAB_DSN"), Defects: d, MaxIdle: maxIdle, AccessLog: out, AppLog: e.stderr,
				Ready: func(addr string) {
					if ready != "" {
						os.WriteFile(ready, []byte(addr+"\n"), 0o600) //nolint:errcheck // who waits for it times out
					}
				},
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:0", "")
	f.StringVar(&defects, "defects", "all", "")
	f.StringVar(&accessLog, "access-log", os.DevNull, "")
	f.StringVar(&ready, "ready", "", "")
	f.IntVar(&maxIdle, "max-idle", 0, "")
	return cmd
}

func knownLab(name string) error {
	for _, l := range labs() {
		if l.name == name {
			return nil
		}
	}
	return usagef("`kasoku lab list` has all", "no lab %q", name)
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
