package meta_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

func ExampleStatusError() {
	var err error = meta.NewNotFound(meta.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, "leader")

	fmt.Println(err)
	fmt.Println(errors.Is(err, meta.ReasonNotFound))
	var status *meta.StatusError
	if errors.As(err, &status) {
		fmt.Println(status.Status.Code, status.Status.Details.Kind, status.Status.Details.Name)
	}
	fmt.Println(meta.StatusOf(errors.New("a bug")).Code)

	// Output:
	// leases.coordination.k8s.io "leader" not found
	// true
	// 404 leases leader
	// 500
}

func ExampleNewMicroTime() {
	t := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	data, err := json.Marshal(map[string]any{"renewTime": meta.NewMicroTime(t), "creationTimestamp": meta.NewTime(t)})
	fmt.Println(string(data), err)

	// Output:
	// {"creationTimestamp":"2026-01-02T03:04:05Z","renewTime":"2026-01-02T03:04:05.678901Z"} <nil>
}
