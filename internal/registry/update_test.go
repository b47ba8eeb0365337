package registry_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

const modified = "the object has been modified; please apply your changes to the latest version and try again"

func TestUpdateChecksTheResourceVersion(t *testing.T) {
	const mustBeGiven = `leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`
	const conflict = `Operation cannot be fulfilled on leases.coordination.k8s.io "a": ` + modified
	for name, row := range map[string]struct {
		version string
		code    int32 // 0: accepted
		reason  meta.Reason
		text    string
	}{
		"the current one":            {"1002", 0, "", ""},
		"with leading zeros":         {"001002", 0, "", ""},
		"an older one":               {"1001", 409, store.ErrConflict, conflict},
		"one from the future":        {"1003", 409, store.ErrConflict, conflict},
		"none":                       {"", 422, store.ErrInvalid, mustBeGiven},
		"zero":                       {"0", 422, store.ErrInvalid, mustBeGiven},
		"what is not a number":       {"abc", 500, "", `strconv.ParseUint: parsing "abc": invalid syntax`},
		"what is less than any":      {"-1", 500, "", `strconv.ParseUint: parsing "-1": invalid syntax`},
		"more than a counter can be": {"18446744073709551616", 500, "", `strconv.ParseUint: parsing "18446744073709551616": value out of range`},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			leases := leasesIn(st)
			mustCreate(t, leases, newLease("ns/a", holder("x")))
			mustModify(t, leases, "ns/a", holder("y"))
			l := newLease("ns/a", holder("z"))
			l.ResourceVersion = row.version
			got, err := leases.Update(t.Context(), l, store.UpdateOptions{})
			switch row.code {
			case 0:
				require.NoError(t, err)
				assert.Equal(t, "1003", got.ResourceVersion)
				return
			case 500:
				assertPlain(t, err, row.text)
			default:
				assertStatus(t, err, row.code, row.reason, row.text)
				assert.Equal(t, "leases", statusOf(t, err).Details.Kind, "here the kind is the plural")
				assert.Equal(t, "a", statusOf(t, err).Details.Name)
			}
			assert.Equal(t, "y", *mustGet(t, leases, "ns/a").Spec.HolderIdentity)
			assert.EqualValues(t, 1002, st.ResourceVersion())
		})
	}
}

func TestUpdateThatChangesNothingMakesNoVersionAndNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		created := mustCreate(t, leases, newLease("ns/a", holder("x"), label("k", "v")))
		rec := record(t, st, fromNow())

		same := mustUpdate(t, leases, created)
		assert.Equal(t, created, same)
		empty := mustGet(t, leases, "ns/a")
		empty.Annotations, empty.Finalizers = map[string]string{}, []string{}
		assert.Equal(t, created, mustUpdate(t, leases, empty), "an empty map or list is as good as none")
		mustModify(t, leases, "ns/a", func(*lease.Lease) {})
		assert.EqualValues(t, 1001, st.ResourceVersion())
		assert.Empty(t, rec.take())

		created.Spec.LeaseTransitions = new(int32(0))
		assert.Equal(t, "1002", mustUpdate(t, leases, created).ResourceVersion, "a pointer to zero is not the same as none")
		assert.Equal(t, []string{"MODIFIED ns/a@1002"}, rec.take())
	})
}

func TestApplyWithAUIDCreatesNothing(t *testing.T) {
	r := leaseResource(newStore(t))
	l := newLease("ns/a")
	l.UID = "u"
	_, _, err := r.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a", FieldManager: "m"}, &registry.Apply{Config: r.Tree(l, 0)})
	assertStatus(t, err, 409, store.ErrConflict,
		`Operation cannot be fulfilled on leases.coordination.k8s.io "a": uid mismatch: the provided object specified uid u, and no existing object was found`)
}

func TestUpdateRefusesToChangeImmutableFields(t *testing.T) {
	const stamp = `"2026-01-02T02:04:05Z"`
	for name, row := range map[string]struct {
		change func(*lease.Lease)
		want   string
	}{
		"name":              {func(l *lease.Lease) { l.Name = "b" }, `Lease.coordination.k8s.io "b" is invalid: metadata.name: Invalid value: "b": field is immutable`},
		"uid":               {func(l *lease.Lease) { l.UID = "u" }, `Lease.coordination.k8s.io "a" is invalid: metadata.uid: Invalid value: "u": field is immutable`},
		"deletionTimestamp": {func(l *lease.Lease) { l.DeletionTimestamp = new(meta.NewTime(epoch)) }, `Lease.coordination.k8s.io "a" is invalid: metadata.deletionTimestamp: Invalid value: ` + stamp + `: field is immutable`},
		"deletionGracePeriodSeconds": {func(l *lease.Lease) { l.DeletionGracePeriodSeconds = new(int64(5)) },
			`Lease.coordination.k8s.io "a" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable`},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			created := mustCreate(t, leases, newLease("ns/a"))
			_, err := leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
				row.change(l)
				return nil
			}, store.UpdateOptions{})
			assertStatus(t, err, 422, store.ErrInvalid, row.want)
			assert.Len(t, statusOf(t, err).Details.Causes, 1)
			assert.Equal(t, created, mustGet(t, leases, "ns/a"))
		})
	}
}

func TestUpdateMayNotMoveToAnotherNamespace(t *testing.T) {
	leases := leasesIn(newStore(t))
	createAll(t, leases, "ns/a")
	_, err := leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
		l.Namespace = "other"
		return nil
	}, store.UpdateOptions{})
	assertStatus(t, err, 400, store.ErrBadRequest, "the namespace of the provided object does not match the namespace sent on the request")
	_, err = leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
		l.Namespace, l.ResourceVersion = "other", "7"
		return nil
	}, store.UpdateOptions{})
	assert.ErrorIs(t, err, store.ErrConflict, "the resourceVersion is compared first")

	got := mustModify(t, leases, "ns/a", func(l *lease.Lease) { l.Namespace, l.Spec.HolderIdentity = "", new("x") })
	assert.Equal(t, "ns", got.Namespace, "an empty namespace is filled in")
}

func TestUpdateChecksFinalizersAndManagers(t *testing.T) {
	st := newStore(t)
	all := in(st, endpoints.Kind())
	owned := newEndpoints("ns/a")
	owned.Labels = map[string]string{"k": "v"}
	_, err := all.Create(t.Context(), owned, store.CreateOptions{})
	require.NoError(t, err)
	modify := func(change func(*endpoints.Endpoints)) error {
		return second(all.Modify(t.Context(), "ns", "a", func(e *endpoints.Endpoints) error { change(e); return nil }, store.UpdateOptions{}))
	}
	err = modify(func(e *endpoints.Endpoints) { e.Finalizers = []string{"noslash"} })
	assert.ErrorContains(t, err, `metadata.finalizers[0]: Invalid value: "noslash": name is neither a standard finalizer name nor is it fully qualified`)
	assert.Len(t, statusOf(t, err).Details.Causes, 1)
	err = modify(func(e *endpoints.Endpoints) { e.ManagedFields[0].Manager = strings.Repeat("m", 129) })
	assert.ErrorContains(t, err, "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes")
	assert.Len(t, statusOf(t, err).Details.Causes, 1)
	assert.EqualValues(t, 1001, st.ResourceVersion())

	leases := leasesIn(st)
	createAll(t, leases, "ns/a")
	_, err = leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error { l.Finalizers = []string{"a/b/c"}; return nil }, store.UpdateOptions{})
	assert.ErrorContains(t, err, `metadata.finalizers: Invalid value: "a/b/c": `)
}

func TestDuplicatesInAnAppliedConfiguration(t *testing.T) {
	duplicates := []error{errors.New(`line 3: key "a" already set in map`)}
	for _, row := range []struct {
		validation patch.Validation
		duplicates []error
		want       string // of the error
		warnings   []string
	}{
		{patch.Strict, nil, "", nil},
		{patch.Strict, duplicates, `error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:` + "\n  " + `line 3: key "a" already set in map`, nil},
		{patch.Warn, duplicates, "", []string{`line 3: key "a" already set in map`}},
		{patch.Ignore, duplicates, "", nil},
	} {
		r := leaseResource(newStore(t))
		var warnings []string
		req := registry.Request{Namespace: "ns", Name: "a", FieldManager: "me", Warn: func(text string) { warnings = append(warnings, text) }}
		_, _, err := r.Update(t.Context(), &req, &registry.Apply{Config: r.Tree(newLease("ns/a"), 0), Duplicates: row.duplicates, Validation: row.validation})
		if row.want == "" {
			require.NoError(t, err)
		} else {
			assertStatus(t, err, 400, store.ErrBadRequest, row.want)
		}
		assert.Equal(t, row.warnings, warnings)
	}
}
