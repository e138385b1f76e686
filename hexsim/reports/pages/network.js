"use strict";

const SVG = "http://www.w3.org/2000/svg";
const MOST_CONSUMERS = 64;

function drawn(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const brief = (number) => {
  const [size, prefix] = [[1e9, " G"], [1e6, " M"], [1e3, " k"]].find(([one]) => number >= one) ?? [1, ""];
  return size === 1 ? `${number}` : `${Number((number / size).toPrecision(3))}${prefix}`;
};
const real = (number) => String(Number(number.toPrecision(7)));
const dims = (shape, varies = []) =>
  shape.map((size, axis) => (varies.includes(axis) ? `<=${size}` : `${size}`)).join("x") || "scalar";
const counted = (number, one, many) => `${whole(number)} ${number === 1 ? one : many}`;

// ---- what the network is

const layers = data.layers;
const writers = new Map();
const readers = new Map();
layers.forEach((layer, index) => {
  layer.outputs.forEach((name, position) => writers.set(name, { index, position }));
  if (layer.type === "data") return;
  for (const name of new Set(layer.inputs)) {
    if (!readers.has(name)) readers.set(name, []);
    readers.get(name).push(index);
  }
});

function table(header, rows, numeric = []) {
  const kind = (column) => (numeric.includes(column) ? { class: "number" } : {});
  const cell = (tag) => (value, column) =>
    value instanceof Node ? element(tag, null, kind(column), [value]) : element(tag, value, kind(column));
  const body = rows.map((row) => element("tr", null, {}, row.map(cell("td"))));
  const head = header ? [element("thead", null, {}, [element("tr", null, {}, header.map(cell("th")))])] : [];
  const made = element("table", null, {}, [...head, element("tbody", null, {}, body)]);
  return element("div", null, { class: "wide" }, [made]);
}

function introduce() {
  byId("title").textContent = data.network;
  byId("source").textContent = `${data.source} · hexsim ${data.hexsim_version}`;
  byId("answer").replaceChildren(...data.lead.map((sentence) => element("span", sentence)));
  const inputs = layers.filter((layer) => layer.type === "data").length;
  const figures = [
    ...data.answers,
    ["Layers", whole(layers.length - inputs)],
    ["Inputs", whole(inputs)],
    ["Outputs", whole(data.outputs.length)],
    ["Parameters", brief(data.total_parameters)],
    ["MACs per inference", brief(data.total_macs)],
    ["Bytes of parameters", brief(data.weight_bytes)],
    ["Values", data.quantized ? "quantised" : "float"],
  ];
  if (data.hta_sections.length) figures.push(["HTA sections", whole(data.hta_sections.length)]);
  byId("summary").append(...figures.map(([name, value]) =>
    element("div", null, {}, [element("dt", name), element("dd", value)])));
  const rows = Object.entries(data.metadata).map(([key, value]) => [key.replaceAll("_", " "), given(value)]);
  rows.unshift(...figures);
  for (const section of data.hta_sections)
    rows.push([`HTA section for ${section.chip}`, `layers ${section.ids}: ${section.first} to ${section.last}`]);
  byId("metadata").replaceWith(table(null, rows));
}

const given = (value) =>
  value === null || value === "" ? "not given" : typeof value === "object" ? JSON.stringify(value) : String(value);

// ---- list and search

const items = layers.map((layer, index) => {
  const shape = layer.shapes.length ? dims(layer.shapes[0], layer.varies[0]) : "";
  const button = element("button", null, { type: "button", tabindex: index ? -1 : 0, title: layer.name }, [
    element("b", layer.name), element("small", `${layer.id} · ${layer.type} · ${shape}`)]);
  button.addEventListener("click", () => choose(index));
  return element("li", null, {}, [button]);
});
const haystacks = layers.map((layer) =>
  [layer.name, layer.type, layer.kind, ...layer.inputs, ...layer.outputs].join("\n").toLowerCase());
let visible = layers.map((_, index) => index);

function search() {
  const wanted = byId("search").value.trim().toLowerCase();
  const type = wanted.startsWith("type:") ? wanted.slice(5).trim() : null;
  const fits = (index) =>
    type === null ? haystacks[index].includes(wanted) : layers[index].type.toLowerCase() === type;
  visible = layers.map((_, index) => index).filter(fits);
  const hits = new Set(visible);
  items.forEach((item, index) => { item.hidden = !hits.has(index); });
  boxes.forEach((box, index) => box.classList.toggle("hit", hits.has(index)));
  picture.classList.toggle("searching", wanted !== "");
  byId("found").textContent = wanted === ""
    ? `${whole(layers.length)} in all, inputs included`
    : `${whole(visible.length)} of ${whole(layers.length)}`;
  rove(visible.includes(current) ? current : visible[0]);
}

function rove(index) {
  items.forEach((item, one) => { item.firstChild.tabIndex = one === index ? 0 : -1; });
}

function step(event) {
  const at = items.indexOf(document.activeElement.parentElement);
  const place = visible.indexOf(at);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: visible.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  if (next < 0) { byId("search").focus(); return; }
  if (next >= visible.length) return;
  rove(visible[next]);
  items[visible[next]].firstChild.focus();
}

function types_legend() {
  for (const entry of data.legend) {
    const button = element("button", null, { type: "button" }, [
      swatch(entry.band), document.createTextNode(`${entry.type} ${whole(entry.count)}`)]);
    button.addEventListener("click", () => {
      const wanted = `type:${entry.type}`;
      byId("search").value = byId("search").value === wanted ? "" : wanted;
      search();
    });
    byId("legend").append(button);
  }
}

// ---- drawing

const scroller = byId("drawing");
const picture = scroller.querySelector("svg");
const boxes = [...picture.querySelectorAll(".box")];
const edges = [...picture.querySelectorAll(".edge")];
const [fullWidth, fullHeight] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
let zoom = 1;
let current = 0;
let chosen = null;

function zoomTo(factor) {
  const middle = [(scroller.scrollLeft + scroller.clientWidth / 2) / zoom,
    (scroller.scrollTop + scroller.clientHeight / 2) / zoom];
  zoom = Math.min(4, Math.max(0.02, factor));
  picture.setAttribute("width", fullWidth * zoom);
  picture.setAttribute("height", fullHeight * zoom);
  scroller.scrollLeft = middle[0] * zoom - scroller.clientWidth / 2;
  scroller.scrollTop = middle[1] * zoom - scroller.clientHeight / 2;
}

function show(index) {
  const box = boxes[index].querySelector("rect").getBoundingClientRect();
  const view = scroller.getBoundingClientRect();
  scroller.scrollLeft += box.left + box.width / 2 - view.left - view.width / 2;
  scroller.scrollTop += box.top + box.height / 2 - view.top - view.height / 2;
}

function mark(index) {
  boxes[current].classList.remove("chosen");
  boxes[index].classList.add("chosen");
  current = index;
  for (const edge of edges)
    edge.classList.toggle("near", edge.dataset.from === `${index}` || edge.dataset.to === `${index}`);
}

function walk(event) {
  const moves = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  const zooms = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter") choose(current);
  else if (event.key in zooms) zoomTo(zoom * zooms[event.key]);
  else if (event.key === "0") zoomTo(1);
  else if (event.key in moves) {
    const next = current + moves[event.key];
    if (next >= 0 && next < boxes.length) { mark(next); show(next); }
  } else return;
  event.preventDefault();
}

function drag(event) {
  if (event.pointerType !== "mouse" || event.button !== 0) return;
  const start = [event.clientX, event.clientY, scroller.scrollLeft, scroller.scrollTop];
  let moved = false;
  const move = (now) => {
    const way = [now.clientX - start[0], now.clientY - start[1]];
    moved = moved || Math.hypot(...way) > 4;
    if (!moved) return;
    scroller.classList.add("dragged");
    scroller.scrollLeft = start[2] - way[0];
    scroller.scrollTop = start[3] - way[1];
  };
  const end = () => {
    window.removeEventListener("pointermove", move);
    // the click that ends a drag chooses nothing
    setTimeout(() => scroller.classList.remove("dragged"), 0);
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", end, { once: true });
}

// The boxes in the colours of their types, or of what a reader chooses, with its figure below the name.
const types = {
  fills: boxes.map((box) => box.querySelector("rect").getAttribute("fill")),
  notes: boxes.map((box) => box.querySelectorAll("text")[1].textContent),
  legend: [],
};
byId("paint").append(...Object.keys(data.paints).map((name) => element("option", name)));
function paint_boxes() {
  const paint = data.paints[byId("paint").value] ?? types;
  boxes.forEach((box, at) => {
    box.querySelector("rect").setAttribute("fill", shade(paint.fills[at]));
    box.querySelectorAll("text")[1].textContent = paint.notes[at];
  });
  byId("shades").replaceChildren(...paint.legend.map(([fill, text]) => {
    return element("span", null, {}, [swatch(shade(fill)), text]);
  }));
}
picture.classList.add("shaded");
byId("paint").addEventListener("change", paint_boxes);
dark.addEventListener("change", paint_boxes);
if (data.first) byId("paint").value = data.first;
paint_boxes();

// ---- timeline: a layer that is chosen is marked, and a span that is clicked chooses its layer

const by_name = new Map(layers.map((layer, index) => [layer.name, index]));
let timeline = null;

function timed() {
  byId("time").hidden = !data.timeline;
  if (!data.timeline) return;
  const { tools, place, now } = placed(data.timeline.chart, "Timeline", (chart) => {
    timeline = chart;
    chart.chose = (name) => { if (by_name.has(name)) choose(by_name.get(name)); };
    if (chosen !== null) in_time(layers[chosen].name);
  });
  byId("time").append(tools, place, legend(data.timeline.legend));
  now();
}

// The spans of a layer: they are brought into view, and made wide enough to be seen.
function in_time(name) {
  if (!timeline) return;
  timeline.chosen = name;
  const [{ name: names, left, right }] = timeline.marks;
  const at = names.indexOf(name);
  if (at < 0) { timeline.draw(); return; }
  const [low, high] = timeline.x;
  const [from, to] = [left[at], right[at]];
  const least = (8 / timeline.frame.width) * (high - low);
  if (from >= low && to <= high && to - from >= least) { timeline.draw(); return; }
  const half = to - from >= least ? (high - low) / 2 : Math.min((high - low) / 2, 8 * (to - from));
  timeline.look([(from + to) / 2 - half, (from + to) / 2 + half]);
}

// ---- details

function jump(name) {
  const writer = writers.get(name);
  if (!writer) return element("span", name);
  return toLayer(writer.index, name);
}

function toLayer(index, text) {
  const button = element("button", text, { type: "button", class: "jump" });
  button.addEventListener("click", () => choose(index));
  return button;
}

function shapeOf(name, layer) {
  const writer = writers.get(name);
  if (writer) {
    const source = layers[writer.index];
    return dims(source.shapes[writer.position], source.varies[writer.position]);
  }
  const constant = Object.values(layer.constants).map((one) => data.constants[one]).find((one) => one.name === name);
  return constant ? `${dims(constant.shape)}, constant` : "";
}

function encodingOf(encoding, origin) {
  const from = origin ? [element("p", `From: ${origin}`, { class: "note" })] : [];
  const kind = encoding.symmetric ? "symmetric" : "asymmetric";
  if (encoding.channels === undefined)
    return [table(null, [["min", real(encoding.min)], ["max", real(encoding.max)], ["delta", real(encoding.delta)],
      ["offset", whole(encoding.offset)], ["bitwidth", `${encoding.bitwidth}, ${kind}`]], [1]), ...from];
  const rows = encoding.min.map((_, n) =>
    [`${n}`, real(encoding.min[n]), real(encoding.max[n]), real(encoding.delta[n])]);
  const inside = [element("summary", `One per channel: ${whole(encoding.channels)}`),
    element("div", null, { class: "channels" }, [table(["channel", "min", "max", "delta"], rows, [1, 2, 3])])];
  if (encoding.left_out)
    inside.push(element("p", `${counted(encoding.left_out, "channel is", "channels are")} left out to keep the page small; hexsim info --json has all.`, { class: "note" }));
  return [table(null, [["lowest min", real(encoding.lowest)], ["highest max", real(encoding.highest)],
    ["offset", whole(encoding.offset)], ["bitwidth", `${encoding.bitwidth}, ${kind}`]], [1]),
  element("details", null, {}, inside), ...from];
}

function histogram(counts, encoding) {
  const [width, height, bottom, top] = [400, 150, 128, 18];
  const limits = !encoding ? [] : encoding.channels === undefined
    ? [["min", encoding.min], ["max", encoding.max]]
    : [["lowest min", encoding.lowest], ["highest max", encoding.highest]];
  const ends = [counts.low, counts.high, ...limits.map((one) => one[1])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const span = high - low || 1;
  const x = (value) => 8 + ((value - low) / span) * (width - 16);
  const most = Math.max(...counts.counts);
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, class: "histogram", role: "img",
    "aria-label": `Histogram from ${real(counts.low)} to ${real(counts.high)}, at most ${most} in a bin` });
  const bin = (counts.high - counts.low) / counts.counts.length;
  counts.counts.forEach((number, n) => {
    const [from, to] = [counts.low + n * bin, counts.low + (n + 1) * bin];
    const tall = number ? Math.max(1, (number / most) * (bottom - top)) : 0;
    const bar = drawn("rect", { class: "bar", x: x(from), y: bottom - tall, height: tall,
      width: Math.max(0.5, x(to) - x(from) - 0.6) });
    bar.append(drawn("title", {}, `${real(from)} to ${real(to)}: ${whole(number)}`));
    picture.append(bar);
  });
  picture.append(drawn("line", { class: "axis", x1: 4, x2: width - 4, y1: bottom, y2: bottom }));
  limits.forEach(([name, value], n) => {
    picture.append(drawn("line", { class: "limit", x1: x(value), x2: x(value), y1: top - 4, y2: bottom }),
      drawn("text", { class: "limit", x: x(value), y: 11, "text-anchor": n ? "end" : "start" }, name));
  });
  picture.append(drawn("text", { x: 4, y: height - 6 }, real(low)),
    drawn("text", { x: width - 4, y: height - 6, "text-anchor": "end" }, real(high)));
  if (low < 0 && high > 0 && x(0) > 70 && x(0) < width - 70)
    picture.append(drawn("text", { x: x(0), y: height - 6, "text-anchor": "middle" }, "0"));
  return picture;
}

function constantOf(role, constant, layer) {
  const made = element("div", null, { class: "constant" }, [element("h4", `${role}: ${constant.name}`)]);
  const size = constant.bytes === undefined ? "" : ` · ${counted(constant.bytes, "byte", "bytes")}`;
  made.append(element("p", `${dims(constant.shape)} · ${constant.type} · ${counted(constant.elements, "element", "elements")}${size}`));
  const encoding = layer.encodings[role];
  if (constant.values) made.append(element("p", `Values: ${constant.values.join(", ") || "none"}`));
  if (constant.note) made.append(element("p", constant.note, { class: "note" }));
  if (constant.histogram) {
    made.append(histogram(constant.histogram, encoding));
    if (constant.histogram.not_finite)
      made.append(element("p", `${counted(constant.histogram.not_finite, "value is", "values are")} not finite and not counted.`, { class: "note" }));
  }
  if (encoding) made.append(...encodingOf(encoding, layer.origins[role]));
  else if (layer.origins[role]) made.append(element("p", `Encoding from: ${layer.origins[role]}`, { class: "note" }));
  return made;
}

function consumers(layer) {
  const found = layer.outputs.flatMap((name) => readers.get(name) || []);
  const parts = found.slice(0, MOST_CONSUMERS).map((index) => [toLayer(index, layers[index].name), layers[index].type]);
  const made = [];
  if (parts.length) made.push(element("h3", "Read by"), table(null, parts));
  if (found.length > MOST_CONSUMERS) made.push(element("p", `and ${whole(found.length - MOST_CONSUMERS)} more`, { class: "note" }));
  return made;
}

function more(layer, key) {
  return layer.left_out[key] ? [element("p", `and ${whole(layer.left_out[key])} more`, { class: "note" })] : [];
}

function detailsOf(layer) {
  const share = (part, total) => (total ? ` (${Number(((100 * part) / total).toPrecision(3))} %)` : "");
  const made = [element("h2", layer.name), element("p",
    `${layer.id} · ${layer.kind} · runs on ${layer.runtimes.join(", ") || "no runtime"}`, { class: "faint" })];
  const cost = data.costs[layer.name];
  const error = data.errors[layer.name];
  const figures = [];
  if (cost) figures.push([`Time on ${cost.engine.toUpperCase()}`, `${cellText(cost.us)} us${share(cost.us, data.total_us)}`],
    ["Bound", `${cost.bound}, ${cellText(100 * cost.bound_share)} % of its time`]);
  if (cost?.cpu_reason) figures.push(["Why on the CPU", cost.cpu_reason],
    ["Crossing there and back", `${cellText(cost.to_cpu_us)} and ${cellText(cost.from_cpu_us)} us`],
    ["Would keep it on the engine", cost.instead || "no change is known"]);
  if (error !== undefined) figures.push(["SQNR", error === null ? "no error" : `${cellText(error)} dB`]);
  if (cost) figures.push(["DDR", `${cellText(cost.ddr_bytes / 1024)} KiB`]);
  if (layer.param_count) figures.push(["Parameters", whole(layer.param_count) + share(layer.param_count, data.total_parameters)]);
  if (layer.macs) figures.push(["MACs", whole(layer.macs) + share(layer.macs, data.total_macs)]);
  if (figures.length) made.push(table(null, figures));
  const attributes = Object.entries(layer.attributes);
  if (attributes.length) made.push(element("h3", "Attributes"), table(null, attributes));
  if (layer.type !== "data")
    made.push(element("h3", "Inputs"), table(null, layer.inputs.map((name) => [jump(name), shapeOf(name, layer)])), ...more(layer, "inputs"));
  const written = layer.outputs.map((name, n) => [name, dims(layer.shapes[n], layer.varies[n]) + (data.outputs.includes(name) ? ", output of the network" : "")]);
  made.push(element("h3", "Outputs"), table(null, written), ...more(layer, "outputs"), ...consumers(layer));
  for (const [role, type] of Object.entries(layer.floats)) made.push(element("p", `${role}: stays ${type}`, { class: "note" }));
  for (const [role, encoding] of Object.entries(layer.encodings))
    if (!(role in layer.constants))
      made.push(element("h3", `Encoding of ${role}`), ...encodingOf(encoding, layer.origins[role]));
  const constants = Object.entries(layer.constants);
  if (constants.length) made.push(element("h3", "Constants"));
  for (const [role, number] of constants) made.push(constantOf(role, data.constants[number], layer));
  return made;
}

function choose(index) {
  const before = chosen === null ? null : items[chosen].firstChild;
  if (before) before.removeAttribute("aria-current");
  chosen = index;
  mark(index);
  rove(index);
  const button = items[index].firstChild;
  button.setAttribute("aria-current", "true");
  const list = byId("list");
  const [at, view] = [button.getBoundingClientRect(), list.getBoundingClientRect()];
  if (at.top < view.top || at.bottom > view.bottom) list.scrollTop += at.top - view.top - view.height / 3;
  show(index);
  in_time(layers[index].name);
  byId("details").replaceChildren(...detailsOf(layers[index]));
  byId("details").scrollTop = 0;
  if (window.matchMedia("(max-width: 1000px)").matches) byId("details").scrollIntoView({ block: "start" });
}

// ---- beginning

introduce();
timed();
byId("list").append(...items);
types_legend();
search();
byId("search").addEventListener("input", search);
byId("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && visible.length) choose(visible[0]);
  if (event.key === "Escape") { byId("search").value = ""; search(); }
  if (event.key === "ArrowDown" && visible.length) { event.preventDefault(); items[visible[0]].firstChild.focus(); rove(visible[0]); }
});
byId("list").addEventListener("keydown", step);
scroller.addEventListener("keydown", walk);
scroller.addEventListener("pointerdown", drag);
scroller.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoomTo(zoom * (event.deltaY < 0 ? 1.15 : 1 / 1.15));
}, { passive: false });
scroller.addEventListener("click", (event) => {
  const box = event.target.closest(".box");
  if (box && !scroller.classList.contains("dragged")) choose(Number(box.dataset.box));
});
const fit = () => Math.min(1, (scroller.clientWidth - 4) / fullWidth, (scroller.clientHeight - 4) / fullHeight);
byId("zoom").addEventListener("click", (event) => {
  const wanted = event.target.closest("button")?.dataset.zoom;
  if (wanted) zoomTo({ in: zoom * 1.3, out: zoom / 1.3, one: 1, fit: fit() }[wanted]);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== byId("search")) { event.preventDefault(); byId("search").focus(); }
});
zoomTo(Math.min(1, Math.max(0.7, (scroller.clientWidth - 20) / fullWidth)));
if (boxes.length) show(0);
scroller.scrollTop = 0;
