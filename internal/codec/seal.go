package codec

// Seal is the parameter of a method that keeps an interface of a public package to this module: no other module can name it.
type Seal struct{}
