// Package seal has a type that no other module can name. An interface with a method that takes it is implemented by this module only.
package seal

// Seal is the parameter of such a method.
type Seal struct{}
