package referee

import (
	"strings"

	"k8s.io/apiserver/pkg/storage"
)

// resourcePrefix is what every key starts with.
const resourcePrefix = "/pods/"

// A store knows objects by namespace and name, neither of them empty. These
// namespaces and this name stand for keys of another shape.
const (
	noNamespace = "0"         // of "/pods//name"
	flat        = "0-flat"    // of "/pods/name"
	nowhere     = "0-nowhere" // a range that holds nothing
	noName      = "0-empty"   // of "/pods/" and "/pods/namespace/"
)

// place is where the object of a key lives. A place without a name is a range;
// one without a namespace too is everything.
type place struct{ namespace, name string }

// placeOf returns the place of a key, or of all keys below it. The rules of
// keys are upstream's.
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
