package comparison

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	byLabel = metav1.ListOptions{LabelSelector: "name=a"}
	byField = metav1.ListOptions{FieldSelector: "metadata.name=a"}
)

var selectors = row{"selectors", []point{
	{name: "list by label", check: func(t *testing.T, s subject) finding { return listed(t, s, byLabel) }},
	{name: "list by field", check: func(t *testing.T, s subject) finding { return listed(t, s, byField) }},
	{name: "watch by label", check: func(t *testing.T, s subject) finding { return watched(t, s, byLabel) }},
	{name: "watch by field", check: func(t *testing.T, s subject) finding { return watched(t, s, byField) }},
	{name: "delete by label", check: func(t *testing.T, s subject) finding { return swept(t, s, byLabel) }},
	{name: "delete by field", check: func(t *testing.T, s subject) finding { return swept(t, s, byField) }},
}, "yes"}

// labelled creates Leases with their name as a label.
func labelled(t *testing.T, s subject, names ...string) {
	t.Helper()
	for _, name := range names {
		l := newLease(name)
		l.Labels = map[string]string{"name": name}
		_, err := leasesOf(s).Create(t.Context(), l, metav1.CreateOptions{})
		require.NoError(t, err)
	}
}

func names(list *coordinationv1.LeaseList) []string {
	var out []string
	for _, l := range list.Items {
		out = append(out, l.Name)
	}
	slices.Sort(out)
	return out
}

// all returns the names of the existing Leases.
func all(t *testing.T, s subject) []string {
	t.Helper()
	list, err := leasesOf(s).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	return names(list)
}

func listed(t *testing.T, s subject, opts metav1.ListOptions) finding {
	labelled(t, s, "a", "b")
	list, err := leasesOf(s).List(t.Context(), opts)
	return when(err == nil && slices.Equal(names(list), []string{"a"}))
}

func watched(t *testing.T, s subject, opts metav1.ListOptions) finding {
	w, err := leasesOf(s).Watch(t.Context(), opts)
	require.NoError(t, err)
	defer w.Stop()
	labelled(t, s, "a", "b")
	synctest.Wait()
	return when(slices.Equal(events(w), []string{"ADDED a"}))
}

func swept(t *testing.T, s subject, opts metav1.ListOptions) finding {
	labelled(t, s, "a", "b")
	err := leasesOf(s).DeleteCollection(t.Context(), metav1.DeleteOptions{}, opts)
	return when(err == nil && slices.Equal(all(t, s), []string{"b"}))
}

var lists = row{"lists", []point{
	{name: "pages", check: func(t *testing.T, s subject) finding {
		given(t, s, "a", "b", "c")
		list, err := leasesOf(s).List(t.Context(), metav1.ListOptions{Limit: 2})
		require.NoError(t, err)
		return when(len(list.Items) == 2 && list.Continue != "")
	}},
	{name: "pages of one state", check: func(t *testing.T, s subject) finding {
		given(t, s, "a", "b", "c")
		list, err := leasesOf(s).List(t.Context(), metav1.ListOptions{Limit: 2})
		require.NoError(t, err)
		require.NoError(t, leasesOf(s).Delete(t.Context(), "c", metav1.DeleteOptions{}))
		if list.Continue == "" {
			return no()
		}
		list, err = leasesOf(s).List(t.Context(), metav1.ListOptions{Limit: 2, Continue: list.Continue})
		return when(err == nil && slices.Equal(names(list), []string{"c"}))
	}},
	{name: "older versions", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		list, err := leasesOf(s).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		given(t, s, "b")
		list, err = leasesOf(s).List(t.Context(), metav1.ListOptions{
			ResourceVersion: list.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		})
		return when(err == nil && slices.Equal(names(list), []string{"a"}))
	}},
}, "yes"}

var expiry = row{"410 when history has expired", []point{
	{name: "watches", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		list, err := leasesOf(s).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		given(t, s, "b")
		s.expire()
		w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			return when(apierrors.IsResourceExpired(err))
		}
		defer w.Stop()
		synctest.Wait()
		return when(slices.Equal(events(w), []string{"ERROR 410", "END"}))
	}},
	{name: "pages", check: func(t *testing.T, s subject) finding {
		given(t, s, "a", "b")
		list, err := leasesOf(s).List(t.Context(), metav1.ListOptions{Limit: 1})
		require.NoError(t, err)
		given(t, s, "c")
		s.expire()
		_, err = leasesOf(s).List(t.Context(), metav1.ListOptions{Limit: 1, Continue: list.Continue})
		return when(apierrors.IsResourceExpired(err))
	}},
}, "after minutes"}
