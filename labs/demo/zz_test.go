package demo

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/loop"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/html"
	"github.com/kasoku/kasoku/report/terminal"
)

type tell struct{}

func (tell) Chapter(n, of int, title string) { fmt.Println("\n##", n, of, title) }
func (tell) Progress(p loop.Progress) {
	if p.Over {
		fmt.Println("  step", p.Step.PerSec, p.OK, p.Failed, p.P99)
	}
}
func (tell) Run(rec *kasoku.Recording) {
	terminal.Write(os.Stdout, report.Show(rec, report.Options{Sections: []string{"steps", "warnings", "cost"}}), terminal.Options{Width: 120})
}
func (tell) Diagnosis(rec *kasoku.Recording) {
	terminal.Write(os.Stdout, report.Show(rec, report.Options{}), terminal.Options{Width: 120})
}
func (tell) Try(t Try) { fmt.Println("TRY", t.ID, t.What, t.Effect.Verdict, t.Effect.Why) }
func (tell) Comparison(c *compare.Comparison) {
	terminal.Write(os.Stdout, report.Compare(c, report.Options{}), terminal.Options{Width: 120})
}

func TestZZ(t *testing.T) {
	res, err := Run(context.Background(), Options{Dir: os.Getenv("OUT"), Work: t.TempDir(), Program: os.Getenv("PROG"), Database: os.Getenv("DB"), Version: "dev", Tell: tell{}})
	fmt.Printf("%+v\nERR %v\n", res.Summary, err)
	if res.Before != nil {
		f, _ := os.Create(os.Getenv("OUT") + "/report.html")
		html.Write(f, report.Tell(report.Story{Before: res.Before, After: res.After, Comparison: res.Comparison}, report.Options{}))
		f.Close()
	}
}
