package main

import (
	"fmt"
	"testing"
)

// listener is a test that only listens to what a verdict says.
type listener struct {
	testing.TB // nil: a verdict asks for no more than is below

	problems, notes []string
}

// Helper does nothing.
func (*listener) Helper() {}

// Name says who listens.
func (*listener) Name() string { return "verdict" }

// Errorf remembers a problem.
func (l *listener) Errorf(format string, args ...any) {
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// Logf remembers what else is worth to be known.
func (l *listener) Logf(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}
