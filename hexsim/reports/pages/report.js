"use strict";

const MOST_LARGE = 8;
const NARROW_COLUMNS = 5;  // as many as a narrow window has room for
const FEW = 12;  // rows that are seen at once, and need no search
const LONG = 30;
const SMALLEST = 0.7;  // of a drawing, whose letters are of 9 to 11 px
let wanted = "";
const matches = (name) => String(name).toLowerCase().includes(wanted);

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
  const kind = (cell, column) => ({ "data-name": header[column], class: numeric[column] ? "number" : cellText(cell).length > LONG ? "text long" : "text" });
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
  const cards = (rows.length <= FEW && header.length > NARROW_COLUMNS) || rows.some((row) => row.some((cell) => cellText(cell).length > LONG));
  const made = element("table", null, cards ? { class: "cards" } : {}, [
    element("caption", null, { class: "note" }), element("thead", null, {}, [element("tr", null, {}, heads)]), body,
  ]);
  const frame = element("div", null, { class: rows.length > FEW ? "wide rows" : "wide rows few", tabindex: "0", role: "region", "aria-label": `Table ${figure.title}` }, [made]);
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
    box.append(...(rows > FEW ? [made.search] : []), made.frame);
    keep = made.keep;
  };
  box.addEventListener("toggle", fill);
  section.append(box);
  if (!figure.chart && !section.querySelector(".drawing")) box.open = true;
  return () => keep();
}

// ---- charts

function charted(figure, section) {
  const { tools, place, now } = placed(figure.chart, figure.title, (chart, place) => {
    chart.figure = figure;
    chart.chose = (name) => select(name);
    fade(chart);
    sums(chart, place);
    place.dataset.drawn = figure.id;
  });
  const names = Object.keys(figure.choices);
  if (names.length > 1) {
    const choice = element("select", null, { "aria-label": `Which of ${figure.title}` }, names.map((name) => element("option", name)));
    choice.addEventListener("change", () => {
      const [first, ...others] = figure.chart.marks;
      now().show([{ ...first, ...figure.choices[names[choice.selectedIndex]] }, ...others]);
    });
    tools.append(choice);
  }
  if (tools.childElementCount) section.append(tools);
  section.append(place);
}

function fade(chart) {
  chart.wanted = wanted ? matches : null;
  chart.draw();
}

// ---- one layer in all figures

function select(name) {
  if (!known.has(name)) return;
  chosen = chosen === name ? null : name;
  for (const figure of data.figures) {
    const section = byId(figure.id);
    figure.boxes ??= [...section.querySelectorAll(".drawing .box")];
    figure.boxes.forEach((box) => box.classList.toggle("chosen", box.dataset.layer === chosen));
  }
  charts.forEach((chart) => { chart.chosen = chosen; chart.draw(); });
  const places = data.figures.filter((figure) => chosen !== null && (figure.boxes.some((box) => box.dataset.layer === chosen)
    || figure.chart?.marks.some((mark) => Array.isArray(mark.name) ? mark.name.includes(chosen) : mark.name === chosen)));
  const bar = byId("chosen");
  bar.hidden = chosen === null;
  bar.replaceChildren(element("b", chosen), ...places.map((figure) => {
    const link = element("a", figure.title, { href: `#${figure.id}` });
    link.addEventListener("click", () => reveal(figure, chosen));
    return link;
  }));
}

function reveal(figure, name) {
  const box = figure.boxes.find((one) => one.dataset.layer === name);
  if (box) box.scrollIntoView({ block: "center", inline: "center" });
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

// A drawing in the colours of the system; a click on a box chooses its layer.
function nightly(drawing) {
  drawing.querySelector("svg").classList.add("shaded");
  const filled = [...drawing.querySelectorAll("rect[fill^='#']")].map((one) => [one, one.getAttribute("fill")]);
  const set = () => filled.forEach(([one, colour]) => one.setAttribute("fill", shade(colour)));
  dark.addEventListener("change", set);
  set();
  drawing.addEventListener("click", (event) => {
    const box = event.target.closest(".box");
    if (box) select(box.dataset.layer);
  });
}

// A drawing as wide as whole folds of it are, as far as its letters stay legible; it begins at its first box.
function fitted(drawing) {
  const picture = drawing.querySelector("svg");
  const [wide, high, fold] = [...["width", "height"].map((side) => picture[side].baseVal.value), Number(picture.dataset.fold)];
  if (!fold) return;
  new ResizeObserver(() => {
    const room = drawing.clientWidth;
    const folds = Math.max(1, Math.min(Math.floor(room / (SMALLEST * fold)), Math.round(wide / fold)));
    const scale = Math.min(1, Math.max(SMALLEST, room / (folds * fold)));
    picture.setAttribute("width", wide * scale);
    picture.setAttribute("height", high * scale);
    const first = drawing.querySelector(".box rect");
    if (first) drawing.scrollLeft = (first.x.baseVal.value + first.width.baseVal.value / 2) * scale - room / 2;
  }).observe(drawing);
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
      box.querySelector("rect").setAttribute("fill", shade(paint.fills[at]));
      box.querySelectorAll("text")[1].textContent = paint.notes[at];
    });
    place.replaceChildren(legend(paint.legend, shade));
  };
  dark.addEventListener("change", set);
  choice.addEventListener("change", set);
  set();
  const tools = [element("label", "Colour: ", {}, [choice])];
  return names.length > 1 ? [element("div", null, { class: "tools" }, tools), place] : [place];
}

// The legend of a figure; that of a drawing is in the colours of the system, as the drawing.
function keyed(figure, drawing) {
  const key = legend(figure.legend, drawing ? shade : undefined);
  if (drawing) dark.addEventListener("change", () => key.replaceChildren(...legend(figure.legend, shade).children));
  return key;
}

function shown(figure) {
  const section = byId(figure.id);
  const drawing = section.querySelector(".drawing");
  section.prepend(element("h2", figure.title, { id: `${figure.id}-title` }), element("p", figure.text));
  if (figure.legend.length) section.append(keyed(figure, drawing));
  if (drawing) nightly(drawing);
  section.append(...painted(figure, drawing));
  if (figure.chart) charted(figure, section);
  if (drawing) { section.append(drawing); fitted(drawing); }
  return tabled(figure, section);
}

const layers = [...new Set(data.layers)];
const known = new Set(layers);
let chosen = null;
introduce();
const kept = data.figures.map(shown);

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

