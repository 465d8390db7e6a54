/// Commands to copy: as a shell reads them or, on a page that was made in Python, as calls.
import { dict, list, type Group, type PageFile } from "./data";

/// As POSIX shells read it.
export const quoted = (word: string): string => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

/// Rows that were given as arrays have no name that a file could have.
const table = (group: Group): string => (group.python ? (group.table === "DATA" || group.table === "data" ? (group.classes.length ? "X, y" : "X") : JSON.stringify(group.table)) : quoted(group.table));
const sizes = (from: number, to: number): string => (from === to ? String(to) : `range(${from}, ${to + 1})`);
const flags = (from: number, to: number): string => (from === to ? String(to) : `${from}:${to}`);

/// How the table is read and prepared, and what the objective is: as the command said it that made `like`.
const same = (group: Group, like?: PageFile): string => (like ?? group.files[0])?.flags ?? "";
/// The labels must be read for an evaluation, whatever another method did without.
const labelled = (group: Group, like?: PageFile): PageFile | undefined => [like, ...group.files].find((file) => file !== undefined && list(dict(file.result.data).classes).length > 0) ?? like;

export function selectCommand(group: Group, method: string, from: number, to: number, { seconds, file = "selection.json", like }: { seconds?: number; file?: string; like?: PageFile } = {}): string {
  if (group.python) return `sp.select(${table(group)}, method=${JSON.stringify(method)}, k=${sizes(from, to)}${seconds ? `, time_limit=${seconds}` : ""})`;
  return `subspectra select ${table(group)} --method ${quoted(method)} -k ${flags(from, to)}${same(group, like)}${seconds ? ` --time-limit ${seconds}` : ""} -o ${file}`;
}
export function evaluateCommand(group: Group, method: string, to: number, like?: PageFile): string {
  if (group.python) return `sp.evaluate(${table(group)}, method=${JSON.stringify(method)}, k=${sizes(1, to)}, repeats=10)`;
  return `subspectra evaluate ${table(group)} --method ${quoted(method)} -k ${flags(1, to)}${same(group, labelled(group, like))} --repeats 10 -o evaluation.json`;
}
/// What gives the page the table of a selection.
export const withData = (group: Group): string => (group.python ? "sp.report(result, X=X, y=y)" : "report FILE --data DATA, or select --report");
