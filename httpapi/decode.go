package httpapi

import (
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// validation returns the level of fieldValidation. Options have been validated
// before.
func validation(text string) patch.Validation {
	switch text {
	case "Ignore":
		return patch.Ignore
	case "Strict":
		return patch.Strict
	}
	return patch.Warn
}

// decodeBody reads the object of a create or update into the stored form.
func (c *call) decodeBody(data []byte, f format, opts registry.CreateOptions) (registry.Object, error) {
	return c.api.scheme.DecodeBody(c.endpoint.target(), data, f, validation(opts.FieldValidation), c.warn)
}

// exportGone refuses a parameter that old clients still send.
func exportGone() error {
	return meta.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
}

// managerOf returns who a write is ascribed to: the fieldManager, or the
// program named by the User-Agent.
func managerOf(fieldManager string, r *http.Request) string {
	if fieldManager != "" {
		return fieldManager
	}
	name, _, _ := strings.Cut(r.UserAgent(), "/")
	var b strings.Builder
	for _, ch := range name {
		if meta.Printable(ch) {
			b.WriteRune(ch)
		}
	}
	if name = b.String(); len(name) > meta.MaxFieldManager {
		name = name[:meta.MaxFieldManager]
	}
	if name == "" {
		return "unknown"
	}
	return name
}
