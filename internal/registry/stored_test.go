package registry_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// gear is a kind without a protobuf form.
type gear struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Teeth           int `json:"teeth"`
}

func TestValuesAreThoseOfARealServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		gears := store.MustKind(kind.Descriptor[*gear]{Resource: kind.Resource{Group: "example.com", Kind: "Gear", ClusterScoped: true}, Versions: []kind.Version[*gear]{{Name: "v1"}}})
		st, err := registry.Open(registry.Options{}, e, kinds.Of(lease.Kind()), kinds.Of(endpoints.Kind()), kinds.Of(candidate.Kind()), kinds.Of(gears))
		require.NoError(t, err)
		defer st.Close()
		require.NoError(t, st.Loaded(t.Context()))

		created := mustCreate(t, leasesIn(st), newLease("ns/a", holder("me")))
		value := e.Value("leases/ns/a")
		// The envelope that upstream stores in etcd has these parts: magic, type, the object, an empty encoding and an empty media type.
		assert.True(t, strings.HasPrefix(string(value), "k8s\x00\n\x1f\n\x16coordination.k8s.io/v1\x12\x05Lease\x12"), hex.Dump(value))
		assert.True(t, strings.HasSuffix(string(value), "\x1a\x00\x22\x00"))
		envelope, err := codec.OpenEnvelope(value)
		require.NoError(t, err)
		stored := &lease.Lease{}
		require.NoError(t, leaseResource(st).Schema(0).DecodeProto(envelope.Raw, stored))
		assert.Empty(t, stored.ResourceVersion, "it is the version of the key")
		stored.ResourceVersion = "1001"
		assert.Equal(t, created, stored)

		mustModify(t, leasesIn(st), "ns/a", func(l *lease.Lease) { l.Spec.HolderIdentity = new("you") })
		assert.NotContains(t, string(e.Value("leases/ns/a")), "1001", "nor is it in the bytes of an update")

		_, err = in(st, endpoints.Kind()).Create(t.Context(), newEndpoints("ns/e"), store.CreateOptions{})
		require.NoError(t, err)
		assert.Contains(t, string(e.Value("services/endpoints/ns/e")), "k8s\x00\n\x0f\n\x02v1\x12\x09Endpoints")
		_, err = in(st, candidate.Kind()).Create(t.Context(), &candidate.LeaseCandidate{ObjectMeta: objectMeta("ns/c"), Spec: candidate.LeaseCandidateSpec{LeaseName: "l", BinaryVersion: "1.0.0", EmulationVersion: "1.0.0", Strategy: lease.OldestEmulationVersion}}, store.CreateOptions{})
		require.NoError(t, err)
		assert.Contains(t, string(e.Value("leasecandidates/ns/c")), "coordination.k8s.io/v1beta1\x12\x0eLeaseCandidate")

		_, err = in(st, gears).Create(t.Context(), &gear{ObjectMeta: meta.ObjectMeta{Name: "g"}, Teeth: 3}, store.CreateOptions{})
		require.NoError(t, err)
		value = e.Value("example.com/gears/g")
		assert.True(t, strings.HasPrefix(string(value), `{"kind":"Gear","apiVersion":"example.com/v1","metadata":{"name":"g","uid":`), string(value))
		assert.True(t, strings.HasSuffix(string(value), `"teeth":3}`+"\n"), string(value))
		got, err := in(st, gears).Get(t.Context(), "", "g")
		require.NoError(t, err)
		assert.Equal(t, 3, got.Teeth)
	})
}

// A server of another version, or another program, may have written a value.
func TestForeignValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(1000)
		st := openOn(t, e)
		w := record(t, st, fromNow())
		e.Put(map[string][]byte{
			"leases/ns/json": []byte(` {"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"json","namespace":"ns","resourceVersion":"7","managedFields":[]},"spec":{"holderIdentity":"x"}}`),
			"leases/ns/old":  []byte(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1beta1","metadata":{"name":"old","namespace":"ns"}}`),
			"leasecandidates/ns/old": []byte(`{"kind":"LeaseCandidate","apiVersion":"coordination.k8s.io/v1alpha1","metadata":{"name":"old","namespace":"ns"},` +
				`"spec":{"leaseName":"l","preferredStrategies":["OldestEmulationVersion"]}}`),
		})
		assert.Equal(t, []string{"ADDED ns/json@1001", "ADDED ns/old@1001"}, w.take())
		assert.Equal(t, "x", *mustGet(t, leasesIn(st), "ns/json").Spec.HolderIdentity)
		assert.Nil(t, mustGet(t, leasesIn(st), "ns/json").ManagedFields)
		_, err := leasesIn(st).Modify(t.Context(), "ns", "json", func(l *lease.Lease) error { l.CreationTimestamp = meta.NewTime(epoch); return nil }, store.UpdateOptions{})
		assert.ErrorContains(t, err, `metadata.creationTimestamp: Invalid value: "2026-01-02T02:04:05Z"`, "it has none, and gets none")
		c, err := in(st, candidate.Kind()).Get(t.Context(), "ns", "old")
		require.NoError(t, err)
		assert.Equal(t, lease.OldestEmulationVersion, c.Spec.Strategy)
		mustModify(t, leasesIn(st), "ns/json", func(l *lease.Lease) { l.Spec.HolderIdentity = new("y") })
		assert.True(t, strings.HasPrefix(string(e.Value("leases/ns/json")), "k8s\x00"), "it is written in the storage version")
	})
}

// A value that cannot be read fails the reads that would have to return it, and no others.
func TestValuesThatCannotBeRead(t *testing.T) {
	for name, row := range map[string]struct{ value, reason string }{
		"empty":                {"", "empty data"},
		"text":                 {"hello", "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		"half an envelope":     {"k8s\x00\x0a", "unexpected EOF"},
		"an empty envelope":    {"k8s\x00", "empty body"},
		"half an object":       {"k8s\x00\n\x1f\n\x16coordination.k8s.io/v1\x12\x05Lease\x12\x02\x0a\x05\x1a\x00\x22\x00", "unexpected EOF"},
		"broken JSON":          {"{", "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		"another kind":         {`{"kind":"Pod","apiVersion":"v1"}`, `got kind "Pod" of "v1", want "Lease" of "coordination.k8s.io/v1"`},
		"no kind":              {`{}`, `got kind "" of "", want "Lease" of "coordination.k8s.io/v1"`},
		"another name":         {`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"b","namespace":"ns"}}`, `the object is "b", of namespace "ns"`},
		"a member of the type": {`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":5}}`, "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine.New(1000)
				st := openOn(t, e)
				createAll(t, leasesIn(st), "ns/a", "ns/b", "other/a") // 1003
				good := e.Value("leases/ns/a")
				w := record(t, st, registry.ListOptions{ResourceVersion: "1003"})
				e.Put(map[string][]byte{"leases/ns/a": []byte(row.value)}) // 1004
				assert.Equal(t, []string{"DELETED ns/a@1004"}, w.take())
				check := func(st *registry.Store) {
					t.Helper()
					want := `cannot decode the value of the key "leases/ns/a" at version 1004: ` + row.reason
					for _, version := range []string{"", "0", "1004"} {
						_, err := leaseResource(st).Get(t.Context(), "ns", "a", version)
						assertPlain(t, err, want)
					}
					for _, opts := range []registry.ListOptions{{}, {Namespace: "ns"}, {ResourceVersion: "0"}, {Namespace: "ns", FieldSelector: "metadata.name=a"}} {
						_, _, err := leasesIn(st).List(t.Context(), opts)
						assertPlain(t, err, want)
					}
					initial := record(t, st, registry.ListOptions{})
					assertPlain(t, initial.ended(), want)
					_, err := leasesIn(st).Create(t.Context(), newLease("ns/a"), store.CreateOptions{})
					assertPlain(t, err, want)
					_, err = leasesIn(st).Delete(t.Context(), "ns", "a", kinds.DeleteOptions{})
					assertPlain(t, err, want)
					assert.Equal(t, row.value, string(e.Value("leases/ns/a")), "nothing is written over it")
				}
				check(st)
				mustModify(t, leasesIn(st), "ns/b", func(l *lease.Lease) { l.Spec.HolderIdentity = new("me") }) // 1005
				items, _ := mustList(t, leasesIn(st), registry.ListOptions{Namespace: "other"})
				assert.Equal(t, []string{"other/a"}, paths(items))
				items, _ = mustList(t, leasesIn(st), registry.ListOptions{ResourceVersion: "1003", ResourceVersionMatch: registry.MatchExact})
				assert.Equal(t, []string{"ns/a", "ns/b", "other/a"}, paths(items))
				e.Compact()
				check(openOn(t, e))
				check(st)
				e.Put(map[string][]byte{"leases/ns/a": good}) // 1006
				assert.Equal(t, []string{"MODIFIED ns/b@1005", "ADDED ns/a@1006"}, w.take())
				assert.Equal(t, "1006", mustGet(t, leasesIn(st), "ns/a").ResourceVersion)
				items, _ = mustList(t, leasesIn(st), registry.ListOptions{})
				assert.Equal(t, []string{"ns/a", "ns/b", "other/a"}, paths(items))
				_, _, err := leasesIn(st).List(t.Context(), registry.ListOptions{ResourceVersion: "1005", ResourceVersionMatch: registry.MatchExact})
				assert.Error(t, err, "at that version it could not be read")

				e.Put(map[string][]byte{"leases/ns/a": []byte(row.value)}) // 1007
				e.DeleteRange("leases/ns/a")                               // 1008
				assert.Equal(t, []string{"DELETED ns/a@1007"}, w.take(), "for clients it was gone before")
				_, m := mustList(t, leasesIn(st), registry.ListOptions{Namespace: "ns"})
				assert.Equal(t, "1008", m.ResourceVersion)
			})
		})
	}
}
