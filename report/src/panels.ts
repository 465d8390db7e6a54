/// The panels: what each shows of the table, method and size that are looked at.
import * as commands from "./commands";
import { bestAnswer, againAnswer, counted, errorAnswer, fixed, listed, number, percent, proofWord, seconds, whichAnswer, type Answer } from "./words";
import { alike, dict, entryAt, featuresAt, fileOf, isDict, largest, list, num, nums, rowAt, sameFolds, smallest, str, whole, wholes, type Choice, type Group, type Json, type Method, type PageData, type Selection } from "./data";
import { h, shown } from "./dom";
import * as F from "./figures";
import { grey, mix, shade, type Palette } from "./palette";
import { csv, download } from "./save";
import { button, commandBox, copy, announce, empty, figureView, pictureView, refusal, sortable, tableView, type Column, type Placed } from "./view";

export interface State { page: PageData; group: Group; method: Method | null; k: number | null; measure: F.Measure; search: string; sort: { column: number; down: boolean }; searchK: number | null }
export interface Panel {
  id: string;
  title: string;
  says: string;
  /// Why there is nothing to show, and the command that would change that; null when there is something.
  missing: (state: State) => { says: string; command?: string } | null;
  show: (state: State, refresh: () => void) => (HTMLElement | null)[];
  applies?: (state: State) => boolean;  ///< panels of another kind of result are not even listed
}

/// What belongs to a model was made with it, by one command.
const commandOf = (group: Group, file: Group["files"][number]): string => (group.models.length > 0 && !group.models.includes(file) ? "" : file.command);
const plain = (name: string) => name.replace(/ \(\d+\)$/, "");
const place = (state: State): Placed => ({
  source: [state.method?.selection?.file.command ?? state.method?.evaluation?.file.command ?? state.group.files[0]?.command ?? "", `Subspectra ${state.page.version}`].filter(Boolean).join("; "),
  stem: `${state.group.source.split("/").pop()!.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 30) || "report"}${state.method ? `-${plain(state.method.name)}` : ""}${state.k === null ? "" : `-k${state.k}`}`
});
const most = (state: State) => (state.group.ks.length ? largest(state.group.ks) : 10);
const selectCommand = (state: State, method = plain(state.method?.name ?? "gslda")) => commands.selectCommand(state.group, method, 1, most(state), { like: fileOf(state.method) });
const evaluateCommand = (state: State) => commands.evaluateCommand(state.group, plain(state.method?.name ?? "gslda"), most(state), fileOf(state.method));
const paths = (state: State): Selection | null => (state.method?.selection?.path.length ? state.method.selection : null);
/// For the panel of objectives: those of another method rather than none.
const somePath = (state: State): Selection | null => paths(state) ?? state.group.selections.find((one) => one.path.length > 0) ?? null;
const judged = (state: State): Choice | null => (state.method?.choice?.error != null ? state.method.choice : null);
const supervised = (state: State) => state.group.classes.length > 0;
const notJudged = (state: State) => ({ says: supervised(state) ? `There is no evaluation of ${state.method?.name ?? "a method"} here: its errors on new rows are not known.` : "These data have no classes, so that nothing can be predicted.", command: supervised(state) ? evaluateCommand(state) : undefined });
const atChoice = (state: State, choice: Choice) => (choice.k1se === null ? `as ${state.method!.name} chose it` : `k\u202f=\u202f${choice.k1se}, the one-standard-error choice`);
const fixedNote = (state: State, choice: Choice) => (choice.k1se !== null && state.k !== choice.k1se ? h("p", { class: "note" }, `Held-out predictions are kept for k\u202f=\u202f${choice.k1se}, the one-standard-error choice, whatever the slider says.`) : null);

// --- summary ------------------------------------------------------------------------------------------------------

function answerCard(answer: Answer): HTMLElement {
  return h("section", { class: `answer ${answer.tone}` }, h("h3", {}, answer.question), h("p", { class: "headline" }, answer.headline), h("p", {}, answer.text), answer.command ? commandBox(answer.command, "Copy the command that answers this") : null);
}

export function verdict(state: State): string {
  const { group, method, k } = state;
  if (group.reproduction) return "";
  const clustering = group.clusterings[0];
  if (!method && clustering) {
    const sizes = nums(clustering.result.sizes);
    return `${counted(group.rows, "row")} in ${counted(sizes.length, "cluster")} by ${counted(list(clustering.result.features).length, "feature")} of ${group.features.toLocaleString("en-US")}.`;
  }
  if (!method) return "";
  const found = featuresAt(method, k);
  const row = rowAt(method, k);
  const who = found ? `${counted(found.size, "feature")} of ${group.features.toLocaleString("en-US")}` : k === null ? "The chosen features" : counted(k, "feature");
  if (row) return `${who} name the class of ${percent(1 - row.error, 0)} of new rows correctly.`.replace(/^1 feature of (\S+) name /, "1 feature of $1 names ");
  const entry = entryAt(method.selection, k);
  if (!entry) return "";
  const proof = proofWord(entry);
  return `${who}, objective ${number(entry.objective, 4)}: ${proof.word}.`;
}

const summary: Panel = {
  id: "summary", title: "Summary", says: "", missing: () => null,
  show: (state) => {
    const { group, method, k } = state;
    const out: (HTMLElement | null)[] = [];
    const doubts = [...new Set(group.files.flatMap((f) => list(f.result.warnings).map(str)))];
    const commands = group.files.filter((f) => commandOf(group, f) !== "");
    const made = () => (commands.length ? h("div", { class: "made" }, h("h3", {}, commands.length === 1 ? "The command that made it" : "The commands that made it"), commands.map((f) => commandBox(f.command))) : null);
    const incomplete = group.evaluations.some((e) => e.result.complete === false);
    if (group.reproduction) {
      const result = group.reproduction.result;
      const { findings } = F.findingsOf(result);
      const published = findings.filter((f) => f.published !== null);
      out.push(h("p", { class: "lead" }, `${shown(str(result.source), 80)}, run again: ${counted(findings.length, "number")}, ${published.length} of them published.`));
    } else if (method) {
      const loadingsHere = F.loadingsAt(group, method, k);
      const choice = judged(state), curve = method.rows.filter((r) => r.k !== null).length > 1;
      const picture = curve ? F.errorFigure(group, method, k, "error", true) : paths(state) && paths(state)!.path.length > 1 ? F.pathFigure(group, paths(state)!, k) : (method.choice?.candidates.length ?? 0) > 1 ? F.candidatesFigure(method.choice!) : loadingsHere ? F.loadingsFigure(loadingsHere, 0, method.name) : paths(state) ? F.pathFigure(group, paths(state)!, k) : choice?.roc.length ? F.rocFigure(choice) : choice?.features.some((f) => f.frequency !== null) ? F.frequencyFigure(choice) : choice?.confusion.length ? F.confusionFigure(group, choice) : null;
      const answers = [whichAnswer(group, method, k), bestAnswer(group, method, k), errorAnswer(group, method, k), againAnswer(group, method, k)];
      out.push(h("div", { class: "first" }, h("div", { class: "answers" }, answers.map(answerCard)), h("div", { class: "beside" }, picture ? figureView({ ...picture, id: "summary" }, place(state)) : null, made())));
    } else if (group.clusterings.length) out.push(...clusterSummary(state));
    if (incomplete) out.push(h("p", { class: "alert" }, "A run was cut short: what is shown is what was known by then."));
    if (doubts.length) out.push(h("details", { class: "alerts", open: doubts.length <= 2 }, h("summary", {}, counted(doubts.length, "warning")), h("ul", {}, doubts.slice(0, 50).map((d) => h("li", {}, shown(d, 600))))));
    if (!method) out.push(made());
    return out;
  }
};

function clusterSummary(state: State): HTMLElement[] {
  const result = state.group.clusterings[0].result;
  const features = wholes(result.features).map(state.group.name);
  const gap = dict(result.eigen_gap), agreement = dict(result.agreement);
  const asked = list(result.sizes).length, says = whole(gap.clusters), ratio = num(gap.ratio);
  const all = dict(result.all_features);
  const answers: Answer[] = [
    { question: "Which features?", headline: listed(features, 8), tone: "plain", text: `${counted(features.length, "feature")} of ${state.group.features.toLocaleString("en-US")}${result.by_cut === true ? ", those above the largest fall of the weights" : ""}.` },
    { question: "How many clusters?", headline: says === null ? "Not said" : says === asked ? `${asked}, as asked` : `${says} rather than ${asked}`, tone: says === asked && (ratio ?? 0) >= 1.5 ? "good" : "warn", text: ratio === null ? "" : `The largest fall of the eigenvalues is after ${says}, to 1/${number(ratio, 3)} of what stood before. Below 1.5 such a fall says nothing.` },
    { question: "Do they match the labels?", headline: num(agreement.adjusted_rand_index) === null ? "There are no labels" : `Adjusted Rand ${fixed(num(agreement.adjusted_rand_index)!)}`, tone: (num(agreement.adjusted_rand_index) ?? 0) > 0.5 ? "good" : "plain", text: num(agreement.accuracy) === null ? "Nothing to compare the clusters with." : `${percent(num(agreement.accuracy)!)} of the rows lie in the cluster of their class under the best matching; 1 is the same partition, about 0 is chance. The labels were not used otherwise.` },
    { question: "Would all features say the same?", headline: num(all.adjusted_rand_index_with_selected) === null ? "Not compared" : (num(all.adjusted_rand_index_with_selected)! > 0.8 ? "Yes" : num(all.adjusted_rand_index_with_selected)! > 0.3 ? "In part" : "No, another partition"), tone: "plain", text: num(all.adjusted_rand_index_with_selected) === null ? "" : `Adjusted Rand of the two partitions: ${fixed(num(all.adjusted_rand_index_with_selected)!)}.` }
  ];
  return [h("div", { class: "answers" }, answers.map(answerCard))];
}

// --- path, error ----------------------------------------------------------------------------------------------------

const path: Panel = {
  id: "path", title: "Sparsity path", says: "What every further feature adds to the objective, and how far the best set of that size could still be.",
  missing: (state) => (somePath(state) ? null : { says: "There are no sets of this method here, only its errors.", command: state.method ? selectCommand(state) : undefined }),
  show: (state) => {
    const selection = somePath(state)!;
    const entry = entryAt(selection, state.k);
    const words = entry ? proofWord(entry) : null;
    return [
      selection === state.method?.selection ? null : h("p", { class: "note" }, `The sets of ${state.method?.name ?? "this method"} are not in the files; these are those of ${selection.name}.`),
      entry ? h("p", { class: "reading" }, h("strong", {}, `k\u202f=\u202f${entry.k}`), ` objective ${number(entry.objective, 5)} `, h("span", { class: `badge ${words!.tone}` }, words!.word), entry.k !== state.k ? ` There is no set of ${state.k}.` : "") : null,
      // One point is no curve.
      selection.path.length > 1 || state.group.selections.some((one) => one !== selection && one.path.length > 0 && alike(one, selection)) ? figureView(F.pathFigure(state.group, selection, state.k), place(state)) : empty("Here is the set of one size. Those of a range of sizes make a path:", selectCommand(state, plain(selection.method) === "auto" ? "gslda" : plain(selection.method)))
    ];
  }
};

const error: Panel = {
  id: "error", title: "Error against k", says: "Features were chosen anew inside every training fold; the gap to the training rows is the optimism.",
  applies: (state) => supervised(state) || state.group.evaluations.length > 0,
  missing: (state) => (state.method?.rows.length ? null : notJudged(state)),
  show: (state, refresh) => {
    const method = state.method!;
    if (method.rows.filter((r) => r.k !== null).length < 2) {
      const row = method.rows[0];
      return [h("p", { class: "reading" }, h("strong", {}, `${percent(row.error)} \u00b1 ${percent(row.se)}`), row.k === null ? ` wrong; ${method.name} has no k to vary: it chooses the size itself, in every fold. On average it kept ${number(row.features, 3)} features.` : ` wrong at k\u202f=\u202f${row.k}; the errors of other sizes are not in the file.`), tableView(F.errorFigure(state.group, method, null).table(), "Errors")];
    }
    const control = h("select", { id: "measure", change: (event) => { state.measure = (event.target as HTMLSelectElement).value as F.Measure; refresh(); } }, Object.entries(F.measures).map(([value, label]) => h("option", { value, selected: state.measure === value }, label)));
    return [h("p", { class: "controls" }, h("label", { for: "measure" }, "Measure "), control), figureView(F.errorFigure(state.group, method, state.k, state.measure), place(state))];
  }
};

// --- features -------------------------------------------------------------------------------------------------------

interface FeatureRow { index: number; name: string; entered: number | null; loading: number | null; drop: number | null; frequency: number | null; substitutes: string; near: string; inSet: boolean }

function featureRows(state: State): FeatureRow[] {
  const { group, method, k } = state;
  const choice = method?.choice ?? null;
  const frequencies = new Map(choice?.features.map((f) => [f.index, f]) ?? []);
  const entered = new Map<number, number>();
  for (const e of method?.selection?.path ?? []) for (const f of e.features) if (!entered.has(f)) entered.set(f, e.k);
  const found = featuresAt(method, k);
  const entry = entryAt(method?.selection ?? null, k);
  return (found?.features ?? choice?.features.map((f) => f.index) ?? []).map((index, i) => {
    const chosen = frequencies.get(index);
    return {
      index, name: group.name(index) === `x${index}` && chosen?.name ? chosen.name : group.name(index), entered: entered.get(index) ?? null, loading: entry?.loadings[i]?.[0] ?? null,
      drop: entry && Number.isFinite(entry.dropLoss[i]) ? entry.dropLoss[i] : null, frequency: chosen?.frequency ?? null,
      substitutes: chosen?.substitutes.map((x) => `${shown(x.name, 20)} (${percent(x.frequency, 0)})`).join(", ") ?? "", near: group.duplicates.get(index)?.map((n) => shown(n, 20)).join(", ") ?? "", inSet: true
    };
  });
}

const kMostTiles = 400;
const features: Panel = {
  id: "features", title: "Features", says: "Which features are in the set of every size, and what is known of those in the set that is looked at.",
  missing: (state) => (paths(state) || state.method?.choice?.features.length ? null : { says: "No set of this method is listed here.", command: state.method ? selectCommand(state) : undefined }),
  show: (state, refresh) => {
    const { group, method } = state;
    const selection = paths(state);
    const rows = featureRows(state).filter((r) => state.search === "" || r.name.toLowerCase().includes(state.search.trim().toLowerCase()));
    const found = featuresAt(method, state.k);
    const search = h("input", { type: "search", id: "search", placeholder: "part of a name", autocomplete: "off", spellcheck: "false", value: state.search, input: (event) => { state.search = (event.target as HTMLInputElement).value; refresh(); } });
    const columns: Column<FeatureRow>[] = [{ title: "feature", value: (r) => r.name, text: (r) => h("strong", {}, shown(r.name, 48)) }, { title: "index", value: (r) => r.index, numeric: true, text: (r) => String(r.index) }];
    if (rows.some((r) => r.entered !== null)) columns.push({ title: "enters at k", value: (r) => r.entered, numeric: true });
    if (rows.some((r) => r.loading !== null)) columns.push({ title: "loading", value: (r) => r.loading, numeric: true, text: (r) => (r.loading === null ? "\u2013" : h("span", { class: r.loading < 0 ? "minus" : "plus" }, number(r.loading))) });
    if (rows.some((r) => r.drop !== null)) columns.push({ title: "loss without it", value: (r) => r.drop, numeric: true, text: (r) => (r.drop === null ? "\u2013" : percent(r.drop)) });
    if (rows.some((r) => r.frequency !== null)) columns.push({ title: "chosen in folds", value: (r) => r.frequency, numeric: true, text: (r) => (r.frequency === null ? "\u2013" : meter(r.frequency)) });
    if (rows.some((r) => r.substitutes)) columns.push({ title: "in its place", value: (r) => r.substitutes || null });
    if (rows.some((r) => r.near)) columns.push({ title: "near copies", value: (r) => r.near || null });
    if (state.sort.column >= columns.length) state.sort = { column: 0, down: false };
    const names = () => rows.map((r) => r.name);
    const known = ["loss without it", "chosen in folds"].filter((title) => !columns.some((c) => c.title === title));
    const hints = [
      known.includes("loss without it") && selection ? `What the objective loses without a feature is computed from the table: ${commands.withData(group)}.` : "",
      known.includes("chosen in folds") && supervised(state) ? "How often folds choose a feature is for an evaluation to say." : ""
    ].filter(Boolean).join(" ");
    const tiles = selection ? F.tilesFigure(group, selection, state.k, state.search, kMostTiles) : null;
    const size = found ? `The set of ${found.size.toLocaleString("en-US")}${found.k === null ? "" : ` (k\u202f=\u202f${found.k})`}` : `The model at k\u202f=\u202f${method?.choice?.k1se}`;
    const truncated = found && found.size > found.features.length ? h("p", { class: "note" }, `${found.features.length.toLocaleString("en-US")} of ${found.size.toLocaleString("en-US")} features of this set are on the page.`) : null;
    return [
      h("p", { class: "controls" }, h("label", { for: "search" }, "Find a feature "), search),
      tiles && selection ? tilesView(state, tiles, selection) : null,
      h("div", { class: "caption" }, h("h3", {}, size), h("div", { class: "save", role: "group", "aria-label": "The list of features" },
        button("Copy names", () => { void copy(names().join("\n")); announce(`${counted(rows.length, "name")} copied`); }),
        button("CSV", () => download(`${place(state).stem}-features.csv`, new Blob([csv({ columns: columns.map((c) => c.title), rows: rows.map((r) => columns.map((c) => c.value(r))) })], { type: "text/csv" })), { "aria-label": "The list of features as CSV" }))),
      rows.length ? sortable("Features of the set", columns, rows, state.sort) : empty(state.search ? "No feature of this set has this text in its name." : "The set of this size is not in the file."),
      truncated, hints ? h("p", { class: "note" }, hints) : null
    ];
  }
};

const meter = (share: number): HTMLElement => {
  const bar = h("span", { class: "meter", "aria-hidden": "true" }, h("span"));
  (bar.firstChild as HTMLElement).style.width = `${Math.round(100 * share)}%`;
  return h("span", { class: "metered" }, bar, percent(share, 0));
};

/// Few tiles are SVG; more are painted, where ten thousand cost nothing.
function tilesView(state: State, figure: F.Figure, selection: Selection): HTMLElement {
  const tiles = F.tilesOf(state.group, selection, state.search, kMostTiles);
  const note = tiles.total > tiles.features.length ? h("p", { class: "note" }, `The first ${tiles.features.length} of ${tiles.total.toLocaleString("en-US")} features are drawn; search finds the others.`) : null;
  if (tiles.features.length * tiles.ks.length <= 4000) {
    const view = figureView(figure, place(state));
    view.querySelector(".plot")!.classList.add("tall");
    return h("div", {}, view, note);
  }
  const paint = (pal: Palette, host: HTMLElement) => {
    const most = Math.max(...tiles.names.map((n) => Math.min([...n].length, 22)));
    const left = 14 + 7 * most, top = 24, row = 14;
    const width = Math.max(host.clientWidth, 420), cell = (width - left - 8) / tiles.ks.length, height = top + row * tiles.features.length + 8;
    const ratio = Math.min(devicePixelRatio || 1, 2, Math.sqrt(24e6 / (width * height)));
    const canvas = h("canvas", { role: "img", "aria-label": figure.says, width: Math.round(width * ratio), height: Math.round(height * ratio) });
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const c = canvas.getContext("2d")!;
    c.scale(ratio, ratio);
    c.font = `11px ${F.kFont}`;
    const gap = cell > 5 ? 1 : 0;
    tiles.features.forEach((_, i) => {
      for (let j = 0; j < tiles.ks.length; ++j) {
        const value = tiles.at(i, j);
        c.fillStyle = value > 0 ? pal.positive : value < 0 ? pal.negative : pal.empty;
        c.fillRect(left + cell * j, top + row * i + 0.5, cell - gap, row - 1.5);
      }
      c.fillStyle = pal.ink;
      c.textAlign = "right";
      c.fillText(shown(tiles.names[i], 22), left - 7, top + row * i + 10.5);
    });
    c.textAlign = "center";
    const step = Math.max(1, Math.ceil(26 / cell));
    tiles.ks.forEach((size, j) => {
      c.fillStyle = pal.muted;
      if (j % step === 0) c.fillText(String(size), left + cell * (j + 0.5), 15);
      if (size === state.k) { c.strokeStyle = pal.ink; c.lineWidth = 1.6; c.strokeRect(left + cell * j - 0.5, top - 3, cell, height - top); }
    });
    host.append(canvas);
  };
  const view = figureView(figure, place(state), "h3", paint);
  view.querySelector(".plot")!.classList.add("tall");
  return h("div", {}, view, note);
}

// --- loadings, stability ----------------------------------------------------------------------------------------------

const loadings: Panel = {
  id: "loadings", title: "Loadings", says: "With which weight and sign each feature of the set counts, in its own units. Features in large units have small loadings.",
  missing: (state) => (F.loadingsAt(state.group, state.method ?? { selection: null } as unknown as Method, state.k) ? null : { says: "There are no loadings of this method here.", command: state.method && !paths(state) ? selectCommand(state) : undefined }),
  show: (state) => {
    const found = F.loadingsAt(state.group, state.method!, state.k)!;
    const further = F.furtherAt(state.group, state.method!.selection, state.k);
    // Components that were found one after another have features of their own; else they are columns on the same ones.
    const components = further.length ? 1 : largest(found.values.map((v) => v.length), 0);
    const views = Array.from({ length: Math.min(components, 6) }, (_, c) => figureView(F.loadingsFigure(found, c, state.method!.name), place(state)));
    views.push(...further.slice(0, 5).map((one) => figureView(F.loadingsFigure(one.loadings, 0, state.method!.name, one.component), place(state))));
    const all = components + further.length;
    const entry = entryAt(state.method!.selection, state.k);
    const table = further.length && entry ? tableView({ columns: ["component", "k", "objective", "what is proven", "features"], rows: [{ component: 1, entry }, ...further].map((one) => [one.component, one.entry.k, one.entry.objective, proofWord(one.entry).word, one.entry.features.slice(0, 60).map(state.group.name).join(", ")]) }, "Components") : null;
    return [h("p", { class: "reading" }, h("strong", {}, found.what), further.length ? `: ${all} components, each with features of its own.` : "", found.names.length > 40 ? " The 40 largest of each component are drawn." : "", all > 6 ? ` The first 6 of ${all} components.` : ""), h("div", { class: all > 1 ? "two" : null }, views), table];
  }
};

const compared: Panel = {
  id: "compared", title: "What was compared", says: "Methods with their sizes, ridges and penalties, on rows held out inside the training rows; the simplest of the best was taken.",
  applies: (state) => (state.method?.choice?.candidates.length ?? 0) > 0,
  missing: () => null,
  show: (state) => {
    const choice = state.method!.choice!, rows = choice.candidates;
    const told = <T>(values: T[], known: (value: T) => boolean) => values.some(known);
    const columns: Column<(typeof rows)[number]>[] = [
      { title: "method", value: (r) => r.method, text: (r) => (r.used ? h("strong", {}, `${r.method} \u2713`) : r.method) },
      { title: "error", value: (r) => r.error, numeric: true, text: (r) => `${percent(r.error)} \u00b1 ${percent(r.se)}` },
      { title: "k", value: (r) => r.k, numeric: true }, { title: "features", value: (r) => r.features, numeric: true }
    ];
    if (told(rows, (r) => r.ridge !== "")) columns.push({ title: "ridge", value: (r) => r.ridge || null });
    if (told(rows, (r) => r.lambda !== null)) columns.push({ title: "lambda", value: (r) => r.lambda, numeric: true });
    if (told(rows, (r) => r.transform !== "" && r.transform !== "none")) columns.push({ title: "columns", value: (r) => r.transform });
    columns.push({ title: "compared", value: (r) => r.compared, numeric: true });
    return [
      h("p", { class: "reading" }, h("strong", {}, rows.find((r) => r.used)?.method ?? state.method!.name), ` was taken${choice.innerFolds === null ? "" : `, by ${counted(choice.innerFolds, "inner fold")}`}. Each row is the best of its method.`),
      rows.length > 1 ? figureView(F.candidatesFigure(choice), place(state)) : null,
      sortable("What was compared", columns, rows, { column: 1, down: false })
    ];
  }
};

const stability: Panel = {
  id: "stability", title: "Stability", says: "Would the same features be chosen on other rows? Every fold chose on its own training rows.",
  applies: supervised,
  missing: (state) => (state.method && (state.method.rows.some((r) => r.stability !== null) || state.method.choice?.features.some((f) => f.frequency !== null)) ? null : notJudged(state)),
  show: (state) => {
    const method = state.method!;
    const curve = F.stabilityFigure(method, state.k);
    const choice = method.choice;
    const bars = choice?.features.some((f) => f.frequency !== null) ? F.frequencyFigure(choice) : null;
    return [curve ? figureView(curve, place(state)) : null, bars ? h("p", { class: "reading" }, `The model on all rows, ${atChoice(state, choice!)}${choice!.features.length > 40 ? "; its 40 most frequent features" : ""}:`) : null, bars ? figureView(bars, place(state)) : null];
  }
};

// --- prediction, projection ---------------------------------------------------------------------------------------------

const rounded = (share: number | undefined): number | null => (share !== undefined && Number.isFinite(share) ? Math.round(1000 * share) / 1000 : null);
const prediction: Panel = {
  id: "prediction", title: "Prediction", says: "What was said of rows while they were held out.",
  applies: supervised,
  missing: (state) => (judged(state) && judged(state)!.confusion.length > 0 ? null : notJudged(state)),
  show: (state) => {
    const choice = judged(state)!;
    const byClass = h("figure", {}, h("div", { class: "caption" }, h("h3", {}, "By class")), tableView({ columns: ["class", "rows", "sensitivity", "specificity"], rows: state.group.classes.slice(0, choice.sensitivity.length).map((c, i) => [c, state.group.classCounts[i] ?? null, rounded(choice.sensitivity[i]), rounded(choice.specificity[i])]) }, "Sensitivity and specificity by class"));
    return [
      h("p", { class: "reading" }, h("strong", {}, atChoice(state, choice)), `: ${percent(choice.error!)} \u00b1 ${percent(choice.se ?? 0)} wrong${choice.auc === null ? "" : `, area under the ROC curve ${number(choice.auc, 3)}`}.`), fixedNote(state, choice),
      h("div", { class: "two" }, h("div", { class: "stack" }, figureView(F.confusionFigure(state.group, choice), place(state)), byClass), choice.roc.length ? figureView(F.rocFigure(choice), place(state)) : null, choice.calibration.length ? figureView(F.calibrationFigure(choice), place(state)) : null)
    ];
  }
};

const projection: Panel = {
  id: "projection", title: "Projection", says: "Every row as the classifiers saw it that had not been trained on it.",
  applies: supervised,
  missing: (state) => (judged(state)?.projection.length ? null : state.method?.choice ? { says: "The held-out scores are not in this file." } : notJudged(state)),
  show: (state) => {
    const choice = judged(state)!;
    const sampled = choice.projection.length < state.group.rows ? `A sample of ${choice.projection.length.toLocaleString("en-US")} of ${state.group.rows.toLocaleString("en-US")} rows. ` : "";
    return [fixedNote(state, choice), figureView(F.projectionFigure(state.group, choice), place(state)), sampled || choice.projectionClasses.length === 0 ? h("p", { class: "note" }, sampled, choice.projectionClasses.length === 0 ? "The file does not say which class each row is of: it was written by an older version." : "") : null];
  }
};

// --- images ---------------------------------------------------------------------------------------------------------

let playing: ReturnType<typeof setInterval> | undefined;
export const stopPlaying = (): void => { clearInterval(playing); playing = undefined; };
export const setPlaying = (timer: ReturnType<typeof setInterval>): void => { stopPlaying(); playing = timer; };
export const isPlaying = (): boolean => playing !== undefined;

const images: Panel = {
  id: "images", title: "Pictures", says: "The features as the pixels they are: where the chosen ones lie.",
  applies: (state) => state.group.shape !== null,
  missing: (state) => (featuresAt(state.method, state.k) ? null : { says: "The set of this size is not in the file.", command: state.method ? selectCommand(state) : undefined }),
  show: (state) => {
    const { group, method, k } = state;
    const shape = group.shape!;
    const found = featuresAt(method, k)!;
    const chosen = new Set(found.features);
    const table = (values: (i: number) => number | null) => (): F.Table => ({ columns: ["pixel", "row", "column", "name", "value"], rows: found.features.map((f) => [f, Math.floor(f / shape[1]), f % shape[1], group.name(f), values(f)]) });
    const parts: { id: string; picture: F.Picture; table: () => F.Table }[] = [];
    const means = group.classMeans.slice(0, 12);
    const levels = means.flatMap((m) => m.values.filter(Number.isFinite)), low = smallest(levels), high = largest(levels);
    if (means.length) {
      means.forEach((mean, i) => {
        const level = (p: number) => (high > low ? (mean.values[p] - low) / (high - low) : 0);
        parts.push({ id: `mask-${i + 1}`, picture: { title: `${k === null ? "the set" : `k = ${found.k}`} over the mean of ${shown(mean.name, 20)}`, colour: (pal, p) => { const ground = grey(pal, Number.isFinite(level(p)) ? level(p) : 0); return chosen.has(p) ? mix(ground, pal.negative, 0.82) : ground; } }, table: table((p) => mean.values[p] ?? null) });
      });
    } else parts.push({ id: "mask", picture: { title: `The chosen pixels, k = ${found.k ?? found.size}`, colour: (pal, p) => (chosen.has(p) ? pal.accent : pal.empty) }, table: table(() => 1) });
    const values = F.loadingsAt(group, method!, k);
    const own = F.furtherAt(group, method?.selection ?? null, k).slice(0, 3);
    if (values) for (let c = 0; c < Math.min(own.length ? 1 : values.values[0]?.length ?? 0, 4); ++c) parts.push({ id: `loading-map${c === 0 ? "" : `-${c + 1}`}`, picture: F.loadingPicture(values.values[0].length > 1 ? `Loadings, component ${c + 1}` : "Loadings: blue above 0, orange below", new Map(values.indices.map((f, i) => [f, values.values[i][c]]))), table: table((p) => values.values[values.indices.indexOf(p)]?.[c] ?? null) });
    for (const one of own) {
      const values = new Map(one.loadings.indices.map((f, i) => [f, one.loadings.values[i][0]]));
      parts.push({ id: `loading-map-${one.component}`, picture: F.loadingPicture(`Loadings, component ${one.component}`, values), table: () => ({ columns: ["pixel", "row", "column", "name", "value"], rows: one.loadings.indices.map((f, i) => [f, Math.floor(f / shape[1]), f % shape[1], group.name(f), one.loadings.values[i][0]]) }) });
    }
    const frequent = method?.choice?.features.filter((f) => f.frequency !== null) ?? [];
    if (frequent.length) {
      const share = new Map(frequent.map((f) => [f.index, f.frequency!]));
      parts.push({ id: "frequency-map", picture: { title: "How often the folds chose each pixel of the model", colour: (pal, p) => (share.has(p) ? shade(pal, pal.accent, share.get(p)!) : pal.empty) }, table: table((p) => share.get(p) ?? null) });
    }
    const components = own.length ? 0 : values?.values[0]?.length ?? 0;
    const hints = [means.length ? "" : `Class means come from the table: ${commands.withData(group)}.`, components > 4 ? `The loadings of the first 4 of ${components} components are drawn.` : "", means.length && group.classes.length > means.length ? `The means of the first ${means.length} of ${group.classes.length} classes are drawn.` : ""].filter(Boolean).join(" ");
    const hint = hints ? h("p", { class: "note" }, hints) : null;
    return [h("div", { class: "pictures" }, parts.map(({ id, picture, table: numbers }) => figureView(F.pictureFigure(id, picture, shape, numbers), place(state), "h3", (_pal, host) => { host.append(pictureView(picture, shape, 220)); }))), hint];
  }
};

// --- weights, lambda, search ------------------------------------------------------------------------------------------

const weightsOf = (state: State): { weights: number[]; result: Record<string, Json> } | null => {
  const candidates = [state.method?.selection?.result, state.method ? undefined : state.group.clusterings[0]?.result, state.group.clusterings[0]?.result];
  for (const result of candidates) if (result && list(result.weights).length > 0) return { weights: nums(result.weights), result };
  return null;
};

const weights: Panel = {
  id: "weights", title: "Weights", says: "How much each feature weighs, where the largest fall is, and how the iteration got there.",
  applies: (state) => weightsOf(state) !== null,
  missing: () => null,
  show: (state) => {
    const { weights: values, result } = weightsOf(state)!;
    const cut = dict(dict(result.relevance).cut);
    const trace = list(result.trace).map((json) => ({ iteration: num(dict(json).iteration) ?? 0, objective: num(dict(json).objective) ?? NaN, features: num(dict(json).features) })).filter((t) => Number.isFinite(t.objective));
    const at = num(cut.k);
    return [
      at === null ? null : h("p", { class: "reading" }, "The largest relative fall is after ", h("strong", {}, counted(at, "feature")), `: the next weighs 1/${number(num(cut.ratio), 3)} as much.`),
      figureView(F.weightsFigure(state.group, values, state.k ?? num(dict(result).features_used) ?? (list(result.features).length || null), at), place(state)),
      trace.length > 1 ? figureView(F.traceFigure(trace), place(state)) : null
    ];
  }
};

const lambda: Panel = {
  id: "lambda", title: "Optimal scoring", says: "As the penalty falls features enter; the size of a feature's row says how much it counts.",
  applies: (state) => !!state.method?.selection && F.lambdaRecords(state.method.selection).length > 1,
  missing: () => null,
  show: (state) => {
    const selection = state.method!.selection!;
    const records = F.lambdaRecords(selection);
    const here = state.k === null ? null : records.find((r) => r.kept >= state.k!);
    return [here ? h("p", { class: "reading" }, "lambda ", h("strong", {}, number(here.lambda, 3)), ` is the first on the way down that keeps ${here.kept === state.k ? "" : "at least "}${state.k}: it keeps ${here.kept}.`) : null, figureView(F.lambdaFigure(state.group, selection, state.k), place(state))];
  }
};

const search: Panel = {
  id: "search", title: "Search log", says: "How the best set and the bound came together.",
  applies: (state) => !!state.method?.selection && (isDict(state.method.selection.result.search) || state.method.selection.file.events.length > 0),
  missing: (state) => (state.method!.selection!.file.events.length ? null : { says: searchWords(state) + "How it went over time is in the log of --events, which report takes beside the result; --report keeps it by itself.", command: `${state.method!.selection!.file.command || selectCommand(state)} --report page.html` }),
  show: (state) => {
    const events = state.method!.selection!.file.events;
    const ks = [...new Set(events.map((e) => e.k))].sort((a, b) => a - b);
    const k = state.k !== null && ks.includes(state.k) ? state.k : ks[ks.length - 1];
    const own = events.filter((e) => e.k === k);
    const last = own[own.length - 1];
    return [
      h("p", { class: "reading" }, searchWords(state), last ? `For k\u202f=\u202f${k}: ${last.nodes.toLocaleString("en-US")} nodes in ${seconds(last.time)}, ${last.open === 0 ? "none left open" : `${last.open.toLocaleString("en-US")} still open`}.` : ""),
      k !== state.k ? h("p", { class: "note" }, `No search for k\u202f=\u202f${state.k} is in the log; this is k\u202f=\u202f${k}.`) : null,
      h("div", { class: "two" }, F.searchFigures(events, k).map((f) => figureView(f, place(state))))
    ];
  }
};
function searchWords(state: State): string {
  const counts = dict(state.method!.selection!.result.search);
  const nodes = num(counts.nodes);
  return nodes === null ? "" : `${counted(nodes, "node")} looked at, ${counted(num(counts.incumbent_updates) ?? 0, "better set")} found on the way, ${num(counts.open_nodes) ? `${counted(num(counts.open_nodes)!, "node")} left open` : "none left open"}. `;
}

// --- several methods --------------------------------------------------------------------------------------------------

const compare: Panel = {
  id: "compare", title: "Methods side by side", says: "Each at every size and at its own choice. Differences are paired by folds, and their errors corrected for the overlap of training sets.",
  applies: (state) => state.group.methods.filter((m) => m.rows.length).length > 1 || state.group.selections.length > 1,
  missing: () => null,
  show: (state) => {
    const { group } = state;
    const judgedMethods = group.methods.filter((m) => m.choice?.error != null);
    const pairs = F.pairsFigure(group);
    const curves = group.methods.filter((m) => m.rows.some((r) => r.k !== null)).length > 1;
    const sets = group.methods.filter((m) => featuresAt(m, state.k));
    return [
      sameFolds(group.evaluations) ? null : h("p", { class: "alert" }, "These evaluations did not hold out the same rows, so that errors out of different files differ by chance, too. One evaluate with all the methods compares them on the same folds."),
      curves ? figureView(F.curvesFigure(group, state.k), place(state)) : null,
      judgedMethods.length > 1 || pairs ? h("div", { class: "two" }, judgedMethods.length > 1 ? figureView(F.rankingFigure(group), place(state)) : null, pairs ? figureView(pairs, place(state)) : null) : null,
      sets.length > 1 ? h("div", { class: "stack" }, h("h3", {}, `Their sets${state.k === null ? "" : `, k\u202f=\u202f${state.k}`}`), setsTable(state, sets)) : null
    ];
  }
};
function setsTable(state: State, methods: Method[]): HTMLElement {
  const sets = methods.map((m) => featuresAt(m, state.k)!);
  const counts = new Map<number, number>();
  for (const s of sets) for (const f of s.features) counts.set(f, (counts.get(f) ?? 0) + 1);
  const order = [...counts.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 60);
  const first = methods.find((m) => m.selection)?.selection;
  const comparable = first ? methods.every((m) => !m.selection || alike(m.selection, first)) : false;
  const objectives = methods.map((m) => (comparable ? entryAt(m.selection, state.k)?.objective ?? null : null));
  const rows: (string | number | null)[][] = order.map(([f]) => [state.group.name(f), ...sets.map((s) => (s.features.includes(f) ? "\u25cf" : ""))]);
  if (objectives.some((o) => o !== null)) rows.unshift(["objective", ...objectives.map((o) => (o === null ? "\u2013" : number(o, 5)))]);
  const view = tableView({ columns: ["feature", ...methods.map((m) => m.name)], rows }, "Sets of the methods");
  view.classList.add("sets");
  return comparable || !first ? view : h("div", {}, view, h("p", { class: "note" }, "Their objectives measure different things (criterion, ridge, preparation of the rows), and are not put side by side."));
}

// --- clusters, reproductions --------------------------------------------------------------------------------------------

const clusters: Panel = {
  id: "clusters", title: "Clusters", says: "Spectral clustering of the rows on the features that the weights single out.",
  applies: (state) => state.group.clusterings.length > 0,
  missing: () => null,
  show: (state) => state.group.clusterings.flatMap((file) => {
    const result = file.result;
    const all = dict(result.all_features);
    const gap = num(dict(result.eigen_gap).clusters);
    const agreement = dict(result.agreement);
    const matching = list(agreement.matching).map(str);
    const row = (name: string, part: Record<string, Json>, count: number | null): (string | number | null)[] => [name, count, nums(part.sizes).join(", "), num(dict(part.agreement).accuracy), num(dict(part.agreement).adjusted_rand_index), num(dict(part.eigen_gap).clusters), num(dict(part.eigen_gap).ratio), num(dict(part.kmeans).within)];
    return [
      h("div", { class: "two" }, figureView(F.clusterSizesFigure(nums(result.sizes)), place(state)), figureView(F.eigenFigure("eigenvalues", "Eigenvalues, chosen features", nums(result.eigenvalues), gap), place(state)), list(all.eigenvalues).length ? figureView(F.eigenFigure("eigenvalues-all", "Eigenvalues, all features", nums(all.eigenvalues), num(dict(all.eigen_gap).clusters)), place(state)) : null),
      matching.length ? h("p", { class: "reading" }, "Best matching: ", matching.map((c, i) => `cluster ${i} is ${c === "" ? "no class" : shown(c, 24)}`).join("; "), ".") : null,
      h("h3", {}, "Beside all features"),
      tableView({ columns: ["features", "count", "sizes", "accuracy", "adjusted Rand", "clusters by the gap", "its ratio", "k-means within"], rows: [row("chosen", result, list(result.features).length), ...(list(all.sizes).length ? [row("all", all, num(all.count))] : [])] }, "Chosen features beside all"),
      h("h3", {}, "Features that the rows were clustered on"), h("p", { class: "names" }, wholes(result.features).slice(0, 400).map((f) => h("span", { class: "chip" }, shown(state.group.name(f), 40))))
    ];
  })
};

const reproduction: Panel = {
  id: "numbers", title: "Published and obtained", says: "What the paper says, and what came out here.",
  applies: (state) => state.group.reproduction !== null,
  missing: () => null,
  show: (state) => {
    const result = state.group.reproduction!.result;
    const { axis, findings } = F.findingsOf(result);
    const single = findings.filter((f) => f.x === null || f.published !== null || f.says !== "");
    const curves = findings.filter((f) => f.x !== null && f.obtained !== null);
    const spreads = single.some((f) => f.spread !== null);
    const protocol = list(dict(result.protocol).text).map(str);
    const notes = list(result.notes).map(str);
    const said = [...new Set(findings.map((f) => f.says).filter(Boolean))];
    return [
      protocol.length ? h("div", { class: "prose" }, protocol.map((p) => h("p", {}, shown(p, 1000)))) : null,
      single.length ? tableView({ columns: ["", "published", "obtained", ...(spreads ? ["standard error"] : [])], rows: single.map((f) => [f.name, f.published, f.obtained, ...(spreads ? [f.spread] : [])]) }, "Published and obtained numbers") : null,
      said.length ? h("ul", { class: "prose" }, said.map((text) => h("li", {}, `The paper says: ${shown(text, 600)}`))) : null,
      curves.length > 1 ? figureView(F.seriesFigure(axis, curves), place(state)) : null,
      notes.length ? h("ul", { class: "prose" }, notes.map((n) => h("li", {}, shown(n, 2000)))) : null
    ];
  }
};

// --- provenance ---------------------------------------------------------------------------------------------------------

const value = (json: Json): string => (typeof json === "string" ? json : json === null ? "\u2013" : Array.isArray(json) && json.length > 12 ? `[${json.slice(0, 12).map((x) => JSON.stringify(x)).join(", ")}, \u2026 ${json.length}]` : JSON.stringify(json));
const provenance: Panel = {
  id: "provenance", title: "How it was made", says: "Versions, seeds, options as used, times, and the results themselves.",
  missing: () => null,
  show: (state) => [
    state.page.leftOut.length ? h("div", { class: "left-out" }, h("h3", {}, "Left out of this page"), h("ul", {}, state.page.leftOut.map((text) => h("li", {}, shown(text, 400))))) : h("p", { class: "note" }, "Nothing was left out of this page; rows of the table are never in it."),
    ...state.group.files.map((file) => {
      const result = file.result;
      const options = isDict(result.options) ? result.options : dict(result.protocol);
      const timing = dict(result.timing);
      const facts: [string, string][] = [["file", shown(file.name, 200)], ["kind", str(result.schema)], ["version", str(result.version)], ["method", str(result.method)], ["status", str(result.status)], ["seed", value(options.seed ?? null)], ["threads", value(options.threads ?? null)], ...Object.entries(timing).map(([name, t]): [string, string] => [name.replace(/_s$/, " time").replace(/_/g, " "), typeof t === "number" ? seconds(t) : value(t)])];
      const raw = () => JSON.stringify(result, null, 1);
      const details = h("details", { class: "raw" }, h("summary", {}, "Raw JSON, as far as it is on this page"));
      details.addEventListener("toggle", () => {
        if (!details.open || details.childElementCount > 1) return;
        // Marks that turn the direction of writing as JSON writes them when asked to.
        const text = raw().replace(/[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
        const most = 200_000;
        details.append(h("div", { class: "save" }, button("Copy", () => { void copy(text); announce("Copied"); }), button("Save", () => download(`${place(state).stem}.json`, new Blob([text], { type: "application/json" })))), h("pre", { tabindex: 0, role: "region", "aria-label": "Raw JSON" }, text.length > most ? `${text.slice(0, most)}\n\u2026 ${text.length.toLocaleString("en-US")} characters in all` : text));
      });
      const matrix = Object.entries(options).filter(([name]) => name !== "text");
      return h("article", { class: "file" }, h("h3", {}, shown(file.name, 80)), commandOf(state.group, file) ? commandBox(file.command) : null, h("dl", { class: "facts" }, facts.filter(([, text]) => text !== "" && text !== "\u2013").map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text)))),
        h("details", {}, h("summary", {}, "Options as used"), h("dl", { class: "options" }, matrix.flatMap(([name, v]) => [h("dt", {}, name), h("dd", {}, shown(value(v), 300))]))), details);
    })
  ]
};

export const panels: Panel[] = [summary, path, error, features, loadings, compared, stability, prediction, projection, images, weights, lambda, search, compare, clusters, reproduction, provenance];
/// What clusterings and reproductions have instead of a method.
export const listedPanels = (state: State): Panel[] => panels.filter((p) => {
  if (p.applies && !p.applies(state)) return false;
  return state.method !== null || !["path", "error", "features", "loadings", "compared", "stability", "prediction", "projection", "images", "lambda", "search"].includes(p.id);
});

/// Why there is nothing to show; a panel that cannot be drawn from these data does not take the others with it.
export function missingOf(panel: Panel, state: State): ReturnType<Panel["missing"]> {
  try { return panel.missing(state); } catch (problem) { return { says: refusal(problem) }; }
}
export function bodyOf(panel: Panel, state: State, refresh: () => void): (HTMLElement | null)[] {
  const missing = missingOf(panel, state);
  if (missing) return [empty(missing.says, missing.command)];
  try { return panel.show(state, refresh); } catch (problem) { return [empty(refusal(problem))]; }
}
