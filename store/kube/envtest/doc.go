// Package envtest runs an API server for the suite of a controller, in the test's own process.
package envtest
