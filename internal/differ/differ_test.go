package differ

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// newDiffer returns a Differ of objects that are written "namespace/name uid version", and the
// events that it sent.
func newDiffer(fail func(event string) error) (d *Differ[string], sent func() []string) {
	var events []string
	identify := func(o string) Identity {
		f := strings.Fields(o)
		namespace, name, _ := strings.Cut(f[0], "/")
		return Identity{Namespace: namespace, Name: name, UID: meta.UID(f[1]), ResourceVersion: f[2]}
	}
	d = New(identify, func(t watch.EventType, o string) error {
		event := string(t) + " " + o
		if err := fail(event); err != nil {
			return err
		}
		events = append(events, event)
		return nil
	})
	return d, func() []string {
		all := events
		events = nil
		return all
	}
}

func never(string) error { return nil }

// list gives a Differ a list.
func list(d *Differ[string], objects ...string) error {
	d.Begin()
	for _, o := range objects {
		if err := d.Listed(o); err != nil {
			return err
		}
	}
	return d.End()
}

func TestListsAreSentAsChanges(t *testing.T) {
	d, sent := newDiffer(never)
	require.NoError(t, list(d, "a/x 1 10", "a/y 2 11", "b/x 3 12"))
	assert.Equal(t, []string{"ADDED a/x 1 10", "ADDED a/y 2 11", "ADDED b/x 3 12"}, sent())
	require.NoError(t, list(d, "a/x 1 10", "a/y 2 11", "b/x 3 12"))
	assert.Empty(t, sent(), "nothing has changed")
	require.NoError(t, list(d, "a/x 1 20", "a/y 4 21"))
	assert.Equal(t, []string{
		"MODIFIED a/x 1 20",
		"DELETED a/y 2 11", "ADDED a/y 4 21", // created again
		"DELETED b/x 3 12",
	}, sent())
	require.NoError(t, list(d))
	assert.Equal(t, []string{"DELETED a/x 1 20", "DELETED a/y 4 21"}, sent(), "in the order of their names")
	require.NoError(t, list(d, "a/x 1 20"))
	assert.Equal(t, []string{"ADDED a/x 1 20"}, sent(), "what was deleted is forgotten")
}

func TestEventsBetweenListsAreRemembered(t *testing.T) {
	d, sent := newDiffer(never)
	require.NoError(t, list(d, "a/x 1 10", "a/y 2 11"))
	require.NoError(t, d.Event(watch.Modified, "a/x 1 12"))
	require.NoError(t, d.Event(watch.Deleted, "a/y 2 13"))
	require.NoError(t, d.Event(watch.Added, "a/z 3 14"))
	assert.Equal(t, []string{"ADDED a/x 1 10", "ADDED a/y 2 11", "MODIFIED a/x 1 12", "DELETED a/y 2 13", "ADDED a/z 3 14"}, sent())
	require.NoError(t, list(d, "a/x 1 12", "a/z 3 14"))
	assert.Empty(t, sent())
}

func TestErrorOfASendIsReturned(t *testing.T) {
	failed := errors.New("failed")
	for event, last := range map[string][]string{
		"ADDED a/n 9 30": {"a/x 1 10", "a/n 9 30"}, "MODIFIED a/x 1 20": {"a/x 1 20"},
		"DELETED a/x 1 10": {"a/x 2 20"}, "ADDED a/x 2 20": {"a/x 2 20"}, "DELETED a/y 3 11": {"a/x 1 10"},
	} {
		d, _ := newDiffer(func(e string) error {
			if e == event {
				return failed
			}
			return nil
		})
		require.NoError(t, list(d, "a/x 1 10", "a/y 3 11"))
		assert.Equal(t, failed, list(d, last...), event)
	}
}
