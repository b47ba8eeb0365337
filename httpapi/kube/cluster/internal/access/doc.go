// Package access has authentication and authorization as a kube-apiserver has them: tokens of ServiceAccounts, impersonation,
// reviews, and RBAC. All of it reads the objects of the store in place, so that a change counts from the next request on.
package access
