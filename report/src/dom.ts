/// Elements without markup: whatever comes from data goes in as text, nowhere as HTML.
type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Child | Child[])[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(element: Element, children: (Child | Child[])[]): void {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(element: Element, ...children: (Child | Child[])[]): void {
  element.replaceChildren();
  append(element, children);
}

const kSvg = "http://www.w3.org/2000/svg";
export function s(tag: string, attributes: Record<string, string | number> = {}, text?: string): SVGElement {
  const element = document.createElementNS(kSvg, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/// An icon of a few strokes on a 16 x 16 grid.
export function icon(path: string): SVGElement {
  const svg = s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", fill: "none", stroke: "currentColor", "stroke-width": 1.6, "stroke-linecap": "round", "stroke-linejoin": "round" });
  svg.append(s("path", { d: path }));
  return svg;
}

/// What a name looks like: control characters and marks that turn the direction of writing are shown, not obeyed; long names are cut.
export function shown(name: string, most = 60): string {
  let text = "";
  for (const c of name) {
    const code = c.codePointAt(0)!;
    const control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const turns = code === 0x061c || code === 0x200e || code === 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    const unseen = code === 0x200b || code === 0xfeff || code === 0x2028 || code === 0x2029;
    text += control ? (code < 0x20 ? String.fromCodePoint(0x2400 + code) : "\u2421") : turns || unseen ? `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9` : c;
    if (text.length > 4 * most) break;
  }
  const letters = [...text];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "\u2026" : text;
}
