/// Numbers and answers in words.
import { alike, entryAt, featuresAt, fileOf, largest, rowAt, type Choice, type Group, type Method, type PathEntry } from "./data";
import { evaluateCommand, selectCommand } from "./commands";
import { shown } from "./dom";

export const percent = (x: number, digits = 1): string => `${(100 * x).toFixed(digits)}\u202f%`;
export function number(x: number | null | undefined, digits = 4): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return "\u2013";
  if (x === 0) return "0";
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return String(x);
  const size = Math.abs(x);
  return (size >= 1e6 || size < 1e-4 ? x.toExponential(digits - 1) : Number(x.toPrecision(digits)).toString()).replace("-", "\u2212");
}
/// Two decimals, without a minus before what is zero then.
export const fixed = (x: number): string => (Math.abs(x) < 0.005 ? "0.00" : x.toFixed(2).replace("-", "\u2212"));
export const counted = (n: number, noun: string, plural = noun + "s"): string => `${n.toLocaleString("en-US")} ${n === 1 ? noun : plural}`;
export function listed(names: string[], most: number): string {
  const parts = names.slice(0, most).map((n) => shown(n, 24));
  const more = names.length - parts.length;
  if (more > 0) return `${parts.join(", ")} and ${more.toLocaleString("en-US")} more`;
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}
export function seconds(x: number): string {
  if (x < 1e-3) return "under 1 ms";
  if (x < 1) return `${Math.round(1000 * x)} ms`;
  if (x < 120) return `${x.toFixed(1)} s`;
  return x < 7200 ? `${(x / 60).toFixed(1)} min` : `${(x / 3600).toFixed(1)} h`;
}

export interface Answer { question: string; headline: string; tone: "good" | "warn" | "plain" | "none"; text: string; command?: string }

export function proofWord(entry: PathEntry): { word: string; tone: Answer["tone"] } {
  if (entry.certified) return { word: "proven best", tone: "good" };
  if (entry.gap !== null && entry.gap <= 1) return { word: `at most ${percent(entry.gap, entry.gap < 0.1 ? 2 : 1)} from the best`, tone: "warn" };
  return { word: "no proof", tone: "plain" };
}

const searchable = (group: Group): boolean => group.rows === 0 || group.features > 0;

export function whichAnswer(group: Group, method: Method | null, k: number | null): Answer {
  const question = "Which features?";
  const found = featuresAt(method, k);
  if (!method || !found) {
    const most = largest(group.ks, k ?? 10);
    return { question, headline: "Not listed at this size", tone: "none", text: `Only the set of the chosen size${method?.choice?.k1se ? `, k = ${method.choice.k1se},` : ""} is in the file. A selection beside it has the sets of every size.`, command: selectCommand(group, method?.name.replace(/ \(\d+\)$/, "") ?? "gslda", 1, most, { like: fileOf(method) }) };
  }
  const names = found.features.map(group.name);
  const entry = entryAt(method.selection, k);
  const used = method.choice?.used ?? {};
  const by = typeof used.method === "string" && used.method !== method.name ? `${method.name}, which took ${used.method} here` : method.name;
  let text = `${counted(found.size, "feature")} of ${group.features.toLocaleString("en-US")}, chosen by ${by}`;
  if (found.k !== null && k !== null && found.k !== k) text += ` (there is no set of ${k}; this is the one of ${found.k})`;
  const choice = method.choice;
  if (choice && choice.k1se !== null && choice.kBest !== null && choice.k1se === k) text += choice.kBest === choice.k1se ? ". This size has the smallest error" : `. The smallest size within one standard error of the best, which is k\u202f=\u202f${choice.kBest}`;
  if (entry && entry.k === k && (entry.added.length > 1 || entry.removed.length > 0) && k !== method.selection!.path[0].k)
    text += `. Against the set before: ${[entry.added.length ? `with ${listed(entry.added.map(group.name), 4)}` : "", entry.removed.length ? `without ${listed(entry.removed.map(group.name), 4)}` : ""].filter(Boolean).join(", ")}`;
  // The sets of a search depend on the sizes it went through; what the other answers say is of the evaluation's model.
  if (entry && entry.k === k && choice && choice.k1se === k && choice.features.length === entry.features.length) {
    const own = new Set(choice.features.map((f) => f.index)), here = new Set(entry.features);
    const more = choice.features.filter((f) => !here.has(f.index)), less = entry.features.filter((f) => !own.has(f));
    if (more.length > 0) text += `. The evaluation, which went through other sizes, judged another set of ${entry.k}: with ${listed(more.map((f) => f.name), 4)}, without ${listed(less.map(group.name), 4)}`;
  }
  return { question, headline: listed(names, 8), tone: "plain", text: text + "." };
}

export function bestAnswer(group: Group, method: Method | null, k: number | null): Answer {
  const question = "Are they the best?";
  const entry = entryAt(method?.selection ?? null, k);
  // Methods that are judged by the variance of the set are so with labels, too.
  const supervised = method?.selection?.file.scale ? !method.selection.file.scale.startsWith("[true") : group.classes.length > 0;
  const size = entry?.k ?? k ?? 5;
  const proof = group.rows === 0 ? undefined : selectCommand(group, supervised ? "eslda" : "espca", size, size, { seconds: 60, file: "proof.json", like: fileOf(method) });
  if (entry) {
    const own = method!.selection!;
    const proven = group.selections.flatMap((s) => (s !== own && alike(s, own) && s.file.among === own.file.among ? s.path.filter((e) => e.k === entry.k && e.certified) : []));
    if (entry.certified) return { question, headline: "Yes, proven", tone: "good", text: `No set of ${entry.k} has a larger objective than ${number(entry.objective, 5)}: every other set is ruled out.` };
    if (proven.length > 0) {
      const best = largest(proven.map((e) => e.objective));
      const share = entry.objective / best;
      return share >= 1 - 1e-9
        ? { question, headline: "Yes, proven by another search", tone: "good", text: `The exact search on this page ends at the same objective, ${number(best, 5)}.` }
        : { question, headline: `${percent(share)} of the best`, tone: "warn", text: `The proven optimum of this size on this page is ${number(best, 5)}; this set has ${number(entry.objective, 5)}.` };
    }
    if (entry.gap !== null && entry.gap <= 1) return { question, headline: `Within ${percent(entry.gap, entry.gap < 0.1 ? 2 : 1)}`, tone: "warn", text: `No set of ${entry.k} can have an objective above ${number(entry.bound, 5)}; this one has ${number(entry.objective, 5)}.`, command: proof };
    return { question, headline: "Nothing proves it", tone: "plain", text: entry.bound === null ? `${method!.name} gives no bound. An exact search looks at all sets, or says how far it came.` : "The bound is more than twice the objective, which says nothing. An exact search looks at all sets, or says how far it came:", command: searchable(group) ? proof : undefined };
  }
  return { question, headline: "Not asked", tone: "none", text: "An evaluation judges by held-out errors. Whether a set has the largest objective of its size is for an exact search to say.", command: proof };
}

export function errorAnswer(group: Group, method: Method | null, k: number | null): Answer {
  const question = "How well on new rows?";
  const row = method ? rowAt(method, k) : null;
  const choice = method?.choice ?? null;
  if (!row || !method) {
    if (group.classes.length < 2) return { question, headline: "There are no classes to name", tone: "none", text: "Without labels nothing can be right or wrong; the objective is the variance that the features have in common." };
    const name = method?.name.replace(/ \(\d+\)$/, "") ?? "gslda";
    const command = evaluateCommand(group, name, group.ks.length ? largest(group.ks) : 10, fileOf(method));
    const taken = choice?.candidates.find((one) => one.used);
    if (taken) return { question, headline: `${percent(taken.error)} \u00b1 ${percent(taken.se)} in inner folds`, tone: "warn", text: `These ${choice!.innerFolds ?? ""} folds inside the rows also chose ${taken.method} and its size, so that the number flatters a little. An evaluation repeats the whole choice in every training fold.`, command };
    return { question, headline: "Not measured yet", tone: "none", text: "An evaluation repeats the choice inside every training fold and predicts the rows that were left out.", command };
  }
  const trivial = choice?.trivial ?? (group.classCounts.length ? 1 - largest(group.classCounts) / group.classCounts.reduce((a, b) => a + b, 0) : null);
  const common = group.classCounts.length ? group.classes[group.classCounts.indexOf(largest(group.classCounts))] ?? "" : "";
  let text = trivial === null ? "" : `Always guessing ${common === "" ? "the largest class" : `the largest class, ${shown(common, 24)},`} would be wrong for ${percent(trivial)}. `;
  if (row.apparent !== null && row.apparent < row.error) text += `On its own training rows it errs for ${percent(row.apparent)}, which flatters. `;
  if (choice?.pValue != null && (choice.k1se === null || choice.k1se === k)) text += `By chance this good with p\u202f=\u202f${number(choice.pValue, 2)} (labels permuted ${choice.permutations === 1 ? "once" : `${choice.permutations ?? 0} times`}). `;
  const atChoice = choice !== null && (choice.k1se === null || choice.k1se === k);
  const doubt = atChoice ? choice.doubt : "";
  if (!method.evaluation!.nested) text += "The features were chosen on all rows, so that this error is optimistic. ";
  return { question, headline: `${percent(row.error)} \u00b1 ${percent(row.se)} wrong`, tone: doubt || !method.evaluation!.nested ? "warn" : trivial !== null && row.error + row.se < trivial ? "good" : "warn", text: (text + doubt).trim() };
}

export function stabilityWord(x: number): { word: string; tone: Answer["tone"] } {
  if (x >= 0.9) return { word: "Yes, nearly always", tone: "good" };
  if (x >= 0.75) return { word: "Mostly", tone: "good" };
  if (x >= 0.4) return { word: "In part", tone: "warn" };
  return { word: "No, others each time", tone: "warn" };
}

export function againAnswer(group: Group, method: Method | null, k: number | null): Answer {
  const question = "The same choice again?";
  const row = method ? rowAt(method, k) : null;
  if (!method || !row || row.stability === null) {
    if (group.classes.length < 2) return { question, headline: "Not measured", tone: "none", text: "Stability is measured over the training folds of an evaluation, which needs class labels." };
    const known = method?.choice?.features.flatMap((f) => (f.frequency === null ? [] : [f.frequency])) ?? [];
    if (known.length > 0) {
      const mean = known.reduce((a, b) => a + b, 0) / known.length;
      return { question, headline: stabilityWord(mean).word, tone: stabilityWord(mean).tone, text: `On average ${percent(mean, 0)} of the folds chose a feature of this model.` };
    }
    if (row) return { question, headline: "Not measured", tone: "none", text: "The features were chosen once, on all rows." };
    return { question, headline: "Not measured yet", tone: "none", text: "The same evaluation chooses anew on other rows in every fold, and says how alike the choices are." };
  }
  const { word, tone } = stabilityWord(row.stability);
  let text = `Stability ${number(row.stability, 2)}${row.stabilityLow !== null ? ` (95\u202f%: ${number(row.stabilityLow, 2)} to ${number(row.stabilityHigh, 2)})` : ""}: 1 is always the same set, 0 what drawing at random gives. `;
  const choice: Choice | null = method.choice;
  if (choice && (choice.k1se === null || choice.k1se === k)) {
    const always = choice.features.filter((f) => f.frequency !== null && f.frequency >= 0.999);
    const rare = choice.features.filter((f) => f.frequency !== null && f.frequency < 0.5);
    if (always.length) text += `Every fold chose ${listed(always.map((f) => f.name), 4)}. `;
    if (rare.length) text += `Fewer than half of the folds chose ${listed(rare.map((f) => f.name), 3)}. `;
  }
  return { question, headline: word, tone, text: text.trim() };
}
