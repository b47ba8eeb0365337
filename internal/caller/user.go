package caller

import "context"

// User is the user of a request.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

type userKey struct{}

// WithUser returns a context for the request of a user.
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

type serverKey struct{}

// WithServer returns a context for writes below admission, which a real server makes in its storage, such as the deletion of
// the objects of a CustomResourceDefinition.
func WithServer(ctx context.Context) context.Context {
	return context.WithValue(ctx, serverKey{}, true)
}

// IsServer reports whether a write is below admission.
func IsServer(ctx context.Context) bool { return ctx.Value(serverKey{}) != nil }
