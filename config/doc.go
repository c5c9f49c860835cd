// Package config reads kasoku.toml, the file that says what is measured, how the
// load is made, which logs and servers are watched and what is kept with a run.
//
// The one idea: the file is strict and says where it is wrong. An unknown key, a
// value of another type or two settings that exclude each other is an [Error]
// that names file, line and key, what was expected, and the key that was meant.
// What is left out has the value of [Default].
//
// [Load] reads a file, [Find] looks for it upward, [Parse] is the pure part.
// Relative paths are relative to the file's directory, ~/ is the home directory;
// after reading they are absolute. Durations are those of [unit.ParseDuration],
// rates are requests per second. docs/config.md lists the keys; the struct tag
// toml is the key, eg an example of its value.
//
// Nothing here looks at the machine: whether a log exists is the question of
// `kasoku doctor`. Source: TOML v1.0.0, toml.io.
package config
