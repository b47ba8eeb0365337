package registry

import "github.com/kubecoord/kubecoord/internal/kinds"

// Replace returns the Change of a PUT, which takes ownership of the object.
func (r *Resource) Replace(o kinds.Object) Change { return new(SentBy(r.Kind, o, nil)) }
