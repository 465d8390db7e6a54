/// What the page is given, and the views of it that panels draw. The program has checked the file; here a member that is not what it
/// should be counts as absent.
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Dict = { [name: string]: Json };

export interface PageFile {
  name: string;
  command: string;
  flags: string;  ///< those of the command that another one on the same rows needs, too
  scale: string;  ///< what the objectives measure: they compare with those of files that say the same
  among: string;  ///< which features could be chosen
  result: Dict;
  facts: Dict;
  events: SearchEvent[];
}
export interface SearchEvent { k: number; time: number; nodes: number; open: number; incumbent: number | null; bound: number | null }
export interface PageData { version: string; python: boolean; shape: [number, number] | null; leftOut: string[]; files: PageFile[] }

export const isDict = (x: Json | undefined): x is Dict => typeof x === "object" && x !== null && !Array.isArray(x);
export const dict = (x: Json | undefined): Dict => (isDict(x) ? x : {});
export const list = (x: Json | undefined): Json[] => (Array.isArray(x) ? x : []);
export const num = (x: Json | undefined): number | null => (typeof x === "number" && Number.isFinite(x) ? x : null);
/// A size or a number of a row or of a feature.
export const whole = (x: Json | undefined): number | null => (Number.isSafeInteger(x) && (x as number) >= 0 ? (x as number) : null);
export const str = (x: Json | undefined): string => (typeof x === "string" ? x : "");
export const nums = (x: Json | undefined): number[] => list(x).map((v) => num(v) ?? NaN);
/// All of them, or none: what belongs to each stands in other lists.
export const wholes = (x: Json | undefined): number[] => { const all = list(x).map(whole); return all.every((v) => v !== null) ? (all as number[]) : []; };
/// The same for numbers that are added up.
export const allNums = (x: Json | undefined): number[] => { const all = list(x).map(num); return all.every((v) => v !== null) ? (all as number[]) : []; };
/// Not by Math.min(...all), which takes no more than some ten thousand.
export const smallest = (all: number[], from = Infinity): number => all.reduce((a, b) => (b < a ? b : a), from);
export const largest = (all: number[], from = -Infinity): number => all.reduce((a, b) => (b > a ? b : a), from);

export interface PathEntry {
  k: number;
  features: number[];
  size: number;           ///< of the set, which may be more than are listed
  objective: number;
  bound: number | null;
  gap: number | null;
  certified: boolean;
  loadings: number[][];   ///< a row for each listed feature
  groups: string[];
  dropLoss: number[];     ///< share of the objective lost without each feature
  added: number[];
  removed: number[];
}
/// `further`: the second component and those after it, which have sets of their own.
export interface Selection { method: string; name: string; status: string; path: PathEntry[]; further: { component: number; path: PathEntry[] }[]; greedy: { k: number; objective: number }[]; file: PageFile; result: Dict }
/// What a method that chooses among others compared inside the training rows.
export interface Candidate { method: string; k: number | null; lambda: number | null; ridge: string; shrinkage: string; transform: string; error: number; se: number; features: number | null; compared: number | null; used: boolean }
export interface EvaluationRow {
  k: number | null; error: number; se: number; balanced: number; balancedSe: number; apparent: number | null; logLoss: number; logLossSe: number;
  nullError: number | null; stability: number | null; stabilityLow: number | null; stabilityHigh: number | null; features: number; entries: number; lambda: number | null;
}
export interface ChosenFeature { index: number; name: string; frequency: number | null; substitutes: { name: string; frequency: number; correlation: number | null }[] }
export interface Choice {
  method: string; kBest: number | null; k1se: number | null; error: number | null; se: number | null; trivial: number | null; trivialSe: number | null;
  doubt: string; pValue: number | null; permutations: number | null; auc: number | null; confusion: number[][]; sensitivity: number[]; specificity: number[];
  roc: number[][]; calibration: number[][]; projection: number[][]; projectionRows: number[]; projectionClasses: number[]; features: ChosenFeature[]; featureCount: number; used: Dict;
  candidates: Candidate[]; innerFolds: number | null;
}
export interface Fold { method: string; repeat: number; fold: number; k: number | null; features: number[]; error: number }
export interface Evaluation { rows: Map<string, EvaluationRow[]>; chosen: Map<string, Choice>; folds: Fold[]; comparison: { methods: [string, string]; difference: number; se: number }[]; methods: string[]; file: PageFile; result: Dict; nested: boolean }

/// All that is known of one method on one table.
export interface Method { name: string; selection: Selection | null; evaluation: Evaluation | null; rows: EvaluationRow[]; choice: Choice | null; folds: Fold[] }
/// All files about one table.
export interface Group {
  key: string; source: string;
  problem: string;  ///< what is to be told apart, "" where nothing is
  python: boolean;  ///< commands are calls of Python
  table: string;  ///< what commands call the data
  rows: number; features: number; classes: string[]; classCounts: number[]; target: string;
  name: (index: number) => string;
  methods: Method[]; selections: Selection[]; evaluations: Evaluation[]; clusterings: PageFile[]; reproduction: PageFile | null; models: PageFile[];
  files: PageFile[]; ks: number[]; shape: [number, number] | null; classMeans: { name: string; values: number[] }[]; duplicates: Map<number, string[]>;
}

const kMostPixels = 1 << 24;  // of one picture

export function readPage(document: Json): PageData {
  const page = dict(document);
  const shape = wholes(page.shape);
  return {
    version: str(page.version),
    python: page.language === "python",
    shape: shape.length === 2 && shape[0] >= 1 && shape[1] >= 1 && shape[0] * shape[1] <= kMostPixels ? [shape[0], shape[1]] : null,
    leftOut: list(page.left_out).map(str),
    files: list(page.files).map((entry) => {
      const file = dict(entry);
      return {
        name: str(file.name), command: str(file.command), flags: str(file.flags), scale: str(dict(file.measure).scale), among: str(dict(file.measure).among), result: dict(file.result), facts: dict(file.facts),
        events: list(file.events).map((e) => {
          const event = dict(e);
          return { k: whole(event.k) ?? 0, time: num(event.time_s) ?? 0, nodes: num(event.nodes) ?? 0, open: num(event.open) ?? 0, incumbent: num(event.incumbent), bound: num(event.bound) };
        })
      };
    })
  };
}

function readPath(entries: Json[], facts: Dict): PathEntry[] {
  const drops = dict(facts.drop_loss);
  let before: number[] = [];
  const path = entries.map((json): PathEntry => {
    const e = dict(json);
    const features = wholes(e.features);
    const k = whole(e.k) ?? features.length;
    const bound = num(e.upper_bound);
    const objective = num(e.objective) ?? NaN;
    return {
      k, features, size: whole(e.size) ?? features.length, objective, bound, gap: bound === null ? null : num(e.gap), certified: e.certified === true,
      loadings: list(e.loadings).map(nums), groups: list(e.groups).map(str), dropLoss: nums(drops[String(k)]), added: [], removed: []
    };
  }).filter((e) => Number.isFinite(e.objective)).sort((a, b) => a.k - b.k);
  for (const entry of path) {
    const old = new Set(before), now = new Set(entry.features);
    entry.added = entry.features.filter((f) => !old.has(f));
    entry.removed = before.filter((f) => !now.has(f));
    before = entry.features;
  }
  return path;
}

function readChoice(json: Json): Choice {
  const c = dict(json);
  return {
    method: str(c.method), kBest: whole(c.k_best), k1se: whole(c.k_one_standard_error), error: num(c.error), se: num(c.stderr), trivial: num(c.trivial_error), trivialSe: num(c.trivial_stderr),
    doubt: str(c.doubt), pValue: num(c.p_value), permutations: whole(c.permutations), auc: num(c.auc), confusion: list(c.confusion).map(nums), sensitivity: nums(c.sensitivity), specificity: nums(c.specificity),
    roc: list(c.roc).map(nums), calibration: list(c.calibration).map(nums), projection: list(c.projection).map(nums), projectionRows: wholes(c.projection_rows), projectionClasses: wholes(c.projection_classes),
    features: list(c.features).map((f) => {
      const one = dict(f);
      return {
        index: whole(one.index) ?? -1, name: str(one.name), frequency: num(one.frequency),
        substitutes: list(one.substitutes).map((x) => ({ name: str(dict(x).name), frequency: num(dict(x).frequency) ?? 0, correlation: num(dict(x).correlation) }))
      };
    }),
    featureCount: whole(c.feature_count) ?? list(c.features).length, used: dict(c.used), innerFolds: whole(c.folds_run),
    candidates: list(c.candidates).map((json): Candidate => {
      const one = dict(json);
      const word = (x: Json | undefined) => (typeof x === "number" ? String(x) : str(x));
      return { method: str(one.method), k: whole(one.k), lambda: num(one.lambda), ridge: word(one.ridge), shrinkage: word(one.shrinkage), transform: str(one.transform), error: num(one.error) ?? NaN, se: num(one.stderr) ?? 0, features: whole(one.features), compared: whole(one.compared), used: one.method === dict(c.used).method };
    }).filter((one) => Number.isFinite(one.error)).sort((a, b) => a.error - b.error)
  };
}

function readEvaluation(file: PageFile): Evaluation {
  const result = file.result;
  const rows = new Map<string, EvaluationRow[]>();
  for (const json of list(result.results)) {
    const r = dict(json);
    const error = num(r.error);
    if (error === null) continue;
    const interval = nums(r.stability_interval);
    const method = str(r.method);
    if (!rows.has(method)) rows.set(method, []);
    rows.get(method)!.push({
      k: whole(r.k), error, se: num(r.stderr) ?? 0, balanced: num(r.balanced_error) ?? NaN, balancedSe: num(r.balanced_stderr) ?? 0, apparent: num(r.apparent_error),
      logLoss: num(r.log_loss) ?? NaN, logLossSe: num(r.log_loss_stderr) ?? 0, nullError: num(r.null_error), stability: num(r.stability),
      stabilityLow: interval.length === 2 ? interval[0] : null, stabilityHigh: interval.length === 2 ? interval[1] : null, features: num(r.features) ?? NaN, entries: num(r.entries) ?? NaN, lambda: num(r.lambda)
    });
  }
  const chosen = new Map(list(result.chosen).map((c) => [str(dict(c).method), readChoice(c)]));
  const folds = list(result.folds).map((json): Fold => {
    const f = dict(json);
    return { method: str(f.method), repeat: whole(f.repeat) ?? 0, fold: whole(f.fold) ?? 0, k: whole(f.k), features: wholes(f.features), error: num(f.error) ?? NaN };
  });
  const comparison = list(result.comparison).map((json) => {
    const c = dict(json);
    const pair = list(c.methods).map(str);
    return { methods: [pair[0] ?? "", pair[1] ?? ""] as [string, string], difference: num(c.difference) ?? NaN, se: num(c.stderr) ?? 0 };
  });
  return { rows, chosen, folds, comparison, methods: [...rows.keys()], file, result, nested: dict(result.protocol).nested !== false };
}

/// `auto` or `fisher (2)`: a method that stands in several files of one kind gets a number.
function unused(name: string, taken: (name: string) => boolean): string {
  if (!taken(name)) return name;
  for (let i = 2; ; ++i) if (!taken(`${name} (${i})`)) return `${name} (${i})`;
}

export function groupsOf(page: PageData): Group[] {
  const groups = new Map<string, Group>();
  for (const file of page.files) {
    const result = file.result;
    const data = dict(result.data);
    const schema = str(result.schema);
    const isReproduction = schema.startsWith("subspectra.reproduction/");
    const source = isReproduction ? `reproduce ${str(result.id)}` : str(data.source) || file.name;
    // Labels of another column are another problem; a file without labels belongs to either.
    const problem = list(data.classes).length > 0 ? JSON.stringify([str(data.target), data.classes]) : "";
    const same = JSON.stringify([source, num(data.rows), num(data.features)]);
    let key = same, group = groups.get(key);
    for (let i = 2; group && problem !== "" && group.problem !== "" && group.problem !== problem; ++i) group = groups.get((key = `${same} ${i}`));
    if (!group) {
      const names = data.names;
      const name = Array.isArray(names) ? (i: number) => (typeof names[i] === "string" ? (names[i] as string) : `x${i}`)
        : isDict(names) ? (i: number) => (typeof names[String(i)] === "string" ? (names[String(i)] as string) : `feature ${i}`) : (i: number) => `x${i}`;
      const features = whole(data.features) ?? 0;
      group = {
        key, problem, source, python: page.python, table: isReproduction || !str(data.source) ? "DATA" : source, rows: whole(data.rows) ?? 0, features, classes: list(data.classes).map(str), classCounts: allNums(data.class_counts), target: str(data.target), name,
        methods: [], selections: [], evaluations: [], clusterings: [], reproduction: null, models: [], files: [], ks: [],
        shape: page.shape && page.shape[0] * page.shape[1] === features ? page.shape : null, classMeans: [], duplicates: new Map()
      };
      groups.set(key, group);
    } else if (isDict(data.names)) {
      // Every file names what it mentions: two of them know more than one.
      const before = group.name, names = data.names;
      group.name = (i: number) => (typeof names[String(i)] === "string" ? (names[String(i)] as string) : before(i));
    }
    group.files.push(file);
    // A file that was made without the labels knows no classes.
    if (group.problem === "") [group.problem, group.classes, group.classCounts, group.target] = [problem, list(data.classes).map(str), allNums(data.class_counts), str(data.target)];
    const means = dict(file.facts.class_means);
    if (group.classMeans.length === 0) group.classMeans = list(means.values).map((row, i) => ({ name: str(list(means.names)[i]), values: nums(row) }));
    for (const [index, others] of Object.entries(dict(file.facts.near))) group.duplicates.set(Number(index), list(others).map(str));
    if (schema.startsWith("subspectra.selection/")) {
      group.selections.push({ method: str(result.method), name: str(result.method), greedy: Object.entries(dict(file.facts.greedy)).flatMap(([k, objective]) => (num(objective) === null ? [] : [{ k: Number(k), objective: num(objective)! }])).filter((e) => whole(e.k) !== null).sort((a, b) => a.k - b.k), status: str(result.status), path: readPath(list(result.path), file.facts), further: list(result.components).map((c) => ({ component: num(dict(c).component) ?? 0, path: readPath(list(dict(c).path), {}) })).filter((c) => c.component > 1 && c.path.length > 0), file, result });
    } else if (schema.startsWith("subspectra.evaluation/")) group.evaluations.push(readEvaluation(file));
    else if (schema.startsWith("subspectra.clustering/")) group.clusterings.push(file);
    else if (isReproduction) group.reproduction = file;
    else group.models.push(file);
  }
  for (const group of groups.values()) {
    const methods = new Map<string, Method>();
    for (const evaluation of group.evaluations) {
      for (const method of evaluation.methods) {
        const name = unused(method, (n) => methods.get(n)?.evaluation != null);
        methods.set(name, {
          name, selection: null, evaluation, rows: evaluation.rows.get(method) ?? [], choice: evaluation.chosen.get(method) ?? null, folds: evaluation.folds.filter((f) => f.method === method)
        });
      }
    }
    for (const selection of group.selections) {
      const name = unused(selection.method, (n) => methods.get(n)?.selection != null);
      selection.name = name;
      const known = methods.get(name);
      if (known) known.selection = selection;
      else methods.set(name, { name, selection, evaluation: null, rows: [], choice: null, folds: [] });
    }
    // A model that stands alone says what it was chosen by, and which features it takes.
    for (const file of group.models) {
      const result = file.result;
      const method = str(result.method), by = dict(result.chosen_by), indices = wholes(result.features), names = list(result.names).map(str);
      const alone = !isDict(result.data), there = methods.get(method);
      if (there && there.choice !== null) continue;
      if (alone) {
        const known = new Map(indices.map((index, i) => [index, names[i] ?? `x${index}`]));
        group.name = (i: number) => known.get(i) ?? `x${i}`;
      }
      if (alone) group.features = whole(dict(result.training).features) ?? indices.length;
      if (alone) group.rows = whole(dict(result.training).rows) ?? 0;
      if (alone) group.classes = list(result.classes).map(str);
      const choice = readChoice({ ...by, method, features: by.features ?? indices.map((index, i) => ({ index, name: names[i] ?? "", frequency: null, substitutes: [] })) });
      if (choice.k1se === null) choice.k1se = indices.length;
      const rows: EvaluationRow[] = choice.error === null ? [] : [{ k: choice.k1se, error: choice.error, se: choice.se ?? 0, balanced: NaN, balancedSe: 0, apparent: null, logLoss: NaN, logLossSe: 0, nullError: null, stability: null, stabilityLow: null, stabilityHigh: null, features: choice.featureCount, entries: NaN, lambda: null }];
      const evaluation: Evaluation = { rows: new Map([[method, rows]]), chosen: new Map(), folds: [], comparison: [], methods: [method], file, result, nested: true };
      methods.set(method, { name: method, selection: there?.selection ?? { method, name: method, status: str(result.status), path: [], further: [], greedy: [], file, result: { discriminants: { features: indices, matrix: result.discriminants ?? [] } } }, evaluation, rows, choice, folds: [] });
    }
    group.methods = [...methods.values()];
    const ks = new Set<number>();
    for (const method of group.methods) {
      for (const row of method.rows) if (row.k !== null) ks.add(row.k);
      for (const entry of method.selection?.path ?? []) ks.add(entry.k);
    }
    group.ks = [...ks].sort((a, b) => a - b);
  }
  return [...groups.values()];
}

/// Whether the objectives of two selections are on one scale: of the same criterion, with the same ridge, on rows prepared alike.
export const alike = (a: Selection, b: Selection): boolean => a.file.scale !== "" && a.file.scale === b.file.scale;

/// How the held-out rows of an evaluation came about; errors of two that differ in it are not of the same folds.
const foldsOf = (e: Evaluation): string => { const p = dict(e.result.protocol); return JSON.stringify([...["cv", "held_out_sets", "held_out_sets_run", "repeats", "seed", "test_fraction", "select_on", "nested"].map((name) => p[name] ?? null)]); };
export const sameFolds = (evaluations: Evaluation[]): boolean => new Set(evaluations.map(foldsOf)).size < 2;

/// The method whose error at its own choice is smallest; without errors the first that was run.
export function leadingMethod(group: Group): Method | null {
  const judged = group.methods.filter((m) => m.choice?.error != null);
  if (judged.length === 0) return group.methods.find((m) => m.selection !== null) ?? group.methods[0] ?? null;
  return judged.reduce((best, m) => (m.choice!.error! < best.choice!.error! ? m : best));
}

export const startK = (group: Group, method: Method | null): number | null =>
  method?.choice?.k1se ?? (method?.selection?.path.length ? method.selection.path[method.selection.path.length - 1].k : null) ?? (method?.rows.length ? method.rows[method.rows.length - 1].k : null) ?? (group.ks.length ? group.ks[group.ks.length - 1] : null);

/// The set at k, or at the nearest smaller size that has one.
export function entryAt(selection: Selection | null, k: number | null): PathEntry | null {
  if (!selection || k === null) return null;
  let found: PathEntry | null = null;
  for (const entry of selection.path) if (entry.k <= k) found = entry;
  return found;
}
export const rowAt = (method: Method, k: number | null): EvaluationRow | null =>
  method.rows.find((row) => row.k === k) ?? (method.rows.length === 1 && method.rows[0].k === null ? method.rows[0] : null);

/// What says how the rows of a method were read and prepared.
export const fileOf = (method: Method | null): PageFile | undefined => method?.selection?.file ?? method?.evaluation?.file;

/// The features at k by what is known: the set of the path, or at the chosen size the model on all rows.
export function featuresAt(method: Method | null, k: number | null): { features: number[]; size: number; k: number | null } | null {
  if (!method) return null;
  const entry = entryAt(method.selection, k);
  if (entry) return { features: entry.features, size: entry.size, k: entry.k };
  const choice = method.choice;
  if (choice && choice.features.length > 0 && (choice.k1se === null || choice.k1se === k)) return { features: choice.features.map((f) => f.index), size: choice.featureCount, k: choice.k1se };
  return null;
}

export async function decode(text: string): Promise<Json> {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as Json;
}
