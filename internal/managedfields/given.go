package managedfields

import "github.com/kubecoord/kubecoord/store/meta"

// Given returns the entries that come with an object which is put back as it
// was, in the form in which this package would have written them. known is false
// where the object says nothing of its managers; an empty list, or one with one
// empty entry, says that there are none.
func Given(entries []meta.ManagedFieldsEntry) (_ []meta.ManagedFieldsEntry, known bool, err error) {
	if isReset(entries) {
		return nil, true, nil
	}
	os, err := decode(entries)
	if err != nil {
		return nil, true, err
	}
	return os.encode(), entries != nil, nil
}
