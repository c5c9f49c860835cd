package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// StdinTTY reports whether somebody can answer.
func (e *Env) StdinTTY() bool {
	f, ok := e.Stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Confirm asks a question on a terminal; only y and yes are yes.
func (e *Env) Confirm(question string) (bool, error) {
	fmt.Fprintf(e.Stderr, "%s [y/N] ", question)
	answer, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read answer: %w", err)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
