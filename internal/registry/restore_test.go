package registry_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func version(v string) func(*lease.Lease) {
	return func(l *lease.Lease) { l.ResourceVersion = v }
}

func uid(u meta.UID) func(*lease.Lease) {
	return func(l *lease.Lease) { l.UID = u }
}

// prepare readies leases for a Restore, which must work.
func prepare(t testing.TB, st *registry.Store, leases ...*lease.Lease) (out []*registry.Restored) {
	t.Helper()
	for _, l := range leases {
		o, err := leaseResource(st).PrepareRestore(l, registry.Request{})
		require.NoError(t, err)
		out = append(out, o)
	}
	return out
}

// pathsAndVersions returns such as "ns/a@1001" of all leases.
func pathsAndVersions(t testing.TB, st *registry.Store) (out []string) {
	t.Helper()
	items, _ := mustList(t, leasesIn(st), registry.ListOptions{})
	for _, l := range items {
		out = append(out, l.Namespace+"/"+l.Name+"@"+l.ResourceVersion)
	}
	return out
}

func TestRestoreTakesVersionsInTheirOrder(t *testing.T) {
	for name, row := range map[string]struct {
		objects []*lease.Lease
		version uint64
		want    []string
		at      uint64
	}{
		"nothing":                    {at: 1000},
		"a version of the store":     {version: 2000, at: 2000},
		"a version long ago":         {version: 7, at: 1000},
		"no versions: the next ones": {objects: []*lease.Lease{newLease("ns/b"), newLease("ns/a")}, want: []string{"ns/a@1002", "ns/b@1001"}, at: 1002},
		"versions to come are kept": {objects: []*lease.Lease{newLease("ns/a", version("5000")), newLease("ns/b", version("1007"))},
			want: []string{"ns/a@5000", "ns/b@1007"}, at: 5000},
		"versions long ago keep their order": {objects: []*lease.Lease{newLease("ns/a", version("17")), newLease("ns/b", version("9")), newLease("ns/c", version("1000"))},
			want: []string{"ns/a@1002", "ns/b@1001", "ns/c@1003"}, at: 1003},
		"also where they reach into those to come": {objects: []*lease.Lease{newLease("ns/a", version("1001")), newLease("ns/b", version("9")), newLease("ns/c", version("1005"))},
			want: []string{"ns/a@1002", "ns/b@1001", "ns/c@1005"}, at: 1005},
		"those without come last": {objects: []*lease.Lease{newLease("ns/a"), newLease("ns/b", version("0")), newLease("ns/c", version("1500"))}, version: 1600,
			want: []string{"ns/a@1601", "ns/b@1602", "ns/c@1500"}, at: 1602},
		"the greatest version": {objects: []*lease.Lease{newLease("ns/a", version("4611686018427387903")), newLease("ns/b")},
			want: []string{"ns/a@4611686018427387903", "ns/b@4611686018427387904"}, at: 4611686018427387904},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			require.NoError(t, st.Restore(prepare(t, st, row.objects...), row.version))
			assert.Equal(t, row.want, pathsAndVersions(t, st))
			assert.Equal(t, row.at, st.ResourceVersion())
			next := mustCreate(t, leasesIn(st), newLease("ns/z"))
			assert.Equal(t, rv(row.at+1), next.ResourceVersion)
		})
	}
}

func TestRestoreKeepsFieldsOfTheServer(t *testing.T) {
	st := newStore(t)
	given := newLease("ns/a", finalizers("example.com/f"), uid("u-1"), version("1234"))
	given.CreationTimestamp = meta.NewTime(epoch.Add(-time.Hour))
	given.DeletionTimestamp = new(meta.NewTime(epoch.Add(-time.Minute)))
	given.Generation = 3
	given.SelfLink = "/gone"
	given.ManagedFields = []meta.ManagedFieldsEntry{{
		Manager: "m", Operation: meta.ManagedFieldsOperationUpdate, APIVersion: "coordination.k8s.io/v1", Time: new(meta.NewTime(epoch)),
		FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:spec":{"f:renewTime":{},"f:holderIdentity":{}}}`)},
	}}
	want := *given
	want.SelfLink, want.DeletionGracePeriodSeconds = "", new(int64(0))
	want.ManagedFields = []meta.ManagedFieldsEntry{given.ManagedFields[0]}
	want.ManagedFields[0].FieldsV1 = &meta.FieldsV1{Raw: []byte(`{"f:spec":{"f:holderIdentity":{},"f:renewTime":{}}}`)}
	require.NoError(t, st.Restore(prepare(t, st, given), 0))
	assert.Equal(t, &want, mustGet(t, leasesIn(st), "ns/a"), "the managers' fields are in the order that the server keeps")

	given = newLease("ns/b", finalizers("example.com/f"))
	given.DeletionTimestamp, given.DeletionGracePeriodSeconds = new(meta.NewTime(epoch)), new(int64(30))
	require.NoError(t, st.Restore(prepare(t, st, given), 0))
	assert.EqualValues(t, 30, *mustGet(t, leasesIn(st), "ns/b").DeletionGracePeriodSeconds)
	mustModify(t, leasesIn(st), "ns/b", finalizers())
	assert.Empty(t, mustGet(t, leasesIn(st), "ns/b").Finalizers, "an object with a grace period is there until it is deleted once more")
	mustModify(t, leasesIn(st), "ns/b", holder("x"))
	mustDelete(t, leasesIn(st), "ns/b")
	assert.Equal(t, []string{"ns/a@1234"}, pathsAndVersions(t, st))
}

func TestRestoredObjectsAreHeldToTheRulesOfACreate(t *testing.T) {
	const prefix = `Lease.coordination.k8s.io "a" is invalid: `
	managed := func(e meta.ManagedFieldsEntry) func(*lease.Lease) {
		return func(l *lease.Lease) { l.ManagedFields = []meta.ManagedFieldsEntry{e} }
	}
	for name, row := range map[string]struct {
		change func(*lease.Lease)
		want   string
	}{
		"a bad spec":              {func(l *lease.Lease) { l.Spec.LeaseDurationSeconds = new(int32(0)) }, prefix + "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
		"no namespace":            {func(l *lease.Lease) { l.Namespace = "" }, prefix + "metadata.namespace: Required value"},
		"a bad name":              {func(l *lease.Lease) { l.Name = "a"; l.GenerateName = "_" }, prefix + "metadata.generateName: Invalid value"},
		"a name to be made up":    {func(l *lease.Lease) { l.Name, l.GenerateName = "", "a-" }, `Lease.coordination.k8s.io "" is invalid: metadata.name: Required value: must be given; generateName alone is for requests`},
		"a bad version":           {version("1001x"), `metadata.resourceVersion: Invalid value: "1001x"`},
		"a version out of range":  {version("4611686018427387904"), `metadata.resourceVersion: Invalid value: "4611686018427387904": must be at most 4611686018427387903`},
		"a deletion that is done": {func(l *lease.Lease) { l.DeletionTimestamp = new(meta.NewTime(epoch)) }, prefix + `metadata.deletionTimestamp: Invalid value: "2026-01-02T02:04:05Z": must not be given without finalizers: the object would be gone`},
		"managers without a format": {managed(meta.ManagedFieldsEntry{Manager: "m", Operation: "Update", APIVersion: "v1"}),
			`metadata.managedFields: missing fieldsType in managed fields entry 0`},
		"managers that cannot be read": {managed(meta.ManagedFieldsEntry{Manager: "m", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"x":1}`)}}),
			`metadata.managedFields: fieldsV1: got field "x", want a letter and a colon first`},
		"an object too large": {func(l *lease.Lease) { l.Spec.HolderIdentity = new(string(make([]byte, 2<<20))) }, "the object is larger than 1572864 bytes"},
		"a time beyond all years": {func(l *lease.Lease) {
			l.Spec.RenewTime = new(meta.NewMicroTime(time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200))))
		}, "a time may be outside the years 0 to 9999"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			_, err := leaseResource(st).PrepareRestore(newLease("ns/a", row.change), registry.Request{})
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestRestoreStoresAllOrNothing(t *testing.T) {
	good := func() *lease.Lease { return newLease("ns/good", version("1500")) }
	for name, row := range map[string]struct {
		objects []*lease.Lease
		version uint64
		want    error
		text    string
	}{
		"the same name":    {[]*lease.Lease{good(), newLease("ns/b"), newLease("ns/b")}, 0, &registry.RestoreError{Object: 2, Other: 1}, `leases.coordination.k8s.io "b" already exists`},
		"a name in use":    {[]*lease.Lease{good(), newLease("ns/there")}, 0, &registry.RestoreError{Object: 1, Other: -1}, `leases.coordination.k8s.io "there" already exists`},
		"the same uid":     {[]*lease.Lease{good(), newLease("ns/b", uid("u")), newLease("ns/c", uid("u"))}, 0, &registry.RestoreError{Object: 2, Other: 1}, `metadata.uid: Duplicate value: "u": no two objects have the same; leave it out to be given one`},
		"the same version": {[]*lease.Lease{good(), newLease("ns/b", version("01500"))}, 0, &registry.RestoreError{Object: 1, Other: 0}, `metadata.resourceVersion: Duplicate value: "01500": no two objects have the same; leave it out to be given one`},
		"a great version":  {[]*lease.Lease{good()}, 1 << 62, nil, "resourceVersion: Invalid value: 4611686018427387904: must be at most 4611686018427387903"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			createAll(t, leasesIn(st), "ns/there")
			err := st.Restore(prepare(t, st, row.objects...), row.version)
			require.EqualError(t, err, row.text)
			if want, ok := errors.AsType[*registry.RestoreError](row.want); ok {
				var got *registry.RestoreError
				require.ErrorAs(t, err, &got)
				assert.Equal(t, []int{want.Object, want.Other}, []int{got.Object, got.Other})
			}
			assert.Equal(t, []string{"ns/there@1001"}, pathsAndVersions(t, st))
			assert.EqualValues(t, 1001, st.ResourceVersion())
		})
	}
}

func TestRestoreIsSeenByWatchersAndHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		before := record(t, st, registry.ListOptions{})
		future := record(t, st, registry.ListOptions{ResourceVersion: "1100"})
		createAll(t, leasesIn(st), "ns/a")
		before.take()
		require.NoError(t, st.Restore(prepare(t, st, newLease("ns/c", version("1200")), newLease("ns/b", version("1100")), newLease("ns/d")), 1300))
		assert.Equal(t, []string{"ADDED ns/b@1100", "ADDED ns/c@1200", "ADDED ns/d@1301"}, before.take())
		assert.Equal(t, []string{"ADDED ns/c@1200", "ADDED ns/d@1301"}, future.take())
		later := record(t, st, registry.ListOptions{ResourceVersion: "1150"})
		assert.Equal(t, []string{"ADDED ns/c@1200", "ADDED ns/d@1301"}, later.take())
		for v, want := range map[string][]string{"1001": {"ns/a"}, "1099": {"ns/a"}, "1100": {"ns/a", "ns/b"}, "1250": {"ns/a", "ns/b", "ns/c"}, "1301": {"ns/a", "ns/b", "ns/c", "ns/d"}} {
			items, m := mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: v, ResourceVersionMatch: registry.MatchExact})
			assert.Equal(t, want, paths(items), v)
			assert.Equal(t, v, m.ResourceVersion)
		}
	})
}

func TestGapsOfARestoreTakeNoHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, registry.Options{History: 10})
		w := record(t, st, registry.ListOptions{ResourceVersion: "1000"})
		require.NoError(t, st.Restore(prepare(t, st, newLease("ns/a", version("1001")), newLease("ns/b", version("900000"))), 0))
		assert.Equal(t, []string{"ADDED ns/a@1001", "ADDED ns/b@900000"}, w.take())
		late := record(t, st, registry.ListOptions{ResourceVersion: "1001"})
		assert.Equal(t, []string{"ADDED ns/b@900000"}, late.take())
		createAll(t, leasesIn(st), "ns/c")
		assert.Equal(t, []string{"ADDED ns/c@900001"}, late.take())
	})
}

func TestStateIsOneVersionOfAllKinds(t *testing.T) {
	st := newStore(t)
	createAll(t, leasesIn(st), "ns/b", "ns/a")
	items, version := st.State(st.Resource(kinds.Of(candidate.Kind())), leaseResource(st))
	createAll(t, leasesIn(st), "ns/c")
	assert.EqualValues(t, 1002, version)
	require.Len(t, items, 2)
	assert.Empty(t, items[0])
	require.Len(t, items[1], 2)
	assert.Equal(t, "a", items[1][0].Name())
}

func TestFaithfulVersionSaysAll(t *testing.T) {
	for name, row := range map[string]struct {
		spec candidate.LeaseCandidateSpec
		want int
	}{
		"one strategy":    {candidate.LeaseCandidateSpec{LeaseName: "l", BinaryVersion: "1.0.0", EmulationVersion: "1.0.0", Strategy: lease.OldestEmulationVersion}, 0},
		"a list":          {candidate.LeaseCandidateSpec{LeaseName: "l", BinaryVersion: "1.0.0", EmulationVersion: "1.0.0", PreferredStrategies: []lease.CoordinatedLeaseStrategy{lease.OldestEmulationVersion, "example.com/x"}}, 2},
		"a list with one": {candidate.LeaseCandidateSpec{LeaseName: "l", BinaryVersion: "1.0.0", EmulationVersion: "1.0.0", PreferredStrategies: []lease.CoordinatedLeaseStrategy{lease.OldestEmulationVersion}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			_, err := in(st, candidate.Kind()).Create(t.Context(), &candidate.LeaseCandidate{ObjectMeta: objectMeta("ns/a"), Spec: row.spec}, store.CreateOptions{})
			require.NoError(t, err)
			it, err := st.Resource(kinds.Of(candidate.Kind())).Get(t.Context(), "ns", "a", "")
			require.NoError(t, err)
			assert.Equal(t, row.want, it.FaithfulVersion())
		})
	}
}
