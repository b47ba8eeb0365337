// Package lifetime tests that contexts, deadlines and Close end kubecoord's
// answers. It also tests the API below a prefix of a user's mux.
package lifetime
