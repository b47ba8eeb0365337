package registry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

const uuid4 = `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`

func TestCreateSetsFieldsOfTheServer(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	first := mustCreate(t, leases, newLease("ns/a"))
	second := mustCreate(t, leases, newLease("ns/b"))

	assert.Regexp(t, uuid4, string(first.UID))
	assert.NotEqual(t, first.UID, second.UID)
	assert.Equal(t, "1001", first.ResourceVersion)
	assert.Equal(t, "1002", second.ResourceVersion)
	assert.Equal(t, time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC), first.CreationTimestamp.Time, "want UTC in whole seconds")
	assert.Zero(t, first.Generation)
	assert.Zero(t, first.TypeMeta, "objects from a Collection carry no kind")
	assert.Equal(t, first, mustGet(t, leases, "ns/a"))
	assert.EqualValues(t, 1002, st.ResourceVersion())
}

func TestCreateClearsFieldsOfTheServer(t *testing.T) {
	leases := leasesIn(newStore(t))
	yesterday := meta.NewTime(epoch.Add(-24 * time.Hour))
	l := newLease("ns/a")
	l.TypeMeta = meta.TypeMeta{Kind: "Other", APIVersion: "v9"}
	l.UID, l.SelfLink, l.Generation = "mine", "/self", 7
	l.CreationTimestamp, l.DeletionTimestamp, l.DeletionGracePeriodSeconds = yesterday, &yesterday, new(int64(30))
	l.Finalizers = []string{"example.com/f"}
	got := mustCreate(t, leases, l)

	assert.Regexp(t, uuid4, string(got.UID))
	assert.Empty(t, got.SelfLink)
	assert.Equal(t, meta.NewTime(epoch), got.CreationTimestamp)
	assert.Nil(t, got.DeletionTimestamp)
	assert.Nil(t, got.DeletionGracePeriodSeconds)
	assert.Zero(t, got.TypeMeta)
	assert.EqualValues(t, 7, got.Generation, "a generation is kept as it was sent")
	assert.EqualValues(t, "mine", l.UID, "the caller's object must not change")
}

func TestCreateRefusesAResourceVersion(t *testing.T) {
	for name, row := range map[string]struct {
		version string
		refused bool
	}{
		"none":         {"", false},
		"zero":         {"0", false},
		"a version":    {"1001", true},
		"not a number": {"abc", false},
	} {
		t.Run(name, func(t *testing.T) {
			leases := leasesIn(newStore(t))
			got, err := leases.Create(t.Context(), newLease("ns/a", func(l *lease.Lease) { l.ResourceVersion = row.version }), store.CreateOptions{})
			if row.refused {
				assertPlain(t, err, "resourceVersion should not be set on objects to be created")
				assert.Nil(t, got)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "1001", got.ResourceVersion)
		})
	}
}

func TestCreateOfATakenNameAnswersAlreadyExists(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	createAll(t, leases, "ns/a")
	_, err := leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{})

	assertStatus(t, err, 409, store.ErrAlreadyExists, `leases.coordination.k8s.io "a" already exists`)
	assert.Equal(t, &meta.StatusDetails{Name: "a", Group: "coordination.k8s.io", Kind: "leases"}, statusOf(t, err).Details)
	assert.False(t, errors.Is(err, store.ErrConflict), "both are 409, but they are not the same")
	assert.EqualValues(t, 1001, st.ResourceVersion())

	createAll(t, leases, "other/a")
	all := in(st, endpoints.Kind())
	_, err = all.Create(t.Context(), newEndpoints("ns/a"), store.CreateOptions{})
	require.NoError(t, err, "another kind has names of its own")
	_, err = all.Create(t.Context(), newEndpoints("ns/a"), store.CreateOptions{})
	assertStatus(t, err, 409, store.ErrAlreadyExists, `endpoints "a" already exists`)
}

func TestCreateOverATerminatingObjectSaysSo(t *testing.T) {
	leases := leasesIn(newStore(t))
	mustCreate(t, leases, newLease("ns/a", finalizers("example.com/f")))
	mustDelete(t, leases, "ns/a")
	_, err := leases.Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
	assertStatus(t, err, 409, store.ErrAlreadyExists, `object is being deleted: leases.coordination.k8s.io "a" already exists`)
}

func TestCreateAfterDeleteMakesAnotherObject(t *testing.T) {
	leases := leasesIn(newStore(t))
	first := mustCreate(t, leases, newLease("ns/a", holder("x")))
	mustDelete(t, leases, "ns/a")
	second := mustCreate(t, leases, newLease("ns/a"))
	assert.NotEqual(t, first.UID, second.UID)
	assert.Equal(t, "1003", second.ResourceVersion)
	assert.Nil(t, second.Spec.HolderIdentity)
}

func TestCreateChecksNamesAndNamespaces(t *testing.T) {
	const (
		subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
		dnsLabel  = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	)
	for name, row := range map[string]struct {
		path string
		want string // of the field errors, "" for none
	}{
		"a short name":               {"ns/a", ""},
		"a subdomain":                {"ns/a-b.c-d", ""},
		"a name of 253 bytes":        {"ns/" + strings.Repeat("a", 253), ""},
		"no name":                    {"ns/", "metadata.name: Required value: name or generateName is required"},
		"upper case in the name":     {"ns/A", `metadata.name: Invalid value: "A": ` + subdomain},
		"an underscore in the name":  {"ns/a_b", `metadata.name: Invalid value: "a_b": ` + subdomain},
		"a dash at the end":          {"ns/a-", `metadata.name: Invalid value: "a-": ` + subdomain},
		"a name of 254 bytes":        {"ns/" + strings.Repeat("a", 254), `metadata.name: Invalid value: "` + strings.Repeat("a", 254) + `": must be no more than 253 characters`},
		"no namespace":               {"/a", "metadata.namespace: Required value"},
		"upper case in a namespace":  {"Ns/a", `metadata.namespace: Invalid value: "Ns": ` + dnsLabel},
		"a dot in the namespace":     {"n.s/a", `metadata.namespace: Invalid value: "n.s": must not contain dots`},
		"a dash ends the namespace":  {"ns-/a", `metadata.namespace: Invalid value: "ns-": ` + dnsLabel},
		"a namespace of 64 bytes":    {strings.Repeat("n", 64) + "/a", `metadata.namespace: Invalid value: "` + strings.Repeat("n", 64) + `": must be no more than 63 characters`},
		"neither name nor namespace": {"/", "[metadata.name: Required value: name or generateName is required, metadata.namespace: Required value]"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			l := newLease(row.path)
			got, err := leasesIn(st).Create(t.Context(), l, store.CreateOptions{})
			if row.want == "" {
				require.NoError(t, err)
				assert.Equal(t, l.Name, got.Name)
				return
			}
			assertStatus(t, err, 422, store.ErrInvalid, `Lease.coordination.k8s.io "`+l.Name+`" is invalid: `+row.want)
			assert.Equal(t, "Lease", statusOf(t, err).Details.Kind, "a 422 names the Kind, not the plural")
			assert.EqualValues(t, 1000, st.ResourceVersion(), "what is refused takes no version")
		})
	}
}

func TestCreateInAnotherNamespaceIsRefusedBeforeItWarns(t *testing.T) {
	warned := func(text string) { t.Error(text) }
	twice := newLease("ns/a", owners(owner("u"), owner("u")))
	_, err := leaseResource(newStore(t)).Create(t.Context(), twice, registry.Request{Namespace: "other", Warn: warned})
	assertStatus(t, err, 400, store.ErrBadRequest, "the namespace of the provided object does not match the namespace sent on the request")
}

// The store must neither share memory with the object of a caller nor with an answer.
func TestManagersOfTheCallerAreCopied(t *testing.T) {
	leases := leasesIn(newStore(t))
	entry := meta.ManagedFieldsEntry{Manager: "m", Operation: "Apply", APIVersion: "coordination.k8s.io/v1", Time: new(meta.NewTime(epoch)),
		FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:spec":{"f:holderIdentity":{}}}`)}}
	spoil := func(l *lease.Lease) {
		for i := range l.ManagedFields {
			e := &l.ManagedFields[i]
			e.Manager, e.Time.Time = "spoilt", time.Time{}
			if e.FieldsV1 != nil {
				copy(e.FieldsV1.Raw, "spoilt")
			}
		}
		*l.Spec.HolderIdentity, l.Labels["k"] = "spoilt", "spoilt"
	}
	given := newLease("ns/a", holder("x"), label("k", "v"), func(l *lease.Lease) { l.ManagedFields = []meta.ManagedFieldsEntry{entry} })
	write := mustCreate
	for i := range 3 {
		answer := write(t, leases, given)
		want := mustGet(t, leases, "ns/a")
		assert.Equal(t, want, answer)
		spoil(given)
		spoil(answer)
		require.Equal(t, want, mustGet(t, leases, "ns/a"))
		write, given = mustUpdate, want
		given.Spec.LeaseTransitions = new(int32(i))
	}
}

func TestUpdateWithoutManagersResetsThem(t *testing.T) {
	leases := leasesIn(newStore(t))
	l := mustCreate(t, leases, newLease("ns/a", holder("x")))
	require.Len(t, l.ManagedFields, 1)
	l.ManagedFields = nil
	l = mustUpdate(t, leases, l)
	require.Len(t, l.ManagedFields, 1, "none given")
	l.ManagedFields = []meta.ManagedFieldsEntry{}
	assert.Empty(t, mustUpdate(t, leases, l).ManagedFields, "an empty list")
}

func TestCreateLooksAtTheKindsOwnRules(t *testing.T) {
	st := newStore(t)
	_, err := leasesIn(st).Create(t.Context(), newLease("ns/a", func(l *lease.Lease) {
		l.Spec.LeaseDurationSeconds, l.Spec.LeaseTransitions = new(int32(0)), new(int32(-1))
	}), store.CreateOptions{})
	assertStatus(t, err, 422, store.ErrInvalid, `Lease.coordination.k8s.io "a" is invalid: [spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]`)
	assert.Equal(t, []meta.StatusCause{
		{Type: "FieldValueInvalid", Message: "Invalid value: 0: must be greater than 0", Field: "spec.leaseDurationSeconds"},
		{Type: "FieldValueInvalid", Message: "Invalid value: -1: must be greater than or equal to 0", Field: "spec.leaseTransitions"},
	}, statusOf(t, err).Details.Causes)

	c := &candidate.LeaseCandidate{ObjectMeta: objectMeta("ns/Upper_Case"), Spec: candidate.LeaseCandidateSpec{
		LeaseName: "a", BinaryVersion: "1.2.3", EmulationVersion: "1.2.0", Strategy: lease.OldestEmulationVersion,
	}}
	_, err = in(st, candidate.Kind()).Create(t.Context(), c, store.CreateOptions{})
	require.NoError(t, err, "a kind may have a name rule of its own")
}

func TestCreateFillsInDefaults(t *testing.T) {
	all := in(newStore(t), endpoints.Kind())
	e := newEndpoints("ns/a")
	e.Subsets = []endpoints.EndpointSubset{{
		Addresses: []endpoints.EndpointAddress{{IP: "10.0.0.1"}}, Ports: []endpoints.EndpointPort{{Port: 80}},
	}}
	got, err := all.Create(t.Context(), e, store.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, endpoints.ProtocolTCP, got.Subsets[0].Ports[0].Protocol)
	assert.Empty(t, e.Subsets[0].Ports[0].Protocol, "the caller's object must not change")
}

func TestCreateRefusesObjectsTooLargeForEtcd(t *testing.T) {
	const most = 1536 << 10 // of the stored form
	leases := leasesIn(newStore(t))
	large := mustCreate(t, leases, newLease("ns/exact", holder(strings.Repeat("x", 1535<<10))))
	mustDelete(t, leases, "ns/exact")
	large.ResourceVersion = "" // it is not stored
	rest := most - leases.r.Schema(0).Size(large)
	for more, managed := range []bool{true, false} {
		l := mustCreate(t, leases, newLease("ns/exact", holder(strings.Repeat("x", 1535<<10+rest+more))))
		assert.Equal(t, managed, len(l.ManagedFields) > 0, "%d bytes: above the limit the managers are left out", most+more)
		mustDelete(t, leases, "ns/exact")
		l.ResourceVersion = ""
		if managed {
			assert.Equal(t, most, leases.r.Schema(0).Size(l))
			_, err := leases.r.PrepareRestore(l, registry.Request{})
			assert.NoError(t, err)
		}
	}
	_, err := leases.Apply(t.Context(), newLease("ns/exact", holder(strings.Repeat("x", 1535<<10+rest+1))), store.ApplyOptions{FieldManager: strings.Repeat("m", 100)})
	assertPlain(t, err, "etcdserver: request is too large") // an apply without its managers would be none
	_, err = leases.Create(t.Context(), newLease("ns/a", holder(strings.Repeat("x", 1536<<10))), store.CreateOptions{})
	assertPlain(t, err, "etcdserver: request is too large")
	_, err = leases.Create(t.Context(), newLease("ns/a", holder(strings.Repeat("x", 1536<<10))), store.CreateOptions{DryRun: true})
	require.NoError(t, err, "a dry run does not reach etcd")
	mustCreate(t, leases, newLease("ns/a", holder(strings.Repeat("x", 1535<<10))))
	_, err = leases.Modify(t.Context(), "ns", "a", func(l *lease.Lease) error {
		*l.Spec.HolderIdentity += strings.Repeat("x", 1<<10)
		return nil
	}, store.UpdateOptions{})
	assertPlain(t, err, "etcdserver: request is too large")
}
