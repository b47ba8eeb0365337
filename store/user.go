package store

import "context"

// User is the user of a request.
type User struct {
	Name   string
	Groups []string
	// UID and Extra are "" and nil for most users. They are for reviews and admission, and no rule of package httpapi reads them.
	UID   string
	Extra map[string][]string
}

type userKey struct{}

// WithUser returns a context for the calls of a user. Package httpapi does it with the user of an Authenticator. The Go API
// asks no Authorizer, but admission and some kinds of httpapi/kube read the user.
func WithUser(ctx context.Context, u User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// UserOf returns the user of a request. A call of the Go API without a user comes from the program itself, which a real
// server calls system:apiserver.
func UserOf(ctx context.Context) User {
	if u, ok := ctx.Value(userKey{}).(User); ok {
		return u
	}
	return User{Name: "system:apiserver", Groups: []string{"system:masters", "system:authenticated"}}
}
