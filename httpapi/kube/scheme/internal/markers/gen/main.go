// Command gen writes markers.txt: the parts of the API's types that only comments in the source of k8s.io/api and
// k8s.io/apimachinery have. It reads the modules that this module requires:
//
//	go generate ./scheme/internal/markers
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// packages are the ones with types that a kube-apiserver serves, by default or if --runtime-config says so, or that those types are made
// of.
var packages = map[string][]string{
	"k8s.io/api": {
		"admissionregistration/v1", "admissionregistration/v1alpha1", "admissionregistration/v1beta1", "apps/v1", "authentication/v1", "authorization/v1", "autoscaling/v1", "autoscaling/v2",
		"batch/v1", "certificates/v1", "certificates/v1alpha1", "certificates/v1beta1", "coordination/v1", "core/v1", "discovery/v1", "events/v1", "flowcontrol/v1",
		"networking/v1", "networking/v1beta1", "node/v1", "policy/v1", "rbac/v1", "resource/v1", "resource/v1alpha3", "resource/v1beta1",
		"resource/v1beta2", "scheduling/v1", "storage/v1", "storage/v1beta1", "storagemigration/v1", "storagemigration/v1beta1",
	},
	"k8s.io/kube-aggregator": {"pkg/apis/apiregistration/v1"},
	"k8s.io/apimachinery":    {"pkg/api/resource", "pkg/apis/meta/v1", "pkg/runtime", "pkg/util/intstr"},
}

func main() {
	var out bytes.Buffer
	fmt.Fprintln(&out, "# Made by gen from the comments in k8s.io/api, k8s.io/apimachinery and k8s.io/kube-aggregator. Do not edit.")
	for _, module := range []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/kube-aggregator"} {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			log.Fatal(err)
		}
		for _, folder := range packages[module] {
			p := pkg{name: "io." + strings.ReplaceAll(strings.Replace(module, "k8s.io", "k8s", 1)+"/"+folder, "/", "."), enums: map[string]map[string]string{}, constants: map[string]string{}}
			if err := p.read(filepath.Join(strings.TrimSpace(string(dir)), folder)); err != nil {
				log.Fatal(err)
			}
			p.write(&out)
		}
	}
	if err := os.WriteFile("markers.txt", out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// pkg has the lines about one package.
type pkg struct {
	name      string
	lines     []string
	enums     map[string]map[string]string // by the name of the type: values in quotes, with their comments
	constants map[string]string            // by name, in quotes
}

func (p *pkg) read(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(filepath.Base(name), "generated") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		parsed = append(parsed, f)
	}
	for _, f := range parsed {
		p.specs(f, func(d *ast.GenDecl, s ast.Spec) {
			if t, ok := s.(*ast.TypeSpec); ok {
				p.typeSpec(t, docOf(d, t.Doc))
			}
		})
	}
	for _, f := range parsed {
		p.specs(f, func(d *ast.GenDecl, s ast.Spec) {
			if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.CONST {
				p.value(v, docOf(d, v.Doc))
			}
		})
	}
	return nil
}

// specs calls do for each declaration of a type or a value in a file.
func (p *pkg) specs(f *ast.File, do func(*ast.GenDecl, ast.Spec)) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.GenDecl); ok {
			for _, s := range d.Specs {
				do(d, s)
			}
		}
	}
}

// docOf returns the comment of a declaration, which is outside of it if there are no parentheses.
func docOf(d *ast.GenDecl, own *ast.CommentGroup) comment {
	if own == nil && !d.Lparen.IsValid() {
		own = d.Doc
	}
	return newComment(own)
}

func (p *pkg) typeSpec(t *ast.TypeSpec, doc comment) {
	head := p.name + "." + t.Name.Name
	s, ok := t.Type.(*ast.StructType)
	if !ok {
		if doc.has("enum") {
			p.enums[t.Name.Name] = map[string]string{}
		}
		return
	}
	var members []string
	for _, f := range s.Fields.List {
		if line := member(f); line != "" {
			members = append(members, line)
		}
	}
	if doc.is("structType", "atomic") {
		head += " atomic"
	}
	if undocumented[t.Name.Name] {
		if slices.ContainsFunc(p.lines, func(line string) bool { return strings.HasPrefix(line, head+" doc=") }) {
			return // in a file for another build tag
		}
		head += " doc=" + strconv.Quote(doc.text())
	}
	if len(members) > 0 || strings.Contains(head, " ") {
		p.lines = append(p.lines, head)
		p.lines = append(p.lines, members...)
	}
}

// undocumented are the types without a method SwaggerDoc.
var undocumented = map[string]bool{
	"Time": true, "MicroTime": true, "Duration": true, "Quantity": true, "IntOrString": true, "RawExtension": true, "FieldsV1": true,
}

// member returns the line about a field of a struct, or "" if its tag says all.
func member(f *ast.Field) string {
	if f.Tag == nil || len(f.Names) == 0 {
		return ""
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		log.Fatal(err)
	}
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if name == "" || name == "-" {
		return ""
	}
	doc := newComment(f.Doc)
	line := "\t" + name
	switch omits := slices.Contains(strings.Split(options, ","), "omitempty"); {
	case doc.has("required") && omits:
		line += " required"
	case doc.has("optional") && !doc.has("required") && !omits:
		line += " optional"
	}
	switch kind := doc.value("listType"); kind {
	case "":
	case "map":
		line += " list=map:" + strings.Join(doc.values["listMapKey"], ",")
	default:
		line += " list=" + kind
	}
	if doc.is("mapType", "atomic") || doc.is("structType", "atomic") {
		line += " atomic"
	}
	if doc.is("structType", "granular") {
		line += " granular"
	}
	if def := doc.value("default"); def != "" {
		line += " default=" + def
	}
	if line == "\t"+name {
		return ""
	}
	return line
}

// value adds the constants of a type of strings to its enum.
func (p *pkg) value(v *ast.ValueSpec, doc comment) {
	typ, ok := v.Type.(*ast.Ident)
	if !ok || len(v.Values) != 1 {
		return
	}
	literal, ok := v.Values[0].(*ast.BasicLit)
	if !ok {
		return
	}
	name := v.Names[0].Name
	p.constants[name] = literal.Value
	if e := p.enums[typ.Name]; e != nil {
		text := strings.TrimSpace(strings.TrimPrefix(strings.Join(doc.lines, " "), name))
		if text = strings.Join(strings.Fields(text), " "); len(text) >= len(e[literal.Value]) {
			e[literal.Value] = text
		}
	}
}

func (p *pkg) write(out *bytes.Buffer) {
	for _, line := range p.lines {
		if before, name, ok := strings.Cut(line, " default=ref("); ok {
			line = before + " default=" + p.constants[strings.TrimSuffix(name, ")")]
		}
		fmt.Fprintln(out, line)
	}
	for _, name := range slices.Sorted(maps.Keys(p.enums)) {
		fmt.Fprintln(out, p.name+"."+name+" enum")
		for _, value := range slices.Sorted(maps.Keys(p.enums[name])) {
			fmt.Fprintln(out, strings.TrimRight("\t"+value+" "+p.enums[name][value], " "))
		}
	}
}

// comment is a comment with the values of its markers, which are lines like +listType=map.
type comment struct {
	lines  []string
	values map[string][]string
}

func newComment(g *ast.CommentGroup) comment {
	c := comment{values: map[string][]string{}}
	if g == nil {
		return c
	}
	for line := range strings.Lines(g.Text()) {
		line = strings.TrimRight(line, " \n")
		if marker, ok := strings.CutPrefix(strings.TrimSpace(line), "+"); ok {
			name, value, _ := strings.Cut(marker, "=")
			c.values[name] = append(c.values[name], value)
			continue
		}
		c.lines = append(c.lines, line)
	}
	return c
}

func (c comment) has(marker string) bool { return c.values[marker] != nil }

func (c comment) value(marker string) string {
	if v := c.values[marker]; v != nil {
		return v[0]
	}
	return ""
}

func (c comment) is(marker, value string) bool { return c.value(marker) == value }

// text returns the comment as upstream publishes it: paragraphs on one line, indented lines as they are.
func (c comment) text() string {
	var b strings.Builder
	for _, line := range c.lines {
		switch {
		case line == "---":
			return strings.TrimSpace(b.String())
		case strings.HasPrefix(line, "TODO"):
		case line == "":
			text := strings.TrimSuffix(b.String(), " ")
			b.Reset()
			b.WriteString(text + "\n\n")
		case strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " "):
			text := strings.TrimSuffix(b.String(), " ")
			b.Reset()
			b.WriteString(text + "\n" + line + "\n")
		default:
			b.WriteString(line + " ")
		}
	}
	return strings.TrimSpace(b.String())
}
