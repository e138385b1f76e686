"use strict";
// Charts, and what all pages need. Whatever comes from a model is put on a page as text, never as markup.

// Columns of a few values, many times each, are written short (page.py).
const whole_column = (_, value) =>
  Array.isArray(value?.at) && Array.isArray(value.distinct) ? value.at.map((place) => value.distinct[place]) : value;
const data = JSON.parse(document.getElementById("data").textContent, whole_column);
const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");

function element(tag, text, attributes = {}, children = []) {
  const made = document.createElement(tag);
  if (text !== null && text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const whole = (number) => number.toLocaleString("en-GB");

function cellText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  return Math.abs(value) < 100 ? value.toPrecision(3) : String(Math.round(value));
}

// A light tint of a colour, or in the dark one as dark as it was light.
function shade(colour) {
  if (!dark.matches || !/^#[0-9a-f]{6}$/i.test(colour)) return colour;
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const turn = 285 - Math.max(...parts) - Math.min(...parts);
  return `rgb(${parts.map((part) => Math.max(0, Math.min(255, part + turn))).join(" ")})`;
}

// ---- names: as much of each as there is room for, without what all have in common

function common_start(names) {
  let start = names[0] ?? "";
  for (const name of names) while (!name.startsWith(start)) start = start.slice(0, -1);
  return start.slice(0, Math.max(...["/", ".", ":", " "].map((mark) => start.lastIndexOf(mark))) + 1);
}

function shortened(name, most, front = most < 12 ? 0 : Math.floor(most / 4)) {
  return name.length <= most ? name : `${name.slice(0, front)}…${name.slice(front + 1 - most)}`;
}

function short_names(names, most) {
  if (names.every((name) => name.length <= most)) return [...names];
  const start = names.length > 1 ? common_start(names).length : 0;
  const rest = names.map((name) => (name.length > most && start > 1 ? `…${name.slice(start)}` : name));
  const ways = [1 / 4, 0, 1 / 2, 3 / 4, 1].map((part) =>
    rest.map((name) => shortened(name, most, Math.min(most - 2, Math.floor(most * part)))));
  return ways.reduce((best, way) => (new Set(way).size > new Set(best).size ? way : best));
}

// ---- ticks

// Of an axis of powers: as many of 1, 2, 5 and what is between as have room, and even ones in a narrow view.
const MANTISSAS = [[1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];

function log_ticks(low, high, pixels, room) {
  const apart = (one, other) => (pixels * Math.log10(other / one)) / Math.log10(high / low);
  const inside = (mantissas, step) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      if (power % step === 0) found.push(...mantissas.map((mantissa) => Number(`${mantissa}e${power}`)));
    }
    return found.filter((tick) => tick >= low && tick <= high);
  };
  const sets = [...MANTISSAS.map((mantissas) => [mantissas, 1]), ...[2, 3, 5, 10].map((step) => [[1], step])];
  const ticks = sets.map((set) => inside(...set)).find((found) =>
    found.every((tick, at) => at === 0 || apart(found[at - 1], tick) >= room)) ?? [];
  return ticks.length > 2 ? ticks : even_ticks(low, high, Math.max(2, pixels / room));
}

function even_ticks(low, high, most) {
  const least = (high - low) / most;
  if (!(least > 0)) return [low];
  const power = Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((mantissa) => Number(`${mantissa}e${power}`)).find((one) => one >= least);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function tick_texts(ticks) {
  const most = Math.max(...ticks.map(Math.abs));
  const [size, prefix] = most < 1e6 ? [1, ""] : PREFIXES.find(([one]) => most >= one);
  return ticks.map((tick) => (tick && prefix ? `${Number((tick / size).toPrecision(9))} ${prefix}` : String(tick)));
}

// ---- charts

const [LETTER, LINE, NARROW, FADED, STEP, LEAST_SLICE] = [6.3, 13, 560, 0.12, 0.25, 6];
const SHAPES = {
  square: "2,2 14,2 14,14 2,14",
  triangle: "8,2 15,14 1,14",
  diamond: "8,0 14,8 8,16 2,8",
  hex: "4.5,2 11.5,2 15,8 11.5,14 4.5,14 1,8",
  inverted_triangle: "1,2 15,2 8,15",
  plus: "5.5,1 10.5,1 10.5,5.5 15,5.5 15,10.5 10.5,10.5 10.5,15 5.5,15 5.5,10.5 1,10.5 1,5.5 5.5,5.5",
  star: "8,0 10,5.6 16,5.8 11.2,9.4 13,15 8,11.8 3,15 4.8,9.4 0,5.8 6,5.6",
  dash: "1,7 15,7 15,9 1,9",
};
const at = (column, place) => (Array.isArray(column) ? column[place] : column);
const EXTENTS = {  // the columns of each kind that lie on the axes
  rects: [["left", "right"], ["bottom", "top"]],
  spans: [["left", "right"], []],
  points: [["x"], ["y"]],
  line: [["x"], ["y"]],
  lines: [["xs"], ["ys"]],
  segments: [["x0", "x1"], ["y0", "y1"]],
  rules: [["x"], ["y"]],
  texts: [[], []],
};

function count(mark) {
  if (mark.kind === "lines") return mark.ys.length;
  return Math.max(0, ...Object.values(mark).map((column) => (Array.isArray(column) ? column.length : 0)),
    Object.values(mark).some(Array.isArray) ? 0 : 1);
}

class Chart {
  constructor(spec, place) {
    Object.assign(this, { spec, place, wanted: null, chosen: null, moved: [], chose: () => {} });
    this.canvas = element("canvas", null, { "aria-hidden": "true" });
    this.tip = element("div", null, { class: "tip", hidden: "" });
    this.band = element("div", null, { class: "band", hidden: "" });
    place.append(this.canvas, this.band, this.tip);
    this.pen = this.canvas.getContext("2d");
    this.show(spec.marks);
    new ResizeObserver(() => this.draw()).observe(place);
    this.listen();
  }

  // The marks; the axes go from their first to their last, as far as the chart does not say otherwise.
  show(marks) {
    this.marks = marks.map((mark) => ({ ...mark, count: count(mark) }));
    this.all = [0, 1].map((axis) => this.extent(axis));
    if (this.spec.rows.length) this.all[1] = [0.5 - this.spec.rows.length, 0.5];
    if (this.spec.columns.length) this.all[0] = [-0.7, this.spec.columns.length - 0.3];
    this.reset();
  }

  extent(axis) {
    const fixed = axis ? this.spec.y : this.spec.x;
    const log = this.spec.log[axis];
    let [low, high] = [Infinity, -Infinity];
    for (const mark of this.marks) for (const key of EXTENTS[mark.kind][axis]) {
      for (const value of [mark[key]].flat(2)) {
        if (!Number.isFinite(value) || (log && value <= 0)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    if (low > high) [low, high] = log ? [1, 10] : [0, 1];
    if (fixed[0] !== null) low = fixed[0];
    if (fixed[1] !== null) high = fixed[1];
    const [into, out] = log ? [Math.log10, (value) => 10 ** value] : [Number, Number];
    const margin = 0.05 * (into(high) - into(low)) || (log ? 0.1 : 0.05 * Math.abs(high) || 0.5);
    return [fixed[0] ?? out(into(low) - margin), fixed[1] ?? out(into(high) + margin)];
  }

  reset() { this.look(...this.all); }

  look(x, y = this.y ?? this.all[1]) {
    [this.x, this.y] = [x, y];
    this.draw();
    this.moved.forEach((deed) => deed());
  }

  // Zoom by a factor about a place of the frame (0 .. 1), or move by a part of it; never beyond a billionth.
  zoom(factor, shift = 0, about = 0.5) {
    const [into, out] = this.spec.log[0] ? [Math.log10, (value) => 10 ** value] : [Number, Number];
    const [low, high] = this.x.map(into);
    const span = high - low;
    const middle = low + about * span;
    if (span * factor < 1e-9 * (Math.abs(middle) + 1e-9)) return;
    this.look([middle - (middle - low) * factor + shift * span, middle + (high - middle) * factor + shift * span].map(out));
  }

  // ---- where things are, in px

  arrange() {
    const { rows, columns, across, up } = this.spec;
    const width = this.place.clientWidth;
    const longest = (names) => Math.max(0, ...names.map((name) => name.length)) * LETTER;
    this.above = rows.length > 0 && width < NARROW;
    this.letters = Math.floor(Math.min(this.above ? width : 0.36 * width, 60 * LETTER) / LETTER);
    this.names = short_names(rows, this.letters);
    this.row_height = this.spec.row_height + (this.above ? LINE : 0);
    const named = rows.length && !this.above ? Math.min(longest(this.names), 0.36 * width) + 12 : 10;
    this.level = longest(columns) + 2 * LETTER < (width - 60) / columns.length;
    const below = columns.length && !this.level ? Math.min(150, longest(columns)) + 8 : 20;
    const height = rows.length ? rows.length * this.row_height + below + 28 : this.spec.height;
    const frame = { top: 8, height: Math.max(20, height - 8 - below - (across ? 18 : 4)) };
    this.y_ticks = rows.length || !this.marked(1) ? [] : this.ticks(1, frame.height);
    const beside = longest(tick_texts(this.y_ticks)) + 12 + (up ? LINE : 0);
    const left = rows.length ? named : Math.max(10, beside);
    this.frame = { ...frame, left, width: Math.max(20, width - left - 14) };
    Object.assign(this, { width, height });
  }

  marked(axis) { return this.spec.ticks?.[axis] !== false; }

  at_x(value) {
    const [into, { left, width }] = [this.spec.log[0] ? Math.log10 : Number, this.frame];
    const [low, high] = this.x.map(into);
    return left + ((into(value) - low) / (high - low)) * width;
  }

  at_y(value) {
    const { top, height } = this.frame;
    if (this.spec.rows.length) {  // a name may stand above what is in its row
      const [row, name] = [Math.round(-value), this.above ? LINE : 0];
      return top + row * this.row_height + name + (0.5 - value - row) * (this.row_height - name);
    }
    const into = this.spec.log[1] ? Math.log10 : Number;
    const [low, high] = this.y.map(into);
    return top + height - ((into(value) - low) / (high - low)) * height;
  }

  from_x(pixel) {
    const [into, out] = this.spec.log[0] ? [Math.log10, (value) => 10 ** value] : [Number, Number];
    const [low, high] = this.x.map(into);
    return out(low + ((pixel - this.frame.left) / this.frame.width) * (high - low));
  }

  from_y(pixel) {
    const [into, out] = this.spec.log[1] ? [Math.log10, (value) => 10 ** value] : [Number, Number];
    const [low, high] = this.y.map(into);
    return out(low + ((this.frame.top + this.frame.height - pixel) / this.frame.height) * (high - low));
  }

  // The box of a rectangle or a span. What contains others is a thin line on top, so that gaps in it are seen.
  box(mark, place) {
    const [x0, x1] = [this.at_x(at(mark.left, place)), this.at_x(at(mark.right, place))];
    if (mark.kind === "spans") {
      const row = at(mark.row, place);
      const [top, bottom] = [this.at_y(0.46 - row), this.at_y(-0.46 - row)];
      const [depth, inner] = [at(mark.depth, place), at(mark.inner, place)];
      return depth < inner ? [x0, top + 4 * depth, x1, top + 4 * depth + 3] : [x0, top + 4 * inner, x1, bottom];
    }
    const [y0, y1] = [this.at_y(at(mark.top, place)), this.at_y(at(mark.bottom, place))];
    return [x0, Math.min(y0, y1), x1, Math.max(y0, y1)];
  }

  // ---- drawing

  draw() {
    if (!this.place.clientWidth) return;
    this.arrange();
    const { pen, canvas, width, height, frame } = this;
    const scale = devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    const style = getComputedStyle(document.body);
    this.ink = style.color;
    [this.faint, this.line] = ["--faint", "--line"].map((name) => style.getPropertyValue(name).trim());
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = `11px ${style.fontFamily}`;
    this.axes();
    pen.save();
    pen.beginPath();
    pen.rect(frame.left, frame.top - 2, frame.width, frame.height + 4);
    pen.clip();
    for (const mark of this.marks) this[`draw_${mark.kind}`](mark);
    pen.restore();
  }

  text(text, x, y, align = "left", baseline = "middle", colour = this.ink) {
    Object.assign(this.pen, { fillStyle: colour, textAlign: align, textBaseline: baseline });
    this.pen.fillText(text, x, y);
  }

  stroke(points, colour, width = 1, dash = []) {
    const { pen } = this;
    Object.assign(pen, { strokeStyle: colour || this.ink, lineWidth: width });
    pen.setLineDash(dash);
    pen.beginPath();
    points.forEach(([x, y], place) => (place ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
    pen.setLineDash([]);
  }

  ticks(axis, pixels) {
    const [low, high] = axis ? this.y : this.x;
    const room = axis ? 24 : 44;
    return this.spec.log[axis] ? log_ticks(low, high, pixels, room) : even_ticks(low, high, Math.max(2, Math.min(8, Math.floor(pixels / (1.5 * room)))));
  }

  axes() {
    const { pen, spec, frame } = this;
    const { left, top, width, height } = frame;
    const [right, bottom] = [left + width, top + height];
    this.x_ticks = spec.columns.length || !this.marked(0) ? [] : this.ticks(0, width);
    tick_texts(this.x_ticks).forEach((text, place) => {
      const x = this.at_x(this.x_ticks[place]);
      this.stroke([[x, top], [x, bottom]], this.line);
      this.text(text, x, bottom + 12, x > right - 12 ? "right" : "center");
    });
    tick_texts(this.y_ticks).forEach((text, place) => {
      const y = this.at_y(this.y_ticks[place]);
      this.stroke([[left, y], [right, y]], this.line);
      this.text(text, left - 6, y, "right");
    });
    this.stroke([[left, top], [left, bottom], [right, bottom]], this.faint);
    if (spec.across) this.text(spec.across, left + width / 2, this.height - 8, "center");
    if (spec.up) {
      pen.save();
      pen.translate(9, top + height / 2);
      pen.rotate(-Math.PI / 2);
      this.text(spec.up, 0, 0, "center");
      pen.restore();
    }
    this.names.forEach((name, row) => {
      if (this.above) this.text(name, 10, this.at_y(0.5 - row) - LINE / 2);
      else this.text(name, left - 6, this.at_y(-row), "right");
      if (this.above && row) this.stroke([[0, top + row * this.row_height], [this.width, top + row * this.row_height]], this.line);
    });
    this.below();
  }

  below() {
    const { columns } = this.spec;
    const bottom = this.frame.top + this.frame.height;
    const apart = this.frame.width / (this.x[1] - this.x[0]);
    const step = Math.max(1, Math.ceil(LINE / apart));
    const inside = columns.map((_, place) => place).filter((place) => place % step === 0 && place >= this.x[0] && place <= this.x[1]);
    const names = short_names(inside.map((place) => columns[place]), this.level ? Infinity : Math.floor(146 / LETTER));
    this.below_names = names;
    inside.forEach((place, number) => {
      this.pen.save();
      this.pen.translate(this.at_x(place), bottom + (this.level ? 12 : 5));
      if (!this.level) this.pen.rotate(-Math.PI / 2);
      this.text(names[number], 0, 0, this.level ? "center" : "right");
      this.pen.restore();
    });
  }

  alpha(mark, place) {
    return !this.wanted || mark.name === undefined || this.wanted(at(mark.name, place)) ? 1 : FADED;
  }

  is_chosen(mark, place) { return this.chosen !== null && mark.name !== undefined && at(mark.name, place) === this.chosen; }

  draw_rects(mark) {
    const { pen, frame } = this;
    const seen = new Map();
    for (let place = 0; place < mark.count; place += 1) {
      let [x0, y0, x1, y1] = this.box(mark, place);
      if (x1 < frame.left || x0 > frame.left + frame.width) continue;
      [x0, x1] = [Math.max(x0, frame.left - 4), Math.min(x1, frame.left + frame.width + 4)];
      const chosen = this.is_chosen(mark, place);
      const pixel = Math.round(2 * x0);
      if (x1 - x0 < 0.5 && !chosen && seen.get(y0) === pixel) continue;  // thousands of spans in a pixel
      seen.set(y0, pixel);
      pen.globalAlpha = this.alpha(mark, place);
      pen.fillStyle = at(mark.colour, place) || this.ink;
      const edge = at(mark.edge, place) ?? 0;
      pen.fillRect(x0 - edge, y0, Math.max(x1 - x0, 0.6) + 2 * edge, Math.max(y1 - y0, 1));
      pen.globalAlpha = 1;
      if (chosen) this.stroke([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]], this.ink, 2.5);
      if (mark.kind === "spans" && at(mark.depth, place) === at(mark.inner, place)) this.slice(at(mark.name, place), x0, x1, (y0 + y1) / 2);
    }
  }

  draw_spans(mark) { this.draw_rects(mark); }

  slice(name, x0, x1, y) {
    const letters = Math.floor((x1 - x0 - 4) / LETTER);
    if (letters >= LEAST_SLICE) this.text(shortened(name, letters), (x0 + x1) / 2, y, "center", "middle", "#14181f");
  }

  draw_points(mark) {
    const { pen } = this;
    for (let place = 0; place < mark.count; place += 1) {
      const [x, y, size] = [this.at_x(at(mark.x, place)), this.at_y(at(mark.y, place)), at(mark.size, place) ?? 8];
      const colour = at(mark.colour, place) || this.ink;
      const corners = SHAPES[mark.shape];
      pen.globalAlpha = this.alpha(mark, place);
      pen.beginPath();
      if (corners) corners.split(" ").forEach((corner) => {
        const [cx, cy] = corner.split(",").map((part) => (Number(part) - 8) * (size / 14));
        pen.lineTo(x + cx, y + cy);
      });
      else pen.arc(x, y, size / 2, 0, 2 * Math.PI);
      pen.closePath();
      pen.fillStyle = at(mark.fill, place) ?? colour;
      pen.fill();
      Object.assign(pen, { strokeStyle: this.is_chosen(mark, place) ? this.ink : colour, lineWidth: this.is_chosen(mark, place) ? 3 : 1.5 });
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  draw_line(mark) {
    this.stroke(mark.x.map((x, place) => [this.at_x(x), this.at_y(at(mark.y, place))]), mark.colour, mark.width, mark.dash);
  }

  draw_lines(mark) {
    for (let place = 0; place < mark.count; place += 1) {
      this.pen.globalAlpha = this.alpha(mark, place);
      this.stroke(mark.xs.map((x, point) => [this.at_x(x), this.at_y(mark.ys[place][point])]), at(mark.colour, place), mark.width);
      this.pen.globalAlpha = 1;
    }
  }

  draw_segments(mark) {
    for (let place = 0; place < mark.count; place += 1) {
      this.pen.globalAlpha = this.alpha(mark, place);
      const [x0, x1] = [mark.x0, mark.x1].map((column) => this.at_x(at(column, place)));
      const [y0, y1] = [mark.y0, mark.y1].map((column) => this.at_y(at(column, place)));
      this.stroke([[x0, y0], [x1, y1]], at(mark.colour, place), mark.width ?? 2);
      this.pen.globalAlpha = 1;
    }
  }

  draw_rules({ x, y, colour, dash = [6, 4] }) {  // a line from end to end
    const { left, top, width, height } = this.frame;
    if (x !== undefined) this.stroke([[this.at_x(x), top], [this.at_x(x), top + height]], colour, 2, dash);
    if (y !== undefined) this.stroke([[left, this.at_y(y)], [left + width, this.at_y(y)]], colour, 1.5, dash);
  }

  draw_texts(mark) {
    for (let place = 0; place < mark.count; place += 1) {
      const [x, y] = [at(mark.x, place), at(mark.y, place)];
      this.text(at(mark.text, place), x === undefined ? this.frame.left + 6 : this.at_x(x) + (at(mark.dx, place) ?? 0),
        this.at_y(y) + (at(mark.dy, place) ?? 0), at(mark.align, place) ?? "left", "middle", at(mark.colour, place) || this.ink);
    }
  }

  // ---- pointer

  // The mark under the pointer: of several the last drawn, and of lines the nearest within 6 px.
  hit(px, py) {
    const { left, width } = this.frame;
    if (px < left - 4 || px > left + width + 4) return null;
    for (const mark of [...this.marks].reverse()) {
      if (!["rects", "spans", "points", "lines"].includes(mark.kind)) continue;
      for (let place = mark.count - 1; place >= 0; place -= 1) {
        if (this.touches(mark, place, px, py)) return { mark, place };
      }
    }
    return null;
  }

  touches(mark, place, px, py) {
    if (mark.kind === "points") {
      const near = (at(mark.size, place) ?? 8) / 2 + 3;
      return Math.hypot(px - this.at_x(at(mark.x, place)), py - this.at_y(at(mark.y, place))) <= near;
    }
    if (mark.kind === "lines") {
      const xs = mark.xs.map((x) => this.at_x(x));
      const after = xs.findIndex((x) => x >= px);
      if (after < 1) return false;
      const [y0, y1] = [after - 1, after].map((point) => this.at_y(mark.ys[place][point]));
      return Math.abs(y0 + ((px - xs[after - 1]) / (xs[after] - xs[after - 1])) * (y1 - y0) - py) < 4;
    }
    const [x0, y0, x1, y1] = this.box(mark, place);
    const slack = Math.max(0, 1.5 - (x1 - x0) / 2);
    return px >= x0 - slack && px <= x1 + slack && py >= y0 && py <= y1;
  }

  say(px, py) {
    const found = this.hit(px, py);
    const value = ({ mark, place }, key, share) => {
      const held = key === "width" ? at(mark.right, place) - at(mark.left, place) : at(mark[key], place);
      return share ? `${Number((100 * held).toPrecision(3))} %` : cellText(held);
    };
    const lines = found && this.spec.tooltip.map(([name, text]) => {
      const filled = text.replace(/\{(\w+)(%?)\}/g, (_, key, share) => value(found, key, share));
      return element("div", name ? `${name}: ${filled}` : filled);
    });
    this.tip.hidden = !lines || !lines.length || found.mark.name === undefined && !("left" in found.mark);
    this.canvas.style.cursor = found?.mark.name !== undefined ? "pointer" : "crosshair";
    if (this.tip.hidden) return;
    this.tip.replaceChildren(...lines);
    const room = this.width - this.tip.offsetWidth - 4;
    this.tip.style.left = `${Math.max(0, Math.min(px + 14, room))}px`;
    this.tip.style.top = `${py + 16}px`;
  }

  // A drag shows what it goes over; a click chooses a mark; two show everything.
  listen() {
    const { canvas, band } = this;
    let from = null;
    const flat = () => this.spec.rows.length || this.spec.columns.length;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      from = [event.offsetX, event.offsetY];
      canvas.setPointerCapture(event.pointerId);
      this.place.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", (event) => {
      const { offsetX: x, offsetY: y } = event;
      if (!from) { this.say(x, y); return; }
      this.tip.hidden = true;
      band.hidden = Math.abs(x - from[0]) < 5;
      const [top, height] = flat() ? [this.frame.top, this.frame.height] : [Math.min(y, from[1]), Math.abs(y - from[1])];
      Object.assign(band.style, { left: `${Math.min(x, from[0])}px`, width: `${Math.abs(x - from[0])}px`, top: `${top}px`, height: `${height}px` });
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!from) return;
      const ends = [from[0], event.offsetX].sort((a, b) => a - b).map((pixel) => this.from_x(pixel));
      const high = [from[1], event.offsetY].sort((a, b) => b - a).map((pixel) => this.from_y(pixel));
      if (!band.hidden) this.look(ends, flat() || Math.abs(event.offsetY - from[1]) < 8 ? this.y : high);
      [from, band.hidden] = [null, true];
    });
    canvas.addEventListener("click", (event) => {
      const found = this.hit(event.offsetX, event.offsetY);
      if (event.detail === 1 && found?.mark.name !== undefined) this.chose(at(found.mark.name, found.place), found);
    });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("wheel", (event) => {
      const along = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
      if (!event.ctrlKey && !event.metaKey && !along) return;
      event.preventDefault();
      if (along && !event.ctrlKey && !event.metaKey) this.zoom(1, Math.sign(along) * 0.1);
      else this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, 0, (event.offsetX - this.frame.left) / this.frame.width);
    }, { passive: false });
  }

  // The keys of Perfetto, arrows, and what they do: [sign of a button, name, deed].
  keys() {
    const [out, into, left, right] = [() => this.zoom(1 + 2 * STEP), () => this.zoom(1 / (1 + 2 * STEP)),
      () => this.zoom(1, -STEP), () => this.zoom(1, STEP)];
    return {
      "-": ["−", "Zoom out", out], "+": ["+", "Zoom in", into], ArrowLeft: ["←", "Move left", left],
      ArrowRight: ["→", "Move right", right], 0: ["All", "Show everything", () => this.reset()],
      "=": [null, "", into], w: [null, "", into], s: [null, "", out], a: [null, "", left], d: [null, "", right],
    };
  }
}

dark.addEventListener("change", () => charts.forEach((chart) => chart.draw()));
const charts = [];

// A chart in its place, drawn when it comes near the window, with the buttons that its content needs.
const AHEAD = "600px";

function placed(spec, title, ready) {
  const say = `${title}: W and S or plus and minus zoom, A and D or the arrows move, 0 shows everything`;
  const place = element("div", null, { class: "chart", tabindex: "0", role: "group", "aria-label": say });
  const marks = spec.marks.reduce((sum, mark) => sum + count(mark), 0);
  const spans = spec.marks.some((mark) => mark.kind === "spans");
  const tools = element("div", null, { class: "tools", role: "group", "aria-label": `View of ${title}` });
  let chart = null;
  const now = () => {
    if (chart) return chart;
    place.style.minHeight = "0";
    chart = new Chart(spec, place);
    charts.push(chart);
    ready(chart, place);
    return chart;
  };
  const keys = () => now().keys();
  if (spans || ((spec.columns.length || marks) > 24 && !spec.rows.length)) {
    for (const key of ["-", "+", "ArrowLeft", "ArrowRight", "0"]) {
      const [sign, name] = Chart.prototype.keys.call(null)[key];
      const button = element("button", sign, { type: "button", "aria-label": name, title: name, "data-key": key });
      button.addEventListener("click", () => keys()[key][2]());
      tools.append(button);
    }
    if (spans) tools.append(element("span", "Keys as in Perfetto: W S zoom, A D move; Ctrl and wheel zoom, Shift and wheel move; drag over a part to see it.", { class: "note" }));
  }
  place.addEventListener("keydown", (event) => {
    const deed = keys()[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!deed || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    deed[2]();
  });
  const near = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    near.disconnect();
    now();
  }, { rootMargin: AHEAD });
  near.observe(place);
  return { tools, place, now };
}

// ---- timelines: sums over what is in view

const MOST_SUMS = 8;

function sums(chart, place) {
  const spans = chart.marks.find((mark) => mark.kind === "spans");
  if (!spans) return;
  const { name, left, right, row, depth, inner } = spans;
  const tracks = chart.spec.rows;
  const box = element("div", null, { class: "sums", "aria-live": "polite" });
  const head = element("p");
  const [by_track, by_name] = ["Track", `In ${tracks[0]}`].map((title) => {
    const body = element("tbody");
    const heads = [title, "us", "share"].map((text, at) => element("th", text, at ? { class: "number", scope: "col" } : { scope: "col" }));
    box.append(element("table", null, {}, [element("thead", null, {}, [element("tr", null, {}, heads)]), body]));
    return body;
  });
  const add = (all, key, us) => all.set(key, (all.get(key) ?? 0) + us);
  const set = () => {
    const [low, high] = chart.x;
    const lines = (all, names) => all.map(([key, us]) => element("tr", null, {}, [element("td", names(key)),
      element("td", cellText(us), { class: "number" }),
      element("td", `${cellText((100 * us) / (high - low))} %`, { class: "number" })]));
    const [busy, named] = [new Map(tracks.map((_, place) => [place, 0])), new Map()];
    for (let place = 0; place < spans.count; place += 1) {
      const us = Math.min(right[place], high) - Math.max(left[place], low);
      if (depth[place] < inner[place] || us <= 0) continue;
      add(busy, row[place], us);
      if (row[place] === 0) add(named, name[place], us);
    }
    head.textContent = `In view: ${cellText(low)} to ${cellText(high)} us, ${cellText(high - low)} us.`;
    by_track.replaceChildren(...lines([...busy], (place) => tracks[place]));
    const largest = [...named].sort((a, b) => b[1] - a[1]);
    const others = largest.slice(MOST_SUMS).reduce((sum, [, us]) => sum + us, 0);
    const rest = others ? [[`${whole(largest.length - MOST_SUMS)} others`, others]] : [];
    by_name.replaceChildren(...lines([...largest.slice(0, MOST_SUMS), ...rest], (key) => key));
  };
  let waiting = 0;
  chart.moved.push(() => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(set); });
  place.after(head, box);
  set();
}

// ---- legends

function swatch(colour) {
  const made = element("span", null, { class: "swatch" });
  made.style.background = colour || "currentColor";
  return made;
}

function shaped(shape, colour) {
  const of_svg = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };
  const made = of_svg("svg", { class: "shape", viewBox: "0 0 16 16", fill: colour || "currentColor", "aria-hidden": "true" });
  const points = SHAPES[shape];
  made.append(points ? of_svg("polygon", { points }) : of_svg("circle", { cx: 8, cy: 8, r: 6.5 }));
  return made;
}

function legend(entries, of = (colour) => colour) {
  const made = entries.map(([colour, text, shape]) =>
    element("li", null, {}, [shape ? shaped(shape, colour) : swatch(of(colour)), text]));
  return element("ul", null, { class: "legend" }, made);
}
