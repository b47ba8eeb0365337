package meta_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestParseGroupVersion(t *testing.T) {
	for name, row := range map[string]struct {
		in    string
		want  meta.GroupVersion
		ok    bool
		again string
	}{
		"a group and a version": {"coordination.k8s.io/v1", meta.GroupVersion{Group: "coordination.k8s.io", Version: "v1"}, true, "coordination.k8s.io/v1"},
		"the core group":        {"v1", meta.GroupVersion{Version: "v1"}, true, "v1"},
		"nothing":               {"", meta.GroupVersion{}, true, ""},
		"a slash":               {"/", meta.GroupVersion{}, true, ""},
		"no version":            {"g/", meta.GroupVersion{Group: "g"}, true, "g/"},
		"no group":              {"/v1", meta.GroupVersion{Version: "v1"}, true, "v1"},
		"two slashes":           {"a/b/c", meta.GroupVersion{}, false, ""},
		"two slashes alone":     {"//", meta.GroupVersion{}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := meta.ParseGroupVersion(row.in)
			assert.Equal(t, row.ok, ok)
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.again, got.String())
		})
	}
}

func TestNamesOfTheCoreGroupHaveNoGroup(t *testing.T) {
	assert.Equal(t, "leases.coordination.k8s.io", leases.String())
	assert.Equal(t, "endpoints", meta.GroupResource{Resource: "endpoints"}.String())
	assert.Equal(t, "Lease.coordination.k8s.io", meta.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}.String())
	assert.Equal(t, "Endpoints", meta.GroupKind{Kind: "Endpoints"}.String())
}
