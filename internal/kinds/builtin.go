package kinds

import "slices"

// BuiltInGroup reports whether all has a Native kind of a group. A real server answers all paths below such a group itself, in
// every version, so that a CustomResourceDefinition of the group is established and has no effect (upstream: apiserver,
// server/handler.go, director.ServeHTTP, which finds the group's own web service).
func BuiltInGroup[K interface{ Registered() *Kind }](all []K, group string) bool {
	return slices.ContainsFunc(all, func(k K) bool {
		info := k.Registered().Info()
		return info.Native && info.Group == group
	})
}
