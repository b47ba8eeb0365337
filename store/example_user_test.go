package store_test

import (
	"context"
	"fmt"

	"github.com/kubecoord/kubecoord/store"
)

// A call with this context has the user jane for admission, as a request over HTTP with her token.
func ExampleWithUser() {
	program := context.Background()
	jane := store.WithUser(program, store.User{Name: "jane", Groups: []string{"developers"}})
	fmt.Println(store.UserOf(jane))
	fmt.Println(store.UserOf(program))
	// Output:
	// {jane [developers]  map[]}
	// {system:apiserver [system:masters system:authenticated]  map[]}
}
