package envtest

import (
	"reflect"
	goruntime "runtime"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// init registers the types of definitions in client-go's scheme, as controller-runtime's envtest does: suites read definitions
// by clients of that scheme. A scheme is not safe for writes beside reads, so Start comes too late.
func init() { _ = apiextensionsv1.AddToScheme(clientgoscheme.Scheme) }

func functionName(f any) string {
	if fn := goruntime.FuncForPC(reflect.ValueOf(f).Pointer()); fn != nil {
		return fn.Name()
	}
	return ""
}

// convertibles returns which of some kinds have several versions in a scheme, one of them the hub, all others spokes that convert
// from it and to it. Hub and spoke are the interfaces of controller-runtime's package conversion, known by their methods.
func convertibles(types *runtime.Scheme, of map[schema.GroupKind]bool) map[schema.GroupKind]bool {
	hubs, spokes, all := map[schema.GroupKind]int{}, map[schema.GroupKind]int{}, map[schema.GroupKind]int{}
	for gvk, t := range types.AllKnownTypes() {
		kind := gvk.GroupKind()
		if !of[kind] {
			continue
		}
		all[kind]++
		switch ptr := reflect.PointerTo(t); {
		case isHub(ptr):
			hubs[kind]++
		case isSpoke(ptr):
			spokes[kind]++
		}
	}
	out := map[schema.GroupKind]bool{}
	for kind, n := range all {
		if n > 1 && hubs[kind] == 1 && spokes[kind] == n-1 {
			out[kind] = true
		}
	}
	return out
}

// isHub reports whether a type has the method Hub().
func isHub(t reflect.Type) bool {
	m, ok := t.MethodByName("Hub")
	return ok && m.Type.NumIn() == 1 && m.Type.NumOut() == 0
}

// isSpoke reports whether a type has the methods ConvertTo(Hub) error and ConvertFrom(Hub) error.
func isSpoke(t reflect.Type) bool {
	for _, name := range []string{"ConvertTo", "ConvertFrom"} {
		m, ok := t.MethodByName(name)
		if !ok || m.Type.NumIn() != 2 || m.Type.NumOut() != 1 || m.Type.Out(0) != reflect.TypeFor[error]() {
			return false
		}
		if hub := m.Type.In(1); hub.Kind() != reflect.Interface || !isHubInterface(hub) {
			return false
		}
	}
	return true
}

// isHubInterface reports whether an interface has the method Hub().
func isHubInterface(t reflect.Type) bool {
	m, ok := t.MethodByName("Hub")
	return ok && m.Type.NumIn() == 0 && m.Type.NumOut() == 0
}
