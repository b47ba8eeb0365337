package registry

import "errors"

// maxObject is how many bytes the stored form of an object may have. etcd
// takes requests of 1.5 MiB.
const maxObject = 1536 << 10

// checkSize refuses objects that a real server could not store. A dry run does
// not come that far.
func (r *Resource) checkSize(o Object, req *Request, applied bool) error {
	if req.DryRun || r.kind.forms[0].typ.Size(o) <= maxObject {
		return nil
	}
	// Better to forget who owns what than to refuse the write.
	if m := o.GetObjectMeta(); !applied && len(m.ManagedFields) > 0 {
		m.ManagedFields = nil
		return r.checkSize(o, req, applied)
	}
	return errors.New("etcdserver: request is too large")
}
