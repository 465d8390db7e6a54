/// The charts: numbers in, one SVG and one table out. A figure draws itself as often as it is asked, for the page and for a file, and
/// reads nothing from the page.
import * as Plot from "@observablehq/plot";
import type { Choice, Group, Method, PathEntry, SearchEvent, Selection } from "./data";
import { alike, dict, entryAt, largest, list, num, nums, rowAt, smallest, str, whole, wholes } from "./data";
import { s, shown } from "./dom";
import { inkOn, shade, signed, type Palette } from "./palette";
import { number, percent } from "./words";

export interface Table { columns: string[]; rows: (string | number | null)[][] }
export interface Figure {
  id: string;
  title: string;
  says: string;                       ///< for those who do not see it
  draw: (pal: Palette, width: number) => SVGElement;
  table: () => Table;
  least?: number;                     ///< narrower than this it is scrolled, not squeezed
  most?: number;
}

export const kFont = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

interface Key { label: string; mark: "line" | "dash" | "dots" | "dot" | "ring" | "band" | "square"; colour: string }

const keyAdvance = (key: Key): number => 42 + 6.3 * [...key.label].length;
/// Keys stand in the figure itself, so that they are in the exported file, too.
function keyRows(keys: Key[], width: number): Key[][] {
  const rows: Key[][] = [];
  let x = 0;
  for (const key of keys) {
    if (rows.length === 0 || x + 26 + 6.7 * [...key.label].length > width) { rows.push([]); x = 0; }
    rows[rows.length - 1].push(key);
    x += keyAdvance(key);
  }
  return rows;
}

function drawKeys(rows: Key[][], left: number, pal: Palette): SVGElement {
  const group = s("g", { "font-size": 12, fill: pal.ink, "font-family": kFont, "text-anchor": "start" });
  rows.forEach((row, r) => {
    let x = left;
    const y = 10 + 19 * r;
    for (const key of row) {
      const stroke = { stroke: key.colour, "stroke-width": 2 };
      if (key.mark === "line" || key.mark === "dash" || key.mark === "dots") group.append(s("line", { x1: x, x2: x + 18, y1: y, y2: y, ...stroke, ...(key.mark === "line" ? {} : { "stroke-dasharray": key.mark === "dash" ? "5 4" : "1.5 3" }) }));
      else if (key.mark === "dot" || key.mark === "ring") group.append(s("circle", { cx: x + 9, cy: y, r: 4.5, fill: key.mark === "dot" ? key.colour : pal.ground, stroke: key.colour, "stroke-width": 1.8 }));
      else group.append(s("rect", { x: x + 1, y: y - 6, width: 16, height: 12, rx: 2, fill: key.colour, ...(key.mark === "band" ? { "fill-opacity": 0.22 } : {}) }));
      group.append(s("text", { x: x + 24, y: y + 4 }, key.label));
      x += keyAdvance(key);
    }
  });
  return group;
}

type Options = Plot.PlotOptions & { keys?: Key[] };

export function chart(pal: Palette, width: number, says: string, { keys = [], ...options }: Options): SVGElement {
  const left = options.marginLeft ?? 56;
  const rows = keyRows(keys, width - 8);
  const y = options.y as (Plot.ScaleOptions & { label?: string | null }) | undefined;
  const label = typeof y?.label === "string" ? y.label : null;
  const keysEnd = 19 * rows.length + (rows.length ? 5 : 0), head = keysEnd + (label === null ? 0 : 17);
  const top = (options.marginTop ?? 12) + head;
  const svg = Plot.plot({
    marginRight: 18, marginBottom: 46, ...options, ...(options.x ? { x: { labelOffset: 40, ...options.x } } : {}), ...(y ? { y: { ...y, label: null } } : {}), marginLeft: left, marginTop: top, width, height: (options.height ?? 300) + head, className: "fig",
    style: { color: pal.ink, background: "transparent", fontFamily: kFont, fontSize: "12px", overflow: "visible" }
  }) as unknown as SVGElement;
  svg.querySelector("style")?.remove();  // the page has these rules in its own style, which its policy knows
  if (rows.length) svg.append(drawKeys(rows, 4, pal));
  if (label !== null) svg.append(s("text", { x: 4, y: keysEnd + 12, fill: pal.muted, "font-size": 12, "text-anchor": "start" }, label));
  return finished(svg, says);
}

export function finished(svg: SVGElement, says: string): SVGElement {
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", says);
  svg.setAttribute("class", "fig");
  svg.setAttribute("font-family", kFont);
  // The picture has one name; its parts are no landmarks of their own.
  for (const part of svg.querySelectorAll("g[aria-label]")) {
    part.setAttribute("data-mark", part.getAttribute("aria-label")!);
    part.removeAttribute("aria-label");
  }
  return svg;
}

export function emptyFigure(pal: Palette, width: number, text: string): SVGElement {
  const svg = s("svg", { width, height: 80, viewBox: `0 0 ${width} 80` });
  svg.append(s("text", { x: 12, y: 44, fill: pal.muted, "font-size": 13 }, text));
  return finished(svg, text);
}

const halo = (pal: Palette) => ({ stroke: pal.ground, strokeWidth: 4, paintOrder: "stroke" as const });
const isLog = (ks: number[]) => ks.length > 2 && ks[0] >= 1 && ks[ks.length - 1] / ks[0] >= 80 && ks[ks.length - 1] - ks[0] > 3 * ks.length;
function kAxis(ks: number[], width: number): Plot.ScaleOptions {
  const [low, high] = [ks[0], ks[ks.length - 1]];
  if (isLog(ks)) return { type: "log", domain: [low, high], label: "features, k", labelAnchor: "center", tickFormat: (d: number) => d.toLocaleString("en-US"), ticks: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000].filter((t) => t >= low && t <= high) };
  const most = Math.max(2, Math.floor(width / 55));
  const span = Math.max(high - low, 1);
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((t) => span / t <= most) ?? Math.ceil(span / most);
  const ticks = [low];
  for (let t = Math.ceil((low + 0.5 * step) / step) * step; t <= high; t += step) ticks.push(t);
  return { domain: low === high ? [low - 1, high + 1] : [low, high], inset: 10, ticks, tickFormat: (d: number) => String(d), label: "features, k", labelAnchor: "center" } as Plot.ScaleOptions;
}
const kRule = (pal: Palette, k: number | null) => (k === null ? [] : [Plot.ruleX([k], { stroke: pal.ink, strokeOpacity: 0.35, strokeWidth: 1.2 })]);
const fit = (text: string, width: number) => shown(text, Math.max(6, Math.floor(width / 6.4)));

// --- sparsity path -------------------------------------------------------------------------------------------------

export function pathFigure(group: Group, selection: Selection, k: number | null): Figure {
  const path = selection.path;
  const rivals = group.selections.filter((one) => one !== selection && one.path.length > 0 && alike(one, selection)).map((one) => ({ name: one.name, path: one.path as { k: number; objective: number }[] }));
  const others = selection.greedy.length ? [...rivals, { name: "greedy", path: selection.greedy }] : rivals;
  const says = `Objective of the set of every size, ${selection.method}: from ${number(path[0]?.objective)} at k = ${path[0]?.k} to ${number(path[path.length - 1]?.objective)} at k = ${path[path.length - 1]?.k}`;
  return {
    id: "path", title: "Objective against the number of features", says,
    draw: (pal, width) => {
      const ks = [...new Set([selection, ...others].flatMap((one) => one.path.map((e) => e.k)))].sort((a, b) => a - b);
      const top = Math.max(...path.map((e) => e.objective), ...others.flatMap((o) => o.path.map((e) => e.objective)));
      const cap = top > 0 ? top * 1.12 : 1;
      const useful = path.filter((e) => e.bound !== null && e.gap !== null && e.gap > 0);
      const known = path.filter((e) => e.bound !== null);
      const proven = path.filter((e) => e.certified), open = path.filter((e) => !e.certified);
      const keys: Key[] = [{ label: shown(selection.name, 24), mark: "line", colour: pal.accent }];
      if (useful.length && known.length > 1) keys.push({ label: "up to the bound: no set lies above", mark: "band", colour: pal.band });
      if (proven.length) keys.push({ label: "proven best", mark: "dot", colour: pal.accent });
      if (open.length) keys.push({ label: "not proven", mark: "ring", colour: pal.accent });
      others.forEach((one, i) => keys.push({ label: shown(one.name, 24), mark: "dash", colour: pal.categories[(i + 1) % pal.categories.length] }));
      const here = path.find((e) => e.k === k);
      return chart(pal, width, says, {
        keys, height: 300, x: kAxis(ks, width), y: { grid: true, label: "objective", domain: [Math.min(0, ...path.map((e) => e.objective)), cap], clamp: true, nice: true, ticks: 5 },
        marks: [
          Plot.areaY(known, { x: "k", y1: "objective", y2: (e: PathEntry) => Math.min(e.bound!, cap * 1.3), fill: pal.band, fillOpacity: 0.15, clip: true }),
          ...kRule(pal, k),
          ...others.map((one, i) => Plot.line(one.path, { x: "k", y: "objective", stroke: pal.categories[(i + 1) % pal.categories.length], strokeDasharray: "5 4", strokeWidth: 1.8 })),
          Plot.line(path, { x: "k", y: "objective", stroke: pal.accent, strokeWidth: 2 }),
          ...(path.length <= 120 ? [Plot.dot(open, { x: "k", y: "objective", r: 3.6, fill: pal.ground, stroke: pal.accent, strokeWidth: 1.6 }), Plot.dot(proven, { x: "k", y: "objective", r: 4, fill: pal.accent })] : []),
          ...(here ? [Plot.dot([here], { x: "k", y: "objective", r: 6.5, fill: here.certified ? pal.accent : pal.ground, stroke: pal.accent, strokeWidth: 2.4 })] : []),
          Plot.tip(path, Plot.pointerX({ x: "k", y: "objective", title: (e: PathEntry) => `k = ${e.k}\nobjective ${number(e.objective, 5)}${e.bound === null ? "" : `\n${e.certified ? "proven best" : `bound ${number(e.bound, 5)}`}`}${e.k === path[0].k ? "" : `\n+ ${e.added.slice(0, 6).map((f) => shown(group.name(f), 18)).join(", ")}${e.added.length > 6 ? ", \u2026" : ""}${e.removed.length ? `\n\u2212 ${e.removed.slice(0, 6).map((f) => shown(group.name(f), 18)).join(", ")}` : ""}`}` }))
        ]
      });
    },
    table: () => ({
      columns: ["k", "objective", "upper bound", "gap", "proven", "added", "removed", ...others.map((o) => o.name)],
      rows: path.map((e) => [e.k, e.objective, e.bound, e.gap, e.bound === null ? null : e.certified ? "yes" : "no", e.added.slice(0, 100).map(group.name).join("; "), e.removed.slice(0, 100).map(group.name).join("; "), ...others.map((o) => o.path.find((x) => x.k === e.k)?.objective ?? null)])
    })
  };
}

// --- errors --------------------------------------------------------------------------------------------------------

export type Measure = "error" | "balanced" | "logLoss";
export const measures: Record<Measure, string> = { error: "error", balanced: "balanced error", logLoss: "log-loss" };
const seOf = { error: "se", balanced: "balancedSe", logLoss: "logLossSe" } as const;

export function errorFigure(group: Group, method: Method, k: number | null, measure: Measure = "error", simple = false): Figure {
  const rows = method.rows.filter((r) => r.k !== null && Number.isFinite(r[measure]));
  const choice = method.choice;
  const atBest = rows.find((r) => r.k === choice?.kBest), at1se = rows.find((r) => r.k === choice?.k1se);
  const says = `${measures[measure]} on held-out rows against the number of features, ${method.name}` + (at1se ? `: ${percent(at1se.error)} at k = ${at1se.k}, the one-standard-error choice` : "");
  return {
    id: simple ? "summary" : "error", title: "Error on held-out rows against the number of features", says,
    draw: (pal, width) => {
      if (rows.length === 0) return emptyFigure(pal, width, "This method has no k: one error, no curve.");
      const others = simple || measure !== "error" ? [] : group.methods.filter((m) => m !== method && m.rows.some((r) => r.k !== null));
      const ks = [...new Set([...rows, ...others.flatMap((m) => m.rows)].map((r) => r.k!).filter((x) => x !== null))].sort((a, b) => a - b);
      const isError = measure !== "logLoss";
      const nulls = rows.filter((r) => r.nullError !== null);
      const trivial = measure === "error" ? choice?.trivial ?? null : null;
      const keys: Key[] = [{ label: "held-out rows \u00b1 standard error", mark: "dot", colour: pal.accent }];
      if (isError) keys.push({ label: "training rows", mark: "dash", colour: pal.muted });
      if (trivial !== null) keys.push({ label: "always the largest class", mark: "line", colour: pal.ink });
      if (isError && nulls.length) keys.push({ label: "permuted labels", mark: "dots", colour: pal.bad });
      others.forEach((m) => keys.push({ label: m.name, mark: "line", colour: methodColour(group, m, pal) }));
      const marked = [...(at1se ? [{ r: at1se, label: at1se === atBest ? "smallest error" : "1 s.e. choice" }] : []), ...(atBest && atBest !== at1se ? [{ r: atBest, label: "smallest error" }] : [])];
      const here = rows.find((r) => r.k === k);
      const low = Math.min(...rows.map((r) => r[measure] - r[seOf[measure]]), ...(isError ? rows.map((r) => r.apparent ?? Infinity) : [Infinity]));
      const high = Math.max(...rows.map((r) => r[measure] + r[seOf[measure]]), trivial ?? -Infinity, ...(isError ? nulls.map((r) => r.nullError!) : []), ...others.flatMap((m) => m.rows.map((r) => r.error)));
      const error = (r: (typeof rows)[number]) => r[measure];
      const floor = isError ? Math.max(0, Math.min(low * 0.92, low - 0.01)) : low * 0.95;
      return chart(pal, width, says, {
        keys, height: simple ? 310 : 310, x: kAxis(ks, width),
        y: { grid: true, label: isError ? measures[measure] : "log-loss (natural logarithm)", tickFormat: isError ? (d: number) => `${Number((100 * d).toFixed(2))}\u202f%` : undefined, domain: [floor, high * 1.05], nice: true, ticks: 5 },
        marks: [
          ...kRule(pal, k),
          ...(trivial !== null ? [Plot.ruleY([trivial], { stroke: pal.ink, strokeWidth: 1.4 })] : []),
          ...(isError && nulls.length ? [Plot.line(nulls, { x: "k", y: "nullError", stroke: pal.bad, strokeDasharray: "1.5 3", strokeWidth: 2 })] : []),
          ...(isError ? [Plot.line(rows.filter((r) => r.apparent !== null), { x: "k", y: "apparent", stroke: pal.muted, strokeDasharray: "5 4", strokeWidth: 1.6 })] : []),
          ...others.map((m) => Plot.line(m.rows.filter((r) => r.k !== null), { x: "k", y: "error", stroke: methodColour(group, m, pal), strokeWidth: 1.4, strokeOpacity: 0.75 })),
          Plot.ruleX(rows, { x: "k", y1: (r) => error(r) - r[seOf[measure]], y2: (r) => error(r) + r[seOf[measure]], stroke: pal.accent, strokeWidth: 1.5, strokeOpacity: 0.55 }),
          Plot.line(rows, { x: "k", y: error, stroke: pal.accent, strokeWidth: 2 }),
          ...(rows.length <= 80 ? [Plot.dot(rows, { x: "k", y: error, r: 3.2, fill: pal.accent })] : []),
          ...(here ? [Plot.dot([here], { x: "k", y: error, r: 6.5, fill: pal.accent, stroke: pal.ground, strokeWidth: 1.5 })] : []),
          Plot.dot(marked, { x: (d) => d.r.k, y: (d) => error(d.r), r: 8, stroke: pal.ink, strokeWidth: 1.4 }),
          ...marked.map((d, i) => Plot.text([d], { x: (m) => m.r.k, y: (m) => error(m.r), text: "label", dy: error(d.r) < floor + 0.14 * (high * 1.05 - floor) ? (i === 1 ? -38 : -22) : i === 1 && Math.abs(d.r.k! - marked[0].r.k!) < (130 / width) * (ks[ks.length - 1] - ks[0]) ? -22 : 21, textAnchor: d.r.k! > (ks[0] + ks[ks.length - 1]) * 0.75 ? "end" : d.r.k! <= ks[0] + (ks[ks.length - 1] - ks[0]) * 0.12 ? "start" : "middle", dx: d.r.k! > (ks[0] + ks[ks.length - 1]) * 0.75 ? 6 : d.r.k! <= ks[0] + (ks[ks.length - 1] - ks[0]) * 0.12 ? -6 : 0, fill: pal.ink, ...halo(pal) })),
          Plot.tip(rows, Plot.pointerX({ x: "k", y: error, title: (r: (typeof rows)[number]) => `k = ${r.k}\n${measures[measure]} ${isError ? percent(error(r)) : number(error(r))} \u00b1 ${isError ? percent(r[seOf[measure]]) : number(r[seOf[measure]], 2)}${isError && r.apparent !== null ? `\ntraining rows ${percent(r.apparent)}` : ""}${isError && r.nullError !== null ? `\npermuted labels ${percent(r.nullError)}` : ""}` }))
        ]
      });
    },
    table: () => ({
      columns: ["method", "k", "error", "standard error", "balanced error", "its standard error", "error on training rows", "log-loss", "its standard error", "permuted labels", "features", "choice"],
      rows: method.rows.map((r) => [method.name, r.k, r.error, r.se, r.balanced, r.balancedSe, r.apparent, r.logLoss, r.logLossSe, r.nullError, r.features, r.k === null ? "" : [r.k === choice?.kBest ? "smallest error" : "", r.k === choice?.k1se ? "one standard error" : ""].filter(Boolean).join(", ")])
    })
  };
}

export const methodColour = (group: Group, method: Method, pal: Palette): string => pal.categories[Math.max(group.methods.indexOf(method), 0) % pal.categories.length];

// --- features x k ---------------------------------------------------------------------------------------------------

export interface Tiles { features: number[]; ks: number[]; at: (row: number, column: number) => number; names: string[]; total: number }
/// Features in the order in which they first enter; +-1 by the sign of the first loading.
export function tilesOf(group: Group, selection: Selection, search: string, most: number): Tiles {
  const first = new Map<number, number>(), times = new Map<number, number>();
  for (const entry of selection.path) {
    for (const f of entry.features) {
      if (!first.has(f)) first.set(f, entry.k);
      times.set(f, (times.get(f) ?? 0) + 1);
    }
  }
  const wanted = search.trim().toLowerCase();
  let features = [...first.keys()].sort((a, b) => first.get(a)! - first.get(b)! || times.get(b)! - times.get(a)! || a - b);
  if (wanted !== "") features = features.filter((f) => group.name(f).toLowerCase().includes(wanted));
  const total = features.length;
  features = features.slice(0, most);
  const rowOf = new Map(features.map((f, i) => [f, i]));
  const cells = selection.path.map((entry) => {
    const column = new Float32Array(features.length);
    entry.features.forEach((f, i) => {
      const row = rowOf.get(f);
      if (row === undefined) return;
      const loading = entry.loadings[i]?.[0];
      column[row] = loading === undefined || !Number.isFinite(loading) ? 1 : loading < 0 ? -1 : 1;
    });
    return column;
  });
  return { features, ks: selection.path.map((e) => e.k), at: (row, column) => cells[column][row], names: features.map(group.name), total };
}

export const kTileHeight = 17;
export function tilesFigure(group: Group, selection: Selection, k: number | null, search: string, most: number): Figure {
  const says = `Which features are in the set of every size, ${selection.method}`;
  return {
    id: "features", title: "Features by size of the set", says, least: Math.min(900, 150 + 14 * selection.path.length),
    draw: (pal, width) => {
      const tiles = tilesOf(group, selection, search, most);
      if (tiles.features.length === 0) return emptyFigure(pal, width, search ? "No feature has this text in its name." : "There are no sets.");
      const signs = selection.path.some((e) => e.loadings.length > 0);
      const names = Math.min(170, 14 + 7 * Math.max(...tiles.names.map((n) => Math.min([...n].length, 24))));
      const left = names, top = 40, room = width - left - 8;
      const cell = Math.min(40, room / tiles.ks.length);
      const height = top + kTileHeight * tiles.features.length + 30;
      const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-size": 12 });
      const keys: Key[] = signs ? [{ label: "in the set, loading above 0", mark: "square", colour: pal.positive }, { label: "below 0", mark: "square", colour: pal.negative }] : [{ label: "in the set", mark: "square", colour: pal.positive }];
      svg.append(drawKeys([keys], 8, pal));
      const step = Math.max(1, Math.ceil(24 / cell));
      tiles.ks.forEach((size, j) => {
        const x = left + cell * j;
        if (size === k) svg.append(s("rect", { x: x - 0.5, y: top - 16, width: cell, height: height - top - 10, rx: 3, fill: "none", stroke: pal.ink, "stroke-width": 1.6 }));
        if (j % step === 0) svg.append(s("text", { x: x + cell / 2 - 0.5, y: top - 4, "text-anchor": "middle", fill: pal.muted, "font-size": 11 }, String(size)));
      });
      // One path a sign: thousands of tiles stay one element.
      let plus = "", minus = "", none = "";
      const gap = cell > 5 ? 1.5 : 0;
      tiles.features.forEach((_, i) => tiles.ks.forEach((_size, j) => {
        const value = tiles.at(i, j);
        const box = `M${(left + cell * j).toFixed(2)} ${top + kTileHeight * i + 1}h${(cell - gap).toFixed(2)}v${kTileHeight - 2}h${(-(cell - gap)).toFixed(2)}z`;
        if (value > 0) plus += box; else if (value < 0) minus += box; else none += box;
      }));
      svg.append(s("path", { d: none, fill: pal.empty }), s("path", { d: plus, fill: pal.positive }), s("path", { d: minus, fill: pal.negative }));
      tiles.names.forEach((name, i) => svg.append(s("text", { x: left - 8, y: top + kTileHeight * i + 12.5, "text-anchor": "end", fill: pal.ink }, fit(name, names - 14))));
      svg.append(s("text", { x: left + (cell * tiles.ks.length) / 2, y: height - 8, "text-anchor": "middle", fill: pal.ink }, "features, k"));
      return finished(svg, says);
    },
    table: () => {
      const tiles = tilesOf(group, selection, search, 5000);
      return { columns: ["feature", "index", ...tiles.ks.map((size) => `k = ${size}`)], rows: tiles.features.map((f, i) => [tiles.names[i], f, ...tiles.ks.map((_, j) => (tiles.at(i, j) === 0 ? 0 : 1))]) };
    }
  };
}

// --- loadings -------------------------------------------------------------------------------------------------------

export interface Loadings { names: string[]; indices: number[]; values: number[][]; what: string }
export function loadingsAt(group: Group, method: Method, k: number | null): Loadings | null {
  const entry = entryAt(method.selection, k);
  if (entry && entry.loadings.length > 0) return { names: entry.features.map(group.name), indices: entry.features, values: entry.loadings, what: `k = ${entry.k}` };
  const record = dict(method.selection?.result.discriminants);
  const matrix = list(record.matrix).map(nums);
  if (matrix.length === 0) return null;
  const indices = wholes(record.features);
  return { names: indices.map(group.name), indices, values: matrix, what: `${indices.length} features` };
}

/// The second component and those after it at this size, or at their nearest one below.
export function furtherAt(group: Group, selection: Selection | null, k: number | null): { component: number; entry: PathEntry; loadings: Loadings }[] {
  return (selection?.further ?? []).flatMap(({ component, path }) => {
    const below = path.filter((e) => k === null || e.k <= k);
    const entry = below[below.length - 1] ?? path[0];
    if (!entry || entry.loadings.length === 0) return [];
    return [{ component, entry, loadings: { names: entry.features.map(group.name), indices: entry.features, values: entry.loadings, what: `k = ${entry.k}` } }];
  });
}

/// `number`: of the component, where the loadings are of that one alone.
export function loadingsFigure(loadings: Loadings, component: number, method: string, number_ = component + 1): Figure {
  const says = `Loadings of component ${number_}, ${method}, ${loadings.what}`;
  const all = loadings.names.map((name, i) => ({ name, index: loadings.indices[i], value: loadings.values[i]?.[component] ?? NaN })).filter((d) => Number.isFinite(d.value)).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const bars = all.slice(0, 40);
  return {
    id: `loadings${number_ === 1 ? "" : `-${number_}`}`, title: loadings.values[0]?.length > 1 || number_ > 1 ? `Loadings, component ${number_}` : "Loadings", says, most: 640,
    draw: (pal, width) => {
      const labels = labelled(bars.map((d) => d.name), 22);
      const left = Math.min(0.42 * width, 16 + 7.2 * Math.max(...labels.map((l) => [...l].length), 3));
      return chart(pal, width, says, {
        height: 50 + 22 * bars.length, marginLeft: left, marginTop: 8, y: { domain: labels, label: null, tickSize: 0 }, x: { grid: true, label: "loading", labelAnchor: "center", ticks: width < 480 ? 3 : 6, nice: true },
        marks: [
          Plot.barX(bars, { x: "value", y: (_d, i) => labels[i], fill: (d) => (d.value >= 0 ? pal.positive : pal.negative), inset: 3, rx: 1.5, title: (d) => `${shown(d.name)}: ${number(d.value)}`, tip: { format: {} } }),
          Plot.ruleX([0], { stroke: pal.ink, strokeWidth: 1 })
        ]
      });
    },
    table: () => ({ columns: ["feature", "index", "loading"], rows: all.map((d) => [d.name, d.index, d.value]) })
  };
}

/// Names as labels of a scale, which must differ.
function labelled(names: string[], most: number): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const text = shown(name, most);
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    return times === 1 ? text : `${text} (${times})`;
  });
}

// --- stability ------------------------------------------------------------------------------------------------------

export function frequencyFigure(choice: Choice): Figure {
  const known = choice.features.filter((f) => f.frequency !== null);
  const bars = [...known].sort((a, b) => b.frequency! - a.frequency!).slice(0, 40);
  const says = `How often the folds chose each feature of the model, ${choice.method}`;
  return {
    id: "frequency", title: "How often the folds chose it", says, most: 640,
    draw: (pal, width) => {
      const labels = labelled(bars.map((d) => d.name), 22);
      const left = Math.min(0.42 * width, 16 + 7.2 * Math.max(...labels.map((l) => [...l].length), 3));
      return chart(pal, width, says, {
        height: 50 + 22 * bars.length, marginLeft: left, marginTop: 8, marginRight: 46, y: { domain: labels, label: null, tickSize: 0 }, x: { domain: [0, 1], grid: true, label: "share of the folds", labelAnchor: "center", ticks: [0, 0.25, 0.5, 0.75, 1], tickFormat: (d: number) => `${100 * d}\u202f%` },
        marks: [
          Plot.barX(bars, { x: 1, y: (_d, i) => labels[i], fill: pal.empty, inset: 3, rx: 1.5 }),
          Plot.barX(bars, { x: "frequency", y: (_d, i) => labels[i], fill: pal.accent, inset: 3, rx: 1.5 }),
          Plot.text(bars, { x: 1, y: (_d, i) => labels[i], text: (d) => percent(d.frequency!, 0), textAnchor: "start", dx: 6, fill: pal.ink })
        ]
      });
    },
    table: () => ({ columns: ["feature", "index", "share of folds", "instead of it"], rows: choice.features.map((f) => [f.name, f.index, f.frequency, f.substitutes.map((x) => `${x.name} (${percent(x.frequency, 0)})`).join("; ")]) })
  };
}

export function stabilityFigure(method: Method, k: number | null): Figure | null {
  const rows = method.rows.filter((r) => r.k !== null && r.stability !== null);
  if (rows.length < 2) return null;
  const says = `Stability of the chosen sets against the number of features, ${method.name}`;
  return {
    id: "stability", title: "How alike the sets of different folds are", says,
    draw: (pal, width) => {
      const low = Math.min(0, ...rows.map((r) => r.stabilityLow ?? r.stability!));
      const here = rows.find((r) => r.k === k);
      return chart(pal, width, says, {
        keys: [{ label: "stability", mark: "dot", colour: pal.accent }, { label: "95 % interval", mark: "band", colour: pal.accent }], height: 250, x: kAxis(rows.map((r) => r.k!), width),
        y: { domain: [Math.max(low, -0.5), 1], grid: true, label: "stability (1: always the same, 0: chance)", ticks: 5, clamp: true },
        marks: [
          Plot.areaY(rows.filter((r) => r.stabilityLow !== null), { x: "k", y1: "stabilityLow", y2: "stabilityHigh", fill: pal.accent, fillOpacity: 0.15 }),
          Plot.ruleY([0], { stroke: pal.muted }), ...kRule(pal, k),
          Plot.line(rows, { x: "k", y: "stability", stroke: pal.accent, strokeWidth: 2 }),
          Plot.dot(rows, { x: "k", y: "stability", r: 3.2, fill: pal.accent }),
          ...(here ? [Plot.dot([here], { x: "k", y: "stability", r: 6.5, fill: pal.accent, stroke: pal.ground, strokeWidth: 1.5 })] : []),
          Plot.tip(rows, Plot.pointerX({ x: "k", y: "stability", title: (r: (typeof rows)[number]) => `k = ${r.k}\nstability ${number(r.stability, 3)}${r.stabilityLow === null ? "" : `\n95 %: ${number(r.stabilityLow, 2)} to ${number(r.stabilityHigh, 2)}`}` }))
        ]
      });
    },
    table: () => ({ columns: ["k", "stability", "from", "to"], rows: rows.map((r) => [r.k, r.stability, r.stabilityLow, r.stabilityHigh]) })
  };
}

// --- prediction -----------------------------------------------------------------------------------------------------

export function confusionFigure(group: Group, choice: Choice): Figure {
  const classes = choice.confusion.map((_, i) => group.classes[i] ?? String(i));
  const says = `Confusion matrix of the held-out rows, ${choice.method}: true classes as rows, named classes as columns`;
  const sums = choice.confusion.map((row) => row.reduce((a, b) => a + b, 0));
  const longest = Math.max(...classes.map((c) => Math.min([...c].length, 14)));
  const left = Math.min(130, 34 + 7 * longest);
  return {
    id: "confusion", title: "Confusion matrix", says, most: 560, least: Math.min(560, left + 12 + 26.5 * classes.length),
    draw: (pal, width) => {
      const n = classes.length;
      const side = Math.min(n <= 3 ? 120 : 64, (width - left - 12) / n);
      const tall = n <= 3 ? Math.min(side, 84) : side;
      const top = 56, height = top + tall * n + 12, span = left + side * n + 12;
      const svg = s("svg", { width: Math.min(width, span), height, viewBox: `0 0 ${Math.min(width, span)} ${height}`, "font-size": 12 });
      svg.append(s("text", { x: left + (side * n) / 2, y: 14, "text-anchor": "middle", fill: pal.muted }, "named"), s("text", { x: 12, y: top + (tall * n) / 2, "text-anchor": "middle", fill: pal.muted, transform: `rotate(-90 12 ${top + (tall * n) / 2})` }, "true class"));
      const labels = side >= 18;
      classes.forEach((name, i) => {
        if (!labels && i % Math.ceil(18 / side) !== 0) return;
        const turned = side < 44 && 7 * longest > side;
        svg.append(s("text", { x: left + side * (i + 0.5), y: top - 8, "text-anchor": turned ? "start" : "middle", fill: pal.ink, ...(turned ? { transform: `rotate(-50 ${left + side * (i + 0.5)} ${top - 8})` } : {}) }, fit(name, turned ? 44 : side)));
        svg.append(s("text", { x: left - 8, y: top + tall * (i + 0.5) + 4, "text-anchor": "end", fill: pal.ink }, fit(name, left - 30)));
      });
      choice.confusion.forEach((row, i) => row.forEach((value, j) => {
        const share = sums[i] > 0 ? value / sums[i] : 0;
        const fill = shade(pal, i === j ? pal.positive : pal.negative, share);
        svg.append(s("rect", { x: left + side * j + 1, y: top + tall * i + 1, width: Math.max(side - 2, 1), height: Math.max(tall - 2, 1), rx: side > 20 ? 4 : 0, fill }));
        if (side < 26) return;
        const two = tall >= 48 && side >= 52;
        const text = (y: number, words: string, size: number) => svg.append(s("text", { x: left + side * (j + 0.5), y, "text-anchor": "middle", fill: inkOn(fill), "font-size": size, ...(size > 13 ? { "font-weight": 600 } : {}) }, words));
        text(top + tall * (i + 0.5) + (two ? -1 : 4), number(value, 3), two ? 17 : side > 36 ? 13 : 11);
        if (two) text(top + tall * (i + 0.5) + 17, percent(share, 0), 12);
      }));
      return finished(svg, says);
    },
    table: () => ({
      columns: ["true class", ...classes.map((c) => `named ${c}`), "sensitivity", "specificity"],
      rows: choice.confusion.map((row, i) => [classes[i], ...row, choice.sensitivity[i] ?? null, Number.isFinite(choice.specificity[i]) ? choice.specificity[i] : null])
    })
  };
}

export function rocFigure(choice: Choice): Figure {
  const says = `ROC curve of the held-out rows, ${choice.method}${choice.auc === null ? "" : `, area ${number(choice.auc, 3)}`}`;
  return {
    id: "roc", title: choice.auc === null ? "ROC" : `ROC, area under the curve ${number(choice.auc, 3)}`, says, most: 400,
    // What is found without a false alarm stands above the corner.
    draw: (pal, width) => chart(pal, width, says, {
      height: Math.min(width, 380) - 10, x: { domain: [0, 1], label: "false-positive rate", labelAnchor: "center", ticks: 5, grid: true }, y: { domain: [0, 1], label: "true-positive rate", ticks: 5, grid: true },
      marks: [
        Plot.line([[0, 0], [1, 1]], { stroke: pal.muted, strokeDasharray: "5 4" }), Plot.areaY(choice.roc, { x: "0", y: "1", fill: pal.accent, fillOpacity: 0.1 }), Plot.line(choice.roc[0]?.[1] > 0 ? [[0, 0], ...choice.roc] : choice.roc, { x: "0", y: "1", stroke: pal.accent, strokeWidth: 2.2 }),
        Plot.tip(choice.roc, Plot.pointer({ x: "0", y: "1", title: (d: number[]) => `${percent(d[1])} found\nat ${percent(d[0])} false alarms` }))
      ]
    }),
    table: () => ({ columns: ["false-positive rate", "true-positive rate"], rows: choice.roc.map((p) => [p[0], p[1]]) })
  };
}

export function calibrationFigure(choice: Choice): Figure {
  const bins = choice.calibration;
  const most = largest(bins.map((b) => b[2]), 1);
  const says = `Calibration: the mean probability that was said against the share that was so, ${choice.method}`;
  return {
    id: "calibration", title: "Calibration", says, most: 400,
    draw: (pal, width) => chart(pal, width, says, {
      height: Math.min(width, 380) - 10, x: { domain: [0, 1], inset: 10, label: "probability that was said", labelAnchor: "center", ticks: 5, grid: true }, y: { domain: [0, 1], inset: 10, label: "share that was so", ticks: 5, grid: true },
      marks: [
        Plot.line([[0, 0], [1, 1]], { stroke: pal.muted, strokeDasharray: "5 4" }), Plot.line(bins, { x: "0", y: "1", stroke: pal.accent, strokeWidth: 1.4, strokeOpacity: 0.6 }),
        Plot.ruleX(bins, { x: "0", y1: (b) => Math.max(0, b[1] - Math.sqrt(Math.max(b[1] * (1 - b[1]), 0) / b[2])), y2: (b) => Math.min(1, b[1] + Math.sqrt(Math.max(b[1] * (1 - b[1]), 0) / b[2])), stroke: pal.accent, strokeOpacity: 0.5 }),
        Plot.dot(bins, { x: "0", y: "1", r: (b) => 2.5 + 7 * Math.sqrt(b[2] / most), fill: pal.accent, stroke: pal.ground }),
        Plot.tip(bins, Plot.pointer({ x: "0", y: "1", title: (b: number[]) => `said ${percent(b[0])}\nwas so ${percent(b[1])}\n${number(b[2])} rows` }))
      ],
      r: { type: "identity" }
    }),
    table: () => ({ columns: ["mean probability", "share that was so", "rows"], rows: bins.map((b) => [b[0], b[1], b[2]]) })
  };
}

// --- projection -----------------------------------------------------------------------------------------------------

/// In [0, 1), the same for the same row everywhere.
const scattered = (i: number) => { const x = Math.sin(12.9898 * (i + 1)) * 43758.5453; return x - Math.floor(x); };

export function projectionFigure(group: Group, choice: Choice): Figure {
  const points = choice.projection.map((p, i) => ({ x: p[0], y: p[1], row: choice.projectionRows[i] ?? i, c: Number.isFinite(choice.projectionClasses[i]) ? choice.projectionClasses[i] : -1 })).filter((p) => Number.isFinite(p.x));
  const flat = (choice.projection[0]?.length ?? 1) < 2;
  const coloured = points.some((p) => p.c >= 0);
  const says = `Projection of ${points.length} rows while they were held out, ${choice.method}`;
  const className = (c: number) => (c < 0 ? "rows" : group.classes[c] ?? String(c));
  return {
    id: "projection", title: "Held-out rows, projected", says, most: 760,
    draw: (pal, width) => {
      const present = [...new Set(points.map((p) => p.c))].sort((a, b) => a - b);
      const colour = (c: number) => (c < 0 ? pal.accent : pal.categories[c % pal.categories.length]);
      // Beyond the last colour they begin again, as rings.
      const hollow = (c: number) => c >= pal.categories.length;
      const keys: Key[] = coloured && present.length <= 2 * pal.categories.length ? present.map((c) => ({ label: shown(className(c), 22), mark: hollow(c) ? "ring" : "dot", colour: colour(c) })) : [];
      if (flat) {
        const leftmost = smallest(points.map((p) => p.x));
        const wrong = (p: { x: number; c: number }) => p.c >= 0 && p.x > 0 !== (p.c === 1);
        if (coloured) keys.push({ label: "named wrongly", mark: "ring", colour: pal.muted });
        const lanes = present.length;
        return chart(pal, width, says, {
          keys, height: 70 + 110 * lanes, marginLeft: 24, y: { domain: [-0.5, lanes - 0.5], axis: null }, x: { grid: true, label: `log odds of ${shown(className(1) === "1" ? "the second class" : className(1), 24)}`, labelAnchor: "center", nice: true, ticks: Math.max(3, Math.round(width / 90)) },
          marks: [
            Plot.ruleX([0], { stroke: pal.ink, strokeOpacity: 0.5 }),
            Plot.dot(points, { x: "x", y: (p) => lanes - 1 - present.indexOf(p.c) + 0.76 * (scattered(p.row) - 0.5), r: points.length > 700 ? 2.4 : 3.6, fill: (p) => (wrong(p) ? pal.ground : colour(p.c)), stroke: (p) => colour(p.c), strokeWidth: 1.4, fillOpacity: 0.75 }),
            ...(coloured ? [Plot.text(present, { x: () => leftmost, y: (_c: number, i: number) => lanes - 1 - i + 0.44, text: (c: number) => `true class ${shown(className(c), 22)}`, textAnchor: "start", fill: pal.ink, fontWeight: 600, ...halo(pal) })] : []),
            Plot.tip(points, Plot.pointer({ x: "x", y: (p) => lanes - 1 - present.indexOf(p.c) + 0.76 * (scattered(p.row) - 0.5), title: (p) => `row ${p.row}\n${coloured ? `true class ${shown(className(p.c))}\n` : ""}log odds ${number(p.x, 3)}` }))
          ]
        });
      }
      const means = present.filter((c) => c >= 0).map((c) => {
        const own = points.filter((p) => p.c === c);
        return { c, x: own.reduce((t, p) => t + p.x, 0) / own.length, y: own.reduce((t, p) => t + p.y, 0) / own.length };
      });
      // Names that would lie on each other move apart, from the highest down.
      const height = Math.min(0.8 * width, 520), reach = (of: (p: { x: number; y: number }) => number) => Math.max(...points.map(of)) - Math.min(...points.map(of)) || 1;
      const across = (width - 74) / reach((p) => p.x), down = (height - 60) / reach((p) => p.y);
      const placed: { x: number; y: number; half: number }[] = [];
      const names = [...means].sort((a, b) => b.y - a.y).map((m) => {
        const half = 4.3 * Math.min([...className(m.c)].length, 16), at = { x: m.x * across, y: -m.y * down, half };
        for (let tries = 0; tries < 12; ++tries) {
          const near = placed.find((p) => Math.abs(p.x - at.x) < p.half + half && Math.abs(p.y - at.y) < 15);
          if (!near) break;
          at.y = near.y + 15;
        }
        placed.push(at);
        return { ...m, dy: at.y + m.y * down };
      });
      return chart(pal, width, says, {
        keys, height, x: { grid: true, label: "first direction", labelAnchor: "center", nice: true, ticks: 6 }, y: { grid: true, label: "second direction", nice: true, ticks: 6 },
        marks: [
          Plot.dot(points, { x: "x", y: "y", r: points.length > 700 ? 2.4 : 3.4, fill: (p) => (hollow(p.c) ? pal.ground : colour(p.c)), stroke: (p) => colour(p.c), strokeWidth: 1.3, fillOpacity: 0.7 }),
          ...names.map((m) => Plot.text([m], { x: "x", y: "y", dy: m.dy, text: () => shown(className(m.c), 16), fill: pal.ink, fontWeight: 700, fontSize: 13, stroke: pal.ground, strokeWidth: 5 })),
          Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (p) => `row ${p.row}${coloured ? `\ntrue class ${shown(className(p.c))}` : ""}` }))
        ]
      });
    },
    table: () => ({ columns: ["row", "true class", ...(flat ? ["log odds"] : ["first direction", "second direction"])], rows: points.map((p) => [p.row, p.c < 0 ? null : className(p.c), p.x, ...(flat ? [] : [p.y])]) })
  };
}

// --- weights --------------------------------------------------------------------------------------------------------

export function weightsFigure(group: Group, weights: number[], k: number | null, cut: number | null): Figure {
  const order = weights.map((w, i) => ({ w, i })).filter((d) => Number.isFinite(d.w)).sort((a, b) => b.w - a.w || a.i - b.i).map((d, rank) => ({ ...d, rank: rank + 1 }));
  const says = `Weights of the ${order.length} features, from the largest`;
  return {
    id: "weights", title: "Weights, from the largest", says,
    draw: (pal, width) => {
      const most = Math.max(400, width);
      const step = Math.max(1, Math.floor(order.length / most));
      const drawn = order.filter((d) => d.rank <= 200 || d.rank % step === 0 || d.rank === order.length);
      const inside = drawn.filter((d) => k !== null && d.rank <= k);
      const bars = order.length <= 160;
      const keys: Key[] = [{ label: k === null ? "weight" : `the ${k} largest`, mark: "square", colour: pal.accent }];
      if (k !== null && k < order.length) keys.push({ label: "the others", mark: "square", colour: pal.muted });
      if (cut !== null) keys.push({ label: `largest fall, after ${cut}`, mark: "dash", colour: pal.warn });
      return chart(pal, width, says, {
        keys, height: 270, x: { label: "feature by rank", labelAnchor: "center", domain: [0.4, order.length + 0.6], ticks: Math.max(3, Math.round(width / 90)), tickFormat: (d: number) => (Number.isInteger(d) ? d.toLocaleString("en-US") : "") }, y: { grid: true, label: "weight", nice: true, ticks: 5 },
        marks: [
          ...(bars ? [Plot.rect(drawn, { x1: (d) => d.rank - 0.4, x2: (d) => d.rank + 0.4, y1: 0, y2: "w", fill: (d) => (k !== null && d.rank <= k ? pal.accent : pal.muted), fillOpacity: (d) => (k !== null && d.rank <= k ? 1 : 0.6) })]
            : [Plot.areaY(drawn, { x: "rank", y: "w", fill: pal.muted, fillOpacity: 0.3 }), Plot.areaY(inside, { x: "rank", y: "w", fill: pal.accent, fillOpacity: 0.55 }), Plot.line(drawn, { x: "rank", y: "w", stroke: pal.accent, strokeWidth: 1.6 })]),
          Plot.ruleY([0], { stroke: pal.ink }), ...(cut !== null ? [Plot.ruleX([cut + 0.5], { stroke: pal.warn, strokeDasharray: "5 4", strokeWidth: 1.8 })] : []),
          Plot.tip(drawn, Plot.pointerX({ x: "rank", y: "w", title: (d: (typeof drawn)[number]) => `${shown(group.name(d.i), 40)}\nrank ${d.rank}, weight ${number(d.w)}` }))
        ]
      });
    },
    table: () => ({ columns: ["rank", "feature", "index", "weight"], rows: order.map((d) => [d.rank, group.name(d.i), d.i, d.w]) })
  };
}

export function traceFigure(trace: { iteration: number; objective: number; features: number | null }[]): Figure {
  const says = `Objective after each of ${trace.length} iterations`;
  // As many digits as tell one tick from the next.
  const values = trace.map((t) => t.objective), span = Math.max(...values) - Math.min(...values), most = Math.max(...values.map(Math.abs));
  const digits = span > 0 ? Math.min(12, Math.max(4, Math.ceil(Math.log10(most / span)) + 2)) : 4;
  return {
    id: "trace", title: "Objective by iteration", says, most: 640,
    draw: (pal, width) => chart(pal, width, says, {
      height: 230, marginLeft: 24 + 7 * Math.max(6, digits + 3), x: { label: "iteration", labelAnchor: "center", ticks: Math.max(3, Math.round(width / 100)), tickFormat: (d: number) => (Number.isInteger(d) ? String(d) : "") }, y: { grid: true, label: "objective", nice: true, ticks: 5, tickFormat: (d: number) => number(d, digits) },
      marks: [Plot.line(trace, { x: "iteration", y: "objective", stroke: pal.accent, strokeWidth: 2 }), ...(trace.length <= 60 ? [Plot.dot(trace, { x: "iteration", y: "objective", fill: pal.accent, r: 2.8 })] : []), Plot.tip(trace, Plot.pointerX({ x: "iteration", y: "objective", title: (d: (typeof trace)[number]) => `iteration ${d.iteration}\nobjective ${number(d.objective, 6)}${d.features === null ? "" : `\n${d.features} features`}` }))]
    }),
    table: () => ({ columns: ["iteration", "objective", "features"], rows: trace.map((t) => [t.iteration, t.objective, t.features]) })
  };
}

// --- optimal scoring ------------------------------------------------------------------------------------------------

interface LambdaRecord { lambda: number; kept: number; features: number[]; norms: number[] }
export const lambdaRecords = (selection: Selection): LambdaRecord[] =>
  list(selection.result.lambda_path).map((json) => { const r = dict(json); return { lambda: num(r.lambda) ?? NaN, kept: whole(r.features_kept) ?? list(r.features).length, features: wholes(r.features), norms: nums(r.row_norms) }; }).filter((r) => r.lambda > 0).sort((a, b) => b.lambda - a.lambda);

export function lambdaFigure(group: Group, selection: Selection, k: number | null): Figure {
  const records = lambdaRecords(selection);
  const norms = new Map<number, number>();
  for (const record of records) record.features.forEach((f, i) => norms.set(f, Math.max(norms.get(f) ?? 0, record.norms[i] ?? 0)));
  const order = [...norms.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map((e) => e[0]);
  const here = k === null ? undefined : records.find((r) => r.kept >= k);
  const says = `Size of every feature's row of the discriminants along lambda, ${selection.method}`;
  return {
    id: "lambda", title: "Optimal-scoring path", says,
    draw: (pal, width) => {
      const shownFeatures = order.slice(0, 80), named = new Map(shownFeatures.slice(0, 7).map((f, i) => [f, pal.categories[i]]));
      const wanted = new Set(shownFeatures);
      const points = records.flatMap((r) => { const at = new Map(r.features.map((f, i) => [f, r.norms[i] ?? 0])); return shownFeatures.filter((f) => wanted.has(f)).map((f) => ({ lambda: r.lambda, f, norm: at.get(f) ?? 0 })); });
      const keys: Key[] = [...named.entries()].map(([f, colour]) => ({ label: shown(group.name(f), 16), mark: "line", colour }));
      if (here) keys.push({ label: `${here.kept} kept`, mark: "dash", colour: pal.ink });
      return chart(pal, width, says, {
        keys, height: 320, x: { type: "log", reverse: true, label: "lambda, falling", labelArrow: "none", labelAnchor: "center", ticks: Math.max(2, Math.round(width / 140)), tickFormat: (d: number) => number(d, 2) }, y: { grid: true, label: "row norm", nice: true, ticks: 5 },
        marks: [
          Plot.line(points.filter((p) => !named.has(p.f)), { x: "lambda", y: "norm", z: "f", stroke: pal.muted, strokeOpacity: 0.4, strokeWidth: 1 }),
          Plot.line(points.filter((p) => named.has(p.f)), { x: "lambda", y: "norm", z: "f", stroke: (p) => named.get(p.f)!, strokeWidth: 2 }),
          ...(here ? [Plot.ruleX([here.lambda], { stroke: pal.ink, strokeDasharray: "5 4" })] : []),
          Plot.tip(points, Plot.pointer({ x: "lambda", y: "norm", title: (p: (typeof points)[number]) => `${shown(group.name(p.f), 40)}\nlambda ${number(p.lambda, 3)}\nrow norm ${number(p.norm, 3)}` }))
        ]
      });
    },
    table: () => ({ columns: ["lambda", "features kept", "feature", "index", "row norm"], rows: records.flatMap((r) => r.features.map((f, i) => [r.lambda, r.kept, group.name(f), f, r.norms[i] ?? null])) })
  };
}

// --- search log -----------------------------------------------------------------------------------------------------

export function searchFigures(events: SearchEvent[], k: number): Figure[] {
  const own = events.filter((e) => e.k === k).sort((a, b) => a.time - b.time);
  const last = own[own.length - 1];
  const span = Math.max(last?.time ?? 0, 1e-3);
  const says = `Incumbent and bound over time of the search for k = ${k}`;
  const table = (): Table => ({ columns: ["k", "seconds", "nodes", "open nodes", "incumbent", "bound"], rows: own.map((e) => [e.k, e.time, e.nodes, e.open, e.incumbent, e.bound]) });
  const known = own.filter((e) => e.incumbent !== null && e.bound !== null);
  return [
    {
      id: "search", title: `Incumbent and bound, k = ${k}`, says, most: 760, table,
      draw: (pal, width) => chart(pal, width, says, {
        keys: [{ label: "bound", mark: "line", colour: pal.warn }, { label: "best set so far", mark: "line", colour: pal.accent }], height: 250, x: { domain: [0, span], label: "seconds", labelAnchor: "center", ticks: 6 }, y: { grid: true, label: "objective", ticks: 5, nice: true },
        marks: [
          Plot.areaY(known, { x: "time", y1: "incumbent", y2: "bound", curve: "step-after", fill: pal.band, fillOpacity: 0.12 }), Plot.line(known, { x: "time", y: "bound", curve: "step-after", stroke: pal.warn, strokeWidth: 2 }), Plot.line(known, { x: "time", y: "incumbent", curve: "step-after", stroke: pal.accent, strokeWidth: 2 }),
          ...(known.length <= 60 ? [Plot.dot(known, { x: "time", y: "incumbent", r: 3, fill: pal.accent })] : []),
          Plot.tip(known, Plot.pointerX({ x: "time", y: "incumbent", title: (e: SearchEvent) => `after ${number(e.time, 3)} s\nbest so far ${number(e.incumbent, 5)}\nbound ${number(e.bound, 5)}\n${e.nodes.toLocaleString("en-US")} nodes` }))
        ]
      })
    },
    {
      id: "open-nodes", title: "Open nodes over time", says: `Open nodes over time of the search for k = ${k}`, most: 760, table,
      draw: (pal, width) => chart(pal, width, "Open nodes over time", {
        height: 170, x: { domain: [0, span], label: "seconds", labelAnchor: "center", ticks: 6 }, y: { grid: true, label: "open nodes", ticks: 4, nice: true, tickFormat: (d: number) => (Number.isInteger(d) ? d.toLocaleString("en-US") : "") },
        marks: [Plot.areaY(own, { x: "time", y: "open", curve: "step-after", fill: pal.muted, fillOpacity: 0.25 }), Plot.line(own, { x: "time", y: "open", curve: "step-after", stroke: pal.muted, strokeWidth: 1.8 })]
      })
    }
  ];
}

// --- several methods ------------------------------------------------------------------------------------------------

export function curvesFigure(group: Group, k: number | null): Figure {
  const judged = group.methods.filter((m) => m.rows.some((r) => r.k !== null));
  const says = `Error on held-out rows against the number of features of ${judged.map((m) => m.name).join(", ")}`;
  return {
    id: "compare", title: "Error of every method", says,
    draw: (pal, width) => {
      const ks = [...new Set(judged.flatMap((m) => m.rows.map((r) => r.k!)))].sort((a, b) => a - b);
      const choices = judged.flatMap((m) => { const row = m.choice?.k1se != null ? rowAt(m, m.choice.k1se) : null; return row ? [{ m, row }] : []; });
      return chart(pal, width, says, {
        keys: [...judged.map((m): Key => ({ label: m.name, mark: "line", colour: methodColour(group, m, pal) })), ...(choices.length ? [{ label: "1 s.e. choice", mark: "ring", colour: pal.muted } as Key] : [])], height: 300, x: kAxis(ks, width), y: { grid: true, label: "error", tickFormat: (d: number) => `${Number((100 * d).toFixed(2))}\u202f%`, nice: true, ticks: 5 },
        marks: [
          ...kRule(pal, k),
          ...judged.flatMap((m) => [Plot.line(m.rows, { x: "k", y: "error", stroke: methodColour(group, m, pal), strokeWidth: 2 })]),
          Plot.dot(choices, { x: (c) => c.row.k, y: (c) => c.row.error, r: 6, fill: pal.ground, stroke: (c) => methodColour(group, c.m, pal), strokeWidth: 2.2 }),
          Plot.tip(judged.flatMap((m) => m.rows.map((r) => ({ m, r }))), Plot.pointer({ x: (d) => d.r.k, y: (d) => d.r.error, title: (d) => `${d.m.name}, k = ${d.r.k}\nerror ${percent(d.r.error)} \u00b1 ${percent(d.r.se)}` }))
        ]
      });
    },
    table: () => ({ columns: ["method", "k", "error", "standard error"], rows: judged.flatMap((m) => m.rows.map((r) => [m.name, r.k, r.error, r.se])) })
  };
}

export function rankingFigure(group: Group): Figure {
  const judged = group.methods.filter((m) => m.choice?.error != null).sort((a, b) => a.choice!.error! - b.choice!.error!);
  const says = `Error of ${judged.map((m) => m.name).join(", ")}, each at its own one-standard-error choice`;
  return {
    id: "ranking", title: "Each at its own choice of k", says, most: 700,
    draw: (pal, width) => {
      const labels = labelled(judged.map((m) => (m.choice!.k1se === null ? m.name : `${m.name}, k = ${m.choice!.k1se}`)), 26);
      const left = Math.min(0.45 * width, 16 + 7 * Math.max(...labels.map((l) => [...l].length)));
      const rows = judged.map((m, i) => ({ m, label: labels[i], error: m.choice!.error!, se: m.choice!.se ?? 0 }));
      const trivial = judged.map((m) => m.choice!.trivial).find((t) => t !== null) ?? null;
      return chart(pal, width, says, {
        keys: [{ label: "error \u00b1 standard error", mark: "dot", colour: pal.accent }, ...(trivial === null ? [] : [{ label: "always the largest class", mark: "line", colour: pal.ink } as Key])], height: 64 + 34 * rows.length, marginLeft: left, y: { domain: labels, label: null, tickSize: 0 }, x: { grid: true, label: "error on held-out rows", labelAnchor: "center", tickFormat: (d: number) => `${Number((100 * d).toFixed(2))}\u202f%`, nice: true, ticks: Math.max(3, Math.round(width / 110)) },
        marks: [...(trivial === null ? [] : [Plot.ruleX([trivial], { stroke: pal.ink, strokeWidth: 1.4 })]), Plot.ruleY(rows, { y: "label", x1: (r) => r.error - r.se, x2: (r) => r.error + r.se, stroke: (r) => methodColour(group, r.m, pal), strokeWidth: 2 }), Plot.dot(rows, { x: "error", y: "label", r: 5.5, fill: (r) => methodColour(group, r.m, pal) })]
      });
    },
    table: () => ({
      columns: ["method", "k", "error", "standard error", "AUC", "p-value", "features"],
      rows: judged.map((m) => [m.name, m.choice!.k1se, m.choice!.error, m.choice!.se, m.choice!.auc, m.choice!.pValue, m.choice!.featureCount])
    })
  };
}

/// The best of every method that was compared inside the training rows.
export function candidatesFigure(choice: Choice): Figure {
  const says = `Errors in the inner folds of ${choice.candidates.map((c) => c.method).join(", ")}`;
  return {
    id: "compared", title: "Errors in the inner folds", says, most: 700,
    draw: (pal, width) => {
      const labels = labelled(choice.candidates.map((c) => (c.k === null ? c.method : `${c.method}, k = ${c.k}`)), 26);
      const left = Math.min(0.45 * width, 16 + 7 * Math.max(...labels.map((l) => [...l].length)));
      const rows = choice.candidates.map((c, i) => ({ ...c, label: labels[i] }));
      const keys: Key[] = [{ label: "taken", mark: "dot", colour: pal.accent }];
      if (rows.some((r) => !r.used)) keys.push({ label: "not taken", mark: "ring", colour: pal.muted });
      return chart(pal, width, says, {
        keys, height: 64 + 34 * rows.length, marginLeft: left, y: { domain: labels, label: null, tickSize: 0 }, x: { grid: true, label: "error on inner held-out rows", labelAnchor: "center", tickFormat: (d: number) => `${Number((100 * d).toFixed(2))}\u202f%`, nice: true, ticks: Math.max(3, Math.round(width / 110)) },
        marks: [Plot.ruleY(rows, { y: "label", x1: (r) => r.error - r.se, x2: (r) => r.error + r.se, stroke: (r) => (r.used ? pal.accent : pal.muted), strokeWidth: 2 }), Plot.dot(rows, { x: "error", y: "label", r: 5.5, fill: (r) => (r.used ? pal.accent : pal.ground), stroke: (r) => (r.used ? pal.accent : pal.muted), strokeWidth: 1.8 })]
      });
    },
    table: () => ({ columns: ["method", "k", "error", "standard error", "features", "ridge", "lambda", "shrinkage", "columns", "compared", "taken"], rows: choice.candidates.map((c) => [c.method, c.k, c.error, c.se, c.features, c.ridge, c.lambda, c.shrinkage, c.transform, c.compared, c.used ? "yes" : "no"]) })
  };
}

export function pairsFigure(group: Group): Figure | null {
  const pairs = group.evaluations.flatMap((e) => e.comparison).filter((c) => Number.isFinite(c.difference)).slice(0, 45);
  if (pairs.length === 0) return null;
  const says = "Paired differences of the errors on the same folds, the better method first";
  return {
    id: "differences", title: "Differences on the same folds", says, most: 700,
    draw: (pal, width) => {
      const labels = labelled(pairs.map((p) => `${p.methods[0]} \u2212 ${p.methods[1]}`), 34);
      const left = Math.min(0.5 * width, 16 + 6.8 * Math.max(...labels.map((l) => [...l].length)));
      const rows = pairs.map((p, i) => ({ ...p, label: labels[i] }));
      const reach = Math.max(...pairs.map((p) => Math.abs(p.difference) + p.se), 0.005) * 1.08;
      const clear = (p: { difference: number; se: number }) => Math.abs(p.difference) > 2 * p.se;
      return chart(pal, width, says, {
        keys: [{ label: "more than two standard errors apart", mark: "dot", colour: pal.accent }, { label: "not told apart", mark: "ring", colour: pal.muted }], height: 64 + 30 * rows.length, marginLeft: left, y: { domain: labels, label: null, tickSize: 0 }, x: { domain: [-reach, reach], grid: true, label: "difference of the errors", labelAnchor: "center", ticks: Math.max(3, Math.round(width / 130)), tickFormat: (d: number) => `${Number((100 * d).toFixed(2))}\u202f%`.replace("-", "\u2212") },
        marks: [Plot.ruleX([0], { stroke: pal.ink }), Plot.ruleY(rows, { y: "label", x1: (r) => r.difference - r.se, x2: (r) => r.difference + r.se, stroke: (r) => (clear(r) ? pal.accent : pal.muted), strokeWidth: 2 }), Plot.dot(rows, { x: "difference", y: "label", r: 5, fill: (r) => (clear(r) ? pal.accent : pal.ground), stroke: (r) => (clear(r) ? pal.accent : pal.muted), strokeWidth: 1.8 })]
      });
    },
    table: () => ({ columns: ["better", "other", "difference", "standard error"], rows: pairs.map((p) => [p.methods[0], p.methods[1], p.difference, p.se]) })
  };
}

// --- clusters -------------------------------------------------------------------------------------------------------

export function clusterSizesFigure(sizes: number[]): Figure {
  const says = `Sizes of the ${sizes.length} clusters: ${sizes.join(", ")} rows`;
  return {
    id: "clusters", title: "Clusters", says, most: 560,
    draw: (pal, width) => {
      const rows = sizes.map((n, i) => ({ label: `cluster ${i}`, n }));
      return chart(pal, width, says, {
        height: 60 + 34 * rows.length, marginLeft: 80, marginRight: 56, y: { domain: rows.map((r) => r.label), label: null, tickSize: 0 }, x: { grid: true, label: "rows", labelAnchor: "center", ticks: 5, nice: true },
        marks: [Plot.barX(rows, { x: "n", y: "label", fill: (_r, i) => pal.categories[i % pal.categories.length], inset: 4, rx: 2 }), Plot.text(rows, { x: "n", y: "label", text: (r) => String(r.n), textAnchor: "start", dx: 6, fill: pal.ink })]
      });
    },
    table: () => ({ columns: ["cluster", "rows"], rows: sizes.map((n, i) => [i, n]) })
  };
}

export function eigenFigure(id: string, title: string, values: number[], gap: number | null): Figure {
  const says = `${title}: ${values.slice(0, 6).map((v) => number(v, 3)).join(", ")}${values.length > 6 ? ", \u2026" : ""}`;
  const rows = values.map((value, i) => ({ rank: i + 1, value }));
  return {
    id, title, says, most: 560,
    draw: (pal, width) => chart(pal, width, says, {
      keys: gap === null ? [] : [{ label: `largest relative fall, after ${gap}`, mark: "dash", colour: pal.warn }], height: 230, x: { label: "eigenvalue", labelAnchor: "center", domain: [0.5, rows.length + 0.5], ticks: rows.map((r) => r.rank).filter((r) => rows.length <= 14 || r % 5 === 0), tickFormat: (d: number) => String(d) }, y: { grid: true, label: "size", nice: true, zero: true, ticks: 5 },
      marks: [...(gap === null ? [] : [Plot.ruleX([gap + 0.5], { stroke: pal.warn, strokeDasharray: "5 4", strokeWidth: 1.8 })]), Plot.ruleX(rows, { x: "rank", y1: 0, y2: "value", stroke: pal.accent, strokeWidth: 2 }), Plot.dot(rows, { x: "rank", y: "value", r: 4.5, fill: pal.accent }), Plot.ruleY([0], { stroke: pal.ink })]
    }),
    table: () => ({ columns: ["number", "eigenvalue"], rows: rows.map((r) => [r.rank, r.value]) })
  };
}

// --- reproductions --------------------------------------------------------------------------------------------------

export interface Finding { name: string; series: string; x: number | null; published: number | null; obtained: number | null; spread: number | null; says: string }
export function findingsOf(result: Record<string, unknown>): { axis: string; findings: Finding[] } {
  const known = new Set(["name", "series", "published", "obtained", "spread", "published_text"]);
  let axis = "";
  const findings = list((result as { results?: never }).results).map((json) => {
    const r = dict(json);
    const own = Object.keys(r).find((key) => !known.has(key) && num(r[key]) !== null);
    if (own) axis = own;
    return { name: str(r.name), series: str(r.series), x: own ? num(r[own]) : null, published: num(r.published), obtained: num(r.obtained), spread: num(r.spread), says: str(r.published_text) };
  });
  return { axis, findings };
}

export function seriesFigure(axis: string, findings: Finding[]): Figure {
  const points = findings.filter((f) => f.x !== null && f.obtained !== null) as (Finding & { x: number; obtained: number })[];
  const series = [...new Set(points.map((p) => p.series))];
  const says = `Obtained numbers against ${axis}: ${series.slice(0, 8).join(", ")}`;
  return {
    id: "curves", title: `Curves against ${axis}`, says,
    draw: (pal, width) => {
      const colour = (name: string) => pal.categories[series.indexOf(name) % pal.categories.length];
      const xs = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
      const published = points.filter((p) => p.published !== null);
      return chart(pal, width, says, {
        keys: [...series.slice(0, 12).map((name): Key => ({ label: shown(name, 26), mark: "line", colour: colour(name) })), ...(published.length ? [{ label: "published", mark: "ring", colour: pal.muted } as Key] : [])], height: 320, marginLeft: 66, x: { ...kAxis(xs, width), label: axis }, y: { grid: true, label: "obtained", nice: true, ticks: 5, tickFormat: (d: number) => number(d, 3) },
        marks: [Plot.line(points, { x: "x", y: "obtained", z: "series", stroke: (p) => colour(p.series), strokeWidth: 2 }), ...(points.length <= 80 ? [Plot.dot(points, { x: "x", y: "obtained", r: 2.8, fill: (p) => colour(p.series) })] : []), Plot.dot(published, { x: "x", y: "published", r: 5, stroke: (p) => colour(p.series), strokeWidth: 2 }), Plot.tip(points, Plot.pointer({ x: "x", y: "obtained", title: (p: Finding) => `${shown(p.series, 40)}\n${axis} ${p.x}: ${number(p.obtained)}${p.published === null ? "" : `\npublished ${number(p.published)}`}` }))]
      });
    },
    table: () => ({ columns: [axis, "series", "obtained", "published", "standard error"], rows: points.map((p) => [p.x, p.series, p.obtained, p.published, p.spread]) })
  };
}

// --- pictures -------------------------------------------------------------------------------------------------------

export interface Picture { title: string; colour: (pal: Palette, pixel: number) => string }

export const loadingPicture = (title: string, values: Map<number, number>): Picture => {
  const most = largest([...values.values()].map(Math.abs), 1e-300);
  return { title, colour: (pal, pixel) => (values.has(pixel) ? signed(pal, values.get(pixel)! / most) : pal.empty) };
};

/// One row of runs of equal pixels after the other: the same picture as the canvas of the page, for files.
export function pictureFigure(id: string, picture: Picture, shape: [number, number], table: () => Table): Figure {
  const [height, width] = shape;
  return {
    id, title: picture.title, says: picture.title, table,
    draw: (pal) => {
      const cell = Math.max(1, Math.min(16, Math.floor(480 / Math.max(width, height))));
      const svg = s("svg", { width: cell * width, height: cell * height, viewBox: `0 0 ${width} ${height}`, "shape-rendering": "crispEdges" });
      for (let y = 0; y < height; ++y) {
        for (let x = 0; x < width;) {
          const fill = picture.colour(pal, y * width + x);
          let end = x + 1;
          while (end < width && picture.colour(pal, y * width + end) === fill) ++end;
          svg.append(s("rect", { x, y, width: end - x, height: 1, fill }));
          x = end;
        }
      }
      return finished(svg, picture.title);
    }
  };
}
