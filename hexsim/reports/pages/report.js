"use strict";
// Whatever comes from the model is put on the page as text (textContent), never as markup.

// Columns of a few values, many times each, are written short (repetition.py).
const whole_column = (_, value) =>
  Array.isArray(value?.at) && Array.isArray(value.distinct) ? value.at.map((place) => value.distinct[place]) : value;
const data = JSON.parse(document.getElementById("data").textContent, whole_column);
const byId = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const AHEAD = "600px";
const FADED = 0.12;
const STEP = 0.25;
const MOST_LARGE = 8;
const LONG = 30;
const charts = [];
let wanted = "";

function element(tag, text, attributes = {}, children = []) {
  const made = document.createElement(tag);
  if (text !== null && text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const whole = (number) => number.toLocaleString("en-GB");
const matches = (name) => String(name).toLowerCase().includes(wanted);

function cellText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  return Math.abs(value) < 100 ? value.toPrecision(3) : String(Math.round(value));
}

// ---- tables

function sorted(rows, column, falling) {
  const order = (a, b) => {
    const [one, other] = [a[column], b[column]];
    if (one === null || other === null) return (one === null) - (other === null);
    const less = typeof one === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
    return falling ? -less : less;
  };
  return [...rows].sort(order);
}

function table(figure) {
  const filled = (_, column) => figure.table.rows.some((row) => cellText(row[column]) !== "");
  const header = figure.table.header.filter(filled);
  const rows = figure.table.rows.map((row) => row.filter(filled));
  const numeric = header.map((_, column) => {
    const values = rows.map((row) => row[column]).filter((value) => cellText(value) !== "");
    return values.length > 0 && values.every((value) => typeof value === "number" || /^[+-]?\d[\d.,]*%?$/.test(value));
  });
  const body = element("tbody");
  const search = element("input", null, {
    type: "search", placeholder: "Part of a row", "aria-label": `Search the table ${figure.title}`, autocomplete: "off",
  });
  const heads = header.map((name, column) =>
    element("th", null, numeric[column] ? { class: "number", scope: "col" } : { scope: "col" },
      [element("button", name, { type: "button" })]));
  const kind = (cell, column) => ({ class: numeric[column] ? "number" : cellText(cell).length > LONG ? "text long" : "text" });
  let shown = rows;
  const keep = () => {
    const part = search.value.toLowerCase();
    [...body.rows].forEach((line, index) => {
      const row = shown[index];
      const named = !wanted || !figure.by_layer || row.some((cell) => typeof cell === "string" && matches(cell));
      line.hidden = !(named && (!part || row.some((cell) => cellText(cell).toLowerCase().includes(part))));
    });
  };
  const fill = () => {
    body.replaceChildren(...shown.map((row) =>
      element("tr", null, {}, row.map((cell, column) => element("td", cellText(cell), kind(cell, column))))));
    keep();
  };
  heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") !== "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    shown = sorted(rows, column, falling);
    fill();
  }));
  search.addEventListener("input", keep);
  fill();
  const made = element("table", null, {}, [
    element("caption", null, { class: "note" }), element("thead", null, {}, [element("tr", null, {}, heads)]), body,
  ]);
  const frame = element("div", null, { class: "wide rows", tabindex: "0", role: "region", "aria-label": `Table ${figure.title}` }, [made]);
  return { frame, search, keep };
}

function tabled(figure, section) {
  const rows = figure.table.rows.length;
  if (!rows) return () => {};
  const box = element("details", null, {}, [element("summary", `Table: ${whole(rows)} ${rows === 1 ? "row" : "rows"}`)]);
  let keep = () => {};
  const fill = () => {
    if (!box.open || box.childElementCount > 1) return;
    const made = table(figure);
    box.append(made.search, made.frame);
    keep = made.keep;
  };
  box.addEventListener("toggle", fill);
  section.append(box);
  if (!figure.item && !section.querySelector(".drawing")) box.open = true;
  return () => keep();
}

// ---- charts

function paint(chart) {
  const style = getComputedStyle(document.body);
  const [ink, line] = [style.color, style.getPropertyValue("--line").trim()];
  const looks = {
    axis_label_text_color: ink, major_label_text_color: ink, axis_line_color: ink, major_tick_line_color: ink,
    grid_line_color: line, outline_line_color: line, text_color: ink,
  };
  for (const model of chart.parts) {
    if (model.tags.includes("ink")) model.line_color = { value: ink };
    if (!/Axis$|^Grid$|^LabelSet$|^Figure$/.test(model.type)) continue;
    const known = Object.entries(looks).filter(([key]) => key in model.properties);
    model.setv(Object.fromEntries(known.map(([key, colour]) => [key, { value: colour }]).map(
      ([key, one]) => [key, model.type === "LabelSet" ? one : one.value])));
  }
}

function fade(chart) {
  for (const source of chart.sources) {
    if (!("name" in source.data)) continue;
    const alpha = Array.from(source.data.name, (name) => (!wanted || matches(name) ? 1 : FADED));
    source.data = { ...source.data, alpha };
  }
}

function zoom(chart, factor, shift) {
  const range = chart.plot.x_range;
  const log = chart.plot.x_scale.type === "LogScale";
  const [into, out] = log ? [Math.log10, (value) => 10 ** value] : [Number, Number];
  const [start, end] = [into(range.start), into(range.end)];
  const middle = (start + end) / 2 + shift * (end - start);
  const half = ((end - start) / 2) * factor;
  range.setv({ start: out(middle - half), end: out(middle + half) });
}

// Ticks of an axis of powers: as many of 1, 2, 5 and what is between as have room, and even ones in a narrow view.
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
  const power = Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((mantissa) => Number(`${mantissa}e${power}`)).find((one) => one >= least);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

function ticked({ plot, view }) {
  for (const [axes, range, side, room] of [[plot.below, plot.x_range, "width", 44], [plot.left, plot.y_range, "height", 24]]) {
    for (const axis of axes.filter((one) => one.type === "LogAxis")) {
      const set = () => { axis.ticker.ticks = log_ticks(range.start, range.end, view.frame.bbox[side], room); };
      range.change.connect(set);
      plot.properties[`inner_${side}`].change.connect(set);
      set();
    }
    for (const axis of axes.filter((one) => one.type === "LinearAxis" && one.ticker.type === "BasicTicker")) {
      const set = () => { axis.ticker.desired_num_ticks = Math.max(2, Math.min(6, Math.floor(view.frame.bbox[side] / (2 * room)))); };
      plot.properties[`inner_${side}`].change.connect(set);
      set();
    }
  }
}

// Names beside rows and below columns: as many, and as much of each, as there is room for.
const SETTLED = 200;  // ms, after which marks of an axis that has moved since are wiped away
const [LETTER, LINE, FEWEST_LETTERS, MOST_LETTERS] = [6.3, 13, 12, 40];

// Bokeh would take a pair of dollars in a name for a formula; an invisible space keeps it text.
const plain = (name) => name.replace(/\$(?=\$)|\\(?=[[(])/g, "$&\u200b");

function shortened(name, most) {
  const front = most < 12 ? 0 : Math.floor(most / 4);  // the ends of names differ within a block
  return plain(name.length <= most ? name : `${name.slice(0, front)}…${name.slice(front + 1 - most)}`);
}

function named({ plot, view }) {
  for (const [axes, range, side] of [[plot.below, plot.x_range, "width"], [plot.left, plot.y_range, "height"]]) {
    for (const axis of axes.filter((one) => one.tags[0]?.names)) {
      const { names, direction } = axis.tags[0];
      let calls = 0;
      const set = () => {
        const call = ++calls;
        const pixels = view.frame.bbox[side];
        const step = Math.max(1, Math.ceil((LINE * Math.abs(range.end - range.start)) / pixels));
        const share = side === "width" ? 150 : 0.36 * view.el.getBoundingClientRect().width;
        const most = Math.min(MOST_LETTERS, Math.max(FEWEST_LETTERS, Math.floor(share / LETTER)));
        const [low, high] = [range.start, range.end].map((end) => end * direction).sort((a, b) => a - b);
        const at = names.map((_, place) => place).filter((place) => place % step === 0 && place >= low && place <= high);
        const labels = new Map(at.map((place) => [place * direction, shortened(names[place], most)]));
        axis.setv({ major_label_overrides: labels });
        setTimeout(() => {  // the library takes new names at its next turn, and does not draw them by itself
          if (call !== calls) return;
          axis.ticker.ticks = [...labels.keys()];
          axis.change.emit();
          setTimeout(() => view.request_paint(), SETTLED);
        });
      };
      range.change.connect(set);
      plot.properties[`inner_${side}`].change.connect(set);
      set();
    }
  }
}

// ---- timelines: names in the slices, and sums over what is in view

const MOST_SUMS = 8;
const LEAST_NAME = 6;

function timed(chart, place) {
  const [spans, slices] = ["spans", "slices"].map((name) => chart.sources.find((one) => one.name === name));
  if (!spans) return;
  const { name, left, right, top, bottom, works, row } = spans.data;
  const tracks = chart.plot.left[0].tags[0].names;
  const range = chart.plot.x_range;
  const box = element("div", null, { class: "sums", "aria-live": "polite" });
  const head = element("p");
  const [by_track, by_name] = ["Track", `In ${tracks[0]}`].map((title) => {
    const body = element("tbody");
    const heads = [title, "us", "share"].map((text, at) => element("th", text, at ? { class: "number", scope: "col" } : { scope: "col" }));
    box.append(element("table", null, {}, [element("thead", null, {}, [element("tr", null, {}, heads)]), body]));
    return body;
  });
  const lines = (sums, names) => sums.map(([key, us]) => element("tr", null, {}, [element("td", names(key)),
    element("td", cellText(us), { class: "number" }),
    element("td", `${cellText((100 * us) / (range.end - range.start))} %`, { class: "number" })]));
  const add = (sums, key, us) => sums.set(key, (sums.get(key) ?? 0) + us);
  const set = () => {
    const scale = chart.view.frame.bbox.width / (range.end - range.start);
    const shown = { x: [], y: [], text: [] };
    const [busy, named_sums] = [new Map(tracks.map((_, at) => [at, 0])), new Map()];
    for (let at = 0; at < name.length; at += 1) {
      const [from, to] = [Math.max(left[at], range.start), Math.min(right[at], range.end)];
      if (!works[at] || to <= from) continue;
      add(busy, row[at], to - from);
      if (row[at] === 0) add(named_sums, name[at], to - from);
      const letters = Math.floor(((to - from) * scale - 4) / LETTER);
      if (letters < LEAST_NAME) continue;
      shown.x.push((from + to) / 2);
      shown.y.push((top[at] + bottom[at]) / 2);
      shown.text.push(shortened(name[at], letters));
    }
    slices.data = shown;
    head.textContent = `In view: ${cellText(range.start)} to ${cellText(range.end)} us, ${cellText(range.end - range.start)} us. Drag over a part, or use the buttons, to see its sums.`;
    by_track.replaceChildren(...lines([...busy], (at) => tracks[at]));
    const largest = [...named_sums].sort((a, b) => b[1] - a[1]);
    const others = largest.slice(MOST_SUMS).reduce((sum, [, us]) => sum + us, 0);
    const rest = others ? [[`${whole(largest.length - MOST_SUMS)} others`, others]] : [];
    by_name.replaceChildren(...lines([...largest.slice(0, MOST_SUMS), ...rest], (key) => key));
  };
  let waiting = 0;
  const soon = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(set); };
  range.change.connect(soon);
  chart.plot.properties.inner_width.change.connect(soon);
  place.after(head, box);
  set();
}

const everything = (chart) => chart.view.reset();

function* within(root) {
  for (const one of root.querySelectorAll("*")) {
    yield one;
    if (one.shadowRoot) yield* within(one.shadowRoot);
  }
}

async function draw(figure, place) {
  const views = await Bokeh.embed.embed_item(figure.item, place);
  // The place itself hears the keys; a stop inside has no name and shows nothing.
  for (const one of within(place)) if (one.tabIndex === 0) one.tabIndex = -1;
  const view = views.roots ? views.roots[0] : [...views][0];
  const plot = view.model;
  const parts = [...plot.references()];
  const chart = { figure, view, plot, parts, sources: parts.filter((model) => model.type === "ColumnDataSource") };
  if (matchMedia("(pointer: coarse)").matches) plot.toolbar.active_drag = null;
  charts.push(chart);
  paint(chart);
  ticked(chart);
  named(chart);
  timed(chart, place);
  if (wanted) fade(chart);
  place.dataset.drawn = figure.id;
  return chart;
}

function charted(figure, section) {
  const say = `${figure.title}: arrow keys move, plus and minus zoom, 0 shows everything`;
  const place = element("div", null, { class: "chart", tabindex: "0", role: "group", "aria-label": say });
  let chart = null;
  const ready = draw_when_near(place, async () => { chart = await draw(figure, place); });
  const deeds = {
    "-": ["−", "Zoom out", () => zoom(chart, 1 + 2 * STEP, 0)],
    "+": ["+", "Zoom in", () => zoom(chart, 1 / (1 + 2 * STEP), 0)],
    ArrowLeft: ["←", "Move left", () => zoom(chart, 1, -STEP)],
    ArrowRight: ["→", "Move right", () => zoom(chart, 1, STEP)],
    0: ["All", "Show everything", () => everything(chart)],
  };
  const tools = element("div", null, { class: "tools", role: "group", "aria-label": `View of ${figure.title}` });
  for (const [key, [sign, name, deed]] of Object.entries(deeds)) {
    const button = element("button", sign, { type: "button", "aria-label": name, title: name, "data-key": key });
    button.addEventListener("click", () => ready().then(deed));
    tools.append(button);
  }
  place.addEventListener("keydown", (event) => {
    const deed = deeds[event.key === "=" ? "+" : event.key];
    if (!deed || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    ready().then(deed[2]);
  });
  const names = Object.keys(figure.choices);
  if (names.length > 1) {
    const choice = element("select", null, { "aria-label": `Which of ${figure.title}` }, names.map((name) => element("option", name)));
    choice.addEventListener("change", () => ready().then(() => {
      const [source] = chart.sources;
      const columns = figure.choices[names[choice.selectedIndex]];
      source.data = { ...columns, alpha: columns.left.map(() => 1) };
      everything(chart);
    }));
    tools.append(choice);
  }
  section.append(tools, place);
}

function draw_when_near(place, deed) {
  let drawn = null;
  const now = () => (drawn ??= deed());
  const near = new IntersectionObserver((seen) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    near.disconnect();
    now();
  }, { rootMargin: AHEAD });
  near.observe(place);
  return now;
}

// ---- the page

function introduce() {
  byId("title").textContent = data.title;
  byId("source").textContent = [data.source, `hexsim ${data.hexsim_version}`].filter(Boolean).join(" · ");
  byId("command").textContent = data.command;
  byId("summary").append(...data.summary.map(([name, value]) => {
    const [, figure, interval, unit] = value.match(/^(.*?)( \(.*\))?( \w+)?$/s);  // an interval is smaller, and not broken
    const parts = interval ? [element("small", interval), unit ?? ""] : [unit ?? ""];
    return element("div", null, {}, [element("dt", name), element("dd", figure, {}, parts)]);
  }));
  const [answer = "", ...reasons] = data.lead;
  byId("answer").textContent = answer;
  document.querySelector("header").classList.toggle("short", data.summary.length <= MOST_LARGE);
  byId("reasons").append(...reasons.map((sentence) => element("p", sentence)));
  const groups = new Map();  // a title may begin with what several figures are about
  for (const { id, title } of data.figures) {
    const [, about, name] = title.match(/^(?:(.*): )?(.*)$/s);
    groups.set(about, [...(groups.get(about) ?? []), element("a", name, { href: `#${id}` })]);
  }
  byId("contents").append(...[...groups].map(([about, links]) => element("p", about ? `${about}: ` : null, {}, links)));
}

function swatch(colour) {
  const made = element("span", null, { class: "swatch" });
  made.style.background = colour || "currentColor";
  return made;
}

const CORNERS = {
  square: "2,2 14,2 14,14 2,14",
  triangle: "8,2 15,14 1,14",
  diamond: "8,0 14,8 8,16 2,8",
  hex: "4.5,2 11.5,2 15,8 11.5,14 4.5,14 1,8",
  inverted_triangle: "1,2 15,2 8,15",
  plus: "5.5,1 10.5,1 10.5,5.5 15,5.5 15,10.5 10.5,10.5 10.5,15 5.5,15 5.5,10.5 1,10.5 1,5.5 5.5,5.5",
  star: "8,0 10,5.6 16,5.8 11.2,9.4 13,15 8,11.8 3,15 4.8,9.4 0,5.8 6,5.6",
};

function shaped(shape, colour) {
  const of_svg = (tag, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };
  const made = of_svg("svg", { class: "shape", viewBox: "0 0 16 16", fill: colour || "currentColor", "aria-hidden": "true" });
  const points = CORNERS[shape];
  made.append(points ? of_svg("polygon", { points }) : of_svg("circle", { cx: 8, cy: 8, r: 6.5 }));
  return made;
}

function legend(entries) {
  const made = entries.map(([colour, text, shape]) =>
    element("li", null, {}, [shape ? shaped(shape, colour) : swatch(colour), text]));
  return element("ul", null, { class: "legend" }, made);
}

// The boxes of a drawing in the colours of one of the figure's paints, as the reader chooses.
function painted(figure, drawing) {
  const names = Object.keys(figure.paints);
  if (!drawing || !names.length) return [];
  const boxes = [...drawing.querySelectorAll(".box")];
  const choice = element("select", null, { "aria-label": "What the colours show" }, names.map((name) => element("option", name)));
  const place = element("div");
  const set = () => {
    const paint = figure.paints[names[choice.selectedIndex]];
    boxes.forEach((box, at) => {
      box.querySelector("rect").setAttribute("fill", paint.fills[at]);
      box.querySelectorAll("text")[1].textContent = paint.notes[at];
    });
    place.replaceChildren(legend(paint.legend));
  };
  choice.addEventListener("change", set);
  set();
  const tools = [element("label", "Colour: ", {}, [choice])];
  return names.length > 1 ? [element("div", null, { class: "tools" }, tools), place] : [place];
}

function shown(figure) {
  const section = byId(figure.id);
  const drawing = section.querySelector(".drawing");
  section.prepend(element("h2", figure.title, { id: `${figure.id}-title` }), element("p", figure.text));
  if (figure.legend.length) section.append(legend(figure.legend));
  section.append(...painted(figure, drawing));
  if (figure.item) charted(figure, section);
  if (drawing) section.append(drawing);
  return tabled(figure, section);
}

introduce();
if (globalThis.Bokeh) Bokeh.set_log_level("warn");
const kept = data.figures.map(shown);
const layers = [...new Set(data.layers)];

byId("finder").hidden = layers.length === 0;
byId("search").addEventListener("input", () => {
  wanted = byId("search").value.toLowerCase();
  byId("found").textContent = wanted ? `${whole(layers.filter(matches).length)} of ${whole(layers.length)}` : "";
  charts.forEach(fade);
  kept.forEach((keep) => keep());
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  byId("search").focus();
});
dark.addEventListener("change", () => charts.forEach(paint));
