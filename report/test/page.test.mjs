import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { barriers, flaws, open, path, run, saved, seeAll, start, stop, untold } from "./support.mjs";

const hostile = ["</script><img src=x onerror=alert(1)>", "<svg onload=alert(2)>", "\"quote'and`tick", "back\\slash", "line\nbreak", "\u202eright to left\u202c", "=1+1", "+cmd|' /C calc'!A0", "@SUM(1)", "-2", "x".repeat(10000), "javascript:alert(3)", "${alert(4)}", "--><script>alert(5)</script>"];
const cell = (text) => `"${text.replace(/"/g, '""')}"`;

/// Handwriting of a kind: every class is a stroke of its own, an arc of some length about a centre of its own, moved and blurred a little
/// in every row. As many pixels and classes as postal digits have.
function strokeTable(file, classes = 10, side = 16, rows = 300) {
  let seed = 29;
  const next = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const lines = [[...Array.from({ length: side * side }, (_, p) => `r${Math.floor(p / side)}c${p % side}`), "class"].join(",")];
  for (let i = 0; i < rows; ++i) {
    const c = i % classes, dx = 2 * next() - 1, dy = 2 * next() - 1;
    const points = Array.from({ length: 24 }, (_, t) => {
      const angle = 0.9 * c + ((1.2 + 0.45 * (c % 4)) * Math.PI * t) / 23;
      return [side / 2 + dy + (3 + (c % 3)) * Math.sin(angle), side / 2 + dx + (2.5 + (c % 2) * 2) * Math.cos(angle + 0.3 * (c % 5))];
    });
    const pixels = Array.from({ length: side * side }, (_, p) => {
      const [y, x] = [Math.floor(p / side), p % side];
      const near = Math.min(...points.map(([py, px]) => (py - y) ** 2 + (px - x) ** 2));
      return (2 * Math.exp(-near / 1.4) - 1 + 0.15 * (next() - 0.5)).toFixed(3);
    });
    lines.push([...pixels, `digit ${c}`].join(","));
  }
  writeFileSync(path(file), lines.join("\n") + "\n");
}

/// Images of 8 x 8 pixels, two classes that differ in a corner.
function imageTable(file, classes, height = 8, width = 8, rows = 60) {
  let seed = 7;
  const next = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const lines = [[...Array.from({ length: height * width }, (_, p) => `p${p}`), "class"].join(",")];
  for (let i = 0; i < rows; ++i) {
    const c = i % classes;
    lines.push([...Array.from({ length: height * width }, (_, p) => (next() + (p % 5 === c ? 0.7 : 0) + (p === 3 * c ? 1 : 0)).toFixed(4)), `digit ${c}`].join(","));
  }
  writeFileSync(path(file), lines.join("\n") + "\n");
}

function hostileTable(file) {
  let seed = 11;
  const next = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const lines = [[...hostile.map(cell), "class"].join(",")];
  for (let i = 0; i < 60; ++i) lines.push([...hostile.map((_, j) => (next() + (i % 2) * 0.1 * (j % 4)).toFixed(5)), cell(i % 2 ? "</script><img src=y onerror=alert(6)>" : "=HYPERLINK(1)")].join(","));
  writeFileSync(path(file), lines.join("\n") + "\n");
}

before(async () => {
  run("select", "sonar", "-k", "1:10", "-o", "gslda.json");
  run("select", "sonar", "--method", "eslda", "-k", "1:6", "--report", "eslda.html", "--figures", "eslda.figures", "-o", "eslda.json");
  run("select", "sonar", "--method", "espca", "--target", "none", "--exclude", "class", "-k", "1:6", "--report", "espca.html", "--figures", "espca.figures");
  run("select", "sonar", "--method", "rvm-row", "-k", "1:12", "--report", "rvm.html", "--figures", "rvm.figures");
  run("select", "sonar", "--method", "qalpha", "--target", "none", "--exclude", "class", "-k", "1:20", "--report", "qalpha.html", "--figures", "qalpha.figures");
  run("evaluate", "sonar", "--method", "gslda,fisher,rvm-row", "-k", "1:8", "--null", "3", "-o", "evaluation.json");
  run("report", "gslda.json", "evaluation.json", "eslda.json", "--data", "sonar", "-o", "methods.html", "--figures", "methods.figures");
  run("select", "sonar", "--method", "espca", "-k", "1:6", "-o", "espca.json");
  run("select", "sonar", "-k", "1:6", "--standardize", "--ridge", "0.1", "--exclude", "V1", "-o", "standardized.json");
  run("evaluate", "sonar", "--method", "fisher", "-k", "1:5", "--seed", "3", "-o", "other-folds.json");
  run("report", "gslda.json", "espca.json", "standardized.json", "evaluation.json", "other-folds.json", "-o", "mixed.html", "--figures", "mixed.figures");
  run("cluster", "sonar", "--report", "cluster.html", "--figures", "cluster.figures");
  imageTable("digits.csv", 3);
  run("evaluate", "digits.csv", "--method", "gslda", "-k", "1:6", "-o", "digits-e.json");
  run("select", "digits.csv", "-k", "1:12", "-o", "digits-s.json");
  run("report", "digits-s.json", "digits-e.json", "--data", "digits.csv", "--shape", "8x8", "-o", "images.html");
  strokeTable("strokes.csv");
  run("evaluate", "strokes.csv", "--method", "fisher,gslda", "-k", "1:12", "-o", "strokes-e.json");
  run("select", "strokes.csv", "-k", "1:30", "-o", "strokes-s.json");
  run("report", "strokes-s.json", "strokes-e.json", "--data", "strokes.csv", "--shape", "16x16", "-o", "strokes.html", "--figures", "strokes.figures");
  run("select", "sonar", "--method", "gspca", "--target", "none", "--exclude", "class", "-k", "1:6", "--components", "3", "--report", "components.html", "--figures", "components.figures");
  run("fit", "sonar", "-k", "1:6", "-o", "auto.json", "--report", "auto.html", "--figures", "auto.figures");
  run("fit", "sonar", "--method", "gslda", "-k", "1:5", "-o", "model.json", "--report", "fit.html");
  run("report", "model.json", "-o", "model.html", "--figures", "model.figures");
  run("reproduce", "icml06-fig1", "--quick", "--report", "reproduce.html", "--figures", "reproduce.figures");
  run("evaluate", "sonar", "--method", "all", "-o", "all.json", "--report", "all.html");
  hostileTable("hostile.csv");
  run("evaluate", "hostile.csv", "--target", "class", "--method", "gslda,fisher", "-k", "1:6", "-o", "hostile-e.json");
  run("select", "hostile.csv", "--target", "class", "-k", "1:14", "-o", "hostile-s.json");
  run("report", "hostile-s.json", "hostile-e.json", "-o", "hostile.html");
  await start();
});
after(stop);

const expected = {
  "eslda.html": ["summary", "path", "features", "loadings", "search", "provenance"],
  "espca.html": ["summary", "path", "features", "loadings", "search", "provenance"],
  "rvm.html": ["summary", "path", "features", "loadings", "weights", "lambda", "provenance"],
  "qalpha.html": ["summary", "path", "features", "loadings", "weights", "provenance"],
  "methods.html": ["summary", "path", "error", "features", "loadings", "stability", "prediction", "projection", "compare", "provenance"],
  "mixed.html": ["summary", "path", "error", "features", "loadings", "stability", "prediction", "projection", "compare", "provenance"],
  "cluster.html": ["summary", "weights", "clusters", "provenance"],
  "images.html": ["summary", "path", "error", "features", "images", "prediction", "projection", "provenance"],
  "strokes.html": ["summary", "path", "error", "features", "images", "prediction", "projection", "compare", "provenance"],
  "components.html": ["summary", "path", "features", "loadings", "provenance"],
  "auto.html": ["summary", "features", "compared", "provenance"],
  "fit.html": ["summary", "error", "features", "prediction", "provenance"],
  "model.html": ["summary", "features", "prediction", "provenance"],
  "reproduce.html": ["summary", "numbers", "provenance"],
  "all.html": ["summary", "error", "prediction", "provenance"]
};

describe("every kind of result", () => {
  for (const [file, panels] of Object.entries(expected)) {
    test(`${file} draws every panel, asks for nothing, and has no barrier`, async () => {
      for (const look of [{ theme: "light" }, { theme: "dark" }, { width: 390, height: 800 }]) {
        const { page, trouble, close } = await open(file, look);
        const seen = await seeAll(page);
        for (const panel of panels) {
          assert.ok(seen.includes(panel), `${file} has the panel ${panel}: ${seen}`);
          const figures = await page.locator(`#panel-${panel} figure[data-figure]`).count();
          assert.ok(figures > 0 || ["provenance", "error", "summary", "numbers"].includes(panel) || (panel === "features" && /fit|model/.test(file)), `${file}: ${panel} has a figure`);
        }
        assert.deepEqual(await flaws(page), []);
        assert.deepEqual(await untold(page), [], `${file} has a table behind every figure`);
        assert.deepEqual(await barriers(page), [], `${file} ${JSON.stringify(look)}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${file} is ${wide} pixels wider than the screen ${JSON.stringify(look)}`);
        assert.deepEqual(trouble, []);
        await close();
      }
    });
  }
});

describe("what can be done with it", () => {
  test("the slider drives every panel, and the address keeps what is looked at", async () => {
    const { page, trouble, close } = await open("methods.html", { hash: "#k=3&method=gslda" });
    const state = () => page.evaluate(() => ({ k: document.querySelector("output.k").textContent, which: document.querySelector(".answer .headline").textContent, verdict: document.querySelector(".verdict").textContent,
      reading: document.querySelector("#panel-path .reading").textContent, dot: [...document.querySelectorAll("#panel-path svg circle[r='6.5']")].map((c) => c.getAttribute("cx")).join(), rows: document.querySelectorAll("#panel-features .scroll.tall tbody tr").length,
      bars: document.querySelectorAll("#panel-loadings svg [data-mark=bar] rect").length, rule: [...document.querySelectorAll("#panel-error svg [data-mark=rule]")].map((g) => g.outerHTML).join() }));
    await seeAll(page);
    const before = await state();
    assert.equal(before.k, "3");
    assert.equal(before.rows, 3);
    await page.focus("#k");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await seeAll(page);
    const now = await state();
    assert.equal(now.k, "5");
    assert.equal(now.rows, 5);
    assert.equal(now.bars, 5);
    for (const name of ["which", "verdict", "reading", "dot", "rule"]) assert.notEqual(now[name], before[name], `${name} follows the slider`);
    assert.match(page.url(), /k=5/);
    await page.click('nav a[href="#panel=features"]');
    await page.waitForFunction(() => location.hash.includes("panel=features"));
    await page.reload();
    await page.waitForSelector("#app[data-ready]");
    assert.equal((await page.textContent("output.k")), "5");
    assert.ok(await page.evaluate(() => { const top = document.querySelector("#panel-features").getBoundingClientRect().top; return top > -10 && top < 300; }), "the panel of the address is on screen");
    assert.deepEqual(trouble, []);
    await close();
  });

  test("features are found by name, sorted by a head, and copied into a list", async () => {
    const { page, trouble, close } = await open("methods.html", { hash: "#k=6&method=gslda" });
    await seeAll(page);
    await page.locator("#search").scrollIntoViewIfNeeded();
    await page.locator("#search").pressSequentially("V4");
    const names = () => page.$$eval("#panel-features .scroll.tall tbody tr td:first-child", (cells) => cells.map((c) => c.textContent));
    assert.ok((await names()).every((name) => name.includes("V4")));
    assert.equal(await page.evaluate(() => document.activeElement.id), "search", "typing goes on");
    await page.fill("#search", "");
    await page.click("#panel-features th button:has-text('loading')");
    const loadings = await page.$$eval("#panel-features .scroll.tall tbody tr", (rows) => rows.map((r) => Number([...r.children].find((c) => c.querySelector(".plus, .minus")).textContent.replace("\u2212", "-"))));
    assert.deepEqual(loadings, [...loadings].sort((a, b) => b - a));
    assert.equal(await page.getAttribute("#panel-features th:has(button:has-text('loading'))", "aria-sort"), "descending");
    assert.ok((await page.$$eval("#panel-features th", (heads) => heads.map((h) => h.textContent))).includes("loss without it"));
    assert.deepEqual(trouble, []);
    await close();
  });

  test("every figure leaves as SVG, PNG and CSV, and has its numbers as a table", async () => {
    const { page, trouble, close } = await open("methods.html", { hash: "#k=3&method=gslda" });
    await seeAll(page);
    for (const id of ["path", "error", "features", "loadings", "stability", "confusion", "roc", "calibration", "projection", "compare", "ranking", "differences"]) {
      const figure = page.locator(`.panel:not(#panel-summary) figure[data-figure="${id}"]`).first();
      const svg = await saved(page, figure.getByRole("button", { name: "as SVG" }));
      const text = svg.bytes.toString();
      assert.match(svg.name, /\.svg$/);
      assert.ok(await page.evaluate((t) => !new DOMParser().parseFromString(t, "image/svg+xml").querySelector("parsererror"), text), `${id} is XML`);
      assert.ok(!/var\(|<script|<style|NaN/.test(text), `${id} needs no style of the page`);
      const csv = await saved(page, figure.getByRole("button", { name: "as CSV" }));
      assert.ok(csv.bytes.toString().split("\r\n").length > 2, `${id} has rows`);
      await figure.locator("summary").click();
      await figure.locator("tbody tr").first().waitFor({ timeout: 5000 });
    }
    const png = await saved(page, page.locator('#panel-path figure[data-figure="path"]').getByRole("button", { name: "as PNG" }));
    assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
    assert.ok(png.bytes.length > 5000);
    assert.deepEqual(trouble, []);
    await close();
  });

  test("on paper every panel is there, on white", async () => {
    const { page, trouble, close } = await open("methods.html", { theme: "dark" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    assert.deepEqual(await flaws(page), []);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.equal(await page.evaluate(() => [...document.querySelectorAll(".behind:not([open]), .save, .bar, nav")].filter((e) => e.getClientRects().length > 0).length), 0, "nothing to press is on paper");
    assert.ok((await page.pdf()).length > 20000);
    assert.deepEqual(trouble, []);
    await close();
  });

  test("a picture shows the chosen pixels, and others at another size", async () => {
    const { page, trouble, close } = await open("images.html", { hash: "#k=2" });
    await seeAll(page);
    const mask = () => page.evaluate(() => { const canvas = document.querySelector('[data-figure="mask-1"] canvas'); const { data } = canvas.getContext("2d").getImageData(0, 0, 8, 8); let orange = 0; for (let i = 0; i < data.length; i += 4) if (data[i] > data[i + 2] + 60) ++orange; return orange; });
    assert.equal(await mask(), 2);
    await page.focus("#k");
    for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowRight");
    await seeAll(page);
    assert.equal(await mask(), 5);
    assert.deepEqual(trouble, []);
    await close();
  });
});

test("the figures that are written without a browser are those of the page", async () => {
  for (const name of ["eslda", "espca", "rvm", "qalpha", "methods", "mixed", "cluster", "components", "auto", "model", "reproduce", "strokes"]) {
    const written = readdirSync(path(`${name}.figures`)).map((file) => file.replace(/\.svg$/, ""));
    const { page, close } = await open(`${name}.html`);
    const methods = await page.$$eval("#method option", (options) => options.map((option) => option.value));
    for (const method of methods.length > 1 ? methods : [""]) {
      if (method) await page.selectOption("#method", method);
      await seeAll(page);
      const ids = await page.$$eval(".panel:not(#panel-summary) figure[data-figure]", (figures) => figures.map((figure) => figure.dataset.figure));
      for (const id of ids) assert.ok(written.some((file) => file === id || file.startsWith(`${id}-`)), `${name}: ${id} is among ${written}`);
    }
    await close();
  }
});

describe("like is compared with like", () => {
  test("objectives of another criterion, ridge or preparation prove nothing and are not drawn beside", async () => {
    const { page, trouble, close } = await open("mixed.html", { hash: "#k=3&method=gslda" });
    await seeAll(page);
    assert.equal(await page.locator(".answer .headline").nth(1).textContent(), "Nothing proves it");
    assert.doesNotMatch(await page.textContent("#panel-path figure"), /espca|gslda \(2\)/);
    assert.match(await page.textContent("#panel-compare"), /did not hold out the same rows/);
    assert.match(await page.textContent("#panel-compare"), /objectives measure different things/);
    await page.selectOption("#method", "espca");
    await seeAll(page);
    assert.equal(await page.locator(".answer .headline").nth(1).textContent(), "Yes, proven");
    assert.deepEqual(trouble, []);
    await close();
  });
  test("commands that answer an open question read and prepare the rows as before", async () => {
    const first = await open("mixed.html", { hash: "#k=3&method=gslda+(2)" });
    const commands = (page) => page.$$eval(".answer .command code", (codes) => codes.map((code) => code.textContent));
    assert.deepEqual(await commands(first.page), ["$ subspectra select sonar --method eslda -k 3 --standardize --exclude V1 --ridge 0.1 --time-limit 60 -o proof.json", "$ subspectra evaluate sonar --method gslda -k 1:10 --standardize --exclude V1 --ridge 0.1 --repeats 10 -o evaluation.json"]);
    await first.close();
    const second = await open("qalpha.html");
    assert.deepEqual(await commands(second.page), ["$ subspectra select sonar --method espca -k 20 --target none --exclude class --time-limit 60 -o proof.json"]);
    await second.close();
  });
  test("beside an exact search stands what the greedy one ends at", async () => {
    for (const file of ["eslda.html", "espca.html"]) {
      const { page, trouble, close } = await open(file);
      await seeAll(page);
      const csv = (await saved(page, page.locator('#panel-path figure[data-figure="path"]').getByRole("button", { name: "as CSV" }))).bytes.toString().trim().split("\r\n").map((line) => line.split(","));
      const at = csv[0].indexOf("greedy");
      assert.ok(at > 0, `${file}: ${csv[0]}`);
      for (const row of csv.slice(1)) assert.ok(Number(row[at]) > 0 && Number(row[at]) <= Number(row[1]) * (1 + 1e-9), row.join());
      assert.match(await page.textContent("#panel-path svg"), /greedy/);
      assert.deepEqual(trouble, []);
      await close();
    }
  });
});

test("commands have -k as it was typed", async () => {
  const typed = async (file) => { const { page, close } = await open(file); const text = await page.textContent(".made .command code"); await close(); return text; };
  assert.equal(await typed("fit.html"), "$ subspectra fit sonar --method gslda -k 1:5 -o model.json");
  assert.equal(await typed("auto.html"), "$ subspectra fit sonar -k 1:6 -o model.json");
  assert.equal(await typed("model.html"), "$ subspectra fit DATA --method gslda -k 1:5 -o model.json");
  assert.equal(await typed("cluster.html"), "$ subspectra cluster sonar");
});

test("with the keyboard alone: over the bar to the results, and to a panel", async () => {
  const { page, trouble, close } = await open("methods.html");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.focus('nav a[href="#panel=stability"]');
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "title-stability");
  await page.focus("#k");
  await page.keyboard.press("End");
  assert.equal(await page.textContent("output.k"), "10");
  await page.keyboard.press("Home");
  assert.equal(await page.textContent("output.k"), "1");
  assert.deepEqual(trouble, []);
  await close();
});

describe("what a kind of result alone has", () => {
  test("the animation runs through all sizes, and the picture with it", async () => {
    const { page, trouble, close } = await open("strokes.html", { hash: "#k=26&method=gslda&panel=images" });
    const mask = () => page.evaluate(() => { const { data } = document.querySelector('[data-figure="mask-1"] canvas').getContext("2d").getImageData(0, 0, 16, 16); let count = 0; for (let i = 0; i < data.length; i += 4) if (data[i] > data[i + 2] + 60) ++count; return count; });
    await page.waitForSelector('[data-figure="mask-1"] canvas');
    assert.equal(await mask(), 26);
    await page.click("button.play");
    assert.equal(await page.getAttribute("button.play", "aria-pressed"), "true");
    await page.waitForFunction(() => document.querySelector("output.k").textContent === "30" && document.querySelector("button.play").getAttribute("aria-pressed") === "false", undefined, { timeout: 10000 });
    await page.waitForTimeout(100);
    assert.equal(await mask(), 30);
    assert.deepEqual(trouble, []);
    await close();
  });

  test("components beyond the first have loadings of their own, and follow the slider", async () => {
    const { page, trouble, close } = await open("components.html", { hash: "#k=2" });
    await seeAll(page);
    const bars = () => page.evaluate(() => ["loadings", "loadings-2", "loadings-3"].map((id) => document.querySelectorAll(`#panel-loadings figure[data-figure="${id}"] svg [data-mark=bar] rect`).length));
    assert.deepEqual(await bars(), [2, 2, 2]);
    assert.match(await page.textContent("#panel-loadings .reading"), /3 components/);
    await page.focus("#k");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await seeAll(page);
    assert.deepEqual(await bars(), [4, 4, 4]);
    assert.equal(await page.locator("#panel-loadings table[class], #panel-loadings .panel-body > .scroll tbody tr").count(), 3);
    assert.deepEqual(trouble, []);
    await close();
  });

  test("a model that was chosen among several says what was compared", async () => {
    const { page, trouble, close } = await open("auto.html");
    await seeAll(page);
    const rows = await page.$$eval("#panel-compared .scroll.tall tbody tr", (found) => found.map((r) => [...r.children].map((c) => c.textContent)));
    const errors = JSON.parse(readFileSync(path("auto.json"), "utf8")).chosen_by.candidates.map((c) => c.error).sort((a, b) => a - b);
    assert.equal(rows.length, errors.length);
    rows.forEach((row, i) => assert.ok(row[1].startsWith((100 * errors[i]).toFixed(1)), row[1]));
    assert.equal(rows.filter((row) => row[0].includes("\u2713")).length, 1);
    assert.match(await page.textContent("#panel-summary"), /inner folds/);
    assert.deepEqual(trouble, []);
    await close();
  });

  test("many classes of many pixels: a mask a class, and every class in the matrix", async () => {
    const { page, trouble, close } = await open("strokes.html", { hash: "#k=8" });
    await seeAll(page);
    assert.equal(await page.locator("#panel-images figure[data-figure^='mask-'] canvas").count(), 10);
    const orange = await page.evaluate(() => { const canvas = document.querySelector('[data-figure="mask-4"] canvas'); const { data } = canvas.getContext("2d").getImageData(0, 0, 16, 16); let count = 0; for (let i = 0; i < data.length; i += 4) if (data[i] > data[i + 2] + 60) ++count; return count; });
    assert.equal(orange, 8);
    assert.equal(await page.locator('#panel-prediction figure[data-figure="confusion"] svg rect').count(), 100);
    assert.deepEqual(trouble, []);
    await close();
  });
});

test("in a frame without rights, as notebooks show it, it works the same", async () => {
  const escaped = readFileSync(path("methods.html"), "utf8").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[^\x00-\x7f]/gu, (c) => `&#${c.codePointAt(0)};`);
  writeFileSync(path("notebook.html"), `<!DOCTYPE html><div id="app" data-ready="true">Notebook</div><iframe sandbox="allow-scripts allow-downloads allow-modals" style="width:100%;height:700px" srcdoc="${escaped}"></iframe>`);
  const { page, trouble, close } = await open("notebook.html");
  const frame = page.frames()[1];
  await frame.waitForSelector("#app[data-ready]");
  const before = Number(await frame.textContent("output.k"));
  await frame.focus("#k");
  await page.keyboard.press("ArrowRight");
  await frame.waitForFunction((k) => document.querySelector("output.k").textContent === String(k), before + 1);
  assert.ok((await saved(page, frame.locator('figure[data-figure="summary"]').getByRole("button", { name: "as SVG" }))).bytes.length > 1000);
  assert.deepEqual(trouble, []);
  await close();
});

describe("names are data", () => {
  const harmless = async (file) => {
    const { page, trouble, close } = await open(file, { hash: "#k=14&method=gslda" });
    const seen = await seeAll(page);
    assert.ok(seen.includes("compare"));
    assert.deepEqual(await flaws(page), []);
    for (const details of await page.locator("details").all()) await details.evaluate((d) => { d.open = true; });
    assert.equal(await page.locator("img, iframe, object, embed, #app script, a[href^='javascript']").count(), 0);
    assert.ok((await page.textContent("#panel-features")).includes("</script><img src=x onerror=alert(1)>"), "it is shown as text");
    assert.ok(!/[\u202e\u0001]/.test(await page.textContent("#app")), "marks that turn the direction are shown, not obeyed");
    const svg = await saved(page, page.locator('#panel-features figure[data-figure="features"]').getByRole("button", { name: "as SVG" }));
    assert.doesNotMatch(svg.bytes.toString(), /<img|<script|<svg onload/);
    const csv = (await saved(page, page.getByRole("button", { name: "The list of features as CSV" }))).bytes.toString();
    for (const formula of ["=1+1", "+cmd", "@SUM(1)", "-2"]) assert.ok(new RegExp(`(^|\\n|,)"?'${formula.replace(/[+()|]/g, "\\$&")}`).test(csv), `${formula} is text in a spreadsheet`);
    await page.waitForTimeout(200);
    assert.deepEqual(trouble, []);
    await close();
  };
  test("hostile names do nothing", () => harmless("hostile.html"));
  test("nor do they without the policy", async () => {
    const html = readFileSync(path("hostile.html"), "utf8");
    const bare = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");
    assert.notEqual(bare, html);
    writeFileSync(path("bare.html"), bare);
    await harmless("bare.html");
  });
  test("the policy forbids what is not in the bundle", async () => {
    const html = readFileSync(path("hostile.html"), "utf8");
    assert.match(html, /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src blob:;/);
    assert.equal(html.match(/<script/g).length, 2);
    writeFileSync(path("injected.html"), html.replace("<div id=\"app\">", "<script>window.injected = true</script><div id=\"app\">"));
    const { page, trouble, close } = await open("injected.html");
    assert.equal(await page.evaluate(() => window.injected), undefined);
    assert.ok(trouble.length > 0, "the browser says so");
    await close();
  });
});

describe("many features", () => {
  test("54,613 features and 200 sizes are less than 15 MB, open, and say what was left out", async () => {
    const features = 54613;
    let seed = 3;
    const next = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    const order = Array.from({ length: features }, (_, i) => i).sort((a, b) => ((a * 7919) % features) - ((b * 7919) % features));
    const result = {
      schema: "subspectra.selection/1", version: "0.1.0", method: "fisher", status: "heuristic", options: { k: [1, 200], seed: 0 }, data: { source: "genes.csv", rows: 72, features, names: Array.from({ length: features }, (_, i) => `gene_${i}_at`), classes: ["ALL", "AML"], class_counts: [47, 25] },
      path: Array.from({ length: 200 }, (_, i) => { const set = order.slice(0, i + 1).sort((a, b) => a - b); return { k: i + 1, features: set, names: set.map((f) => `gene_${f}_at`), objective: Math.log(i + 2), loadings: set.map(() => [next() - 0.5]) }; }),
      ranking: order, weights: Array.from({ length: features }, next), timing: { total_s: 1 }, warnings: []
    };
    writeFileSync(path("big.json"), JSON.stringify(result));
    run("report", "big.json", "-o", "big.html");
    const bytes = readFileSync(path("big.html")).length;
    assert.ok(bytes < 15_000_000, `${bytes} bytes`);
    const begun = performance.now();
    const { page, trouble, close } = await open("big.html");
    const opened = performance.now() - begun;
    console.log(`# big page: ${(bytes / 1e6).toFixed(1)} MB, open after ${Math.round(opened)} ms with the browser's own start`);
    assert.ok(opened < 5000, "a second where nothing else runs");
    const seen = await seeAll(page);
    assert.ok(seen.includes("weights"));
    assert.ok((await page.locator('#panel-features [data-figure="features"] canvas').count()) === 1, "so many tiles are painted");
    assert.match(await page.textContent(".left-out"), /names of features that no set mentions/);
    assert.deepEqual(await flaws(page), []);
    assert.deepEqual(trouble, []);
    await close();
  });
});

