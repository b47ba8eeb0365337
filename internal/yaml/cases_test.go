package yaml

// The expectations of this file were made by sigs.k8s.io/yaml v1.6.0 over
// go.yaml.in/yaml/v2 v2.4.4. What is v2's alone is not here: internal/test/etcd/referee/differential compares
// random documents with upstream.

// documentCase is a document that upstream converts.
type documentCase struct{ name, yaml, json string }

func documentCases() []documentCase {
	return []documentCase{
		{"nothing is null", "", "null"},
		{"comments alone are null", "# a\n\n# b\n", "null"},
		{"an empty document is null", "---\n", "null"},
		{"an object", "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  name: a\n  annotations: {y: \"n\", 1: '2'}\n  finalizers:\n  - x/y\nspec:\n  holderIdentity: alpha # who\n  leaseDurationSeconds: 15\n", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"annotations":{"1":"2","true":"n"},"finalizers":["x/y"],"name":"a"},"spec":{"holderIdentity":"alpha","leaseDurationSeconds":15}}`},
		{"JSON is YAML", `{"a":[1,2.5,true,null,"x\u00e9"],"b":{}}`, `{"a":[1,2.5,true,null,"xé"],"b":{}}`},
		{"only the first document counts", "a: 1\n---\nb: [\n", `{"a":1}`},
		{"the end of a document ends it", "a: 1\n...\n]\n", `{"a":1}`},
		{"words of YAML 1.1 as keys", "{y: 1, no: 2, x: {on: off}}", `{"false":2,"true":1,"x":{"true":false}}`},
		{"integers", "[0, -1, +1, 010, 08, 0o17, 0x1F, -0x1f, 0b101, -0b11, 1_000, 18446744073709551615, 9223372036854775808]", "[0,-1,1,8,8,15,31,-31,5,-3,1000,18446744073709551615,9223372036854775808]"},
		{"floats", "[1.5, .5, 5., 1e3, 1E-7, -1.5e+2, 1_0.5, 1e21, 100000000000000000000, -0.0]", "[1.5,0.5,5,1000,1e-7,-150,10.5,1e+21,100000000000000000000,-0]"},
		{"numbers and booleans as keys", "1: a\n010: b\n1.5: c\n1e9: d\ntrue: e\n.inf: f\n", `{".inf":"f","1":"a","1.5":"c","1e+09":"d","8":"b","true":"e"}`},
		{"a number and its text as keys", "1: a\n\"1\": a\n", `{"1":"a"}`},
		{"anchors and aliases", "a: &x [1]\nb: *x\nc: &x 2\nd: *x\ne: &y\nf: *y\n", `{"a":[1],"b":[1],"c":2,"d":2,"e":null,"f":null}`},
		{"merges", "a: &a {x: 1, y: 2}\nb: &b {x: 3, z: 4}\nc:\n  x: 0\n  <<: [*a, *b]\nd:\n  <<: *a\n  y: 5\ne: {\"<<\": 1}\n", `{"a":{"true":2,"x":1},"b":{"x":3,"z":4},"c":{"true":2,"x":1,"z":4},"d":{"true":5,"x":1},"e":{"\u003c\u003c":1}}`},
		{"a tagged merge", "{!!merge <<: {c: 1}, d: {<<: {e: 1}}}", `{"c":1,"d":{"e":1}}`},
		{"double quotes", "a: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\'\\\\\\N\\_\\L\\P\\x41\\u263a\\U0001F600\"\nb: \"c \\\n   d  \n\n  \\  e\"\n", `{"a":"\u0000\u0007\b\t\n\u000b\f\r\u001b \"'\\` + "\u0085" + ` \u2028\u2029A☺😀","b":"c d\n  e"}`},
		{"UTF-16", "\xff\xfea\x00:\x00 \x00=\xd8\x00\xde\n\x00", `{"a":"😀"}`},
		{"UTF-16 the other way", "\xfe\xff\x00a\x00:\x00 \x00\xe9", `{"a":"é"}`},
		{"characters that JSON escapes", `"<a&b>\u2028\x7f\x01"`, "\"\\u003ca\\u0026b\\u003e\\u2028\x7f\\u0001\""},
		{"bytes that are no text", "!!binary /w==", `"\ufffd"`},
		{"upstream takes empty collections before their colon", "{}: a\n", "{}"},
	}
}

// errorCase is a document that upstream refuses.
type errorCase struct{ name, yaml, err string }

func errorCases() []errorCase {
	return []errorCase{
		{"a value in a value further down", "a: 1\n  b: 2", "yaml: line 2: mapping values are not allowed in this context"},
		{"a list as a key", "? [a,b] : c", `yaml: invalid map key: []interface {}{"a", "b"}`},
		{"null as a key", "~: [a, {b: 1}]\n", `unsupported map key of type: %!s(<nil>), key: <nil>, value: []interface {}{"a", map[interface {}]interface {}{"b":1}}`},
		{"a huge number as a key", "18446744073709551615: a\n", `unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "a"`},
		{"an open bracket", "a: [b\nc: d\n", "yaml: line 1: did not find expected ',' or ']'"},
		{"a merge of an alias of text", "a: &a b\n<<: *a\n", "yaml: map merge requires map or sequence of maps as the value"},
		{"an anchor inside of itself", "&a [*a]\n", "yaml: anchor 'a' value contains itself"},
		{"a merge into itself", "&a {<<: *a}\n", "yaml: anchor 'a' value contains itself"},
		{"not a number", ".nan\n", "json: unsupported value: NaN"},
		{"infinity", "a: -.inf\n", "json: unsupported value: -Inf"},
		{"a broken byte", "a: \xff\n", "yaml: invalid leading UTF-8 octet"},
	}
}

// duplicateCase is a document with duplicate keys. The error comes from strict
// decoding.
type duplicateCase struct{ name, yaml, json, err string }

func duplicateCases() []duplicateCase {
	return []duplicateCase{
		{"a key twice", "a: 1\nb:\n  name: x\n  uid: y\n  name: z\n", `{"a":1,"b":{"name":"z","uid":true}}`, "yaml: unmarshal errors:\n  line 5: key \"name\" already set in map"},
		{"several keys", "a: 1\na: 2\nb: {c: 1, c: 2}\na: 3\n", `{"a":3,"b":{"c":2}}`, "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map\n  line 3: key \"c\" already set in map\n  line 4: key \"a\" already set in map"},
		{"on one line", "{a: 1, a: 2}", `{"a":2}`, "yaml: unmarshal errors:\n  line 1: key \"a\" already set in map"},
		{"the line is the line of the value", "a: 1\na:\n\n  - b\n", `{"a":["b"]}`, "yaml: unmarshal errors:\n  line 4: key \"a\" already set in map"},
		{"keys that are not text", "1: a\n0x1: b\ny: c\ntrue: d\n1.5: e\n1.50: f\n", `{"1":"b","1.5":"f","true":"d"}`, "yaml: unmarshal errors:\n  line 2: key 1 already set in map\n  line 4: key true already set in map\n  line 6: key 1.5 already set in map"},
		{"keys with quotes", "\"a\\nb\": 1\n\"a\\nb\": 2\n", `{"a\nb":2}`, "yaml: unmarshal errors:\n  line 2: key \"a\\nb\" already set in map"},
		{"upstream takes overridden merges for duplicates", "a: &a {x: 1}\nb:\n  <<: *a\n  x: 2\n", `{"a":{"x":1},"b":{"x":2}}`, "yaml: unmarshal errors:\n  line 4: key \"x\" already set in map"},
		{"merges that override", "a: &a {x: 1}\nb:\n  x: 2\n  <<: *a\n", `{"a":{"x":1},"b":{"x":1}}`, "yaml: unmarshal errors:\n  line 1: key \"x\" already set in map"},
		{"aliases repeat them", "a: &a {x: 1, x: 2}\nb: *a\n", `{"a":{"x":2},"b":{"x":2}}`, "yaml: unmarshal errors:\n  line 1: key \"x\" already set in map\n  line 1: key \"x\" already set in map"},
	}
}

// outputCase is a JSON document and its text from upstream.
type outputCase struct{ name, json, yaml string }

func outputCases() []outputCase {
	return []outputCase{
		{"null", "null", "null\n"},
		{"text", `"a"`, "a\n"},
		{"lines", `"a\nb"`, "|-\n  a\n  b\n"},
		{"an empty object", "{}", "{}\n"},
		{"an empty list", "[]", "[]\n"},
		{"an object", `{"kind":"Lease","apiVersion":"v1","metadata":{"name":"a","labels":{},"finalizers":["x/y","z"],"empty":[]},"spec":{"n":1,"f":1.5,"t":true,"z":null}}`, "apiVersion: v1\nkind: Lease\nmetadata:\n  empty: []\n  finalizers:\n  - x/y\n  - z\n  labels: {}\n  name: a\nspec:\n  f: 1.5\n  \"n\": 1\n  t: true\n  z: null\n"},
		{"lists in lists", `[[1,[2]],{"a":[{"b":[[]],"c":{}}]}]`, "- - 1\n  - - 2\n- a:\n  - b:\n    - []\n    c: {}\n"},
		{"numbers", "[0,-1,1.0,1e3,1e21,1.5e-7,-0.0,18446744073709551615,18446744073709551616,1e400]", "- 0\n- -1\n- 1\n- 1000\n- 1e+21\n- 1.5e-07\n- -0\n- 18446744073709551615\n- 1.8446744073709552e+19\n- 1e400\n"},
		{"text that would be something else", `["","~","null","true","y","n","on","010","1e3","0x1F","1_0","1:30","190:20:30.15","2024-01-02","2024-01-02T03:04:05Z",".inf",".5","-1","+1"]`, "- \"\"\n- \"~\"\n- \"null\"\n- \"true\"\n- \"y\"\n- \"n\"\n- \"on\"\n- \"010\"\n- \"1e3\"\n- \"0x1F\"\n- \"1_0\"\n- \"1:30\"\n- \"190:20:30.15\"\n- \"2024-01-02\"\n- \"2024-01-02T03:04:05Z\"\n- \".inf\"\n- \".5\"\n- \"-1\"\n- \"+1\"\n"},
		{"text that only looks so", `["1:60","0x","nULL","yess","1a","1.2.3","2024-13-01","-","--","<<","=",".","_1"]`, "- 1:60\n- 0x\n- nULL\n- yess\n- 1a\n- 1.2.3\n- 2024-13-01\n- '-'\n- --\n- <<\n- =\n- .\n- _1\n"},
		{"keys that would be something else", `{"y":1,"true":2,"1":3,"":4,"~":5,"<<":6}`, "\"\": 4\n<<: 6\n\"~\": 5\n\"1\": 3\n\"true\": 2\n\"y\": 1\n"},
		{"indicators", "[\"- a\",\"-a\",\"? a\",\"?a\",\":a\",\": a\",\"a: b\",\"a:b\",\"a:\",\"a #b\",\"a#b\",\"#a\",\"[a\",\"{a\",\"&a\",\"*a\",\"!a\",\"|a\",\">a\",\"%a\",\"@a\",\"`a\",\"---\",\"--- a\",\"...a\",\"a,b\",\"a]\"]", "- '- a'\n- -a\n- '? a'\n- ?a\n- :a\n- ': a'\n- 'a: b'\n- a:b\n- 'a:'\n- 'a #b'\n- a#b\n- '#a'\n- '[a'\n- '{a'\n- '&a'\n- '*a'\n- '!a'\n- '|a'\n- '>a'\n- '%a'\n- '@a'\n- '`a'\n- '---'\n- '--- a'\n- '...a'\n- a,b\n- a]\n"},
		{"quotes", `["it's","'a","\"a","a\"b","\\a","a\\b","'"]`, "- it's\n- '''a'\n- '\"a'\n- a\"b\n- \\a\n- a\\b\n- ''''\n"},
		{"blanks at the edges", `[" a","a "," ","\n","a\n","a\n\n","\na"," \na","a \nb","a\n b","a\nb ","\n\n"]`, "- ' a'\n- 'a '\n- ' '\n- |2+\n\n- |\n  a\n- |+\n  a\n\n- |2-\n\n  a\n- \" \\na\"\n- \"a \\nb\"\n- |-\n  a\n   b\n- \"a\\nb \"\n- |2+\n\n\n"},
		{"block scalars", `{"a":"b\nc\n","d":{"e":"f\n\ng","h":[" i\nj","k\n\n"]},"nl":"\n  foo"}`, "a: |\n  b\n  c\nd:\n  e: |-\n    f\n\n    g\n  h:\n  - |2-\n     i\n    j\n  - |+\n    k\n\nnl: |2-\n\n    foo\n"},
		{"control characters", `["a\u0000b","ctl\u0007","\b\t\u000b\f\r\u001b","\u0001","\u0085","\u00a0","\ufeffab c"]`, "- \"a\\0b\"\n- \"ctl\\a\"\n- \"\\b\\t\\v\\f\\r\\e\"\n- \"\\x01\"\n- \"\\N\"\n- \u00a0\n- \"\\uFEFF\\x61\\x62\\x20\\x63\"\n"},
		{"line breaks of Unicode", `["a\u2028b","a\u2028\u2029b\u2028","\u2028","a \u2028b","a\u2028\nb","\u2028\n","a\n\u2028"]`, "- 'a\u2028  b'\n- 'a\u2028\u2029  b\u2028'\n- '\u2028'\n- \"a \\Lb\"\n- |-\n  a\u2028\n  b\n- |2+\n\u2028\n- |+\n  a\n\u2028"},
		{"other characters", `["é","☺","😀","a􏿿b","�","` + "\u200b" + `"]`, "- é\n- ☺\n- \"\\U0001F600\"\n- \"a\\U0010FFFFb\"\n- �\n- \u200b\n"},
		{"keys with line breaks", `{"a\nb":1,"c\u2028d":[2],"e\rf":{"g":3},"h\n":"i\nj"}`, "? |-\n  a\n  b\n: 1\n? 'c\u2028  d'\n: - 2\n? \"e\\rf\"\n: g: 3\n? |\n  h\n: |-\n  i\n  j\n"},
		{"long keys", `{"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk":1,"lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll":{"a":[1]},"m om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om om o":[[2]]}`, "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 1\n? lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll\n: a:\n  - 1\n? m om om om om om om om om om om om om om om om om om om om om om om om om om om\n  om om om om om om om om om om om om om om om om om om om om om om om o\n: - - 2\n"},
		{"long plain text", `{"long":"aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa ccc dddd","in":["é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é x"]}`, "in:\n- é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é é\n  é é é é é é é é é é é é é é é é é é é é x\nlong: aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa\n  aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa aaa ccc dddd\n"},
		{"long text with double spaces", `["a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b "]`, "- 'a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b a  b\n  a  b a  b a  b a  b a  b a  b a  b a  b a  b '\n"},
		{"long quoted text", `["it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's it's ","a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b a\t b c","\u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  \u0007  "]`, "- 'it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s\n  it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s it''s\n  it''s it''s '\n- \"a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t\n  b a\\t b a\\t b a\\t b a\\t b a\\t b a\\t b c\"\n- \"\\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a  \\a\n  \\ \"\n"},
		{"long text without spaces", `["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx y z"]`, "- xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n  y z\n"},
		{"natural order", `{"a10":0,"a2":0,"a1":0,"a01":0,"a001":0,"A":0,"b":0,"a":0,"a-1":0,"a.1":0,".":0,"_":0,"f:x":0,"é":0,"10":0,"9":0,"100":0,"10a":0,"a100":0,"":0,"99999999999999999999":0}`, "\"\": 0\n.: 0\n_: 0\n\"9\": 0\n\"10\": 0\n\"100\": 0\n10a: 0\n\"99999999999999999999\": 0\nA: 0\na: 0\na-1: 0\na.1: 0\na1: 0\na01: 0\na001: 0\na2: 0\na10: 0\na100: 0\nb: 0\nf:x: 0\né: 0\n"},
		{"duplicate keys", `{"a":1,"b":2,"a":3}`, "a: 3\nb: 2\n"},
		{"base 64", `{"data":"QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD="}`, "data: QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD=\n"},
	}
}
