//go:build unix

package mysqlflags

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is read as a file is, and one without a writer is an error.
func TestReadDefaults_Pipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(pipe, []byte("[client]\nuser=ann\n"), 0o600) }()
	d, err := ReadDefaults(pipe)
	if err != nil || d.User != "ann" {
		t.Errorf("%+v, %v", d, err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	if _, err := ReadDefaults(pipe); err == nil || !strings.Contains(err.Error(), "no program writes to") {
		t.Errorf("without a writer: %v", err)
	}
}
