// Package kind describes kinds of objects. Package store makes a description ready for use, and package httpapi serves it.
//
//	widgets, err := store.NewKind(kind.Descriptor[*Widget]{
//		Resource: kind.Resource{Group: "example.com", Kind: "Widget"},
//		Versions: []kind.Version[*Widget]{{Name: "v1"}},
//	})
//
// A [Descriptor] has five parts, of which a simple kind needs the first two:
//
//   - [Resource]: the names, and what is served;
//   - [Version]: the forms of the objects, and the conversion between them;
//   - [Strategy]: the rules of creates, updates and deletions, and of validation;
//   - [Table]: the columns of kubectl get;
//   - [Subresource]: the paths below an object.
//
// A kind that was made is a [Kind]. Leases, the kinds of store/kube and a user's own are described in the same way.
package kind
