/// The parts that panels are put together from: figures with their buttons, tables, copy buttons, canvases.
import { append, h, icon, shown } from "./dom";
import type { Figure, Picture, Table } from "./figures";
import { dark, light, type Palette } from "./palette";
import { csv, download, pngBlob, svgText } from "./save";
import { number } from "./words";

export const isDark = (): boolean => {
  const asked = document.documentElement.dataset.theme;
  return asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};
let printing = false;
export const setPrinting = (now: boolean): void => { printing = now; };
export const palette = (): Palette => (!printing && isDark() ? dark : light);

const announcer = h("div", { class: "unseen", "aria-live": "polite", role: "status" });
export const announce = (text: string): void => { announcer.textContent = text; };
export const announcing = announcer;

export function button(label: string, action: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  return h("button", { type: "button", click: action, ...attributes }, label);
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // pages from disk may not write to the clipboard everywhere
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function commandBox(command: string, label = "Copy the command"): HTMLElement {
  const control = h("button", { type: "button", class: "copy", "aria-label": label, title: label, click: () => {
    void copy(command);
    control.replaceChildren(icon("M3 8.5 6.5 12 13 4.5"));
    announce("Copied");
    setTimeout(() => control.replaceChildren(icon(kCopy)), 1500);
  } }, icon(kCopy));
  return h("div", { class: "command" }, h("code", { tabindex: 0, role: "region", "aria-label": "command" }, h("span", { class: "prompt", "aria-hidden": "true" }, /^subspectra /.test(command) ? "$ " : ">>> "), command.split(/(?<= )/).map((word) => h("span", { class: "word" }, word))), control);
}
const kCopy = "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z";

const kMostRows = 300;
export function tableView(table: Table, caption: string): HTMLElement {
  const numeric = table.columns.map((_, j) => table.rows.length > 0 && table.rows.every((row) => row[j] === null || typeof row[j] === "number"));
  const body = h("tbody", {}, table.rows.slice(0, kMostRows).map((row) => h("tr", {}, row.map((cell, j) => h("td", { class: numeric[j] ? "number" : null }, typeof cell === "number" ? number(cell, 5) : cell === null ? "" : shown(cell, 80))))));
  const view = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, h("table", {}, h("caption", { class: "unseen" }, caption), h("thead", {}, h("tr", {}, table.columns.map((c, j) => h("th", { scope: "col", class: numeric[j] ? "number" : null }, shown(c, 40))))), body));
  return table.rows.length > kMostRows ? h("div", {}, view, h("p", { class: "note" }, `${kMostRows} of ${table.rows.length.toLocaleString("en-US")} rows; the CSV file has all.`)) : view;
}

const openTables = new Set<string>();

/// Numbers behind a figure, made when somebody asks for them.
export function behind(key: string, title: string, table: () => Table): HTMLDetailsElement {
  const details = h("details", { class: "behind" }, h("summary", {}, "Numbers"));
  const fill = () => { if (details.open && details.childElementCount === 1) details.append(tableView(table(), title)); };
  details.addEventListener("toggle", () => { details.open ? openTables.add(key) : openTables.delete(key); fill(); });
  if (openTables.has(key)) { details.open = true; fill(); }
  return details;
}

/// Instead of a figure or a panel that these data allow no drawing of.
export const refusal = (problem: unknown): string => `This cannot be shown: ${problem instanceof Error ? problem.message : String(problem)}`;

export interface Placed { source: string; stem: string }

export function figureView(figure: Figure, place: Placed, level: "h3" | "h4" = "h3", canvas?: (pal: Palette, host: HTMLElement) => void): HTMLElement {
  const file = `${place.stem}-${figure.id}`;
  const failed = (error: unknown) => announce(`This did not work: ${error instanceof Error ? error.message : error}`);
  const save = h("div", { class: "save", role: "group", "aria-label": `Save: ${figure.title}` },
    button("PNG", () => { pngBlob(figure, place.source).then((blob) => download(`${file}.png`, blob)).catch(failed); }, { "aria-label": `${figure.title} as PNG` }),
    button("SVG", () => download(`${file}.svg`, new Blob([svgText(figure, place.source).text], { type: "image/svg+xml" })), { "aria-label": `${figure.title} as SVG` }),
    button("CSV", () => download(`${file}.csv`, new Blob([csv(figure.table())], { type: "text/csv" })), { "aria-label": `${figure.title} as CSV` }));
  const host = h("div", { class: "plot" });
  if (figure.least) { host.tabIndex = 0; host.setAttribute("role", "region"); host.setAttribute("aria-label", figure.title); }
  const view = h("figure", { "data-figure": figure.id }, h("div", { class: "caption" }, h(level, {}, figure.title), save), host, behind(file, figure.title, figure.table));
  let drawn = 0;
  const draw = () => {
    const width = Math.floor(host.clientWidth);
    if (width === 0) return;
    drawn = width;
    const pal = palette();
    try {
      if (canvas) { host.replaceChildren(); canvas(pal, host); return; }
      host.replaceChildren(figure.draw(pal, Math.max(figure.least ?? 240, Math.min(figure.most ?? Infinity, width))));
    } catch (problem) {
      host.replaceChildren(h("p", { class: "note" }, refusal(problem)));
    }
  };
  redraws.set(view, { draw, width: () => drawn, host });
  return view;
}

/// Figures draw themselves once they have a width, and again when it or the theme changes.
const redraws = new WeakMap<Element, { draw: () => void; width: () => number; host: HTMLElement }>();
export function drawAll(root: ParentNode, always = true): void {
  for (const view of root.querySelectorAll("figure[data-figure]")) {
    const one = redraws.get(view);
    if (one && (always || Math.abs(one.width() - one.host.clientWidth) > 1)) one.draw();
  }
}

export function pictureView(picture: Picture, shape: [number, number], size: number): HTMLCanvasElement {
  const [height, width] = shape;
  const canvas = h("canvas", { class: "pixels", role: "img", "aria-label": picture.title, width, height });
  const scale = Math.max(1, Math.floor(size / Math.max(width, height)));
  canvas.style.width = `${Math.min(scale * width, 2 * size)}px`;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(width, height);
  const pal = palette();
  const known = new Map<string, [number, number, number]>();
  for (let i = 0; i < width * height; ++i) {
    const hex = picture.colour(pal, i);
    let c = known.get(hex);
    if (!c) known.set(hex, (c = [parseInt(hex.slice(1, 3), 16), parseInt(hex.slice(3, 5), 16), parseInt(hex.slice(5, 7), 16)]));
    image.data.set([c[0], c[1], c[2], 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

export interface Column<Row> { title: string; value: (row: Row) => string | number | null; text?: (row: Row) => string | Node | null; numeric?: boolean }
/// A table whose heads sort it.
export function sortable<Row>(caption: string, columns: Column<Row>[], rows: Row[], state: { column: number; down: boolean }, most = 500): HTMLElement {
  const body = h("tbody");
  const heads = columns.map((column, j) => {
    const control = button(column.title, () => {
      state.down = state.column === j ? !state.down : !!column.numeric;
      state.column = j;
      fill();
    });
    return h("th", { scope: "col", class: column.numeric ? "number" : null }, control);
  });
  const note = h("p", { class: "note" });
  const fill = () => {
    const { value } = columns[state.column] ?? columns[0];
    const sorted = [...rows].sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;  // unknown stays below
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return state.down ? -order : order;
    });
    heads.forEach((head, j) => (j === state.column ? head.setAttribute("aria-sort", state.down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
    body.replaceChildren(...sorted.slice(0, most).map((row) => h("tr", {}, columns.map((c) => h("td", { class: c.numeric ? "number" : null }, cellOf(c, row))))));
    note.textContent = rows.length > most ? `${most} of ${rows.length.toLocaleString("en-US")} rows are shown.` : "";
  };
  fill();
  const view = h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": caption }, h("table", {}, h("caption", { class: "unseen" }, caption), h("thead", {}, h("tr", {}, heads)), body));
  return h("div", {}, view, note);
}
function cellOf<Row>(column: Column<Row>, row: Row): string | Node | null {
  if (column.text) return column.text(row);
  const value = column.value(row);
  return value === null ? "\u2013" : typeof value === "number" ? number(value) : shown(value, 60);
}

export function empty(says: string, command?: string): HTMLElement {
  const box = h("div", { class: "empty" }, h("p", {}, says));
  if (command) append(box, [commandBox(command)]);
  return box;
}
