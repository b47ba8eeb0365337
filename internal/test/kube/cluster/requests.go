package cluster

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

const (
	requestFiles = "testdata/requests"
	webhookFile  = "testdata/webhooks.txt"
	projectFiles = "../../../../httpapi/kube/crd/testdata/projects"
)

// written returns the scenarios of the files in testdata/requests. A file has requests, separated by empty lines: a line with the
// method, the path and the media type, which is YAML if it is missing, and then the body. A path with table=1 asks for a table. Lines
// that begin with # are comments.
//
//   - $version in a body is the resourceVersion of the last answer with one, and $before the one before it.
//   - EACH names, as the first line of a request, is the request for each name in place of NAME.
//   - DEFINE file creates a definition, and plays no request. Definitions of projects are in httpapi/kube/crd.
//   - HOOKS(members|names) is a list of webhooks with these members. Each is for objects whose label "hook" has its name, and answers
//     what testdata/webhooks.txt says.
func written() (all []Scenario) {
	files, _ := filepath.Glob(requestFiles + "/*.txt") // the pattern is good
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		all = append(all, Scenario{Name: name, Alone: true, play: func(p *play) {
			if err := p.file(file); err != nil && p.Err == nil {
				p.Err = err
			}
		}})
	}
	return all
}

var (
	comment  = regexp.MustCompile(`(?m)^#.*\n`)
	hookList = regexp.MustCompile(`HOOKS\(([^|)]*)\|([^|)]*)\)`)
)

// file plays the requests of a file.
func (p *play) file(file string) error {
	if err := p.answerAs(webhookFile); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := hookList.ReplaceAllStringFunc(comment.ReplaceAllString(string(data), ""), func(list string) string {
		parts := hookList.FindStringSubmatch(list)
		var hooks []string
		for _, name := range strings.Fields(parts[2]) {
			hooks = append(hooks, hook(name, "/"+name, parts[1]+", objectSelector: {matchLabels: {hook: "+name+"}}"))
		}
		return "[" + strings.Join(hooks, ", ") + "]"
	})
	steps, version, before := 0, "", ""
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		first, rest, _ := strings.Cut(block, "\n")
		names := []string{""}
		if list, ok := strings.CutPrefix(first, "EACH "); ok {
			names, block = strings.Fields(list), rest
		}
		if file, ok := strings.CutPrefix(first, "DEFINE "); ok {
			if err := p.install(file); err != nil {
				return err
			}
			continue
		}
		for _, name := range names {
			steps++
			p.written(steps, strings.NewReplacer("NAMESPACE", "NAMESPACE", "NAME", name, "$version", version, "$before", before).Replace(block))
			if v := exchange.TextAt(p.Last, "metadata", "resourceVersion"); v != "" {
				version, before = v, version
			}
		}
	}
	return nil
}

var (
	createdName = regexp.MustCompile(`metadata: {name: "?([-a-zA-Z0-9.]+)`)
	seenLate    = regexp.MustCompile(`^POST .*customresourcedefinitions|admissionregistration|/podtemplates`)
)

// written plays a request of a file. What a real server sees late, it has seen afterwards.
func (p *play) written(step int, text string) {
	head, body, _ := strings.Cut(text, "\n")
	words := append(strings.Fields(head), yamlType)
	method, path, headers := words[0], words[1], []string{"Content-Type: " + words[2]}
	if body == "" {
		headers = nil
	}
	if strings.Contains(path, "table=1") {
		headers = append(headers, "Accept: application/json;as=Table;g=meta.k8s.io;v=v1")
	}
	p.do(strconv.Itoa(step)+" "+method+" "+path, method, path, body, headers...)
	if name := createdName.FindStringSubmatch(body); method == http.MethodPost && p.Err == nil && p.Answers[len(p.Answers)-1].Status == http.StatusCreated && name != nil && !strings.Contains(path, "?") {
		// A server that has lost its last policy with parameters of a kind never finds parameters of that kind again.
		if !strings.Contains(body, "paramKind:") && !strings.Contains(body, "paramRef:") {
			p.cleanup = append(p.cleanup, path+"/"+name[1])
		}
		if strings.HasSuffix(path, definitionsPath) {
			p.established(name[1])
		}
	}
	if p.player.Events == nil && seenLate.MatchString(head) {
		time.Sleep(3 * time.Second)
	}
}

// install creates a definition, once the definition that the scenario before made is gone.
func (p *play) install(file string) error {
	data, err := os.ReadFile(filepath.Join(requestFiles, file))
	if strings.HasSuffix(file, ".gz") {
		data, err = unzipped(filepath.Join(projectFiles, file))
	}
	if err != nil {
		return err
	}
	name := regexp.MustCompile(`(?m)^(?:  |metadata: {)name: ([^}\n]*)`).FindSubmatch(data)
	if name == nil {
		return fmt.Errorf("%s has no name", file)
	}
	p.Norm.AnyOrder = true
	p.until(file, http.MethodPost, definitionsPath, string(data), func(code int, _ []byte) bool { return code == http.StatusCreated })
	p.cleanup = append(p.cleanup, definitionsPath+"/"+string(name[1]))
	p.established(string(name[1]))
	if p.player.Events == nil {
		time.Sleep(3 * time.Second)
	}
	return nil
}

func unzipped(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// established waits until a definition is served.
func (p *play) established(name string) {
	p.until("definition "+name, http.MethodGet, definitionsPath+"/"+name, "", contains("InitialNamesAccepted"))
}

// answerAs sets the answers of the webhooks in a file, which explains its form.
func (p *play) answerAs(file string) error {
	data, err := os.ReadFile(file)
	for line := range strings.Lines(comment.ReplaceAllString(string(data), "")) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		word, body, _ := strings.Cut(text, " ")
		code, mediaType, _ := strings.Cut(word, ":")
		status, notStatus := strconv.Atoi(code)
		switch {
		case word == "hang":
			p.raw("/"+name, answer{hang: true})
		case word == "cut":
			p.raw("/"+name, answer{cut: true})
		case word == "to":
			p.raw("/"+name, answer{status: http.StatusTemporaryRedirect, location: body})
		case notStatus == nil:
			p.raw("/"+name, answer{status: status, kind: mediaType, body: body})
		default:
			p.on("/"+name, text)
		}
	}
	return err
}
