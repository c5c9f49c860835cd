package store

import (
	"errors"
	"os"
	"path/filepath"
)

// Remove deletes a run's file and what lies beside it. A run that is being recorded
// is refused with [ErrBusy], a file that is no run with [ErrNotRun] unless it is
// named like one.
func Remove(path string) error {
	s, err := currentSchema()
	if err == nil {
		err = opener{s}.settle(path)
	}
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrNotFound) || err != nil && filepath.Ext(path) != Extension {
		return stepError("remove run file", path, err)
	}
	errs := []error{os.Remove(path)}
	for _, name := range withLogs(path)[1:] {
		if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return stepError("remove run file", path, errors.Join(errs...))
}

// Copy copies a run's file to one that must not exist. A run that is being recorded
// is refused with [ErrBusy]; one whose recorder was killed is recovered first.
func Copy(from, to string) error {
	s, err := currentSchema()
	if err == nil {
		err = opener{s}.settle(from)
	}
	if err != nil {
		return stepError("copy run file", from, err)
	}
	if _, err := os.Lstat(to); err == nil {
		return stepError("copy run file", to, os.ErrExist)
	}
	if err := copyFile(to, target(from)); err != nil {
		_ = os.Remove(to) // the copy's error is the one to report
		return stepError("copy run file", to, err)
	}
	return nil
}

// settle makes sure that no one records into a file, and makes one file of what a
// killed recorder left.
func (o opener) settle(path string) error {
	path = target(path)
	f, err := look(path)
	if err != nil || !f.left {
		return err
	}
	if by, err := recorderOf(path); err == nil && by.alive() {
		return ErrBusy
	}
	err = o.repair(path)
	if isBusy(err) {
		return ErrBusy
	}
	return err
}
