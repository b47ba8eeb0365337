// Package faults holds tests of what client-go makes of each fault that package
// apitest can put in its way: which it gets over by itself, and which it leaves
// to its caller.
package faults
