// Documents that no check has met, given to the page's reader and, some of them, drawn in Chromium: each has to become a view that keeps its
// promises or the words that it cannot be shown, and never an exception, a hang or an element out of the data. Results that are made
// wrong before `subspectra report` sees them and that it accepts have to be drawn whole.
//   node test/fuzz.mjs [--seconds S | --documents N] [--seed N] [--json FILE] [--each N] [--no-browser]
// N (400) documents are read for each that is drawn.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL, fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { chanceOf, damaged, mutated } from "./mutations.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const kPatience = 60000; // milliseconds; a document takes one or two

// --- the reader, in a thread of its own, which can be stopped ------------------------------------------------------------------------

async function readMany() {
  const stub = () => ({ setAttribute() {}, append() {}, addEventListener() {}, replaceChildren() {} });
  globalThis.document = { createElement: stub, createElementNS: stub, createTextNode: stub };
  globalThis.Node ??= class {};
  const { decode, read } = await import(pathToFileURL(workerData.bundle));
  const { sources, at } = workerData;
  parentPort.on("message", async ({ first, count }) => {
    const findings = [];
    for (let seed = first; seed < first + count; ++seed) {
      Atomics.store(at, 0, seed);
      const chance = chanceOf(seed), { text, document } = chance.pick(sources);
      if (chance.below(40) === 0) {
        let back;
        try { back = await decode(damaged(text, chance)); } catch { continue; }  // refused: the page shows the words of the error
        try { read(back); } catch (problem) { findings.push({ seed, words: `damaged text: ${problem.stack}` }); }
        continue;
      }
      try { read(mutated(document, chance)); } catch (problem) { findings.push({ seed, words: String(problem.stack) }); }
    }
    parentPort.postMessage(findings);
  });
}

function startReader(bundle, sources) {
  const at = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { bundle, sources, at } });
  let answer = () => undefined;
  worker.on("message", (findings) => answer(findings));
  worker.on("error", (problem) => answer([{ seed: at[0], words: String(problem.stack), fatal: true }]));
  return {
    read: (first, count) => new Promise((done) => {
      const late = setTimeout(() => { void worker.terminate(); answer([{ seed: at[0], words: "does not come to an end", fatal: true }]); }, kPatience);
      answer = (findings) => { clearTimeout(late); done(findings); };
      worker.postMessage({ first, count });
    }),
    stop: () => worker.terminate()
  };
}

// --- pages of the program ------------------------------------------------------------------------------------------------------------

const unpacked = (html) => html.match(/<script type="text\/plain" id="data">([^<]*)<\/script>/)[1];

async function main() {
  const { values: asked } = parseArgs({ options: { seconds: { type: "string" }, documents: { type: "string", default: "2000" }, seed: { type: "string", default: "1" }, json: { type: "string" }, each: { type: "string", default: "400" }, "no-browser": { type: "boolean", default: false } } });
  const { run, path, folder, program, launched, stop } = await import("./support.mjs");
  const started = process.hrtime.bigint();
  const elapsed = () => Number(process.hrtime.bigint() - started) / 1e9;
  writeFileSync(path("images.csv"), ["p0,p1,p2,p3,p4,p5,class", ...Array.from({ length: 24 }, (_, i) => [0, 1, 2, 3, 4, 5].map((j) => ((i * 7 + j * 5 + (i % 3 === j ? 6 : 0)) % 11) / 4).concat(`c${i % 3}`).join(","))].join("\n") + "\n");
  const results = {
    selection: ["select", "images.csv", "--method", "eslda", "-k", "1:4", "--report", "selection.html", "--shape", "2x3"],
    scoring: ["select", "sonar", "--method", "rvm-row", "-k", "1:4", "--report", "scoring.html"],
    weights: ["select", "images.csv", "--method", "qalpha", "--target", "none", "--exclude", "class", "-k", "1:3", "--report", "weights.html"],
    evaluation: ["evaluate", "images.csv", "--method", "gslda,fisher", "-k", "1:3", "--cv", "3", "--report", "evaluation.html"],
    clustering: ["cluster", "images.csv", "--report", "clustering.html"],
    model: ["fit", "images.csv", "--method", "gslda", "-k", "1:3", "--report", "model.html"],
    reproduction: ["reproduce", "icml06-fig1", "--quick", "--report", "reproduction.html"]
  };
  const sources = [], files = [];
  for (const [name, words] of Object.entries(results)) {
    run(...words, "-o", `${name}.json`);
    files.push(JSON.parse(readFileSync(path(`${name}.json`), "utf8")));
    sources.push({ text: unpacked(readFileSync(path(`${name}.html`), "utf8")) });
  }
  run("report", "selection.json", "evaluation.json", "--data", "images.csv", "--shape", "2x3", "-o", "both.html");
  sources.push({ text: unpacked(readFileSync(path("both.html"), "utf8")) });

  const bundle = { bundle: true, write: false, absWorkingDir: join(here, ".."), entryPoints: ["test/look.ts"], target: "es2022", logLevel: "warning" };
  const module = path("look.mjs");
  writeFileSync(module, (await build({ ...bundle, format: "esm" })).outputFiles[0].text);
  const script = (await build({ ...bundle, format: "iife", globalName: "look" })).outputFiles[0].text;
  for (const source of sources) source.document = JSON.parse(await new Response(new Blob([Buffer.from(source.text, "base64")]).stream().pipeThrough(new DecompressionStream("gzip"))).text());

  const trouble = [];
  let page = null;
  if (!asked["no-browser"]) {
    const browser = await launched();
    page = await browser.newPage();
    page.on("pageerror", (error) => trouble.push(`error: ${error.stack}`));
    page.on("dialog", (dialog) => { trouble.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
    await page.setContent("<!DOCTYPE html><html><body></body></html>");
    await page.addScriptTag({ content: script });
  }
  const drawn = async (document) => {
    let timer;
    const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error("does not come to an end")), kPatience); });
    try { return await Promise.race([page.evaluate((d) => window.look.draw(JSON.parse(d)), JSON.stringify(document)), late]); } finally { clearTimeout(timer); }
  };

  const findings = [];
  const found = (seed, words) => { findings.push({ seed, words }); console.error(`seed ${seed}: ${words}`); };
  const counts = { read: 0, drawn: 0, refused: 0, figures: 0, given: 0, accepted: 0 };
  const each = Number(asked.each), first = Number(asked.seed), seconds = asked.seconds === undefined ? null : Number(asked.seconds), most = Number(asked.documents);
  const stopped = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stopped.abort());
  const reader = startReader(module, sources);
  for (let seed = first; findings.length < 20 && !stopped.signal.aborted && (seconds === null ? counts.read < most : elapsed() < seconds); seed += each) {
    const count = seconds === null ? Math.min(each, most - counts.read) : each;
    const bad = await reader.read(seed, count);
    counts.read += count;
    for (const one of bad) found(one.seed, one.words);
    if (bad.some((one) => one.fatal)) break;
    // One of them drawn, whatever it is; and one that the program has looked at, which has to be drawn whole.
    const chance = chanceOf(seed + 0x40000000);
    const wild = mutated(chance.pick(sources).document, chance);
    const result = mutated(chance.pick(files), chance);
    writeFileSync(path("given.json"), JSON.stringify(result));
    const done = spawnSync(program, ["report", "given.json", "-o", "given.html", "--quiet"], { cwd: folder, encoding: "utf8", timeout: kPatience });
    ++counts.given;
    if (done.status !== 0 && !(done.status === 3 && done.stderr.startsWith("subspectra: error: "))) found(seed, `report ended with ${done.status ?? done.signal}: ${done.stderr}`);
    let accepted = null;
    if (done.status === 0) {
      ++counts.accepted;
      accepted = JSON.parse(await new Response(new Blob([Buffer.from(unpacked(readFileSync(path("given.html"), "utf8")), "base64")]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
    }
    if (page === null) continue;
    for (const [document, whole] of [[wild, false], [accepted, true]]) {
      if (document === null) continue;
      try {
        const { refused, figures } = await drawn(document);
        ++counts.drawn;
        counts.figures += figures;
        if (refused.length > 0) ++counts.refused;
        if (whole && refused.length > 0) { found(seed, `accepted by the program, but ${refused.join("; ")}`); }
      } catch (problem) {
        found(seed, `${whole ? "accepted by the program" : "drawn"}: ${problem.message}`);
        if (/come to an end/.test(problem.message)) stopped.abort();
      }
      for (const words of trouble.splice(0)) found(seed, words);
    }
  }
  await reader.stop();
  if (page !== null) await Promise.race([stop(), new Promise((done) => setTimeout(done, 10000))]);
  const summary = { executions: counts.read + counts.drawn, ...counts, seconds: elapsed(), findings };
  if (asked.json) writeFileSync(asked.json, JSON.stringify(summary, null, 1) + "\n");
  console.log(`${counts.read} documents read, ${counts.drawn} drawn with ${counts.figures} figures (${counts.refused} of them with a part refused in words); of ${counts.given} results given to the program ${counts.accepted} were accepted; ${findings.length} findings`);
  process.exit(findings.length > 0 ? 1 : 0);
}

if (isMainThread) await main();
else await readMany();
