package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// write prints the report, and writes the files that the flags ask for.
func (o *options) write(r *explore.Report, out io.Writer) error {
	var err error
	if o.json != "-" {
		for _, f := range r.Findings {
			fmt.Fprintf(out, "%s\n", f)
		}
		for _, f := range r.Once {
			fmt.Fprintf(out, "seen once, and in none of %d runs more: %s\n", f.Of, f.Text)
		}
		fmt.Fprintln(out, r.Summary())
		if r.Covered != "" {
			fmt.Fprintln(out, "classes of plans that were covered:", r.Covered)
		}
	}
	if o.json != "" {
		data, problem := json.MarshalIndent(reportOf(r), "", "  ")
		err = errors.Join(err, problem, writeTo(o.json, append(data, '\n'), out))
	}
	if o.junit != "" {
		data, problem := xml.MarshalIndent(junitOf(r, o.scenario.Controllers[0].Name), "", "  ")
		err = errors.Join(err, problem, writeTo(o.junit, append([]byte(xml.Header), append(data, '\n')...), out))
	}
	return err
}

// writeTo writes a file, or to out if its name is "-".
func writeTo(name string, data []byte, out io.Writer) error {
	if name == "-" {
		_, err := out.Write(data)
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// jsonReport is the report as JSON.
type jsonReport struct {
	Findings []jsonFinding `json:"findings"`
	Once     []jsonFinding `json:"once,omitempty"`
	Requests int           `json:"requests"`
	Runs     int           `json:"runs"`
	Seconds  float64       `json:"seconds"`
	Covered  string        `json:"covered,omitempty"`
	NotRun   []string      `json:"notRun,omitempty"`
	NoHit    []string      `json:"noHit,omitempty"`
	Blind    []string      `json:"blind,omitempty"`
	Masked   []string      `json:"masked,omitempty"`
}

type jsonFinding struct {
	Text    string            `json:"text"`
	Details []string          `json:"details,omitempty"`
	Plans   []string          `json:"plans"`
	Again   int               `json:"again"`
	Of      int               `json:"of"`
	Page    string            `json:"page,omitempty"`
	Report  string            `json:"report"`
	Outputs map[string]string `json:"outputs,omitempty"`
}

func reportOf(r *explore.Report) jsonReport {
	return jsonReport{
		findingsOf(r.Findings), findingsOf(r.Once), r.Requests, r.Runs, r.Elapsed.Seconds(), r.Covered, r.NotRun, r.NoHit, r.Blind, r.Masked,
	}
}

func findingsOf(all []*explore.Finding) []jsonFinding {
	out := []jsonFinding{}
	for _, f := range all {
		outputs := map[string]string{}
		for _, o := range f.Outputs {
			outputs[o.Name] = o.Text
		}
		out = append(out, jsonFinding{f.Text, f.Details, f.Plans, f.Again, f.Of, f.Page, f.String(), outputs})
	}
	return out
}

// junitSuite is the report as systems for continuous integration read it: one test that passes, or one that fails for each finding.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     float64     `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    float64       `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func junitOf(r *explore.Report, name string) junitSuite {
	s := junitSuite{Name: "explore " + name, Tests: max(1, len(r.Findings)), Failures: len(r.Findings), Time: r.Elapsed.Seconds()}
	for _, f := range r.Findings {
		s.Cases = append(s.Cases, junitCase{s.Name, f.Plans[0], 0, &junitFailure{f.Text, f.String()}})
	}
	if len(r.Findings) == 0 {
		s.Cases = []junitCase{{s.Name, r.Summary(), s.Time, nil}}
	}
	return s
}
