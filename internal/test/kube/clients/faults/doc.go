// Package faults tests how client-go reacts to each fault of package apitest:
// which faults it recovers from, and which it returns to its caller.
package faults
