// Bundles src/ into dist/page.html: one file with its style, its script and a policy that allows nothing else. The program puts the
// data where the marker stands.   node build.mjs [--check]: with --check, says whether dist/ is what the source gives.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const common = { bundle: true, minify: true, write: false, absWorkingDir: here, legalComments: "none", charset: "ascii", logLevel: "warning" };
const [script, style] = await Promise.all([
  build({ ...common, entryPoints: ["src/main.ts"], format: "iife", target: "es2022", metafile: true }),
  build({ ...common, entryPoints: ["src/page.css"] })
]);
const js = script.outputFiles[0].text.trim();
const css = style.outputFiles[0].text.trim();
if (/<\/script|<!--/i.test(js) || /<\/style/i.test(css)) throw new Error("the bundle would end its own element");

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
// style-src-attr: Plot sets single properties through the object model, which no policy forbids; attributes stay forbidden.
const policy = ["default-src 'none'", `script-src ${hash(js)}`, `style-src ${hash(css)}`, "img-src blob:", "base-uri 'none'", "form-action 'none'"].join("; ");
const html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Subspectra report</title>
<style>${css}</style>
</head>
<body>
<div id="app"><p class="loading">This page draws itself. If nothing follows, scripts are switched off, or the browser is older than 2023.</p></div>
<script type="text/plain" id="data">DATA-GO-HERE</script>
<script>${js}</script>
</body>
</html>
`;

// The licences of what is in the bundle, from the packages themselves.
const packages = new Set();
for (const path of Object.keys(script.metafile.inputs)) {
  const found = path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
const licences = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version}\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : "see its package"}\n`;
}).join(`\n${"-".repeat(80)}\n\n`);

const outputs = { "page.html": html, "LICENSES.txt": `What is bundled in page.html besides our own source.\n\n${licences}` };
const dist = join(here, "dist");
if (process.argv.includes("--check")) {
  const stale = Object.entries(outputs).filter(([name, text]) => !existsSync(join(dist, name)) || readFileSync(join(dist, name), "utf8") !== text);
  for (const [name] of stale) console.error(`report/dist/${name} is not what report/src gives: run npm run build in report/`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  mkdirSync(dist, { recursive: true });
  for (const [name, text] of Object.entries(outputs)) writeFileSync(join(dist, name), text);
}
console.log(`page.html: ${Buffer.byteLength(html)} bytes, script ${js.length}, style ${css.length}`);
if (Buffer.byteLength(html) > 600_000) throw new Error("the page without data has more than 600 kB");
