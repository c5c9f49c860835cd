// Package story shows a demo in one document: a run that broke, each fix tried alone, and
// the run with all of them, on one scale.
package story
