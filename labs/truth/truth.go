// Package truth counts how often a diagnosis is right, on labs whose defects are known
// because they were seeded.
//
// The one idea: a [Case] is one recorded run with what was seeded in it. A seeded defect
// is found when a finding has its id and names what the lab's table expects; a finding
// that nothing seeded explains is a false alarm. A defect that costs next to nothing
// in its lab is reported as a remark: it counts as found, and has a column of its own.
// [Judge] counts that of one run, [Table] adds up and prints.
package truth

import (
	"regexp"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/labs/kit"
)

// The names of variants that are no single id.
const (
	All  = "all"
	None = "none"
)

// A Lab is what of a lab's table the truth is.
type Lab struct {
	Name    string
	Defects []kit.Defect
	// Always are ids that are true in every variant, because the lab is meant so.
	Always []string
	// Apart are ids that are seeded alone, not with all.
	Apart []string
}

// Defect returns the defect of the id, nil of none.
func (l *Lab) Defect(id string) *kit.Defect {
	if i := slices.IndexFunc(l.Defects, func(d kit.Defect) bool { return d.ID == id }); i >= 0 {
		return &l.Defects[i]
	}
	return nil
}

// Variants are those that are run: all defects, each alone but slight ones, none.
func (l *Lab) Variants() []string {
	out := []string{All}
	for _, d := range l.Defects {
		if d.Slight == "" {
			out = append(out, d.ID)
		}
	}
	return append(out, None)
}

// A Case is one recorded run.
type Case struct {
	Lab     *Lab
	Variant string
	Seeded  []string // ids; those that have a rule
}

// A Row is what became of one run.
type Row struct {
	Lab, Variant string
	Seeded       []string
	First3       []string // seeded ids that are among the first three findings
	First5       []string // among the first five, with the right object
	Remarked     []string // those of First5 that are remarks: they cost little there
	Wrong        []string // found, but of another object: "IDX-01 table isu"
	Missed       []string // not among the first five, with the place where they stand else
	False        []string // "APP-01 process app"
	Right        int      // findings that are right: of seeded defects or explained by them
	Infos        int      // remarks
}

// top and few are how many findings people read, and how many they are sure to read.
const top, few = 5, 3

// Judge compares a diagnosis with what was seeded.
func Judge(c Case, d *kasoku.Diagnosis) Row {
	row := Row{Lab: c.Lab.Name, Variant: c.Variant, Seeded: c.Seeded}
	var problems []kasoku.Finding
	for _, f := range d.Findings {
		if f.Severity == kasoku.Problem {
			problems = append(problems, f)
		} else {
			row.Infos++
		}
	}
	for _, id := range c.Seeded {
		row.find(c.Lab.Defect(id), d.Findings)
	}
	for i := range problems {
		row.judge(c, &problems[i], problems)
	}
	return row
}

// find looks for a seeded defect.
func (r *Row) find(d *kit.Defect, findings []kasoku.Finding) {
	wrong := ""
	for i := range findings {
		f := &findings[i]
		switch {
		case f.ID != d.ID && f.ID != d.Also:
			continue
		case !namesExpected(d, f):
			if f.Severity == kasoku.Problem && f.ID == d.ID {
				wrong = f.ID + " " + f.Object.String()
			}
			continue
		case i < few:
			r.First3 = append(r.First3, d.ID)
		}
		if i < top {
			r.First5 = append(r.First5, d.ID)
			if f.Severity != kasoku.Problem {
				r.Remarked = append(r.Remarked, d.ID)
			}
			return
		}
	}
	if wrong != "" {
		r.Wrong = append(r.Wrong, wrong)
	}
	r.Missed = append(r.Missed, d.ID)
}

// judge reports whether a finding is right, of the wrong object, or a false alarm.
func (r *Row) judge(c Case, f *kasoku.Finding, all []kasoku.Finding) {
	if slices.Contains(c.Seeded, f.ID) && namesExpected(c.Lab.Defect(f.ID), f) || isExplained(c, f, all) {
		r.Right++
		return
	}
	r.False = append(r.False, f.ID+" "+f.Object.String())
}

// isExplained reports whether a finding follows from a seeded defect: the lab's table
// says so, or the finding of a seeded defect does.
func isExplained(c Case, f *kasoku.Finding, all []kasoku.Finding) bool {
	if slices.Contains(c.Lab.Always, f.ID) {
		return true
	}
	for i := range c.Lab.Defects {
		d := &c.Lab.Defects[i]
		slight := d.Slight != "" && c.Variant == All
		switch {
		case slight && d.ID == f.ID && namesExpected(d, f):
			return true
		case !slight && !slices.Contains(c.Seeded, d.ID):
		case slices.Contains(d.Brings, f.ID), d.Also == f.ID && namesExpected(d, f):
			return true
		}
	}
	return slices.ContainsFunc(all, func(by kasoku.Finding) bool {
		return by.ID != f.ID && slices.Contains(c.Seeded, by.ID) && slices.Contains(by.Explains, f.ID)
	})
}

// namesExpected reports whether a finding names what the table expects.
func namesExpected(d *kit.Defect, f *kasoku.Finding) bool {
	return d.Object == "" || regexp.MustCompile(d.Object).MatchString(f.Object.String())
}
