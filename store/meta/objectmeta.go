// Package meta holds the types that all objects of the API share: their metadata, times, the
// metadata of lists, and the Status of a failed request.
//
// The types mirror the group meta.k8s.io of the Kubernetes API. Names and JSON forms are the
// API's own. The struct tags also have protobuf field numbers and merge rules, for the codecs
// and patches of this module.
package meta

// UID identifies an object: a new object with the same name has another UID. The server
// assigns a random (version 4) UUID.
type UID string

// ObjectMeta is the metadata of every object (API reference, "ObjectMeta"). The server sets
// UID, ResourceVersion, Generation, the timestamps, DeletionGracePeriodSeconds and SelfLink.
// Values that a client sends for them are ignored, refused, or preconditions.
type ObjectMeta struct {
	// Name is unique in its namespace for one kind. It cannot be changed.
	Name string `json:"name,omitempty" protobuf:"1"`
	// GenerateName is a prefix. A create without Name appends five random characters.
	GenerateName string `json:"generateName,omitempty" protobuf:"2"`
	// Namespace is the namespace of the object. It cannot be changed.
	Namespace string `json:"namespace,omitempty" protobuf:"3"`
	// SelfLink is obsolete, and never stored.
	SelfLink string `json:"selfLink,omitempty" protobuf:"4"`
	// UID is assigned on create. In an update it is a precondition.
	UID UID `json:"uid,omitempty" protobuf:"5"`
	// ResourceVersion is the number of the last change. In an update it is a precondition.
	ResourceVersion string `json:"resourceVersion,omitempty" protobuf:"6"`
	// Generation counts changes of the spec of custom resources. Other kinds never change it.
	Generation int64 `json:"generation,omitempty" protobuf:"7"`
	// CreationTimestamp is the server's time of the create, in whole seconds.
	CreationTimestamp Time `json:"creationTimestamp,omitzero" protobuf:"8"`
	// DeletionTimestamp is when an object with finalizers was deleted.
	DeletionTimestamp *Time `json:"deletionTimestamp,omitempty" protobuf:"9"`
	// DeletionGracePeriodSeconds is 0 once DeletionTimestamp is set.
	DeletionGracePeriodSeconds *int64 `json:"deletionGracePeriodSeconds,omitempty" protobuf:"10"`
	// Labels are for selectors. Keys are qualified names, values have at most 63 bytes.
	Labels map[string]string `json:"labels,omitempty" protobuf:"11"`
	// Annotations are for tools. Keys and values together have at most 256 KiB.
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"12"`
	// OwnerReferences name the owners of the object. At most one is its controller.
	OwnerReferences []OwnerReference `json:"ownerReferences,omitempty" protobuf:"13" patchStrategy:"merge" patchMergeKey:"uid" listType:"map" listMapKey:"uid"`
	// Finalizers keep a deleted object until each is removed.
	Finalizers []string `json:"finalizers,omitempty" protobuf:"14" patchStrategy:"merge" listType:"set"`
	// ManagedFields has the fields that each manager owns.
	ManagedFields []ManagedFieldsEntry `json:"managedFields,omitempty" protobuf:"17" listType:"atomic"`
}

// GetObjectMeta returns m, so that a type that embeds ObjectMeta is an object.
func (m *ObjectMeta) GetObjectMeta() *ObjectMeta { return m }

// OwnerReference points to an object that owns another in the same namespace.
type OwnerReference struct {
	_ struct{} `structType:"atomic"` // first, where it takes no memory

	// APIVersion, Kind, Name and UID identify the owner.
	APIVersion string `json:"apiVersion" protobuf:"5"`
	Kind       string `json:"kind" protobuf:"1"`
	Name       string `json:"name" protobuf:"3"`
	UID        UID    `json:"uid" protobuf:"4"`
	// Controller marks the reference to the controller of the object.
	Controller *bool `json:"controller,omitempty" protobuf:"6"`
	// BlockOwnerDeletion keeps the owner from foreground deletion.
	BlockOwnerDeletion *bool `json:"blockOwnerDeletion,omitempty" protobuf:"7"`
}

// ManagedFieldsOperationType is the operation by which a manager owns fields.
type ManagedFieldsOperationType string

// The operations of a ManagedFieldsEntry.
const (
	ManagedFieldsOperationApply  ManagedFieldsOperationType = "Apply"
	ManagedFieldsOperationUpdate ManagedFieldsOperationType = "Update"
)

// ManagedFieldsEntry is the set of fields that one manager owns through one operation.
type ManagedFieldsEntry struct {
	Manager    string                     `json:"manager,omitempty" protobuf:"1"`
	Operation  ManagedFieldsOperationType `json:"operation,omitempty" protobuf:"2"`
	APIVersion string                     `json:"apiVersion,omitempty" protobuf:"3"`
	// Time is when the entry was last changed, in whole seconds.
	Time *Time `json:"time,omitempty" protobuf:"4"`
	// FieldsType is "FieldsV1", the only format there is.
	FieldsType  string    `json:"fieldsType,omitempty" protobuf:"6"`
	FieldsV1    *FieldsV1 `json:"fieldsV1,omitempty" protobuf:"7"`
	Subresource string    `json:"subresource,omitempty" protobuf:"8"`
}

// FieldsV1 is a set of fields as a JSON tree: "f:name" is a member, "k:{…}" an item with
// these keys, "v:…" an item of a set, "." the container itself.
type FieldsV1 struct {
	// Raw is the JSON text.
	Raw []byte `json:"-" protobuf:"1"`
}

// MarshalJSON returns Raw, or null if it is empty.
func (f FieldsV1) MarshalJSON() ([]byte, error) {
	if len(f.Raw) == 0 {
		return []byte("null"), nil
	}
	return f.Raw, nil
}

// UnmarshalJSON sets Raw; null has no effect.
func (f *FieldsV1) UnmarshalJSON(b []byte) error {
	if string(b) != "null" {
		f.Raw = append(f.Raw[:0:0], b...)
	}
	return nil
}

// ListMeta is the metadata of a list (API reference, "ListMeta").
type ListMeta struct {
	SelfLink string `json:"selfLink,omitempty" protobuf:"1"`
	// ResourceVersion is the resourceVersion of the state that the list shows.
	ResourceVersion string `json:"resourceVersion,omitempty" protobuf:"2"`
	// Continue is the token for the next page, "" on the last page.
	Continue string `json:"continue,omitempty" protobuf:"3"`
	// RemainingItemCount is the number of items after this page, or nil if a selector
	// makes it unknown.
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty" protobuf:"4"`
	// ShardInfo names the shard of the list, or is nil.
	ShardInfo *ShardInfo `json:"shardInfo,omitempty" protobuf:"5"`
}

// ShardInfo is the shardSelector of a list in its canonical form.
type ShardInfo struct {
	Selector string `json:"selector" protobuf:"1"`
}

// DeletionPropagation is the policy for the dependents of a deleted object.
type DeletionPropagation string

// The policies of DeleteOptions.
const (
	DeletePropagationOrphan     DeletionPropagation = "Orphan"
	DeletePropagationBackground DeletionPropagation = "Background"
	DeletePropagationForeground DeletionPropagation = "Foreground"
)

// The finalizers that stand for the policies Orphan and Foreground.
const (
	FinalizerOrphanDependents = "orphan"
	FinalizerDeleteDependents = "foregroundDeletion"
)
