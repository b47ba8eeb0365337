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
//   - [Version]: the API versions, the form that objects have in each, and the conversion between the forms;
//   - [Strategy]: the rules of creates, updates and deletions, and of validation;
//   - [Table]: the columns of kubectl get;
//   - [Subresource]: the paths below an object.
//
// A [Kind] is a description that package store has checked. Leases, the kinds of httpapi/kube and a user's own kinds are described in the
// same way.
package kind
