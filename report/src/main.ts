/// The frame: reads the data, keeps what is looked at (table, method, size, panel) in the address, and draws the panels that are seen.
import { decode, groupsOf, leadingMethod, readPage, startK, type Group, type PageData } from "./data";
import { h, icon, replace, shown } from "./dom";
import { bodyOf, isPlaying, listedPanels, missingOf, setPlaying, stopPlaying, verdict, type Panel, type State } from "./panels";
import { announcing, drawAll, isDark, setPrinting } from "./view";
import { counted } from "./words";

const kSun = "M8 3V1.5M8 14.5V13M3 8H1.5M14.5 8H13M4.5 4.5l-1-1M12.5 12.5l-1-1M4.5 11.5l-1 1M12.5 3.5l-1 1M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z";
const kMoon = "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z";
const kPrint = "M4.5 6V2h7v4M4.5 11.5h-2v-5h11v5h-2M4.5 9.5h7V14h-7z";

function start(page: PageData): void {
  const app = document.getElementById("app")!;
  const groups = groupsOf(page);
  if (groups.length === 0) { replace(app, h("p", { class: "loading" }, "This page holds no result.")); return; }

  const address = new URLSearchParams(location.hash.slice(1));
  const group = groups[Number(address.get("data") ?? 1) - 1] ?? groups[0];
  const method = group.methods.find((m) => m.name === address.get("method")) ?? leadingMethod(group);
  const state: State = { page, group, method, k: startK(group, method), measure: "error", search: "", sort: { column: 0, down: false }, searchK: null };
  const asked = Number(address.get("k"));
  if (group.ks.includes(asked)) state.k = asked;
  let current = address.get("panel") ?? "";

  // --- the bar -----------------------------------------------------------------------------------------------------
  const slider = h("input", { type: "range", id: "k", min: 0, step: 1 });
  const kText = h("output", { for: "k", class: "k" });
  const step = (by: number) => { const i = state.group.ks.indexOf(state.k ?? NaN) + by; if (i >= 0 && i < state.group.ks.length) setK(state.group.ks[i]); };
  const lower = h("button", { type: "button", "aria-label": "one size less", click: () => { stopPlaying(); step(-1); } }, icon("M10 3 5 8l5 5"));
  const higher = h("button", { type: "button", "aria-label": "one size more", click: () => { stopPlaying(); step(1); } }, icon("M6 3l5 5-5 5"));
  const play = h("button", { type: "button", "aria-label": "run through all sizes", class: "play", click: () => {
    if (isPlaying()) { stopPlaying(); showPlay(); return; }
    const ks = state.group.ks;
    if (state.k === ks[ks.length - 1]) setK(ks[0]);
    setPlaying(setInterval(() => { const i = ks.indexOf(state.k ?? NaN); if (i + 1 >= ks.length) { stopPlaying(); showPlay(); } else setK(ks[i + 1]); }, ks.length > 60 ? 120 : 450));
    showPlay();
  } });
  const showPlay = () => { play.replaceChildren(icon(isPlaying() ? "M5 3v10M11 3v10" : "M5 3l8 5-8 5z")); play.setAttribute("aria-pressed", String(isPlaying())); };
  showPlay();
  const kBox = h("div", { class: "kbox", role: "group", "aria-label": "number of features" }, h("label", { for: "k" }, h("i", {}, "k"), " ="), kText, lower, slider, higher, play);
  const methodSelect = h("select", { id: "method", change: () => { const found = state.group.methods.find((m) => m.name === methodSelect.value); if (found) setMethod(found.name); } });
  const methodBox = h("div", { class: "field" }, h("label", { for: "method" }, "Method"), methodSelect);
  const groupSelect = h("select", { id: "group", change: () => setGroup(groups[groupSelect.selectedIndex]) }, groups.map((g) => h("option", {}, shown(g.source, 40) + (g.target && groups.some((other) => other !== g && other.source === g.source) ? ` (${shown(g.target, 20)})` : ""))));
  const groupBox = h("div", { class: "field" }, h("label", { for: "group" }, "Data"), groupSelect);
  groupSelect.selectedIndex = groups.indexOf(group);
  const theme = h("button", { type: "button", class: "theme", click: () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; showTheme(); drawAll(app); refresh(); } });
  const showTheme = () => { theme.replaceChildren(icon(isDark() ? kSun : kMoon)); theme.setAttribute("aria-label", isDark() ? "light colours" : "dark colours"); };
  showTheme();
  const print = h("button", { type: "button", "aria-label": "print", click: () => window.print() }, icon(kPrint));
  const bar = h("div", { class: "bar", role: "toolbar", "aria-label": "What is looked at" }, groups.length > 1 ? groupBox : null, methodBox, kBox, h("div", { class: "tools" }, theme, print));

  // --- head, list of panels, panels ------------------------------------------------------------------------------------
  const title = h("h1"), about = h("p", { class: "about" }), says = h("p", { class: "verdict", "aria-live": "polite" });
  const menu = h("ul");
  const nav = h("nav", { "aria-label": "Panels" }, menu);
  const main = h("main", { id: "main" });
  const head = h("header", {}, h("div", { class: "titles" }, title, about), says);
  replace(app, h("a", { class: "skip", href: "#main", click: (event) => { event.preventDefault(); main.tabIndex = -1; main.focus(); } }, "To the results"), head, bar, h("div", { class: "body" }, nav, main),
    h("footer", {}, h("p", {}, `Subspectra ${page.version}. One file, no network: it opens from disk and can be sent as it is. Rows of the table are not in it.`)), announcing);

  let shownPanels: { panel: Panel; section: HTMLElement; body: HTMLElement; link: HTMLAnchorElement; stale: boolean }[] = [];
  const inView = new Set<Element>();
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      entry.isIntersecting ? inView.add(entry.target) : inView.delete(entry.target);
      if (entry.isIntersecting) fill(shownPanels.find((p) => p.section === entry.target));
    }
  }, { rootMargin: "900px 0px" });

  function fill(one: (typeof shownPanels)[number] | undefined): void {
    if (!one || !one.stale) return;
    one.stale = false;
    const missing = missingOf(one.panel, state);
    one.section.classList.toggle("without", missing !== null);
    one.link.classList.toggle("without", missing !== null);
    // The field somebody types in must survive what typing does.
    const focused = document.activeElement instanceof HTMLInputElement && one.body.contains(document.activeElement) ? document.activeElement : null;
    const [from, to, id] = focused ? [focused.selectionStart, focused.selectionEnd, focused.id] : [null, null, ""];
    const scrolled = [...one.body.querySelectorAll(".tall")].map((e) => [e.scrollTop, e.scrollLeft]);
    replace(one.body, bodyOf(one.panel, state, () => { one.stale = true; fill(one); }));
    drawAll(one.body);
    [...one.body.querySelectorAll(".tall")].forEach((e, i) => { if (scrolled[i]) { e.scrollTop = scrolled[i][0]; e.scrollLeft = scrolled[i][1]; } });
    if (focused) { const again = document.getElementById(id) as HTMLInputElement | null; again?.focus(); try { again?.setSelectionRange(from, to); } catch { /* a field without a cursor */ } }
  }

  let waiting = 0;
  function refresh(): void {
    for (const one of shownPanels) one.stale = true;
    showHead();
    if (waiting) return;
    waiting = requestAnimationFrame(() => { waiting = 0; for (const one of shownPanels) if (inView.has(one.section)) fill(one); });
  }

  function showHead(): void {
    const g = state.group;
    const name = g.reproduction ? g.source : g.source.split("/").pop() || g.source;
    title.textContent = shown(name, 80);
    document.title = `${shown(name, 60)} \u2013 Subspectra report`;
    const classes = g.classes.slice(0, 6).map((c, i) => `${shown(c, 24)}${Number.isFinite(g.classCounts[i]) ? `: ${g.classCounts[i].toLocaleString("en-US")}` : ""}`);
    about.textContent = [g.rows ? counted(g.rows, "row") : "", g.features ? counted(g.features, "feature") : "", g.classes.length ? `${counted(g.classes.length, "class", "classes")} (${classes.join(", ")}${g.classes.length > 6 ? ", \u2026" : ""})` : g.reproduction ? "" : "no classes"].filter(Boolean).join(" \u00b7 ");
    says.textContent = verdict(state);
    const at = g.ks.indexOf(state.k ?? NaN);
    slider.max = String(Math.max(g.ks.length - 1, 0));
    slider.value = String(Math.max(at, 0));
    slider.setAttribute("aria-valuetext", `k = ${state.k}`);
    kText.textContent = state.k === null ? "" : String(state.k);
    lower.disabled = at <= 0;
    higher.disabled = at < 0 || at + 1 >= g.ks.length;
    kBox.hidden = g.ks.length < 2;
    methodBox.hidden = g.methods.length < 2;
  }

  function remember(): void {
    const parts = new URLSearchParams();
    if (groups.length > 1) parts.set("data", String(groups.indexOf(state.group) + 1));
    if (state.method && state.group.methods.length > 1) parts.set("method", state.method.name);
    if (state.k !== null) parts.set("k", String(state.k));
    if (current) parts.set("panel", current);
    try { history.replaceState(null, "", `#${parts}`); } catch { /* some viewers keep no address */ }
  }

  function setK(k: number): void { state.k = k; refresh(); remember(); }
  function setMethod(name: string): void {
    state.method = state.group.methods.find((m) => m.name === name) ?? state.method;
    if (state.k === null || !state.group.ks.includes(state.k)) state.k = startK(state.group, state.method);
    build();
    remember();
  }
  function setGroup(next: Group): void {
    stopPlaying();
    state.group = next;
    state.method = leadingMethod(next);
    state.k = startK(next, state.method);
    state.search = "";
    build();
    remember();
  }

  function build(): void {
    methodSelect.replaceChildren(...state.group.methods.map((m) => h("option", { value: m.name, selected: m === state.method }, shown(m.name, 40))));
    for (const one of shownPanels) near.unobserve(one.section);
    inView.clear();
    shownPanels = listedPanels(state).map((panel) => {
      const body = h("div", { class: "panel-body" });
      const section = h("section", { id: `panel-${panel.id}`, class: "panel", "aria-labelledby": `title-${panel.id}` }, h("h2", { id: `title-${panel.id}`, tabindex: -1 }, panel.title), panel.says ? h("p", { class: "says" }, panel.says) : null, body);
      const link = h("a", { href: `#panel=${panel.id}`, click: (event) => { event.preventDefault(); go(panel.id, true); } }, panel.title);
      return { panel, section, body, link, stale: true };
    });
    menu.replaceChildren(...shownPanels.map((p) => h("li", {}, p.link)));
    main.replaceChildren(...shownPanels.map((p) => p.section));
    for (const one of shownPanels) { const without = missingOf(one.panel, state) !== null; one.section.classList.toggle("without", without); one.link.classList.toggle("without", without); }
    showHead();
    for (const one of shownPanels.slice(0, 2)) fill(one);
    for (const one of shownPanels) near.observe(one.section);
    spy();
  }

  function go(id: string, focus: boolean): void {
    const one = shownPanels.find((p) => p.panel.id === id);
    if (!one) return;
    // What lies above takes its height first, or the place would move away.
    for (const above of shownPanels) { fill(above); if (above === one) break; }
    one.section.scrollIntoView({ block: "start" });
    if (focus) (one.section.querySelector("h2") as HTMLElement).focus({ preventScroll: true });
    current = id;
    remember();
    mark();
  }
  function mark(): void { for (const one of shownPanels) one.panel.id === current ? one.link.setAttribute("aria-current", "location") : one.link.removeAttribute("aria-current"); }
  function spy(): void {
    const line = bar.getBoundingClientRect().bottom + 120;
    const found = [...shownPanels].reverse().find((p) => p.section.getBoundingClientRect().top <= line) ?? shownPanels[0];
    const bottom = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
    const id = (bottom && current === shownPanels[shownPanels.length - 1]?.panel.id ? current : found?.panel.id) ?? "";
    if (id !== current) { current = id; remember(); }
    mark();
  }

  slider.addEventListener("input", () => { stopPlaying(); showPlay(); const k = state.group.ks[Number(slider.value)]; if (k !== undefined) setK(k); });
  let spying = 0;
  addEventListener("scroll", () => { if (!spying) spying = requestAnimationFrame(() => { spying = 0; spy(); }); }, { passive: true });
  let resizing = 0;
  new ResizeObserver(() => { if (!resizing) resizing = requestAnimationFrame(() => { resizing = 0; drawAll(app, false); }); }).observe(main);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { showTheme(); refresh(); });
  addEventListener("hashchange", () => {
    const next = new URLSearchParams(location.hash.slice(1));
    const k = Number(next.get("k"));
    if (state.group.ks.includes(k) && k !== state.k) setK(k);
    const panel = next.get("panel");
    if (panel && panel !== current) go(panel, false);
  });
  const paper = (now: boolean) => { setPrinting(now); for (const one of shownPanels) { one.stale = true; fill(one); } };
  addEventListener("beforeprint", () => paper(true));
  addEventListener("afterprint", () => paper(false));

  const wanted = current;
  build();
  if (wanted && wanted !== "summary") go(wanted, false);
  app.dataset.ready = "true";
}

async function run(): Promise<void> {
  const app = document.getElementById("app")!;
  try {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot unpack the data; one of 2023 or later can");
    start(readPage(await decode(document.getElementById("data")!.textContent ?? "")));
  } catch (problem) {
    replace(app, h("p", { class: "loading" }, `This report cannot be shown: ${problem instanceof Error ? problem.message : String(problem)}`));
    throw problem;
  }
}

void run();
