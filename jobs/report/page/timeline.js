// Draws the timeline: a row for each rank and spare, bars and marks on one canvas. uPlot draws the axes, the cursor and
// the zoom; the area between the axes is painted here, with at most one bar per pixel, so that many bars cost little.
"use strict";

const MOMENTS = new Set(["died", "takes over", "silent", "learns", "message"]);
// The order of painting: the last is on top. For each kind, its share of a row's height and its position there.
const LAYERS = [
  { kind: "computes", top: 0, height: 1 },
  { kind: "again", top: 0, height: 1 },
  { kind: "waits", top: 0.4, height: 0.2 },
  { kind: "recovery", top: 0, height: 1, least: 2 },
  { kind: "interrupt", top: 0, height: 1 },
  { kind: "agree", top: 0, height: 1 },
  { kind: "rebuild", top: 0, height: 1 },
  { kind: "restore", top: 0, height: 1 },
  { kind: "commit", top: 0, height: 1 },
  { kind: "disk", top: 0.65, height: 0.35 },
  { kind: "message" },
  { kind: "learns" },
  { kind: "silent" },
  { kind: "takes over" },
  { kind: "died" },
];
const SHORTEST = 20;  // the shortest view, in microseconds

const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name.replace(" ", "-")).trim();

const UNITS = [["s", 1e6], ["ms", 1e3], ["µs", 1]];

/** Formats microseconds in the unit that fits best. */
function timeText(microseconds) {
  const [unit, size] = UNITS.find(([, size]) => Math.abs(microseconds) >= size) ?? UNITS[microseconds === 0 ? 0 : 2];
  return `${+(microseconds / size).toFixed(2)} ${unit}`;
}

/** The same for ticks on an axis that are `step` apart: all in one unit, with the digits that they need. */
function axisTexts(places, step) {
  const largest = Math.max(...places.map(Math.abs), step);
  const [unit, size] = UNITS.find(([, size]) => largest >= size) ?? UNITS[2];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return places.map(at => `${(at / size).toFixed(digits)} ${unit}`);
}

/** An axis of uPlot in the present colours of the page. */
function axis() {
  return { stroke: () => colour("faint"), grid: { stroke: () => colour("line"), width: 1 },
           ticks: { stroke: () => colour("line"), width: 1 }, font: "13px system-ui, sans-serif" };
}

function timeAxis() {
  const steps = [];
  for (let size = 1; size < 1e13; size *= 10) steps.push(size, 2 * size, 5 * size);
  return { ...axis(), incrs: steps, space: 90, values: (_, splits, __, ___, step) => axisTexts(splits, step) };
}

/** The ranks in a text such as "3, 7-12"; null for all. */
function ranksIn(text) {
  const parts = text.split(/[\s,;]+/).filter(part => part !== "");
  if (parts.length === 0) return null;
  const ranges = parts.map(part => part.match(/^(\d+)(?:-(\d+))?$/)).filter(Boolean);
  return rank => ranges.some(([, from, to]) => rank >= +from && rank <= +(to ?? from));
}

/** Paints the mark of `kind` with its centre at x, y. Marks differ in shape as well as in colour. */
function paintMark(ctx, kind, x, y, size) {
  ctx.beginPath();
  if (kind === "died") {
    ctx.lineWidth = Math.max(2, size / 4);
    ctx.moveTo(x - size / 2, y - size / 2);
    ctx.lineTo(x + size / 2, y + size / 2);
    ctx.moveTo(x + size / 2, y - size / 2);
    ctx.lineTo(x - size / 2, y + size / 2);
    ctx.stroke();
  } else if (kind === "takes over") {
    ctx.moveTo(x, y - size / 2);
    ctx.lineTo(x + size * 0.8, y);
    ctx.lineTo(x, y + size / 2);
    ctx.fill();
  } else if (kind === "silent") {
    ctx.lineWidth = Math.max(1.5, size / 6);
    ctx.arc(x, y, size / 2, 0, 2 * Math.PI);
    ctx.stroke();
  } else if (kind === "learns") {
    ctx.moveTo(x - size / 3, y - size / 2);
    ctx.lineTo(x + size / 3, y - size / 2);
    ctx.lineTo(x, y);
    ctx.fill();
  } else {
    ctx.fillRect(x - 0.5, y, 1, size / 2);
  }
}

class Timeline {
  /** `model`: the page's; `parent`: the element to fill; `onView(begin, end)`: called with the range in view. */
  constructor(model, parent, onView) {
    this.model = model;
    this.parent = parent;
    this.onView = onView;
    this.hidden = new Set(["message", "learns"]);
    this.shown = model.rows.map((_, row) => row);
    this.current = null;  // the recovery shown last
    this.length = Math.max(model.length, SHORTEST);
    this.margin = this.length * 0.01;
    this.cells = this.sort(model.bars);
    this.plot = new uPlot(this.options(), [[0, this.length], [null, null]], parent);
    this.plot.over.addEventListener("wheel", event => this.wheel(event), { passive: false });
    new ResizeObserver(() => this.resize()).observe(parent);
  }

  /** The indices of the bars by row and kind, in the order of their beginnings. */
  sort(bars) {
    const cells = this.model.rows.map(() => new Map());
    for (let i = 0; i < bars.row.length; ++i) {
      const kind = this.model.kinds[bars.kind[i]];
      const row = cells[bars.row[i]];
      if (!row.has(kind)) row.set(kind, []);
      row.get(kind).push(i);
    }
    for (const row of cells) for (const [kind, indices] of row) row.set(kind, Int32Array.from(indices));
    return cells;
  }

  height() {
    return Math.max(150, Math.min(this.shown.length * 26 + 50, Math.max(420, window.innerHeight * 0.72)));
  }

  options() {
    return {
      width: this.parent.clientWidth,
      height: this.height(),
      padding: [14, 16, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: true, y: true, uni: 30 }, points: { show: false } },
      scales: {
        x: { time: false, range: (_, min, max) => this.timesIn(min, max) },
        y: { dir: -1, range: (_, min, max) => this.rowsIn(min, max) },
      },
      axes: [
        timeAxis(),
        { ...axis(), grid: { show: false }, ticks: { show: false }, size: this.labelWidth(),
          splits: (plot, _, min, max) => this.labelled(plot, min, max),
          values: (_, splits) => splits.map(at => this.model.rows[this.shown[Math.floor(at)]]?.name ?? "") },
      ],
      series: [{}, { scale: "y" }],
      hooks: {
        draw: [plot => this.paint(plot)],
        setScale: [plot => this.onView(plot.scales.x.min, plot.scales.x.max)],
        setCursor: [plot => this.point(plot)],
      },
    };
  }

  labelWidth() {
    return 24 + 8 * Math.max(4, ...this.model.rows.map(row => row.name.length));
  }

  timesIn(min, max) {
    const whole = this.length + 2 * this.margin;
    const size = Math.min(Math.max(max - min, SHORTEST), whole);
    const begin = Math.min(Math.max((min + max - size) / 2, -this.margin), this.length + this.margin - size);
    return min === 0 && max === this.length ? [-this.margin, this.length + this.margin] : [begin, begin + size];
  }

  rowsIn(min, max) {
    const all = Math.max(this.shown.length, 1);
    if (min == null) return [0, all];
    const size = Math.min(Math.max(Math.ceil(max - 1e-6) - Math.floor(min + 1e-6), 1), all);
    const begin = Math.min(Math.max(Math.floor(min + 1e-6), 0), all - size);
    return [begin, begin + size];
  }

  /** The centres of the rows whose names have room. */
  labelled(plot, min, max) {
    const room = plot.bbox.height / devicePixelRatio / (max - min);
    const step = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].find(n => n * room >= 15) ?? 1024;
    const middles = [];
    for (let row = Math.ceil(min / step) * step; row < max; row += step) middles.push(row + 0.5);
    return middles;
  }

  // --- painting ------------------------------------------------------------------------------------------------

  paint(plot) {
    const { ctx, bbox } = plot;
    const { min, max } = plot.scales.x;
    const first = plot.scales.y.min;
    const view = { ctx, min, max, left: bbox.left, scale: bbox.width / (max - min),
                   rowHeight: bbox.height / (plot.scales.y.max - first) };
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const layer of LAYERS) {
      if (this.hidden.has(layer.kind)) continue;
      ctx.fillStyle = ctx.strokeStyle = colour(layer.kind);
      for (let row = first; row < plot.scales.y.max; ++row) {
        const bars = this.cells[this.shown[row]]?.get(layer.kind);
        if (!bars) continue;
        const top = bbox.top + (row - first) * view.rowHeight;
        MOMENTS.has(layer.kind) ? this.paintMoments(view, layer.kind, bars, top) : this.paintBars(view, layer, bars, top);
      }
    }
    ctx.restore();
    this.paintNumbers(plot, view);
  }

  /** The first of `bars` that may reach into the view. Bars of one kind in a row do not overlap. */
  firstFrom(bars, time) {
    const { begin } = this.model.bars;
    let low = 0;
    let high = bars.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begin[bars[middle]] < time) low = middle + 1; else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  /** Bars that share a pixel are painted as one. */
  paintBars({ ctx, min, max, left, scale, rowHeight }, { top, height, least = 1 }, bars, rowTop) {
    const { begin, length } = this.model.bars;
    const gap = rowHeight > 8 * devicePixelRatio ? rowHeight * 0.12 : 0;
    const y = rowTop + gap + top * (rowHeight - 2 * gap);
    const tall = Math.max(height * (rowHeight - 2 * gap), 1);
    const narrowest = least * devicePixelRatio;
    let from = NaN;
    let to = NaN;
    for (let i = this.firstFrom(bars, min); i < bars.length && begin[bars[i]] <= max; ++i) {
      const start = Math.max(left + (begin[bars[i]] - min) * scale, left);
      const end = left + (begin[bars[i]] + length[bars[i]] - min) * scale;
      if (end < left) continue;
      if (start <= to) {
        to = Math.max(to, end);
        continue;
      }
      if (to >= from) ctx.fillRect(from, y, to - from, tall);
      from = start;
      to = Math.max(end, start + narrowest);
    }
    if (to >= from) ctx.fillRect(from, y, to - from, tall);
  }

  paintMoments({ ctx, min, max, left, scale, rowHeight }, kind, bars, rowTop) {
    const { begin } = this.model.bars;
    const size = Math.max(7 * devicePixelRatio, Math.min(rowHeight * 0.6, 14 * devicePixelRatio));
    let last = -Infinity;
    for (let i = this.firstFrom(bars, min); i < bars.length && begin[bars[i]] <= max; ++i) {
      const x = left + (begin[bars[i]] - min) * scale;
      if (x < left || x - last < 1) continue;
      paintMark(ctx, kind, x, rowTop + rowHeight / 2, size);
      last = x;
    }
  }

  /** Writes the number of each recovery above the rows, with a line if the recovery is too short to be seen. */
  paintNumbers({ ctx, bbox }, { min, max, left, scale }) {
    ctx.save();
    ctx.strokeStyle = colour("died");
    ctx.lineWidth = devicePixelRatio;
    ctx.font = `600 ${12 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.fillStyle = colour("died");
    ctx.textAlign = "center";
    ctx.textBaseline = "bottom";
    let last = -Infinity;
    for (const recovery of this.model.recoveries) {
      const at = this.momentOf(recovery);
      const x = left + (at - min) * scale;
      if (at < min || at > max || x - last < 16 * devicePixelRatio) continue;
      ctx.fillText(recovery.number, x, bbox.top - 1);
      if (1000 * recovery.sum_ms * scale < 8 * devicePixelRatio) {
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
      }
      last = x;
    }
    ctx.restore();
  }

  momentOf(recovery) {
    return recovery.noticed_us - this.model.origin_us;
  }

  // --- moving --------------------------------------------------------------------------------------------------

  view() {
    return [this.plot.scales.x.min, this.plot.scales.x.max];
  }

  show(min, max) {
    this.plot.setScale("x", { min, max });
  }

  zoom(factor, around) {
    const [min, max] = this.view();
    const fixed = around ?? (min + max) / 2;
    this.show(fixed - (fixed - min) * factor, fixed + (max - fixed) * factor);
  }

  pan(part) {
    const [min, max] = this.view();
    this.show(min + part * (max - min), max + part * (max - min));
  }

  panRows(part) {
    const { min, max } = this.plot.scales.y;
    const by = Math.sign(part) * Math.max(1, Math.round(Math.abs(part) * (max - min)));
    this.plot.setScale("y", { min: min + by, max: max + by });
  }

  showAll() {
    this.current = null;
    this.plot.batch(() => {
      this.show(0, this.length);
      this.plot.setScale("y", { min: 0, max: this.shown.length });
    });
  }

  showRecovery(recovery) {
    this.current = recovery;
    const begin = this.momentOf(recovery);
    const whole = 1000 * recovery.sum_ms;
    this.show(begin - 0.3 * whole, begin + 1.5 * whole);
  }

  /** Shows only the ranks for which `wanted` returns true; null: all. */
  showRanks(wanted) {
    this.shown = this.model.rows.map((_, row) => row).filter(row => !wanted || wanted(this.model.rows[row].rank));
    this.resize();
    this.plot.setScale("y", { min: 0, max: Math.max(this.shown.length, 1) });
  }

  toggle(kind) {
    this.hidden.delete(kind) || this.hidden.add(kind);
    this.plot.redraw(false);
  }

  resize() {
    this.plot.setSize({ width: this.parent.clientWidth, height: this.height() });
  }

  wheel(event) {
    if (event.ctrlKey) {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.004), this.plot.posToVal(event.offsetX, "x"));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan(event.deltaX / this.plot.over.clientWidth);
    }
  }

  // --- the item under the cursor -------------------------------------------------------------------------------

  point(plot) {
    const { left, top } = plot.cursor;
    const found = left >= 0 ? this.barAt(plot.posToVal(left, "x"), plot.posToVal(top, "y")) : null;
    this.onPoint?.(found, left, top);
  }

  /** The index of the topmost bar there, or of the nearest mark within four pixels; null if there is none. */
  barAt(time, place) {
    const row = this.cells[this.shown[Math.floor(place)]];
    if (!row) return null;
    const [min, max] = this.view();
    const near = 4 * (max - min) / this.plot.over.clientWidth;
    const { begin, length } = this.model.bars;
    for (let layer = LAYERS.length - 1; layer >= 0; --layer) {
      const { kind } = LAYERS[layer];
      const bars = this.hidden.has(kind) ? null : row.get(kind);
      if (!bars) continue;
      const reach = kind === "computes" || kind === "waits" ? 0 : near;
      for (let i = this.firstFrom(bars, time - reach); i < bars.length && begin[bars[i]] <= time + reach; ++i)
        if (begin[bars[i]] + length[bars[i]] >= time - reach) return bars[i];
    }
    return null;
  }
}
