// Package lifetime tests where kubecoord's answers end: at contexts, deadlines
// and Close. It also reaches the API below a prefix of a user's mux.
package lifetime
