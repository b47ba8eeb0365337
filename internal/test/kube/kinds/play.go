package kinds

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
)

// Media types of requests and answers.
const (
	typeJSON      = "application/json"
	typeProto     = "application/vnd.kubernetes.protobuf"
	typeYAML      = "application/yaml"
	typeTable     = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	typePartial   = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
	typePartials  = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
	typeJSONPatch = "application/json-patch+json"
	typeMerge     = "application/merge-patch+json"
	typeStrategic = "application/strategic-merge-patch+json"
	typeApply     = "application/apply-patch+yaml"
)

// Player plays the scenario of a resource to a server.
type Player struct {
	Transport http.RoundTripper
	URL       string
	// ID is the id of the run, which stands in each name: a letter, a digit, a letter and a digit of hexadecimal digits.
	ID string
	// Events, if not nil, has how many events each watch waits for. Without it watches last a second.
	Events map[string]int
}

// play is one run of the scenario.
type play struct {
	exchange.Play
	player   *Player
	resource Resource
	sample   Sample
	begin    string
}

// request is one request of the scenario. Paths and bodies have RunID in place of the id.
type request struct {
	method, path, query string
	contentType, accept string
	body                any // a tree, []byte or nil
}

// Play plays the scenario and returns the answers.
func (p *Player) Play(ctx context.Context, r Resource, s Sample) ([]exchange.Answer, error) {
	run := &play{player: p, resource: r, sample: s}
	run.Play = exchange.Play{Context: ctx, Transport: p.Transport, URL: p.URL, Agent: "kinds", Norm: exchange.NewNormalizer(p.ID), Fill: run.text, Decode: run.tree}
	run.scenario()
	return run.Answers, run.Err
}

// namespace has no objects of other resources, since a quota would concern them.
func (p *play) namespace() string { return "kinds-" + RunID + "-" + p.resource.File() }

// collection is the path of the objects of the run.
func (p *play) collection() string { return p.resource.Path(p.namespace()) }

func (p *play) object(name string) string { return p.collection() + "/" + p.resource.Name(name) }

// do plays one request and adds its answer.
func (p *play) do(step string, r request) {
	if p.Err != nil {
		return
	}
	p.Last = nil
	path := strings.TrimSuffix(r.path+"?"+r.query, "?")
	body, err := p.encode(r)
	switch {
	case errors.Is(err, errNoProto): // an answer before it was not the object
		p.Answers = append(p.Answers, exchange.Answer{Step: step, Request: err.Error()})
	case err != nil:
		p.Err = fmt.Errorf("%s: %s %s: %w", step, r.method, r.path, err)
	default:
		headers := []string{"Accept: " + cmp.Or(r.accept, typeJSON)}
		if r.body != nil {
			headers = append(headers, "Content-Type: "+cmp.Or(r.contentType, typeJSON))
		}
		p.Do(step, r.method, path, string(body), headers...)
	}
}

// text puts the id of the run into a path or a body.
func (p *play) text(s string) string {
	return strings.NewReplacer(RunID, p.player.ID, "NAMESPACE", strings.ReplaceAll(p.namespace(), RunID, p.player.ID)).Replace(s)
}

func (p *play) encode(r request) ([]byte, error) {
	switch body := r.body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return []byte(p.text(string(body))), nil
	}
	data, err := json.Marshal(r.body)
	if err != nil {
		return nil, err
	}
	data = []byte(p.text(string(data)))
	if r.contentType == typeProto {
		return toProto(p.resource, data)
	}
	return data, nil
}

// tree reads a body.
func (p *play) tree(mediaType string, body []byte) (any, error) {
	switch {
	case strings.HasPrefix(mediaType, typeProto):
		data, err := fromProto(body)
		if err != nil {
			return nil, err
		}
		tree, _, err := exchange.Parse(data)
		return tree, err
	case strings.Contains(mediaType, "json"):
		tree, _, err := exchange.Parse(body)
		return tree, err
	}
	return string(body), nil
}

// current returns the object of the last answer, or of a get, as a map that may be changed.
func (p *play) current(name string) map[string]any {
	p.do("get "+name+" to update", request{method: http.MethodGet, path: p.object(name)})
	tree, _ := exchange.Plain(p.Last).(map[string]any)
	if tree == nil {
		tree = map[string]any{}
	}
	if _, ok := tree["metadata"].(map[string]any); !ok {
		tree["metadata"] = map[string]any{}
	}
	return tree
}

// named returns a copy of an object with a name.
func (p *play) named(tree map[string]any, name string) map[string]any {
	out := wiretest.CopyTree(tree).(map[string]any)
	out["metadata"].(map[string]any)["name"] = p.resource.Name(name)
	return out
}

// watch adds the events since the scenario began. It ends when all events are there that Player.Events expects, or else after a second.
func (p *play) watch(step, accept string) {
	wanted, seconds := p.player.Events[step], "1"
	if wanted > 0 {
		seconds = "10" // the machine may be busy
	}
	if p.Err != nil {
		return
	}
	ctx, cancel := context.WithCancel(p.Context)
	defer cancel()
	url := p.URL + p.text(p.collection()+"?watch=1&timeoutSeconds="+seconds+"&labelSelector=kinds%3D"+RunID+"&resourceVersion="+p.begin)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		p.Err = err
		return
	}
	req.Header.Set("Accept", accept)
	resp, err := p.Transport.RoundTrip(req)
	if err != nil {
		p.Err = err
		return
	}
	defer resp.Body.Close()
	a := exchange.Answer{Step: step, Request: "watch", Status: resp.StatusCode, Type: resp.Header.Get("Content-Type")}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		tree, _, _ := exchange.Parse(body)
		a.Body = p.Norm.Body(tree)
		p.Answers = append(p.Answers, a)
		return
	}
	next := eventReader(a.Type, resp.Body)
	for wanted <= 0 || len(a.Events) < wanted {
		event, err := next()
		if err != nil {
			break
		}
		tree, _, err := exchange.Parse(event)
		if err != nil {
			p.Err = err
			return
		}
		a.Events = append(a.Events, p.Norm.Event(tree))
	}
	p.Answers = append(p.Answers, a)
}

// eventReader returns a function that returns the JSON of the next event.
func eventReader(mediaType string, body io.Reader) func() ([]byte, error) {
	if strings.HasPrefix(mediaType, typeProto) {
		return func() ([]byte, error) { return protoEvent(body) }
	}
	d := json.NewDecoder(body)
	return func() ([]byte, error) {
		var raw json.RawMessage
		err := d.Decode(&raw)
		return raw, err
	}
}
