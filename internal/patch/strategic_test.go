package patch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const owned = `{"metadata":{"name":"x","labels":{"a":"1","b":"2"},"finalizers":["f/1","f/2","f/3"],"ownerReferences":[` +
	`{"apiVersion":"v1","kind":"K","name":"one","uid":"u1"},{"apiVersion":"v1","kind":"K","name":"two","uid":"u2"}],` +
	`"managedFields":[{"manager":"m"}]},"spec":{"holderIdentity":"h"}}`

// Upstream panics. The other errors, and the merges, are compared with upstream by internal/test/etcd/referee/differential.
func TestStrategicPatchesThatUpstreamCannotMerge(t *testing.T) {
	for body, row := range map[string]struct {
		code    int
		message string
	}{
		`{"metadata":{"$retainKeys":[{}]}}`:                                       {400, "invalid patch format of retainKeys"},
		`{"metadata":{"$setElementOrder/finalizers":[{}]}}`:                       {500, errNotComparable.Error()},
		`{"metadata":{"$setElementOrder/managedFields":[]}}`:                      {500, errNotComparable.Error()},
		`{"metadata":{"ownerReferences":[{"uid":{}}]}}`:                           {500, errNotComparable.Error()},
		`{"metadata":{"$setElementOrder/managedFields":[],"managedFields":[[]]}}`: {500, errNotComparable.Error()},
	} {
		t.Run(body, func(t *testing.T) {
			for _, v := range []Validation{Ignore, Warn, Strict} {
				checkRefused(t, Strategic, owned, body, v, row.code, row.message)
			}
		})
	}
}

// The time must not be quadratic in the length of two lists.
func TestLongListsTakeLittle(t *testing.T) {
	const n = 100_000
	owners, finalizers, order := make([]string, n), make([]string, n), make([]string, n)
	for i := range n {
		owners[i] = fmt.Sprintf(`{"uid":"u%d"}`, n-i)
		finalizers[i] = fmt.Sprintf(`"f/%d"`, n-i)
		order[i] = finalizers[i]
	}
	body := fmt.Sprintf(`{"metadata":{"ownerReferences":[%s],"finalizers":[%s],"$setElementOrder/finalizers":[%s]}}`,
		strings.Join(owners, ","), strings.Join(finalizers, ","), strings.Join(order, ","))
	obj, _, err := Strategic(newFixture(t, owned).object(), []byte(body), Ignore)
	require.NoError(t, err)
	assert.Len(t, obj.(*Lease).OwnerReferences, n)
	require.Len(t, obj.(*Lease).Finalizers, n)
	assert.Equal(t, "f/1", obj.(*Lease).Finalizers[n-1])
}
