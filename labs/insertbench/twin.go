package insertbench

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/private"
)

//go:embed twin.py
var twinProgram string

// pymysql is what pip installs where the system has no PyMySQL.
const pymysql = "PyMySQL==1.1.1"

// installLimit is how long it may take to make the virtual environment.
const installLimit = 2 * time.Minute

// outputLimit is how much of what Python prints on the way is kept, in bytes.
const outputLimit = 64 << 10

// prepareTwin makes a virtual environment with PyMySQL in the directory, unless it is there,
// and returns the command line of the twin. A PyMySQL of the system's own is taken;
// otherwise pip fetches it.
func prepareTwin(ctx context.Context, dir string) ([]string, error) {
	program := filepath.Join(dir, "twin.py")
	if err := private.State.WriteFile(program, []byte(twinProgram)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	venv := filepath.Join(dir, "venv")
	python := filepath.Join(venv, "bin", "python3")
	run := func(name string, args ...string) error {
		_, err := command.Output(ctx, command.Spec{Path: name, Args: args}, outputLimit)
		return err
	}
	usable := func() bool { return run(python, "-c", "import pymysql") == nil }
	if usable() {
		return []string{python, program}, nil
	}
	system := "/usr/bin/python3" // the one whose modules are packages of the system
	if _, err := os.Stat(system); err != nil {
		system = "python3"
	}
	if err := run(system, "-m", "venv", "--clear", "--without-pip", "--system-site-packages", venv); err == nil &&
		usable() {
		return []string{python, program}, nil
	}
	if err := run(system, "-m", "venv", "--clear", venv); err != nil {
		return nil, fmt.Errorf("make a virtual environment of Python: %w", err)
	}
	if err := run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", pymysql); err != nil {
		return nil, fmt.Errorf("install PyMySQL: %w", err)
	}
	return []string{python, program}, nil
}
