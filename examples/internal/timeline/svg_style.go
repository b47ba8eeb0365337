package timeline

// colours is the number of colours for holders.
const colours = 8

// Style is the style sheet in every picture. It is exported for pages that allow style
// sheets only by their hash.
const Style = `
.kc{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;max-width:100%;height:auto}
.kc text{fill:#1c2128}
.kc .ground{fill:#fff}
.kc .stripe{fill:#f4f6f8}
.kc .title{font-size:18px;font-weight:600}
.kc .name{font-size:14px;font-weight:600}
.kc .dim,.kc .time{fill:#59636e;font-size:11px;font-weight:400}
.kc .change{fill:#1c2128;stroke:#fff;stroke-width:1}
.kc .time{text-anchor:middle}
.kc .end{text-anchor:end}
.kc .guest{font-style:italic}
.kc .leads{font-weight:600}
.kc .inbar{fill:#fff;font-size:10px;text-anchor:middle;pointer-events:none}
.kc .bang{fill:#fff;font-size:10px;font-weight:700;text-anchor:middle}
.kc .grid{stroke:#dde2e7;stroke-width:1;fill:none}
.kc .frame{stroke:#9aa4ae;stroke-width:1;fill:none}
.kc .offer{fill:#aab3bd}
.kc .pale{opacity:.38}
.kc .many{opacity:.75}
.kc .gap{fill:#d1242f;opacity:.1}
.kc .gaplane{fill:#c9252d}
.kc .hand{stroke:#3d444d;stroke-width:1.3;fill:none;stroke-dasharray:3 2}
.kc .tip{fill:#3d444d}
.kc .ping{fill:#1f6feb}
.kc .answer{fill:#1a7f37}
.kc .silent{stroke:#c9252d;stroke-width:2;fill:none}
.kc .missed{stroke:#b35900;stroke-width:1.8;fill:#fff}
.kc .prefer{fill:#8250df;stroke:#fff;stroke-width:1}
.kc .elect{fill:#fff;stroke:#1c2128;stroke-width:1.4}
.kc .collected{fill:#59636e;stroke:#fff;stroke-width:1}
.kc .failed{fill:#c9252d;stroke:#fff;stroke-width:1}
.kc .other{stroke:#59636e;stroke-width:2;fill:none}
.kc .h0{fill:#2563c9}
.kc .h1{fill:#0b7a5e}
.kc .h2{fill:#b0500f}
.kc .h3{fill:#7b46c4}
.kc .h4{fill:#b8306f}
.kc .h5{fill:#55710f}
.kc .h6{fill:#0a7593}
.kc .h7{fill:#7d5a3c}
.kc .hx{fill:#6b7580}
@media (prefers-color-scheme:dark){
.kc text{fill:#e6edf3}
.kc .ground{fill:#0f1318}
.kc .stripe{fill:#171c23}
.kc .dim,.kc .time{fill:#9aa5b1}
.kc .change{fill:#e6edf3;stroke:#0f1318}
.kc .grid{stroke:#29313a}
.kc .frame{stroke:#5b6570}
.kc .offer{fill:#5b6570}
.kc .pale{opacity:.45}
.kc .gap{opacity:.2}
.kc .gaplane{fill:#d6404a}
.kc .hand{stroke:#c3ccd5}
.kc .tip{fill:#c3ccd5}
.kc .ping{fill:#6cb0ff}
.kc .answer{fill:#4ac26b}
.kc .silent{stroke:#ff6b73}
.kc .missed{stroke:#f0a04b;fill:#0f1318}
.kc .prefer{fill:#b392f0;stroke:#0f1318}
.kc .elect{fill:#0f1318;stroke:#e6edf3}
.kc .collected{fill:#9aa5b1;stroke:#0f1318}
.kc .failed{fill:#d6404a;stroke:#0f1318}
.kc .other{stroke:#9aa5b1}
.kc .inbar,.kc .bang{fill:#fff}
.kc .h0{fill:#3b7de0}
.kc .h1{fill:#178f70}
.kc .h2{fill:#c4682b}
.kc .h3{fill:#9065d6}
.kc .h4{fill:#cb4f88}
.kc .h5{fill:#6f8a2b}
.kc .h6{fill:#2089a8}
.kc .h7{fill:#95704f}
.kc .hx{fill:#7d8791}
}
`
