package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// namespaceObject answers GET /api/v1/namespaces/{ns}. Namespaces are not
// stored: every name that could be one exists. kubectl asks after a 404, to
// tell which of the two is missing.
func (c *call) namespaceObject(name string) {
	if c.req.Method != http.MethodGet {
		c.fail(methodNotAllowed())
		return
	}
	if err := c.prepare(false); err != nil {
		c.fail(err)
		return
	}
	if store.DNSLabelName(name, false) != nil {
		c.fail(meta.NewNotFound(meta.GroupResource{Resource: "namespaces"}, name))
		return
	}
	data, err := json.Marshal(struct {
		meta.TypeMeta `json:",inline"`
		Metadata      meta.ObjectMeta `json:"metadata"`
		Spec          struct{}        `json:"spec"`
		Status        struct {
			Phase string `json:"phase"`
		} `json:"status"`
	}{
		TypeMeta: meta.TypeMeta{Kind: "Namespace", APIVersion: "v1"},
		Metadata: meta.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}},
		Status: struct {
			Phase string `json:"phase"`
		}{"Active"},
	})
	if err != nil {
		c.fail(err)
		return
	}
	m := c.media
	if m.format == formatProtobuf {
		m.format = formatJSON // there is no type to encode it by
	}
	c.writeDocument(http.StatusOK, data, m)
}
