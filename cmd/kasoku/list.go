package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/runstore"
)

func newList(e *env) *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use:     "list [DIRECTORY]",
		Short:   "List the runs, the newest first",
		Example: "  kasoku list\n  kasoku list demo\n  kasoku list -o json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			dirs := []string{"runs", "."}
			if o.dir != "" {
				dirs = []string{o.dir}
			}
			if len(args) == 1 {
				dirs = args
			}
			all := []runstore.Info{}
			for _, dir := range dirs {
				infos, err := runstore.List(dir)
				if err != nil {
					return err
				}
				all = append(all, infos...)
			}
			return o.print(e, printer{
				doc:  report.List(all, e.reportOptions("")),
				json: func(w io.Writer) error { return listJSON(w, all) },
			})
		},
	}
	cmd.Flags().StringVarP(&o.format, "output", "o", "text", "`FORMAT`: text, json, tsv or md")
	completeFormats(cmd, "output")
	o.registerDir(cmd)
	return cmd
}

// listed is one run in the JSON of list; docs/json.md has the fields.
type listed struct {
	Path          string    `json:"path"`
	ID            string    `json:"id"`
	Project       string    `json:"project"`
	Label         string    `json:"label"`
	Note          string    `json:"note"`
	State         string    `json:"state"`
	StopReason    string    `json:"stop_reason,omitempty"`
	Started       time.Time `json:"started"`
	LengthSeconds float64   `json:"length_s"`
	Load          string    `json:"load"`
	Verdict       string    `json:"verdict"`
	SizeBytes     int64     `json:"size_bytes"`
	Error         string    `json:"error,omitempty"`
}

func listJSON(w io.Writer, all []runstore.Info) error {
	out := make([]listed, 0, len(all))
	for _, i := range all {
		l := listed{i.Path, i.ID, i.Project, i.Label, i.Note, string(i.State), i.StopReason, i.Started,
			i.Length.Seconds(), i.Load, i.Verdict, i.SizeBytes, ""}
		if i.Err != nil {
			l.Error = i.Err.Error()
		}
		out = append(out, l)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
