package command

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Become replaces this process by a program, whose argument 0 is name, with a variable set in
// the environment of the caller. It returns only with an error.
//
// Source: execve(2).
func Become(path, name, variable, value string) error {
	env := []string{variable + "=" + value}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, variable+"=") {
			env = append(env, v)
		}
	}
	if err := syscall.Exec(path, []string{name}, env); err != nil {
		return fmt.Errorf("run %s: %w", path, err)
	}
	return nil
}
