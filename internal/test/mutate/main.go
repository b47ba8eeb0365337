package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed mutations.txt
var mutations string

func main() {
	only := flag.String("run", "", "plant only the mutations whose name matches this regular expression")
	timeout := flag.Duration("timeout", 5*time.Minute, "end of the tests of one mutation; reaching it counts as a failure of the tests")
	flag.Parse()
	if ok, err := run(*only, *timeout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	} else if !ok {
		os.Exit(1)
	}
}

// run plants the mutations and reports whether each had the expected result.
func run(only string, timeout time.Duration) (ok bool, err error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	list, err := parse(mutations)
	if err != nil {
		return false, err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubecoord/kubecoord").Output()
	if err != nil {
		return false, fmt.Errorf("the folder of the module: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	p := planter{root: strings.TrimSpace(string(root)), dir: dir, timeout: timeout}
	list = slices.DeleteFunc(list, func(m mutation) bool { return !match.MatchString(m.name) })
	if out, err := p.unchanged(list); err != nil {
		return false, fmt.Errorf("the tests fail without a mutation: %w\n%s", err, out)
	}
	planted, wrong := 0, 0
	for i := range list {
		m := &list[i]
		planted++
		start := time.Now()
		failed, output, err := p.plant(m)
		if err != nil {
			return false, err
		}
		verdict := "caught"
		switch {
		case failed && m.alive != "":
			wrong++
			verdict = "CAUGHT, and should be alive: " + m.alive
		case !failed && m.alive != "":
			verdict = "alive: " + m.alive
		case !failed:
			wrong++
			verdict = "LIVED:\n" + output
		}
		fmt.Printf("%5.1fs  %s: %s\n", time.Since(start).Seconds(), m.name, verdict)
	}
	fmt.Printf("%d mutations planted, %d unexpected\n", planted, wrong)
	return wrong == 0, nil
}

// planter runs tests with a mutation.
type planter struct {
	root, dir string
	timeout   time.Duration
}

// unchanged runs the tests of the mutations without one. Otherwise a broken test would seem to catch everything.
func (p *planter) unchanged(list []mutation) (string, error) {
	args := []string{"test"}
	for i := range list {
		for _, arg := range list[i].tests {
			if !strings.HasPrefix(arg, "-") && !slices.Contains(args, arg) {
				args = append(args, arg)
			}
		}
	}
	return p.command(args...)
}

// plant runs the tests of a mutation and reports whether they failed. A mutation that does not compile is an error.
func (p *planter) plant(m *mutation) (failed bool, output string, err error) {
	data, err := m.mutated(p.root)
	if err != nil {
		return false, "", err
	}
	file, overlay := filepath.Join(p.dir, "mutated.go"), filepath.Join(p.dir, "overlay.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return false, "", err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(p.root, m.file): file}})
	if err != nil {
		return false, "", err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return false, "", err
	}
	if out, err := p.command("build", "-o", os.DevNull, "-overlay", overlay, "./"+filepath.Dir(m.file)); err != nil {
		return false, "", fmt.Errorf("%s does not compile: %w\n%s", m.name, err, out)
	}
	args := []string{"test", "-overlay", overlay, "-failfast", "-timeout", p.timeout.String()}
	for _, arg := range m.tests {
		if strings.HasPrefix(arg, "-") {
			args = append(args, arg)
			continue
		}
		out, err := p.command(append(args, arg)...)
		if output += out; err != nil {
			return true, output, nil
		}
	}
	return false, output, nil
}

func (p *planter) command(args ...string) (string, error) {
	c := exec.Command("go", args...)
	c.Dir = p.root
	c.Env = append(os.Environ(), "GOWORK="+filepath.Join(p.root, "go.work")) // for the packages of all modules
	out, err := c.CombinedOutput()
	return string(out), err
}
