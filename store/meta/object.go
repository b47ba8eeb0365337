package meta

// Object is an object of any kind. A pointer to a struct that embeds [TypeMeta] and [ObjectMeta] is one. The results are the parts of the
// object itself, to be read and changed; they must not be kept longer than the object.
type Object interface {
	GetTypeMeta() *TypeMeta
	GetObjectMeta() *ObjectMeta
}
