// The page's style sheet.
#ifndef RLC_REPORT_STYLE_H_
#define RLC_REPORT_STYLE_H_

namespace rlc {

inline constexpr const char* kStyleSheet = R"css(
:root{--ink:#1b1f24;--soft:#57606a;--paper:#fff;--panel:#f6f8fa;--rule:#d8dee4;--accent:#0a6e5c;--warn:#9a5b00;--dot:#8c959f}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--paper:#0e1116;--panel:#171b22;--rule:#30363d;
--accent:#4cc2a8;--warn:#e0a84a;--dot:#6e7681}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:960px;margin:0 auto;padding:32px 20px 64px}
h1{font-size:15px;font-weight:600;color:var(--soft);margin:0 0 8px;overflow-wrap:anywhere}
.verdict{font-size:clamp(24px,5vw,38px);line-height:1.2;font-weight:700;letter-spacing:-.01em;margin:0 0 12px}
.verdict.good{color:var(--accent)}
.sub{font-size:17px;color:var(--soft);margin:0 0 24px;max-width:70ch}
h2{font-size:19px;margin:40px 0 10px;padding-top:14px;border-top:1px solid var(--rule)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:12px;margin:0 0 8px;padding:0}
.cards div{background:var(--panel);border-radius:8px;padding:12px 14px}
.cards dt{font-size:13px;color:var(--soft)}
.cards dd{margin:2px 0 0;font-size:17px;font-weight:600;font-variant-numeric:tabular-nums}
.cards small{display:block;font-weight:400;color:var(--soft);font-size:13px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:5px 10px 5px 0;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:150px}
th{color:var(--soft);font-weight:600}
tr.winner td{font-weight:600;color:var(--accent)}
svg{width:100%;height:auto;display:block;background:var(--panel);border-radius:8px}
svg text{fill:var(--soft);font-size:12px}
svg .grid{stroke:var(--rule);stroke-width:1}
svg .mark{stroke:var(--warn);stroke-width:1.5;stroke-dasharray:5 4}
svg .line{fill:none;stroke-width:2}
circle.trial{fill:var(--dot);fill-opacity:.7}
circle.front{fill:var(--ink)}path.front{stroke:var(--ink)}
circle.winner{fill:var(--accent);r:7px}path.winner{stroke:var(--accent)}
circle.baseline{fill:none;stroke:var(--ink);stroke-width:2}
.legend{margin:6px 0 0;font-size:13px;color:var(--soft)}
.key::before{content:"";display:inline-block;width:10px;height:10px;border-radius:5px;margin-right:6px;background:var(--dot)}
.key{margin-right:16px}.key.winner::before{background:var(--accent)}.key.front::before{background:var(--ink)}
.key.baseline::before{background:none;border:2px solid var(--ink)}
.muted,details summary{color:var(--soft);font-size:14px}
.warn{color:var(--warn)}
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}
details{margin:8px 0}summary{cursor:pointer}
@media print{body{background:#fff}details{display:block}}
)css";

}  // namespace rlc

#endif  // RLC_REPORT_STYLE_H_
