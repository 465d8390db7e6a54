// Pages made by the program, opened in Debian's Chromium.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "..", "..");
export const program = process.env.SUBSPECTRA_PROGRAM ?? join(root, "build", "release", "subspectra");
const browserPath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const axe = readFileSync(join(here, "..", "node_modules", "axe-core", "axe.min.js"), "utf8");

export const folder = mkdtempSync(join(tmpdir(), "subspectra-report-"));
export const path = (name) => join(folder, name);

export function run(...words) {
  const done = spawnSync(program, [...words, "--quiet"], { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`subspectra ${words.join(" ")}: exit ${done.status}\n${done.stderr}`);
  return done.stdout;
}

let browser;
export async function launched() {
  return (browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] }));
}
export const start = launched;
export async function stop() {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}

/// A page with what went wrong on it: errors, words on the console, requests, dialogs.
export async function open(file, { width = 1280, height = 900, theme = "light", hash = "" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true });
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") trouble.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => trouble.push(`error: ${error.stack}`));
  page.on("request", (request) => { if (!request.url().startsWith("blob:") && !request.url().startsWith(`file://${folder}/`)) trouble.push(`request: ${request.url()}`); });
  page.on("dialog", (dialog) => { trouble.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  await page.goto(`file://${path(file)}${hash}`);
  await page.waitForSelector("#app[data-ready]", { timeout: 20000 });
  return { page, trouble, close: () => context.close() };
}

/// Every panel on screen once, so that all of them are drawn.
export async function seeAll(page) {
  const ids = await page.$$eval("section.panel", (sections) => sections.map((section) => section.id));
  for (const id of ids) {
    // A panel is drawn anew when it comes on screen, which the browser notices a frame later.
    await page.evaluate((id) => new Promise((done) => {
      document.getElementById(id).scrollIntoView();
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));
    }), id);
    await page.waitForFunction((id) => document.querySelector(`#${id} .panel-body`).childElementCount > 0, id);
  }
  await page.evaluate(() => scrollTo(0, 0));
  return ids.map((id) => id.replace(/^panel-/, ""));
}

/// What is drawn badly: figures without a drawing, numbers that are none.
export const flaws = (page) => page.evaluate(() => {
  const found = [];
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    const drawn = figure.querySelector(".plot svg, .plot canvas");
    if (!drawn) found.push(`${figure.dataset.figure}: nothing is drawn`);
    else if (drawn.getBoundingClientRect().width < 20) found.push(`${figure.dataset.figure}: drawn without a size`);
    for (const element of figure.querySelectorAll(".plot svg *")) {
      for (const { name, value } of element.attributes) if (/NaN|undefined|Infinity/.test(value) && name !== "aria-label") found.push(`${figure.dataset.figure}: ${element.tagName} has ${name}="${value.slice(0, 40)}"`);
    }
  }
  const words = document.querySelector("#app").innerText.match(/.{0,30}\b(NaN|undefined|\[object)\b.{0,30}/);
  if (words) found.push(`text: ${words[0]}`);
  return [...new Set(found)];
});

/// Figures without their numbers as a table that a screen reader can walk through.
export const untold = (page) => page.evaluate(async () => {
  const found = [];
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    const details = figure.querySelector("details.behind");
    if (!details) { found.push(figure.dataset.figure); continue; }
    details.open = true;
    details.dispatchEvent(new Event("toggle"));
    const table = details.querySelector("table");
    if (!table?.caption?.textContent || !table.querySelector("th[scope]") || !table.querySelector("tbody tr")) found.push(figure.dataset.figure);
    details.open = false;
    details.dispatchEvent(new Event("toggle"));
  }
  return found;
});

/// Serious findings of axe, in words.
export async function barriers(page) {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary?.split("\n")[1] ?? ""}`).join("; ")}`);
  });
}

/// The file that a button gives. Chromium takes ten downloads at once and drops the next, which is then asked for again.
export async function saved(page, button) {
  for (let tries = 0; ; ++tries) {
    try {
      const [download] = await Promise.all([page.waitForEvent("download", { timeout: tries < 4 ? 3000 : 30000 }), button.click()]);
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    } catch (error) {
      if (tries === 4) throw error;
    }
  }
}
