// Package recipes has whole tests to copy, with client-go and controller-runtime. docs/testing.md explains them.
package recipes
