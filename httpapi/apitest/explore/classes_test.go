package explore

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// many is a controller that makes three Endpoints for each Lease in one loop, and one more elsewhere.
func many() []Controller {
	make := func(ctx context.Context, c Conn, name string) error {
		code, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed(name))
		if err == nil && code != http.StatusCreated && code != http.StatusConflict {
			err = fmt.Errorf("create: %d", code)
		}
		return err
	}
	return []Controller{{Run: onEach(func(ctx context.Context, c Conn) error {
		for _, parent := range []string{"a", "b"} {
			code, _, err := ask(ctx, c, http.MethodGet, leases+"/"+parent, "")
			if err != nil || code == http.StatusNotFound {
				return err
			}
			for i := range 3 {
				if err := make(ctx, c, fmt.Sprint(parent, i)); err != nil {
					return err
				}
			}
			if err := make(ctx, c, parent); err != nil {
				return err
			}
		}
		return nil
	})}}
}

// One plan of each place in the code comes first, then one of each other step, then the rest. Nothing is lost.
func TestPlansOfOneClass(t *testing.T) {
	s := Scenario{Steps: []Step{create("a"), create("b")}, Controllers: many()}
	r := exploring(t, s, Options{Runs: 1})
	order := []string{}
	for _, text := range r.NotRun {
		if strings.HasPrefix(text, "answer-504 create endpoints") {
			order = append(order, text)
		}
	}
	named := func(name string) string { return "answer-504 create endpoints default/" + name + " #1" }
	require.GreaterOrEqual(t, len(order), 8)
	assert.Equal(t, []string{named("a0"), named("a")}, order[:2], "one of the loop, one beside it")
	second := func(text string) bool { return strings.HasSuffix(text, "#2") }
	assert.Contains(t, order[2:6], named("b0"), "the same place in another step: %q", order)
	for _, name := range []string{"a0", "a1", "a2", "a", "b0", "b1", "b2", "b"} {
		assert.Contains(t, order, named(name))
	}
	assert.Greater(t, slices.IndexFunc(order, second), 1, "%q", order)
}

// The report counts a class once, and a plan that was not run does not cover its class.
func TestCoveredClasses(t *testing.T) {
	s := Scenario{Steps: []Step{create("a"), create("b")}, Controllers: many()}
	assert.Contains(t, exploring(t, s, Options{Runs: 1}).Covered, "answer-504 0/2, ")
	r := exploring(t, s, Options{})
	assert.Contains(t, r.Covered, "answer-504 2/2, ")
	assert.Contains(t, r.Covered, "restart 3/3")
	assert.Empty(t, exploring(t, s, Options{Plans: []string{"restart 1"}}).Covered)
}
