package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestExpired(t *testing.T) {
	renewed := new(meta.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	for name, row := range map[string]struct {
		spec LeaseSpec
		now  time.Time
		want bool
	}{
		"never renewed":                    {LeaseSpec{LeaseDurationSeconds: new(int32(10))}, renewed.Time, true},
		"without a duration":               {LeaseSpec{RenewTime: renewed}, renewed.Time, true},
		"just renewed":                     {LeaseSpec{RenewTime: renewed, LeaseDurationSeconds: new(int32(10))}, renewed.Time, false},
		"at the last moment":               {LeaseSpec{RenewTime: renewed, LeaseDurationSeconds: new(int32(10))}, renewed.Add(10 * time.Second), false},
		"a microsecond later":              {LeaseSpec{RenewTime: renewed, LeaseDurationSeconds: new(int32(10))}, renewed.Add(10*time.Second + time.Microsecond), true},
		"renewed by a clock that is ahead": {LeaseSpec{RenewTime: renewed, LeaseDurationSeconds: new(int32(10))}, renewed.Add(-time.Hour), false},
		"the longest duration":             {LeaseSpec{RenewTime: renewed, LeaseDurationSeconds: new(int32(1<<31 - 1))}, renewed.AddDate(68, 0, 0), false},
		"renewed at the zero time":         {LeaseSpec{RenewTime: new(meta.MicroTime{}), LeaseDurationSeconds: new(int32(10))}, renewed.Time, true},
		"with an empty holder":             {LeaseSpec{HolderIdentity: new(""), RenewTime: renewed, LeaseDurationSeconds: new(int32(10))}, renewed.Time, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, (&Lease{Spec: row.spec}).Expired(row.now))
		})
	}
}

// As in discovery, OpenAPI and the keys of a real server.
func TestKindIsThatOfARealServer(t *testing.T) {
	info, all := Kind().Info(), kinds.Of(Kind()).Columns(0)
	assert.Equal(t, []string{"coordination.k8s.io", "Lease", "leases", "lease", "leases"},
		[]string{info.Group, info.Kind, info.Plural, info.Singular, info.StoragePrefix})
	assert.True(t, info.Native)
	var versions, columns []string
	for _, v := range info.Versions {
		versions = append(versions, v.Name, v.Deprecated)
	}
	assert.Equal(t, []string{"v1", ""}, versions)
	for _, c := range all[1 : len(all)-1] {
		columns = append(columns, c.Name, c.Type, c.Description)
	}
	assert.Equal(t, []string{"Holder", "string", "Identity of the holder, empty where there is none."}, columns)
}

func TestStaleUpdateIsAConflict(t *testing.T) {
	leases := In(store.New(store.Options{}))
	first, err := leases.Create(t.Context(), &Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "l"}}, store.CreateOptions{})
	require.NoError(t, err)
	second := *first
	first.Spec.HolderIdentity = new("a")
	_, err = leases.Update(t.Context(), first, store.UpdateOptions{})
	require.NoError(t, err)
	second.Spec.HolderIdentity = new("b")
	_, err = leases.Update(t.Context(), &second, store.UpdateOptions{})
	require.ErrorIs(t, err, store.ErrConflict)
	second.ResourceVersion = ""
	_, err = leases.Update(t.Context(), &second, store.UpdateOptions{})
	require.ErrorIs(t, err, store.ErrInvalid)
}
