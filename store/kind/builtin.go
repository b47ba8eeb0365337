package kind

import "slices"

// BuiltInGroup reports whether one of the kinds in all is Native and of the group. A real server answers all paths below such a
// group itself, in every version, so that a CustomResourceDefinition of the group is established and has no effect (upstream: apiserver,
// server/handler.go, director.ServeHTTP, which finds the group's own web service).
func BuiltInGroup(all []Kind, group string) bool {
	return slices.ContainsFunc(all, func(k Kind) bool {
		info := k.Info()
		return info.Native && info.Group == group
	})
}
