/// Commands to copy: as a shell reads them or, on a page that was made in Python, as calls.
import type { Group } from "./data";

/// As POSIX shells read it.
export const quoted = (word: string): string => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

/// Rows that were given as arrays have no name that a file could have.
const table = (group: Group): string => (group.python ? (group.table === "DATA" || group.table === "data" ? (group.classes.length ? "X, y" : "X") : JSON.stringify(group.table)) : quoted(group.table));
const sizes = (from: number, to: number): string => (from === to ? String(to) : `range(${from}, ${to + 1})`);
const flags = (from: number, to: number): string => (from === to ? String(to) : `${from}:${to}`);

export function selectCommand(group: Group, method: string, from: number, to: number, { seconds, file = "selection.json" }: { seconds?: number; file?: string } = {}): string {
  if (group.python) return `sp.select(${table(group)}, method=${JSON.stringify(method)}, k=${sizes(from, to)}${seconds ? `, time_limit=${seconds}` : ""})`;
  return `subspectra select ${table(group)} --method ${quoted(method)} -k ${flags(from, to)}${seconds ? ` --time-limit ${seconds}` : ""} -o ${file}`;
}
export function evaluateCommand(group: Group, method: string, to: number): string {
  if (group.python) return `sp.evaluate(${table(group)}, method=${JSON.stringify(method)}, k=${sizes(1, to)}, repeats=10)`;
  return `subspectra evaluate ${table(group)} --method ${quoted(method)} -k ${flags(1, to)} --repeats 10 -o evaluation.json`;
}
/// What gives the page the table of a selection.
export const withData = (group: Group): string => (group.python ? "sp.report(result, X=X, y=y)" : "report FILE --data DATA, or select --report");
