package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// version is a version of k8s.io/kubernetes, and of the libraries that come with it.
type version struct{ kubernetes, libraries string }

var form = regexp.MustCompile(`^v?1(\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)$`)

// parseVersion returns the version of a name such as 1.38.0-beta.0.
func parseVersion(name string) (version, error) {
	m := form.FindStringSubmatch(name)
	if m == nil {
		return version{}, fmt.Errorf("got version %q, want one such as 1.38.0 or 1.38.0-beta.0", name)
	}
	return version{"v1" + m[1], "v0" + m[1]}, nil
}

// required returns the version that a go.mod requires.
func required(gomod string) (version, error) {
	m := regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes v(\S+)`).FindStringSubmatch(gomod)
	if m == nil {
		return version{}, errors.New("go.mod does not require k8s.io/kubernetes")
	}
	return parseVersion(m[1])
}

// set replaces another version in a go.mod.
func (v version) set(gomod string, other version) string {
	return regexp.MustCompile(`(k8s\.io/\S+ )(v\S+)`).ReplaceAllStringFunc(gomod, func(s string) string {
		module, have, _ := strings.Cut(s, " ")
		switch have {
		case other.kubernetes:
			have = v.kubernetes
		case other.libraries:
			have = v.libraries
		}
		return module + " " + have
	})
}

// modules returns the modules of the version that a go.mod requires directly, as the go command names them.
func (v version) modules(gomod string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^\s*(k8s\.io/\S+) (v\S+)$`).FindAllStringSubmatch(gomod, -1) {
		if m[2] == v.kubernetes || m[2] == v.libraries {
			names = append(names, m[1]+"@"+m[2])
		}
	}
	return names
}

var refused = regexp.MustCompile(`([\w-]+\.[\w./-]+@v[\w.+-]+)(?:: | (requires go))(?:reading \S+: )?([^"\n\\]*)`)

// undownloaded returns an error that names the modules in the output of the go command that cannot be downloaded, or err if it names none.
func undownloaded(err error) error {
	var modules []string
	_, output, _ := strings.Cut(err.Error(), "\n")     // after the command
	output = strings.ReplaceAll(output, `\u003e`, ">") // as in JSON
	for _, m := range refused.FindAllStringSubmatch(output, -1) {
		if line := m[1] + ": " + m[2] + m[3]; !slices.Contains(modules, line) {
			modules = append(modules, line)
		}
	}
	if modules == nil {
		return err
	}
	return fmt.Errorf("these modules cannot be had, and nothing has changed:\n  %s", strings.Join(modules, "\n  "))
}
