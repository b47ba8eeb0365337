package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutation is one planted mistake.
type mutation struct {
	name     string
	file     string
	tests    []string // flags of go test, and packages in the order in which they are tested until one fails
	old, new string
	alive    string // why no test can see it
}

// parse reads a list of mutations.
func parse(text string) (list []mutation, err error) {
	for i, line := range strings.Split(text, "\n") {
		if name, ok := strings.CutPrefix(line, "== "); ok {
			list = append(list, mutation{name: name})
			continue
		}
		if len(list) == 0 || strings.TrimSpace(line) == "" {
			continue
		}
		m := &list[len(list)-1]
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "file":
			m.file = rest
		case "test":
			m.tests = strings.Fields(rest)
		case "alive":
			m.alive = rest
		case "-":
			m.old += "\n" + rest
		case "+":
			m.new += "\n" + rest
		default:
			return nil, fmt.Errorf("line %d: got %q, want file, test, alive, - or +", i+1, word)
		}
	}
	var wrong []error
	for i := range list {
		m := &list[i]
		m.old, m.new = strings.TrimPrefix(m.old, "\n"), strings.TrimPrefix(m.new, "\n")
		if m.file == "" || len(m.tests) == 0 || m.old == "" || m.old == m.new {
			wrong = append(wrong, fmt.Errorf("%s: a mutation needs file, test, and two different texts", m.name))
		}
	}
	return list, errors.Join(wrong...)
}

// mutated returns the file of a mutation, in the module at root, with the mutation in it.
func (m *mutation) mutated(root string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(data, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("%s: %s has the text %d times, want once:\n%s", m.name, m.file, n, m.old)
	}
	return bytes.Replace(data, []byte(m.old), []byte(m.new), 1), nil
}
