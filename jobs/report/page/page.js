// Fills the page from the model (figures, table, charts), and handles the reader's input.
"use strict";

const model = JSON.parse(document.getElementById("model").textContent);
const root = document.documentElement;
const element = id => document.getElementById(id);

const KINDS = {
  "computes": "computes", "waits": "waits as a spare", "commit": "commit", "disk": "writes to disk",
  "again": "computes again",
  "recovery": "recovery", "interrupt": "interrupt", "agree": "agree", "rebuild": "rebuild", "restore": "restore",
  "died": "process died", "takes over": "spare takes the rank", "silent": "finds another silent",
  "learns": "learns of a death", "message": "message",
};
const COUNTED = { "commit": "version", "restore": "version", "died": "", "silent": "process", "learns": "of process",
                  "message": "with process", "disk": "", "again": "steps:" };

/** Makes <tag class="...">content</tag>; content is text or elements. */
function make(tag, content = [], attributes = {}) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...[content].flat());
  return made;
}

const number = (value, digits = 2) => (value == null ? "–" : value.toFixed(digits));
const cell = value => make("td", value, { class: "number" });
const head = (content, attributes = {}) => make("th", content, { scope: "col", ...attributes });
const numbersHead = content => head(content, { class: "number" });

// --- light and dark --------------------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");

let picked = null;
try { picked = localStorage.getItem("mend-theme"); } catch { /* a page from a file may have no storage */ }

function applyTheme() {
  const theme = picked ?? (dark.matches ? "dark" : "light");
  root.dataset.theme = theme;
  element("theme").textContent = theme === "dark" ? "Light" : "Dark";
  for (const plot of plots) plot.redraw();
}

function switchTheme() {
  picked = root.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("mend-theme", picked); } catch { /* it is forgotten with the page */ }
  applyTheme();
}

const plots = [];
applyTheme();
dark.addEventListener("change", applyTheme);
element("theme").addEventListener("click", switchTheme);

// --- the beginning of the page ---------------------------------------------------------------------------------

function figure(name, value, more = "") {
  element("figures").append(make("div", [make("dt", name), make("dd", [String(value), make("small", more ? " " + more : "")])]));
}

function fillFigures() {
  document.title = `${model.name} – mend report`;
  element("name").textContent = model.name;
  if (model.origin_us) element("when").textContent = new Date(model.origin_us / 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
  figure("Ranks", model.ranks, model.spares ? `and ${model.spares} spare${model.spares === 1 ? "" : "s"}` : "");
  figure("Time", timeText(1e6 * model.economy.run_s));
  if (model.deaths != null) figure("Processes died", model.deaths);
  figure("Recoveries", model.recoveries.length);
  const sums = model.recoveries.map(recovery => recovery.sum_ms).sort((a, b) => a - b);
  if (sums.length) figure("Recovery, median", number((sums[Math.floor(sums.length / 2)] + sums[Math.floor((sums.length - 1) / 2)]) / 2), "ms");
  figure("Commits", model.economy.commits);
  if (model.economy.commits) figure("A commit, mean", timeText(1e6 * model.economy.commit_s / model.economy.commits));
}

// --- recoveries ------------------------------------------------------------------------------------------------

const PHASES = model.phases;

function phaseBar(recovery, longest) {
  const parts = PHASES.filter(phase => recovery.phases[phase] > 0).map(phase =>
    make("span", [], { style: `flex-grow:${recovery.phases[phase]};background:var(--${phase === "detect" ? "silent" : phase})`,
                       title: `${phase} ${number(recovery.phases[phase])} ms` }));
  return make("div", parts, { class: "phases", style: `width:${100 * recovery.sum_ms / longest}%` });
}

function fillRecoveries(timeline) {
  if (!model.recoveries.length) return element("recoveries-section").remove();
  const known = PHASES.filter(phase => model.recoveries.some(recovery => recovery.phases[phase] != null));
  const longest = Math.max(...model.recoveries.map(recovery => recovery.sum_ms), 1e-9);
  const phaseHead = phase => numbersHead([
    make("span", [], { class: "swatch", style: `background:var(--${phase === "detect" ? "silent" : phase})` }), phase]);
  element("recoveries").append(make("thead", make("tr", [head("#"), ...(timeline ? [numbersHead("at")] : []), head("died"),
    head("taken over by"), ...known.map(phaseHead), numbersHead("sum"), head("", { "aria-label": "phases" })])));
  const rows = model.recoveries.map(recovery => {
    const jump = make("button", String(recovery.number),
                      { type: "button", title: "Show it", "aria-label": `Show recovery ${recovery.number}` });
    jump.addEventListener("click", () => timeline?.showRecovery(recovery));
    const successors = (recovery.replacements ?? []).map(place => `process ${place.newcomer}`).join(", ");
    return make("tr", [make("td", timeline ? jump : String(recovery.number)),
      ...(timeline ? [cell(timeText(timeline.momentOf(recovery)))] : []),
      make("td", recovery.who), make("td", successors || "–"), ...known.map(phase => cell(number(recovery.phases[phase]))),
      cell(number(recovery.sum_ms)), make("td", phaseBar(recovery, longest), { class: "bar" })]);
  });
  element("recoveries").append(make("tbody", rows));
}

// --- local rollback ----------------------------------------------------------------------------------------------

/** The log of each rank, as columns of equal width. */
function logBars(local) {
  const longest = Math.max(local.most_logged, 1);
  const back = new Set(local.back.map(one => one.rank));
  return make("div", local.ranks.map(({ rank, kept, logged }) =>
    make("span", [], { style: `height:${Math.max(100 * logged / longest, 4)}%`, class: back.has(rank) ? "back" : "",
                       title: `rank ${rank}: ${bytesText(logged)} logged; ${back.has(rank) ? "went back" : `keeps ${kept} steps`}` })),
    { class: "logs" });
}

function fillRollbacks() {
  const local = model.recoveries.filter(recovery => recovery.local);
  if (!local.length) return element("rollbacks-section").remove();
  element("rollbacks").append(make("thead", make("tr", [head("#"), head("went back"), numbersHead("to version"),
    numbersHead("steps again"), numbersHead("steps kept"), numbersHead("logs of all"), numbersHead("of a rank, most"),
    head("log of each rank")])));
  element("rollbacks").append(make("tbody", local.map(({ number: count, local }) => make("tr", [make("td", String(count)),
    make("td", local.who), cell(String(local.version)), cell(local.again == null ? "–" : String(local.again)),
    cell(String(local.kept)), cell(bytesText(local.logged)), cell(bytesText(local.most_logged)),
    make("td", logBars(local), { class: "bar" })]))));
}

// --- commits ---------------------------------------------------------------------------------------------------

function fillCommits() {
  if (!model.economy.commits) return element("commits-section").remove();
  element("advice").textContent = model.economy.advice + ".";
  if (model.commits.length < 2) return element("commits-chart").remove();
  const parent = element("commits");
  const costs = model.commits.map(commit => commit.cost / 1000);
  const plot = new uPlot({
    width: parent.clientWidth,
    height: 200,
    padding: [12, 16, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: true, y: false } },
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, max * 1.1 || 1] } },
    axes: [timeAxis(), { ...axis(), size: 70, values: (_, splits) => splits.map(cost => `${+cost.toPrecision(6)} ms`) }],
    series: [{}, { stroke: () => colour("commit"), width: 1, points: { show: costs.length < 400, size: 5, fill: () => colour("commit") } }],
    hooks: { setCursor: [({ cursor }) => tellCommit(cursor, plot)] },
  }, [model.commits.map(commit => commit.begin), costs], parent);
  new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height: 200 })).observe(parent);
  plots.push(plot);
}

function tellCommit(cursor, plot) {
  const commit = cursor.left >= 0 ? model.commits[cursor.idx] : null;
  if (!commit) return hideTip();
  tip(plot.over, cursor.left, cursor.top, `version ${commit.version}`,
      `${timeText(commit.cost)}, ${bytesText(commit.bytes)} a rank`);
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes > 0 ? Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1) : 0;
  return `${+(bytes / 1024 ** power).toPrecision(3)} ${units[power]}`;
}

// --- the timeline ----------------------------------------------------------------------------------------------

function tip(over, left, top, heading, text) {
  const box = over.getBoundingClientRect();
  const shown = element("tip");
  shown.replaceChildren(make("b", heading), make("br"), text);
  shown.hidden = false;
  shown.style.left = Math.min(box.left + left + 14, innerWidth - shown.offsetWidth - 8) + "px";
  shown.style.top = Math.min(box.top + top + 14, innerHeight - shown.offsetHeight - 8) + "px";
}

function hideTip() {
  element("tip").hidden = true;
}

function tellBar(timeline, index, left, top) {
  if (index == null) return hideTip();
  const { row, kind, process, begin, length, number } = model.bars;
  const name = model.kinds[kind[index]];
  const of = number[index] >= 0 && COUNTED[name] !== "" ? ` ${COUNTED[name] ?? "in epoch"} ${number[index]}` : "";
  const when = MOMENTS.has(name) ? ", at" : ` for ${timeText(length[index])}, from`;
  const where = model.rows[row[index]];
  tip(timeline.plot.over, left, top, where.rank == null ? where.name : `${where.name}, process ${process[index]}`,
      `${KINDS[name]}${of}${when} ${timeText(begin[index])}`);
}

/** The mark of a kind as the timeline paints it. */
function swatch(kind) {
  const shape = {
    "died": '<path d="M2 2 12 12M12 2 2 12" stroke-width="3"/>', "takes over": '<path d="M3 1v12l9-6z"/>',
    "silent": '<circle cx="7" cy="7" r="5" fill="none" stroke-width="2"/>', "learns": '<path d="M2 3h10L7 11z"/>',
    "message": '<path d="M7 2v10" stroke-width="2"/>', "waits": '<path d="M0 5.5h14v3H0z" stroke="none"/>',
    "disk": '<path d="M0 8h14v6H0z" stroke="none"/>',
  }[kind] ?? '<rect width="14" height="14" rx="2" stroke="none"/>';
  const colour = `var(--${kind.replace(" ", "-")})`;
  const template = document.createElement("template");
  template.innerHTML = `<svg viewBox="0 0 14 14" fill="${colour}" stroke="${colour}" aria-hidden="true">${shape}</svg>`;
  return template.content;
}

function fillLegend(timeline) {
  const there = new Set(model.bars.kind.map(kind => model.kinds[kind]));
  for (const kind of Object.keys(KINDS).filter(kind => there.has(kind))) {
    const button = make("button", [swatch(kind), KINDS[kind]],
                        { type: "button", "data-kind": kind, "aria-pressed": !timeline.hidden.has(kind) });
    button.addEventListener("click", () => {
      timeline.toggle(kind);
      button.setAttribute("aria-pressed", !timeline.hidden.has(kind));
    });
    element("legend").append(button);
  }
}

/** Shows the recovery after (1) or before (-1) the one shown last. */
function jump(timeline, by) {
  const at = model.recoveries.indexOf(timeline.current) + by;
  const recovery = model.recoveries[Math.min(Math.max(at, 0), model.recoveries.length - 1)];
  if (recovery) timeline.showRecovery(recovery);
}

/** What keys and buttons do. `timeline`: null on a page without one. */
function actionsOf(timeline) {
  if (!timeline) return { dark: switchTheme };
  return {
    in: () => timeline.zoom(0.5), out: () => timeline.zoom(2), all: () => timeline.showAll(),
    next: () => jump(timeline, 1), previous: () => jump(timeline, -1),
    left: () => timeline.pan(-0.25), right: () => timeline.pan(0.25),
    up: () => timeline.panRows(-0.25), down: () => timeline.panRows(0.25),
    search: () => element("search").focus(), messages: () => element("legend").querySelector('[data-kind="message"]')?.click(),
    dark: switchTheme,
  };
}

const KEYS = { "+": "in", "=": "in", "-": "out", "0": "all", "n": "next", "p": "previous", "ArrowLeft": "left",
               "ArrowRight": "right", "ArrowUp": "up", "ArrowDown": "down", "/": "search", "m": "messages", "d": "dark" };
const NEEDS_FOCUS = new Set(["ArrowUp", "ArrowDown"]);  // otherwise these scroll the page

function listen(timeline) {
  const actions = actionsOf(timeline);
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", actions[button.dataset.do]);
  element("search")?.addEventListener("input", event => timeline.showRanks(ranksIn(event.target.value)));
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.tagName === "INPUT") {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (NEEDS_FOCUS.has(event.key) && !element("timeline")?.contains(document.activeElement)) return;
    const action = actions[KEYS[event.key]];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function fillTimeline() {
  if (!model.rows.length) {
    element("timeline-section").remove();
    return null;
  }
  const timeline = new Timeline(model, element("timeline"), (begin, end) => {
    const places = [Math.max(begin, 0), Math.min(end, model.length)];
    element("range").textContent = axisTexts(places, 10 ** Math.floor(Math.log10((end - begin) / 100))).join(" – ");
  });
  plots.push(timeline.plot);
  timeline.onPoint = (index, left, top) => tellBar(timeline, index, left, top);
  if (!model.recoveries.length) element("jumps").remove();
  fillLegend(timeline);
  const named = location.hash.match(/^#recovery-(\d+)$/);  // a link to a recovery
  const recovery = named && model.recoveries.find(one => one.number === +named[1]);
  if (recovery) timeline.showRecovery(recovery);
  return timeline;
}

function fillReported() {
  const entries = Object.entries(model.reported);
  if (!entries.length) return element("reported-section").remove();
  element("reported").append(make("tbody", entries.map(([name, value]) => make("tr", [make("td", name), cell(String(value))]))));
}

function fillEnds() {
  if (!model.ends.length) return element("ends").remove();
  element("ends").append(...model.ends.flatMap(end => [end, document.createElement("br")]));
}

fillFigures();
fillEnds();
const timeline = fillTimeline();
listen(timeline);
fillRecoveries(timeline);
fillRollbacks();
fillCommits();
fillReported();
