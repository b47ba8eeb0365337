package comparison

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var trouble = row{"faults", []point{
	{name: "errors", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		l := get(t, s, "a")
		how := s.fail("update", metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden})
		return finding{apierrors.IsForbidden(hold(t, s, l, "b")), how}
	}},
	{name: "lost answers", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		l := get(t, s, "a")
		how := s.loseAnswer("update")
		return finding{hold(t, s, l, "b") != nil && *get(t, s, "a").Spec.HolderIdentity == "b", how}
	}},
	{name: "ended watches", check: func(t *testing.T, s subject) finding {
		how := s.end()
		w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		defer w.Stop()
		synctest.Wait()
		return finding{slices.Equal(events(w), []string{"END"}), how}
	}},
	{name: "hangs", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		how := s.hang("get")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := leasesOf(s).Get(ctx, "a", metav1.GetOptions{})
		return finding{errors.Is(err, context.DeadlineExceeded) && time.Since(began) == time.Minute, how}
	}},
	{name: "any answer", check: func(t *testing.T, s subject) finding {
		l := newLease("Not_A_Name")
		l.Kind, l.APIVersion = "Lease", "coordination.k8s.io/v1"
		how := s.can(l)
		got, err := leasesOf(s).Get(t.Context(), "a", metav1.GetOptions{})
		return finding{err == nil && got.Name == l.Name, how}
	}},
}, "yes: interceptors"}

var before = row{"initial state", []point{
	{name: "YAML", check: func(t *testing.T, s subject) finding {
		s.load(yaml)
		return when(slices.Equal(all(t, s), []string{"a"}))
	}},
	{name: "a fork", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		f := s.fork(t)
		if f == nil {
			return no()
		}
		given(t, f, "b")
		return when(slices.Equal(all(t, s), []string{"a"}) && slices.Equal(all(t, f), []string{"a", "b"}))
	}},
}, "CRDs from YAML"}

// yaml is a Lease as people write it.
const yaml = `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: a
  namespace: test
spec:
  holderIdentity: me
`

var after = row{"evidence afterwards", []point{
	{name: "the requests", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		get(t, s, "a")
		return when(slices.Contains(s.requests(), "get leases"))
	}},
	{name: "whether two led at once", check: func(t *testing.T, s subject) finding {
		l := newLease("leader")
		l.Spec.RenewTime = new(metav1.NowMicro())
		l, err := leasesOf(s).Create(t.Context(), l, metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(time.Second)
		l.Spec.RenewTime = new(metav1.NowMicro())
		require.NoError(t, hold(t, s, l, "b"))
		return when(strings.Contains(s.verdict(), "two held the Lease test/leader at once"))
	}},
	{name: "the state as YAML", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		return when(strings.Contains(s.dump(), "name: a\n"))
	}},
}, "an audit log"}

var virtual = row{"virtual time, in the bubble of `testing/synctest`", []point{
	// The finding holds if this returns at once and the bubble ends.
	{check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		w, err := leasesOf(s).Watch(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		time.Sleep(24 * time.Hour)
		w.Stop()
		return when(get(t, s, "a").Name == "a")
	}},
}, "no: processes and sockets"}
