package scheme
import ("testing";"os";"encoding/json";"time";"k8s.io/client-go/kubernetes/scheme";"github.com/kubecoord/kubecoord/store/schema")
func dump(s *schema.Schema, top bool) any {
  if s==nil {return nil}
  if s.Name!="" && !top { return map[string]any{"$ref":s.Name} }
  m:=map[string]any{}
  if s.Type!="" {m["type"]=s.Type}
  for k,v:=range s.Extra {m[k]=v}
  if s.Default!=nil {m["default"]=s.Default}
  if s.Atomic {m["x-kubernetes-map-type"]="atomic"}
  if s.ListType!="" {m["x-kubernetes-list-type"]=s.ListType}
  if s.ListMapKeys!=nil {m["x-kubernetes-list-map-keys"]=s.ListMapKeys}
  if s.Items!=nil {m["items"]=dump(s.Items,false)}
  if s.Additional!=nil {m["additionalProperties"]=dump(s.Additional,false)}
  if s.Description!="" {m["description"]=s.Description}
  var req []string
  if s.Properties!=nil { ps:=map[string]any{}; for _,p:=range s.Properties { d:=dump(p.Schema,false).(map[string]any); if p.Description!="" {d["description"]=p.Description}; if p.PatchStrategy!="" {d["x-kubernetes-patch-strategy"]=p.PatchStrategy}; if p.PatchMergeKey!="" {d["x-kubernetes-patch-merge-key"]=p.PatchMergeKey};ps[p.Name]=d; if p.Required{req=append(req,p.Name)}}; m["properties"]=ps}
  if req!=nil {m["required"]=req}
  return m
}
func TestDump(t *testing.T){
 start:=time.Now()
 var ts schemas
 for gvk,typ:=range scheme.Scheme.AllKnownTypes() { if gvk.Version=="__internal"{continue}; if _,err:=ts.of(typ);err!=nil {t.Log(err)} }
 t.Log(time.Since(start), len(ts.made))
 out:=map[string]any{}
 for _,s:=range ts.made { out[s.Name]=dump(s,true)}
 b,_:=json.Marshal(out); os.WriteFile("/tmp/scheme-dump.json",b,0644)
}
