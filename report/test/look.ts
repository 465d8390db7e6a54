/// The page's reader and its panels without the frame, for the fuzzer (fuzz.mjs): what a page would show of a document.
import { decode, entryAt, featuresAt, groupsOf, leadingMethod, readPage, rowAt, startK, type Group, type Json, type Method } from "../src/data";
import { bodyOf, listedPanels, missingOf, verdict, type State } from "../src/panels";
import { drawAll } from "../src/view";
import { againAnswer, bestAnswer, errorAnswer, whichAnswer } from "../src/words";

export { decode };

const fail = (what: string): never => { throw new Error(`the view is not what it says: ${what}`); };
const requireWhole = (x: number, what: string): void => { if (!Number.isSafeInteger(x) || x < 0) fail(`${what} is ${x}`); };
const requireText = (x: unknown, what: string): void => { if (typeof x !== "string") fail(`${what} is a ${typeof x}`); };

/// The promises of src/data.ts, which everything that draws relies on.
function checkGroup(group: Group): void {
  for (const k of group.ks) requireWhole(k, "a size");
  requireWhole(group.features, "the number of features");
  requireWhole(group.rows, "the number of rows");
  for (const text of [group.source, group.table, group.target, ...group.classes, group.name(0), group.name(-1)]) requireText(text, "a name");
  for (const method of group.methods) {
    requireText(method.name, "a method");
    for (const entry of method.selection?.path ?? []) {
      requireWhole(entry.k, "the size of a set");
      entry.features.forEach((f) => requireWhole(f, "a feature"));
      if (!Number.isFinite(entry.objective)) fail(`an objective is ${entry.objective}`);
    }
    for (const row of method.rows) {
      if (row.k !== null) requireWhole(row.k, "the size of an error");
      if (!Number.isFinite(row.error)) fail(`an error is ${row.error}`);
    }
  }
  if (new Set(group.methods.map((m) => m.name)).size !== group.methods.length) fail("two methods have one name");
}

function* statesOf(document: Json): Generator<State> {
  const page = readPage(document);
  for (const group of groupsOf(page)) {
    checkGroup(group);
    const leading = leadingMethod(group);
    if (leading !== null && !group.methods.includes(leading)) fail("the leading method is none of them");
    const others: (Method | null)[] = [leading, ...group.methods.filter((m) => m !== leading).slice(0, 3)];
    for (const method of others) {
      const sizes = new Set([startK(group, method), group.ks[0] ?? null, group.ks[group.ks.length - 1] ?? null]);
      for (const k of sizes) yield { page, group, method, k, measure: "error", search: "", sort: { column: 0, down: false }, searchK: null };
    }
  }
}

/// All that is worked out without drawing; how many states a page of this document has. It throws for no document.
export function read(document: Json): number {
  let states = 0;
  for (const state of statesOf(document)) {
    ++states;
    const { group, method, k } = state;
    const answers = [whichAnswer(group, method, k), bestAnswer(group, method, k), errorAnswer(group, method, k), againAnswer(group, method, k)];
    for (const answer of answers) for (const text of [answer.question, answer.headline, answer.text]) requireText(text, "an answer");
    requireText(verdict(state), "the verdict");
    featuresAt(method, k)?.features.forEach((f) => requireWhole(f, "a feature"));
    entryAt(method?.selection ?? null, k);
    if (method) rowAt(method, k);
    for (const panel of listedPanels(state)) panel.missing(state);
  }
  return states;
}

/// Every panel of the first states drawn; what could not be, in words.
export function draw(document: Json, most = 3): { figures: number; refused: string[] } {
  const host = globalThis.document.getElementById("look") ?? globalThis.document.body.appendChild(Object.assign(globalThis.document.createElement("main"), { id: "look" }));
  const refused = new Set<string>();
  let drawn = 0, figures = 0;
  for (const state of statesOf(document)) {
    if (++drawn > most) break;
    for (const panel of listedPanels(state)) {
      const missing = missingOf(panel, state);
      host.replaceChildren(...bodyOf(panel, state, () => undefined).filter((part) => part !== null));
      drawAll(host);
      figures += host.querySelectorAll(".plot svg, .plot canvas").length;
      for (const numbers of host.querySelectorAll("details")) numbers.open = true;
      for (const part of host.querySelectorAll(".empty p, .plot > .note")) if (part.textContent!.startsWith("This cannot be shown:")) refused.add(`${panel.id}: ${part.textContent}`);
      for (const element of host.querySelectorAll(".plot svg *")) {
        for (const { name, value } of element.attributes) if (/NaN|undefined|Infinity/.test(value) && name !== "aria-label") refused.add(`${panel.id}: ${element.tagName} has ${name}="${value.slice(0, 40)}"`);
      }
      if (missing !== null && !missing.says) fail(`${panel.id} says nothing`);
      if (host.querySelector("script, iframe, [onerror], [onload], img")) fail(`${panel.id} has an element out of the data`);
    }
  }
  host.replaceChildren();
  return { figures, refused: [...refused] };
}
