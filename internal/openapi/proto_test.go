package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers in these tests are the field numbers of gnostic's OpenAPIv2.proto and OpenAPIv3.proto.

// fields returns the values of one field of a message.
func fields(t testing.TB, data []byte, number protowire.Number) (out [][]byte) {
	t.Helper()
	for len(data) > 0 {
		n, typ, length := protowire.ConsumeTag(data)
		require.NoError(t, protowire.ParseError(length))
		data = data[length:]
		length = protowire.ConsumeFieldValue(n, typ, data)
		require.NoError(t, protowire.ParseError(length))
		if n == number {
			value := data[:length]
			if typ == protowire.BytesType {
				value, _ = protowire.ConsumeBytes(value)
			}
			out = append(out, value)
		}
		data = data[length:]
	}
	return out
}

// follow returns the value at a path in a message. A number is the first value of a field, a name the value of the pair with
// that name in the field before it.
func follow(t testing.TB, data []byte, path ...any) string {
	t.Helper()
	for i := 0; i < len(path); i++ {
		number := protowire.Number(path[i].(int))
		values := fields(t, data, number)
		require.NotEmpty(t, values, "no field %d at %v", number, path[:i])
		data = values[0]
		if i+1 == len(path) {
			break
		}
		name, ok := path[i+1].(string)
		if !ok {
			continue
		}
		i++
		data = nil
		for _, pair := range values {
			if string(fields(t, pair, 1)[0]) == name {
				data = fields(t, pair, 2)[0]
			}
		}
		require.NotNil(t, data, "no pair %q at %v", name, path[:i])
	}
	return string(data)
}

func TestV2InProtobuf(t *testing.T) {
	doc := coordination(t).V2().Protobuf()
	assert.Equal(t, "2.0", follow(t, doc, 1))
	assert.Equal(t, "v1.37.2", follow(t, doc, 2, 2))

	spec := []any{9, 1, "io.k8s.api.coordination.v1.LeaseSpec", 25, 1}
	assert.Equal(t, "string", follow(t, doc, append(spec, "holderIdentity", 22, 1)...))
	assert.Equal(t, "int32", follow(t, doc, append(spec, "leaseDurationSeconds", 2)...))
	assert.Equal(t, "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", follow(t, doc, append(spec, "renewTime", 1)...))
	meta := []any{9, 1, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", 25, 1}
	assert.Equal(t, "string", follow(t, doc, append(meta, "labels", 21, 1, 22, 1)...))
	assert.Equal(t, `"uid"`, follow(t, doc, append(meta, "ownerReferences", 31, "x-kubernetes-patch-merge-key", 2)...))
	port := []any{9, 1, "io.k8s.api.core.v1.EndpointPort", 25, 1}
	assert.Equal(t, `"SCTP"`, follow(t, doc, append(port, "protocol", 20, 2)...))

	item := []any{8, 2, "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"}
	assert.Equal(t, "patchCoordinationV1NamespacedLease", follow(t, doc, append(item, 8, 5)...))
	assert.Equal(t, `{"group":"coordination.k8s.io","kind":"Lease","version":"v1"}`,
		follow(t, doc, append(item, 8, 13, "x-kubernetes-group-version-kind", 2)...))
	assert.Equal(t, "#/definitions/io.k8s.api.coordination.v1.Lease", follow(t, doc, append(item, 2, 9, 1, "200", 1, 2, 1, 1)...))
	assert.Equal(t, "name", follow(t, doc, append(item, 9, 1, 2, 4, 4)...), "the first parameter is in the path")
	assert.Equal(t, "\x01", follow(t, doc, append(item, 9, 1, 2, 4, 1)...), "and required")
}

func TestV3InProtobuf(t *testing.T) {
	doc := coordination(t).V3("apis/coordination.k8s.io/v1beta1").Protobuf()
	assert.Equal(t, "3.0.0", follow(t, doc, 1))
	assert.Equal(t, "v1.37.2", follow(t, doc, 2, 6))

	spec := []any{5, 1, 1, "io.k8s.api.coordination.v1beta1.LeaseCandidateSpec", 1, 31, 1}
	assert.Equal(t, "string", follow(t, doc, append(spec, "leaseName", 1, 25)...))
	assert.Empty(t, follow(t, doc, append(spec, "leaseName", 1, 33, 3)...), "the default is an empty string")
	assert.Equal(t, "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
		follow(t, doc, append(spec, "renewTime", 1, 26, 2, 1)...))

	item := []any{4, 1, "/apis/coordination.k8s.io/v1beta1/namespaces/{namespace}/leasecandidates/{name}"}
	assert.Equal(t, "patchCoordinationV1beta1NamespacedLeaseCandidate", follow(t, doc, append(item, 10, 5)...))
	assert.Equal(t, `"patch"`, follow(t, doc, append(item, 10, 13, "x-kubernetes-action", 2)...))
	assert.Equal(t, "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
		follow(t, doc, append(item, 10, 7, 1, 2, 1, "application/merge-patch+json", 1, 2, 1)...))
	assert.Equal(t, "name", follow(t, doc, append(item, 13, 1, 1)...))
}
