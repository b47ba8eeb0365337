package referee

import (
	"strings"

	"k8s.io/apiserver/pkg/storage"
)

// resourcePrefix is the start of every key.
const resourcePrefix = "/pods/"

// A store addresses objects by namespace and name, both not empty. These
// namespaces and this name represent keys of other forms.
const (
	noNamespace = "0"         // of "/pods//name"
	flat        = "0-flat"    // of "/pods/name"
	nowhere     = "0-nowhere" // an empty range
	noName      = "0-empty"   // of "/pods/" and "/pods/namespace/"
)

// place is the namespace and name for a key. A place without a name is a
// namespace, and a place without both is everything.
type place struct{ namespace, name string }

// placeOf returns the place of a key, or of all keys below it, by upstream's
// rules for keys.
func placeOf(key string, recursive bool) (place, error) {
	key, err := storage.PrepareKey(resourcePrefix, key, recursive)
	if err != nil {
		return place{}, err
	}
	namespace, name, two := strings.Cut(strings.TrimPrefix(key, resourcePrefix), "/")
	switch {
	case recursive && !two:
		return place{}, nil
	case recursive && name != "":
		return place{namespace: nowhere}, nil // objects have no children
	case recursive:
		return place{namespace: or(namespace, noNamespace)}, nil
	case !two:
		return place{flat, or(namespace, noName)}, nil
	}
	return place{or(namespace, noNamespace), or(name, noName)}, nil
}

// keyOf returns the key of a place, for transformers.
func keyOf(at place) string {
	name := at.name
	if name == noName {
		name = ""
	}
	switch at.namespace {
	case flat:
		return resourcePrefix + name
	case noNamespace:
		return resourcePrefix + "/" + name
	}
	return resourcePrefix + at.namespace + "/" + name
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
