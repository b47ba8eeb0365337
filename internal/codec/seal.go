package codec

// Sealed is part of an interface of a public package that only this module implements.
type Sealed interface{ sealed() }

// Seal makes a type that embeds it a Sealed.
type Seal struct{}

func (Seal) sealed() {}
