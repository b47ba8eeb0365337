// Package recorded lets the tests of packages defaults and validation compare themselves with kube-apiserver's own code: with
// recorded answers, and with the program internal/test/etcd/referee/strategies itself, which records them. Only tests import it.
package recorded

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Program is the environment variable with the path of the built program. Without it, tests use what is recorded.
const Program = "KUBECOORD_STRATEGIES"

// A Question is one line for the program. See its source for what the members mean.
type Question struct {
	Op          string          `json:"op"`
	Object      json.RawMessage `json:"object"`
	Old         json.RawMessage `json:"old,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
}

// An Answer is one line from the program.
type Answer struct {
	Object json.RawMessage `json:"object"`
	Errors []Cause         `json:"errors"`
	Failed string          `json:"failed"`
}

// A Cause is one error of a validation, as a Status tells it.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// A Server is a running program.
type Server struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// Start starts the program for the time of a test. ok is false if the environment does not name it.
func Start(t *testing.T) (s *Server, ok bool) {
	path := os.Getenv(Program)
	if path == "" {
		return nil, false
	}
	cmd := exec.Command(path)
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &Server{in, bufio.NewReaderSize(out, 1<<20)}, true
}

// Ask returns the answer to q.
func (s *Server) Ask(t *testing.T, q Question) Answer {
	line, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err = s.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var a Answer
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return a
}

// Decode returns the object of a body, as client-go's decoder makes it.
func Decode(t *testing.T, body []byte) runtime.Object {
	obj, _, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return obj
}
