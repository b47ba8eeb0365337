package comparison

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// events returns the events that a watch has ready.
func events(w watch.Interface) []string {
	var out []string
	for {
		select {
		case ev, open := <-w.ResultChan():
			if !open {
				return append(out, "END")
			}
			out = append(out, strings.TrimSpace(string(ev.Type)+" "+about(ev)))
			synctest.Wait()
		default:
			return out
		}
	}
}

// about returns the name of the object of an event.
func about(ev watch.Event) string {
	switch o := ev.Object.(type) {
	case *metav1.Status:
		return fmt.Sprint(o.Code)
	case metav1.Object:
		if o.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			return metav1.InitialEventsAnnotationKey
		}
		return o.GetName()
	}
	return ""
}

// since makes changes after a list, and returns the events of a watch from the
// version of the list.
func since(t *testing.T, s subject) []string {
	given(t, s, "a", "b")
	list, err := leasesOf(s).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	given(t, s, "c")
	for _, holder := range []string{"b", "c"} {
		require.NoError(t, hold(t, s, get(t, s, "a"), holder))
	}
	require.NoError(t, leasesOf(s).Delete(t.Context(), "b", metav1.DeleteOptions{}))
	w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	require.NoError(t, err)
	defer w.Stop()
	synctest.Wait()
	return events(w)
}

var history = row{"changes between list and watch", []point{
	{name: "creations", check: func(t *testing.T, s subject) finding {
		return when(slices.Contains(since(t, s), "ADDED c"))
	}},
	{name: "deletions", check: func(t *testing.T, s subject) finding {
		return when(slices.Contains(since(t, s), "DELETED b"))
	}},
	{name: "each change", check: func(t *testing.T, s subject) finding {
		return when(slices.Equal(since(t, s), []string{"ADDED c", "MODIFIED a", "MODIFIED a", "DELETED b"}))
	}},
}, "yes"}

var following = row{"watches", []point{
	{name: "each change in order", check: func(t *testing.T, s subject) finding {
		w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		defer w.Stop()
		given(t, s, "a")
		require.NoError(t, hold(t, s, get(t, s, "a"), "b"))
		require.NoError(t, leasesOf(s).Delete(t.Context(), "a", metav1.DeleteOptions{}))
		synctest.Wait()
		return when(slices.Equal(events(w), []string{"ADDED a", "MODIFIED a", "DELETED a"}))
	}},
	{name: "`timeoutSeconds`", check: func(t *testing.T, s subject) finding {
		w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: new(int64(60))})
		require.NoError(t, err)
		defer w.Stop()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		return when(slices.Equal(events(w), []string{"END"}))
	}},
	{name: "bookmarks", check: func(t *testing.T, s subject) finding {
		w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{AllowWatchBookmarks: true})
		require.NoError(t, err)
		defer w.Stop()
		given(t, s, "a") // a watch that has missed nothing gets none
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		return when(slices.Contains(events(w), "BOOKMARK"))
	}},
	{name: "WatchList", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{
			SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		})
		require.NoError(t, err)
		defer w.Stop()
		synctest.Wait()
		return when(slices.Equal(events(w), []string{"ADDED a", "BOOKMARK " + metav1.InitialEventsAnnotationKey}))
	}},
}, "yes"}

var unread = row{"a watch that is not read for 1,000 changes", []point{
	{check: func(t *testing.T, s subject) (found finding) {
		w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		defer w.Stop()
		defer func() {
			if recover() != nil {
				found = no("panics")
			}
		}()
		var want []string
		for i := range 1000 {
			name := fmt.Sprintf("lease-%d", i)
			want = append(want, "ADDED "+name)
			given(t, s, name)
		}
		synctest.Wait()
		return when(slices.Equal(events(w), want))
	}},
}, "may end, and is resumed"}
