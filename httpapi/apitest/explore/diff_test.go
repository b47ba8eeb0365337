package explore

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiffLines(t *testing.T) {
	got := strings.Split("a: 1\nb:\n  c: 1\n  d: 2\n  e: 3\n  f: 4\n  g: 5\n  h: 6\nz: 1", "\n")
	want := strings.Split("a: 1\nb:\n  c: 1\n  d: 2\n  e: 3\n  f: 4\n  g: 5\n  h: 7\n  i: 8\nz: 1", "\n")
	var lines []string
	for _, l := range diffLines(got, want) {
		lines = append(lines, l.String())
	}
	assert.Equal(t, []string{"  a: 1", "  b:", "  … 2 equal lines", "    e: 3", "    f: 4", "    g: 5", "-   h: 7", "-   i: 8", "+   h: 6", "  z: 1"}, lines)
	assert.Empty(t, diffLines(nil, nil))
	assert.Len(t, diffLines(make([]string, 5000), nil), maxLines)
	assert.Equal(t, []diffLine{{Left: 9}}, diffLines(got, got))
}

// A finding shows the objects in which the runs differ, without the values of masked members.
func TestAFindingShowsADiff(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Mask: []string{"endpoints .metadata.annotations.note"}, Controllers: once(func(ctx context.Context, c Conn) error {
		for _, color := range []string{"red", "green"} {
			body := `{"metadata":{"name":"a","labels":{"app":"shop","color":"` + color + `"},"annotations":{"note":"` + color + `"}}}`
			code, _, err := ask(ctx, c, http.MethodPost, endpoints, body)
			if err != nil {
				return err
			}
			if code != http.StatusInternalServerError {
				return nil
			}
		}
		return fmt.Errorf("twice")
	})}
	r := exploring(t, s, Options{Plans: []string{"answer-500 create endpoints default/a #1"}})
	require.Len(t, r.Findings, 1)
	assert.Contains(t, r.Findings[0].String(), `
  endpoints default/a (+ this run, - undisturbed):
      metadata:
        annotations:
          note: <not compared>
        labels:
          app: shop
    -     color: red
    +     color: green
  what happened`)
}

// An object that is missing is shown as it is undisturbed, and one that is left as it is.
func TestDiffsOfWholeObjects(t *testing.T) {
	s := Scenario{Steps: []Step{create("a")}, Controllers: once(func(ctx context.Context, c Conn) error {
		code, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a"))
		if err == nil && code == http.StatusInternalServerError {
			_, _, err = ask(ctx, c, http.MethodPost, endpoints, leaseNamed("b"))
		}
		return err
	})}
	text := exploring(t, s, Options{Plans: []string{"answer-500 create endpoints default/a #1"}}).Findings[0].String()
	assert.Contains(t, text, "  endpoints default/a (+ this run, - undisturbed):\n    - {}\n")
	assert.Contains(t, text, "  endpoints default/b (+ this run, - undisturbed):\n    + {}\n")
}

// The headline is what is lost or left, whatever comes first in the alphabet.
func TestTheHeadlineIsTheHarm(t *testing.T) {
	v := func(class, resource, path string) verdict {
		return verdict{class: class, key: key{resource, "a"}, path: path}
	}
	want := []verdict{
		v("panic", "controller", ""), v("state", "services", extra), v("state", "deployments", ".spec.replicas"), v("count", "pods", "deleted"),
		v("count", "pods", "created"), v("state", "deployments", ".metadata.labels.app"), v("state", "deployments", ".status.replicas"), v("foreign", "a", ""),
	}
	got := []verdict{want[0], want[7], want[6], want[5], want[4], want[3], want[2], want[1]}
	assert.Equal(t, want, byHarm(got))
}
