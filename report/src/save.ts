/// What leaves the page: figures as SVG and PNG, tables as CSV.
import { kFont, type Figure, type Table } from "./figures";
import { light } from "./palette";

const kWidth = 820;

/// A cell that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay numbers.
export function csvCell(value: string | number | null): string {
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
  return /[",\r\n;]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
export const csv = (table: Table): string => [table.columns, ...table.rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";

export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  const url = URL.createObjectURL(content);
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/// The figure on white paper, whatever the page looks like, with what it is called and came from.
export function svgText(figure: Figure, source: string): { text: string; width: number; height: number } {
  const drawn = figure.draw(light, Math.min(Math.max(figure.least ?? 0, kWidth), figure.most ?? kWidth));
  for (const tip of drawn.querySelectorAll('[data-mark="tip"]')) tip.remove();
  const width = Number(drawn.getAttribute("width")), height = Number(drawn.getAttribute("height"));
  const describe = (tag: string, text: string) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    element.textContent = text;
    return element;
  };
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: "0", y: "0", width: "100%", height: "100%", fill: light.ground })) paper.setAttribute(name, value);
  drawn.prepend(describe("title", figure.title), describe("desc", source), paper);
  drawn.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  drawn.setAttribute("font-family", kFont);
  drawn.setAttribute("fill", "currentColor");
  drawn.setAttribute("color", light.ink);
  drawn.setAttribute("font-size", "12");
  drawn.removeAttribute("class");
  // Attributes say the same. Reading the style first writes it down, else an empty one stays.
  for (const styled of [drawn, ...drawn.querySelectorAll("[style]")]) if (styled.getAttribute("style") !== null) styled.removeAttribute("style");
  return { text: new XMLSerializer().serializeToString(drawn), width, height };
}

export async function pngBlob(figure: Figure, source: string): Promise<Blob> {
  const { text, width, height } = svgText(figure, source);
  // Twice the size, but no larger than what every browser draws.
  const scale = Math.min(2, Math.sqrt(30e6 / (width * height)), 12_000 / Math.max(width, height));
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    await new Promise((resolve, reject) => { image.onload = resolve; image.onerror = () => reject(new Error("the figure cannot be drawn")); image.src = url; });
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
