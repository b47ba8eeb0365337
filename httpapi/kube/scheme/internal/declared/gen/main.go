// Command gen writes the packages below declared: the rules that comments in the source of k8s.io/api declare, in the Go of
// upstream's own generator. Both have the version that this module requires:
//
//	go generate ./scheme/internal/declared
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// versions are the ones that package scheme validates.
var versions = strings.Fields("admissionregistration/v1 apps/v1 autoscaling/v2 batch/v1 certificates/v1 core/v1 discovery/v1 " +
	"flowcontrol/v1 networking/v1 node/v1 policy/v1 rbac/v1 resource/v1 storage/v1 storagemigration/v1")

const (
	path   = "github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/declared"
	file   = "zz_generated.validations.go"
	header = "// +k8s:validation-gen=TypesWithField=TypeMeta\n// +k8s:validation-gen-input=k8s.io/api/%[2]s\npackage %[1]s\n"
	// register is what the generator writes for upstream's schemes. Package declared calls the function itself.
	register = "func init() { localSchemeBuilder.Register(RegisterValidations) }\n\n"
)

func main() {
	version := strings.TrimSpace(string(run("", "list", "-m", "-f", "{{.Version}}", "k8s.io/api")))
	dir, err := os.MkdirTemp("", "declared")
	check(err)
	defer os.RemoveAll(dir)
	machinery := filepath.Join(dir, "apimachinery")
	check(os.CopyFS(machinery, os.DirFS(strings.TrimSpace(string(run("", "list", "-m", "-f", "{{.Dir}}", "k8s.io/apimachinery"))))))
	withoutAlpha(filepath.Join(machinery, "pkg", "apis", "meta", "v1", "types.go"))
	write(filepath.Join(dir, "go.mod"), fmt.Appendf(nil, "module %s\n\ngo 1.26.0\n\nrequire k8s.io/api %s\n\nreplace k8s.io/apimachinery => ./apimachinery\n", path, version))

	args := []string{"run", "k8s.io/code-generator/cmd/validation-gen@" + version, "--output-file", file, "--go-header-file", os.DevNull}
	for _, pkg := range strings.Fields("api/resource apis/meta/v1 runtime types util/intstr") {
		args = append(args, "--readonly-pkg", "k8s.io/apimachinery/pkg/"+pkg)
	}
	args = append(args, "--readonly-pkg", "k8s.io/api/scheduling/v1alpha3", "--readonly-pkg", "time")
	for _, v := range versions {
		name := strings.ReplaceAll(v, "/", "")
		check(os.MkdirAll(name, 0o755))
		check(os.CopyFS(filepath.Join(dir, name), os.DirFS(name))) // the functions that the rules name
		check(os.RemoveAll(filepath.Join(dir, name, file)))
		write(filepath.Join(dir, name, "doc.go"), fmt.Appendf(nil, header, name, v))
		args = append(args, "./"+name)
	}
	run(dir, args...)
	for _, v := range versions {
		name := strings.ReplaceAll(v, "/", "")
		body, err := os.ReadFile(filepath.Join(dir, name, file))
		check(err)
		write(filepath.Join(name, file), bytes.Replace(body, []byte(register), nil, 1))
	}
}

// withoutAlpha takes the rules of the metadata out of a file of types: all of them are alpha, and a kube-apiserver enforces none of these.
func withoutAlpha(path string) {
	body, err := os.ReadFile(path)
	check(err)
	var kept []string
	for line := range strings.Lines(string(body)) {
		if !strings.Contains(line, "+k8s:alpha(") {
			kept = append(kept, line)
		}
	}
	write(path, []byte(strings.Join(kept, "")))
}

// run runs the go command in a folder, "" is the one that this command was started in.
func run(dir string, args ...string) []byte {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func write(path string, body []byte) { check(os.WriteFile(path, body, 0o644)) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
