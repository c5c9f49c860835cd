// Package demo carries one story through kasoku on the lab userapi, every part
// real: climb a ladder until the service breaks, name the causes, try each fix
// alone at the breaking step, apply all and climb again, prove the difference.
//
// [Run] does it. It never fakes: when nothing breaks it says so with what it
// measured ([ErrNotReproducible]); when the fix does not hold what it promised,
// [Summary.Failures] says what.
package demo
