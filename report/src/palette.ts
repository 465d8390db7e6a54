/// Colours by meaning. Categories are Okabe and Ito's, darkened or lightened until they stand 3:1 against the ground they are drawn on;
/// signs are blue and orange, which nobody confuses.
export interface Palette {
  dark: boolean;
  ink: string; muted: string; line: string; ground: string; accent: string; band: string; good: string; warn: string; bad: string;
  positive: string; negative: string; empty: string; categories: string[];
}
export const light: Palette = {
  dark: false, ink: "#1c2330", muted: "#5a6472", line: "#d5dae1", ground: "#ffffff", accent: "#0b62b0", band: "#0b62b0", good: "#08754f", warn: "#a65200", bad: "#b3261e",
  positive: "#0b62b0", negative: "#c65a00", empty: "#eef1f4",
  categories: ["#0b62b0", "#c65a00", "#008762", "#a8487f", "#9a7400", "#2f8fc4", "#6b4fb3", "#5a6472"]
};
export const dark: Palette = {
  dark: true, ink: "#e8ebef", muted: "#a3adb9", line: "#363e48", ground: "#1b2027", accent: "#6db3f2", band: "#6db3f2", good: "#4fc79a", warn: "#f0a35c", bad: "#ff8a80",
  positive: "#6db3f2", negative: "#f0a35c", empty: "#272e37",
  categories: ["#6db3f2", "#f0a35c", "#4fc79a", "#e08bb9", "#dcc04c", "#8fd3ff", "#b6a2f2", "#a3adb9"]
};

type Rgb = [number, number, number];
const rgb = (hex: string): Rgb => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)) as Rgb;
export function mix(from: string, to: string, t: number): string {
  const a = rgb(from), b = rgb(to), u = Math.min(Math.max(t, 0), 1);
  return "#" + a.map((x, i) => Math.round(x + u * (b[i] - x)).toString(16).padStart(2, "0")).join("");
}
/// From the ground to a colour, never so faint that something looks like nothing.
export const shade = (pal: Palette, colour: string, t: number): string => (t <= 0 ? pal.empty : mix(pal.empty, colour, 0.15 + 0.85 * t));
export const signed = (pal: Palette, t: number): string => (t === 0 || !Number.isFinite(t) ? pal.empty : shade(pal, t > 0 ? pal.positive : pal.negative, Math.abs(t)));
/// Text on a shade.
export function inkOn(colour: string): string {
  const [r, g, b] = rgb(colour).map((c) => { const v = c / 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.19 ? "#10151c" : "#ffffff";
}
/// Grey levels of pictures, from the smallest to the largest value.
export const grey = (pal: Palette, t: number): string => mix(pal.dark ? "#0d1014" : "#ffffff", pal.dark ? "#f2f4f7" : "#20262e", t);
