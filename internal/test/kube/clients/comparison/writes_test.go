package comparison

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationconfig "k8s.io/client-go/applyconfigurations/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var conflicts = row{"conflicts on", []point{
	{name: "stale updates", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		l := get(t, s, "a")
		require.NoError(t, hold(t, s, l, "b"))
		return when(apierrors.IsConflict(hold(t, s, l, "c")))
	}},
	{name: "stale deletes", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		l := get(t, s, "a")
		require.NoError(t, hold(t, s, l, "b"))
		err := leasesOf(s).Delete(t.Context(), "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &l.ResourceVersion}})
		return when(apierrors.IsConflict(err))
	}},
	{name: "another uid", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		err := leasesOf(s).Delete(t.Context(), "a", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("another")})
		return when(apierrors.IsConflict(err))
	}},
	{name: "a second elector", check: func(t *testing.T, s subject) finding {
		lock := func(identity string) resourcelock.Interface {
			return &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: "leader"},
				Client:    s, LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
			}
		}
		ctx, a, b := t.Context(), lock("a"), lock("b")
		expired := resourcelock.LeaderElectionRecord{
			HolderIdentity: "gone", LeaseDurationSeconds: 15, RenewTime: metav1.NewTime(time.Now().Add(-time.Hour)),
		}
		require.NoError(t, a.Create(ctx, expired))
		for _, l := range []resourcelock.Interface{a, b} {
			_, _, err := l.Get(ctx)
			require.NoError(t, err)
		}
		taken := expired
		taken.HolderIdentity = "a"
		require.NoError(t, a.Update(ctx, taken))
		taken.HolderIdentity = "b"
		return when(apierrors.IsConflict(b.Update(ctx, taken)))
	}},
}, "yes"}

var created = row{"a new object gets", []point{
	{name: "a generated name", check: func(t *testing.T, s subject) finding {
		l := newLease("")
		l.GenerateName = "a-"
		l, err := leasesOf(s).Create(t.Context(), l, metav1.CreateOptions{})
		require.NoError(t, err)
		return when(len(l.Name) > len("a-"))
	}},
	{name: "a uid", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		return when(get(t, s, "a").UID != "")
	}},
	{name: "a creationTimestamp", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		return when(!get(t, s, "a").CreationTimestamp.IsZero())
	}},
	{name: "defaults", check: func(t *testing.T, s subject) finding {
		o := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}, Subsets: []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1"}}, Ports: []corev1.EndpointPort{{Port: 80}},
		}}}
		require.NoError(t, s.create(t.Context(), o))
		return when(o.Subsets[0].Ports[0].Protocol == corev1.ProtocolTCP)
	}},
}, "yes"}

var refused = row{"refused", []point{
	{name: "bad names", check: func(t *testing.T, s subject) finding {
		_, err := leasesOf(s).Create(t.Context(), newLease("Not_A_Name"), metav1.CreateOptions{})
		return when(apierrors.IsInvalid(err))
	}},
	{name: "bad values", check: func(t *testing.T, s subject) finding {
		l := newLease("a")
		l.Spec.LeaseDurationSeconds = new(int32(-1))
		_, err := leasesOf(s).Create(t.Context(), l, metav1.CreateOptions{})
		return when(apierrors.IsInvalid(err))
	}},
	{name: "versions on create", check: func(t *testing.T, s subject) finding {
		l := newLease("a")
		l.ResourceVersion = "7"
		_, err := leasesOf(s).Create(t.Context(), l, metav1.CreateOptions{})
		return when(err != nil)
	}},
	{name: "unknown fields", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		_, err := leasesOf(s).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"holder":"b"}}`),
			metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
		return when(err != nil)
	}},
	{name: "or with a warning", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		_, err := leasesOf(s).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"holder":"b"}}`),
			metav1.PatchOptions{FieldValidation: metav1.FieldValidationWarn})
		require.NoError(t, err)
		return when(slices.ContainsFunc(s.warnings(), func(w string) bool { return strings.Contains(w, `unknown field \"spec.holder\"`) }))
	}},
}, "yes"}

var dryRun = row{"dry runs", []point{
	{name: "change nothing", check: func(t *testing.T, s subject) finding {
		_, err := leasesOf(s).Create(t.Context(), newLease("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		require.NoError(t, err)
		_, err = leasesOf(s).Get(t.Context(), "a", metav1.GetOptions{})
		return when(apierrors.IsNotFound(err))
	}},
	{name: "fail as the write would", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		_, err := leasesOf(s).Create(t.Context(), newLease("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return when(apierrors.IsAlreadyExists(err))
	}},
}, "yes"}

var patches = row{"patches", []point{
	{name: "JSON", check: func(t *testing.T, s subject) finding {
		return patched(t, s, types.JSONPatchType, `[{"op":"replace","path":"/spec/holderIdentity","value":"b"}]`)
	}},
	{name: "merge", check: func(t *testing.T, s subject) finding {
		return patched(t, s, types.MergePatchType, `{"spec":{"holderIdentity":"b"}}`)
	}},
	{name: "strategic", check: func(t *testing.T, s subject) finding {
		return patched(t, s, types.StrategicMergePatchType, `{"spec":{"holderIdentity":"b"}}`)
	}},
	{name: "optimistic lock", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		l := get(t, s, "a")
		require.NoError(t, hold(t, s, l, "b"))
		version := l.ResourceVersion
		if version == "" {
			version = "1"
		}
		_, err := leasesOf(s).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"`+version+`"},"spec":{"holderIdentity":"c"}}`), metav1.PatchOptions{})
		return when(apierrors.IsConflict(err))
	}},
}, "yes"}

func patched(t *testing.T, s subject, pt types.PatchType, patch string) finding {
	given(t, s, "a")
	_, err := leasesOf(s).Patch(t.Context(), "a", pt, []byte(patch), metav1.PatchOptions{})
	return when(err == nil && *get(t, s, "a").Spec.HolderIdentity == "b")
}

var apply = row{"server-side apply", []point{
	{name: "create", check: func(t *testing.T, s subject) finding {
		return when(applied(t, s, "one", "a", false) == nil && *get(t, s, "a").Spec.HolderIdentity == "a")
	}},
	{name: "conflict", check: func(t *testing.T, s subject) finding {
		if err := applied(t, s, "one", "a", false); err != nil {
			return no()
		}
		return when(apierrors.IsConflict(applied(t, s, "two", "b", false)))
	}},
	{name: "force", check: func(t *testing.T, s subject) finding {
		if err := applied(t, s, "one", "a", false); err != nil {
			return no()
		}
		return when(applied(t, s, "two", "b", true) == nil && slices.Equal(managers(t, s), []string{"two"}))
	}},
	{name: "managedFields of all writes", check: func(t *testing.T, s subject) finding {
		_, err := leasesOf(s).Create(t.Context(), newLease("a"), metav1.CreateOptions{FieldManager: "one"})
		require.NoError(t, err)
		_, err = leasesOf(s).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"1"}}}`), metav1.PatchOptions{FieldManager: "two"})
		require.NoError(t, err)
		return when(slices.Equal(managers(t, s), []string{"one", "two"}))
	}},
}, "yes"}

// applied applies a holder to the Lease a.
func applied(t *testing.T, s subject, manager, holder string, force bool) error {
	l := coordinationconfig.Lease("a", namespace).WithSpec(coordinationconfig.LeaseSpec().WithHolderIdentity(holder))
	_, err := leasesOf(s).Apply(t.Context(), l, metav1.ApplyOptions{FieldManager: manager, Force: force})
	return err
}

// managers returns the names in the managedFields of the Lease a.
func managers(t *testing.T, s subject) []string {
	var out []string
	for _, entry := range get(t, s, "a").ManagedFields {
		out = append(out, entry.Manager)
	}
	slices.Sort(out)
	return out
}

var finalizers = row{"finalizers", []point{
	{name: "keep a deleted object", check: func(t *testing.T, s subject) finding {
		return when(deleteHeld(t, s))
	}},
	{name: "release it", check: func(t *testing.T, s subject) finding {
		if !deleteHeld(t, s) {
			return no()
		}
		l := get(t, s, "a")
		l.Finalizers = nil
		_, err := leasesOf(s).Update(t.Context(), l, metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = leasesOf(s).Get(t.Context(), "a", metav1.GetOptions{})
		return when(apierrors.IsNotFound(err))
	}},
	{name: "forbid new ones", check: func(t *testing.T, s subject) finding {
		if !deleteHeld(t, s) {
			return no()
		}
		l := get(t, s, "a")
		l.Finalizers = append(l.Finalizers, "x.io/late")
		_, err := leasesOf(s).Update(t.Context(), l, metav1.UpdateOptions{})
		return when(apierrors.IsInvalid(err))
	}},
}, "yes"}

// deleteHeld deletes a Lease that has a finalizer, and reports whether it still
// exists with a deletionTimestamp.
func deleteHeld(t *testing.T, s subject) bool {
	l := newLease("a")
	l.Finalizers = []string{"x.io/held"}
	_, err := leasesOf(s).Create(t.Context(), l, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, leasesOf(s).Delete(t.Context(), "a", metav1.DeleteOptions{}))
	l, err = leasesOf(s).Get(t.Context(), "a", metav1.GetOptions{})
	return err == nil && l.DeletionTimestamp != nil
}
