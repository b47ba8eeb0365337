package meta

// UID identifies an object in time and space: an object that is deleted and
// created again under the same name has another one. The server assigns a
// random (version 4) UUID.
type UID string

// ObjectMeta is the metadata of every object, as in the API reference section
// "ObjectMeta". The server owns UID, ResourceVersion, Generation, the
// timestamps, DeletionGracePeriodSeconds and SelfLink: what a client sends
// there is ignored, refused, or taken as a precondition.
type ObjectMeta struct {
	// Name is unique in its namespace for one kind. It cannot be changed.
	Name string `json:"name,omitempty" protobuf:"1"`
	// GenerateName is the prefix of a name that the server makes unique with
	// five random characters, used when Name is empty on create.
	GenerateName string `json:"generateName,omitempty" protobuf:"2"`
	// Namespace the object lives in. It cannot be changed.
	Namespace string `json:"namespace,omitempty" protobuf:"3"`
	// SelfLink is a relic of old versions, dropped on every write.
	SelfLink string `json:"selfLink,omitempty" protobuf:"4"`
	// UID is assigned on create. In an update it is a precondition.
	UID UID `json:"uid,omitempty" protobuf:"5"`
	// ResourceVersion is the decimal version of the last change to the
	// object. In an update it is a precondition.
	ResourceVersion string `json:"resourceVersion,omitempty" protobuf:"6"`
	// Generation counts changes of the desired state for kinds that count
	// them. The coordination kinds keep what the create said.
	Generation int64 `json:"generation,omitempty" protobuf:"7"`
	// CreationTimestamp is the server's time of the create, in whole seconds.
	CreationTimestamp Time `json:"creationTimestamp,omitzero" protobuf:"8"`
	// DeletionTimestamp is when the object was asked to go while finalizers
	// still held it. Only the server sets it.
	DeletionTimestamp *Time `json:"deletionTimestamp,omitempty" protobuf:"9"`
	// DeletionGracePeriodSeconds is 0 once DeletionTimestamp is set.
	DeletionGracePeriodSeconds *int64 `json:"deletionGracePeriodSeconds,omitempty" protobuf:"10"`
	// Labels can be selected by. Keys are qualified names, values at most 63
	// bytes.
	Labels map[string]string `json:"labels,omitempty" protobuf:"11"`
	// Annotations are for tools; keys and values together hold at most 256 KiB.
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"12"`
	// OwnerReferences name the objects this one depends on, at most one of
	// them as the managing controller.
	OwnerReferences []OwnerReference `json:"ownerReferences,omitempty" protobuf:"13" patchStrategy:"merge" patchMergeKey:"uid" listType:"map" listMapKey:"uid"`
	// Finalizers hold the object back from deletion until each is removed.
	Finalizers []string `json:"finalizers,omitempty" protobuf:"14" patchStrategy:"merge" listType:"set"`
	// ManagedFields says which manager set which fields.
	ManagedFields []ManagedFieldsEntry `json:"managedFields,omitempty" protobuf:"17" listType:"atomic"`
}

// GetObjectMeta returns m itself, so that every type which embeds an
// ObjectMeta is an object.
func (m *ObjectMeta) GetObjectMeta() *ObjectMeta { return m }

// OwnerReference points to an object that owns another in the same namespace.
type OwnerReference struct {
	APIVersion string `json:"apiVersion" protobuf:"5"`
	Kind       string `json:"kind" protobuf:"1"`
	Name       string `json:"name" protobuf:"3"`
	UID        UID    `json:"uid" protobuf:"4"`
	// Controller marks the one reference that points to the managing
	// controller.
	Controller *bool `json:"controller,omitempty" protobuf:"6"`
	// BlockOwnerDeletion keeps the owner from foreground deletion.
	BlockOwnerDeletion *bool `json:"blockOwnerDeletion,omitempty" protobuf:"7"`

	_ struct{} `structType:"atomic"`
}

// ManagedFieldsOperationType is how a manager came to own fields.
type ManagedFieldsOperationType string

// The operations of a ManagedFieldsEntry.
const (
	ManagedFieldsOperationApply  ManagedFieldsOperationType = "Apply"
	ManagedFieldsOperationUpdate ManagedFieldsOperationType = "Update"
)

// ManagedFieldsEntry is the set of fields that one manager owns through one
// operation.
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

// FieldsV1 is a set of fields as a JSON tree: "f:name" for a member,
// "k:{…}" for an item by its keys, "v:…" for an item of a set, "." for the
// container itself.
type FieldsV1 struct {
	// Raw is the JSON text.
	Raw []byte `json:"-" protobuf:"1"`
}

// MarshalJSON returns the JSON text itself, or null where there is none.
func (f FieldsV1) MarshalJSON() ([]byte, error) {
	if len(f.Raw) == 0 {
		return []byte("null"), nil
	}
	return f.Raw, nil
}

// UnmarshalJSON keeps the JSON text as it is; null leaves f alone.
func (f *FieldsV1) UnmarshalJSON(b []byte) error {
	if string(b) != "null" {
		f.Raw = append(f.Raw[:0:0], b...)
	}
	return nil
}
