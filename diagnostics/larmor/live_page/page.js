// Asks the server how the run stands, and shows it.
"use strict";

const EVERY = 2000, EVERY_AT_REST = 5000; // milliseconds between two questions
const TIME = "$t$  $[1/\\Omega_{ci}]$";
const WORDS = {waiting: "waiting for a run", running: "running", complete: "complete", stopped: "stopped",
               failed: "failed", killed: "ended without a summary", unknown: "running or killed"};
const DASHES = {solid: "none", dashed: "6 3", dotted: "2 3"};

const $ = id => document.getElementById(id);
const shown = {state: null, curves: {}, curvesKey: "", frame: null, frameKey: "", wantedKey: "", held: null,
               find: null};
let look = null; // colours of curves and pictures

async function ask(path, query = []) {
  const answer = await fetch(`${path}?${new URLSearchParams(query)}`);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// Changes an element only when what it shows has changed, so that an open list stays open.
function put(id, key, ...children) {
  const element = $(id);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...(typeof children[0] === "function" ? children[0]() : children));
}

// ---- how the run stands ----

function duration(seconds) {
  const s = Math.round(seconds), two = n => String(n).padStart(2, "0");
  if (s >= 172800) return `${(s / 86400).toFixed(1)} days`;
  return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

function tell(state) {
  if (state.status === "waiting") return `No run has written into ${state.directory} yet.`;
  if (state.status === "running" || state.status === "unknown") {
    const beyond = " Its lock cannot be seen from this machine.";
    return (state.holder ? `By ${state.holder}.` : "") + (state.status === "unknown" ? beyond : "");
  }
  if (state.status === "stopped") return `It ended early in a checkpoint: ${state.ended}.`;
  if (state.status === "killed")
    return "There is no process, no summary and no message: the run was killed, or its machine stopped.";
  return "";
}

function facts(state) {
  const rows = [];
  if (state.step !== null) {
    rows.push(["step", `${state.step} of ${state.last} (${Math.floor(100 * shareOf(state))} %)`]);
    rows.push(["$t\\,\\Omega_{ci}$", `${numberText(state.time, 6)} of ${numberText(state.t_end, 6)}`]);
  }
  if (state.rate && state.status === "running") rows.push(["speed", `${numberText(state.rate)} particle-steps/s`]);
  if (state.left !== null) rows.push(["time left", `about ${duration(state.left)}`]);
  if (state.age !== null) rows.push(["last written", `${duration(state.age)} ago`]);
  const entry = ([name, value]) => [make("dt", {}, ...htmlOf(name)), make("dd", {}, ...htmlOf(value))];
  return rows.map(row => make("div", {}, ...entry(row)));
}

const shareOf = state => state.last ? state.step / state.last : 0;

function showStatus(state) {
  document.title = `${state.status === "running" ? `${Math.floor(100 * shareOf(state))} % ` : ""}${state.name}`;
  $("name").textContent = state.name;
  Object.assign($("status"), {textContent: WORDS[state.status], className: `badge ${state.status}`});
  $("told").textContent = tell(state);
  $("main").hidden = state.status === "waiting";
  $("progress").value = shareOf(state);
  $("facts").replaceChildren(...facts(state));
  const messages = [...(state.failure ? [["failure", state.failure]] : []),
                    ...state.warnings.map(text => ["warning", `Warning: ${text}`]),
                    ...(state.notes.length ? [["note", state.notes.join("\n")]] : [])];
  put("messages", JSON.stringify(messages), () =>
    messages.map(([kind, text]) => make("p", {className: `message ${kind}`}, text)));
  put("settings", state.settings, state.settings);
}

// ---- the ledger ----

const FLOWS = {in: "came in", out: "lost", exchange: "exchanged"};

function ledgerRows(species) {
  const cell = (text, isNumber) => make("td", {className: isNumber ? "number" : ""}, ...htmlOf(text));
  const row = (...texts) => make("tr", {}, ...texts.map((text, k) => cell(text, k > 1)));
  const rows = species.accounts.map(({name, kind, number, energy}) =>
    row(species.name, `${FLOWS[kind]}: ${name}`, plain(number), numberText(energy)));
  if (species.present !== null) rows.push(row(species.name, "in the domain", plain(species.present), ""));
  return rows;
}

function residualText(residuals) {
  const bad = Object.entries(residuals).filter(([, value]) => value !== 0);
  const list = bad.map(([name, value]) => `${name} reaches ${value}`).join(", ");
  if (bad.length) return make("p", {className: "bad"}, `The ledger does not close: ${list}.`);
  return make("p", {}, Object.keys(residuals).length ? "Every residual of the ledger is 0 in all rows." :
    "No particle can come in or be lost in this run.");
}

function showLedger(state) {
  put("ledger", JSON.stringify([state.species, state.residuals, state.rows > 0]), () => {
    if (!state.rows) return [make("p", {}, "The time series has no rows yet.")];
    const rows = state.species.flatMap(ledgerRows), unit = "$[n_0 m_p v_A^2 d_i^2]$";
    const head = ["species", "", "number", `energy ${unit}`].map(text => make("th", {}, ...htmlOf(text)));
    const table = make("table", {}, make("tr", {}, ...head), ...rows);
    return [...(rows.length ? [table] : []), residualText(state.residuals)];
  });
}

// ---- curves ----

function boxes(id, curves, isOn) {
  put(id, JSON.stringify(curves), () => curves.map((curve, k) => {
    const input = make("input", {type: "checkbox", checked: isOn, onchange: () => guard(showCurves)});
    input.dataset.name = curve.name;
    const swatch = make("span", {className: "swatch"});
    const style = isOn ? "solid" : Math.floor(k / look.curves.length) % 2 ? "dotted" : "dashed";
    swatch.style.borderTop = `3px ${style} ${colourOf(k)}`;
    [input.dataset.colour, input.dataset.dashes] = [colourOf(k), DASHES[style]];
    return make("label", {}, input, swatch, curve.name);
  }));
}

const colourOf = k => look.curves[k % look.curves.length];

function showNames(state) {
  const of = kind => state.curves.filter(curve => curve.kind === kind);
  boxes("energy-names", of("energy"), true);
  boxes("part-names", of("part"), false);
  const columns = of("column").map(curve => curve.name);
  const before = $("column").value;
  put("column", JSON.stringify(columns), () => columns.map(name => make("option", {}, name)));
  $("column").value = [before, "div_b_max", columns[0]].find(name => columns.includes(name)) ?? "";
}

function chosenEnergies() {
  return [...document.querySelectorAll("#energy-names input:checked, #part-names input:checked")];
}

// The values of a curve as `change` makes them; no curve where the server has none of this name.
function curveOf(name, style = {}, change = y => y) {
  const curve = shown.curves[name];
  return curve ? [{name, colour: colourOf(0), ...style, x: curve.x, y: change(curve.y)}] : [];
}

function drawEnergies(unit) {
  const mode = $("mode").value, since = y => y.map(value => value === null || y[0] === null ? null : value - y[0]);
  const curves = chosenEnergies().flatMap(({dataset: {name, colour, dashes}}) =>
    curveOf(name, {colour, dashes}, mode === "change" ? since : undefined));
  const yLabel = `${mode === "change" ? "change of energy" : "energy"}  ${unit}`;
  drawChart($("energy"), curves, {xLabel: TIME, yLabel, isLog: mode === "log", height: 320});
}

function drawCurves() {
  const unit = name => shown.state.curves.find(curve => curve.name === name)?.unit ?? "";
  const column = $("column").value, small = {xLabel: TIME, height: 210};
  const measured = y => y.map(value => value || null); // the first row has no rate
  drawEnergies(unit("total"));
  drawChart($("drift"), curveOf("energy_drift"), {...small, yLabel: "relative change"});
  drawChart($("rate"), curveOf("rate", {}, measured), {...small, yLabel: "particle-steps/s", fromZero: true});
  drawChart($("other"), curveOf(column), {...small, yLabel: unit(column)});
}

async function showCurves() {
  const {generation, rows} = shown.state, energies = chosenEnergies().map(box => box.dataset.name);
  const names = [...new Set([...energies, "energy_drift", "rate", $("column").value])];
  const key = JSON.stringify([generation, rows, names]);
  if (key !== shown.curvesKey) {
    shown.curves = (await ask("curves", names.map(name => ["name", name]))).curves;
    shown.curvesKey = key;
  }
  drawCurves();
}

// ---- values on the grid ----

const chosenMesh = () => JSON.parse($("mesh").value || "null"); // [source, mesh]

function stepsOf(source) {
  return shown.state.sources.find(one => one.name === source)?.steps ?? [];
}

function showMeshes(state) {
  const sources = state.sources.filter(source => source.meshes.length);
  $("viewer").hidden = !sources.length;
  $("no-frame").hidden = sources.length > 0;
  const before = $("mesh").value;
  put("mesh", JSON.stringify(sources.map(({name, meshes}) => [name, meshes])), () => sources.map(source =>
    make("optgroup", {label: source.name}, ...source.meshes.map(name =>
      make("option", {value: JSON.stringify([source.name, name])}, name.replace("/", "_"))))));
  const values = [...$("mesh").options].map(option => option.value);
  const first = values.find(value => JSON.parse(value)[1] === "B/z") ?? values[0];
  $("mesh").value = values.includes(before) ? before : first ?? "";
}

function showSlider() {
  const mesh = chosenMesh(), steps = mesh ? stepsOf(mesh[0]) : [], slider = $("step");
  if (!steps.length) return null;
  const wanted = $("newest").checked ? steps.at(-1) : Number(slider.dataset.step);
  const k = Math.max(steps.findLastIndex(step => step <= wanted), 0);
  slider.max = steps.length - 1;
  slider.value = k;
  slider.dataset.step = steps[k];
  $("step-text").textContent = `step ${steps[k]} (${k + 1} of ${steps.length})`;
  return {source: mesh[0], mesh: mesh[1], step: steps[k]};
}

function drawFrame() {
  const frame = shown.frame;
  if (!$("hold").checked || !shown.held || shown.held.mesh !== frame.mesh)
    shown.held = {mesh: frame.mesh, low: frame.low, high: frame.high, colours: look.maps[frame.map]};
  const means = frame.block.some(size => size > 1) ? `, means of ${frame.block.join(" × ")} cells` : "";
  const time = `$t\\,\\Omega_{ci}$ = ${numberText(frame.time, 6)}`;
  $("frame-title").replaceChildren(...htmlOf(`${frame.label}, step ${frame.step}, ${time}${means}`));
  if (frame.ny > 1) {
    shown.find = drawPicture($("frame"), frame, {...shown.held, label: frame.label});
    return;
  }
  const x = Array.from(frame.values, (_, k) => frame.first[0] + (k + 0.5) * frame.cell[0]);
  const y = Array.from(frame.values, value => Number.isFinite(value) ? value : null);
  const axes = {xLabel: "$x$  $[d_i]$", yLabel: frame.label, height: 320};
  shown.find = null;
  drawChart($("frame"), [{name: frame.mesh, colour: colourOf(0), x, y}], axes);
}

// One question at a time; the last wish counts.
async function showFrame() {
  const wish = showSlider(), key = wish && JSON.stringify([wish, shown.state.generation]);
  const isAsking = shown.wantedKey !== "";
  if (!wish || (key === shown.frameKey && !isAsking)) return;
  shown.wantedKey = key;
  if (isAsking) return;
  try {
    const frame = await ask("frame", Object.entries(wish));
    const bytes = Uint8Array.from(atob(frame.values), c => c.charCodeAt(0));
    shown.frame = {...frame, values: new Float32Array(bytes.buffer)};
    shown.frameKey = key;
    drawFrame();
  } finally {
    const isLate = shown.wantedKey !== key;
    shown.wantedKey = "";
    if (isLate) guard(showFrame);
  }
}

function showValue(event) {
  const drawing = $("frame").firstChild;
  if (!shown.find || !drawing) return;
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
  const found = shown.find(at.x, at.y);
  const place = found && `$x$ = ${numberText(found.x)}, $y$ = ${numberText(found.y)}`;
  $("value").replaceChildren(...htmlOf(found ? `${place}: ${numberText(found.value)}` : "\u00a0"));
}

// ---- the loop ----

// What goes wrong is told on the page until the next answer is right.
async function guard(action) {
  try {
    await action();
    $("problem").textContent = "";
  } catch (error) {
    $("problem").textContent = error instanceof TypeError && /fetch/i.test(error.message)
      ? "The server does not answer: larmor live has ended." : error.message;
  }
}

async function refresh() {
  look ??= await ask("colours");
  const state = shown.state = await ask("state");
  showStatus(state);
  showLedger(state);
  showNames(state);
  showMeshes(state);
  await Promise.all([showFrame(), showCurves()]);
}

async function loop() {
  if (!document.hidden) await guard(refresh);
  setTimeout(loop, shown.state?.status === "running" ? EVERY : EVERY_AT_REST);
}

function move(by) {
  const steps = stepsOf(chosenMesh()[0]), k = Math.min(Math.max(Number($("step").value) + by, 0), steps.length - 1);
  $("newest").checked = false;
  $("step").dataset.step = steps[k];
  guard(showFrame);
}

$("mesh").onchange = () => guard(showFrame);
$("newest").onchange = () => guard(showFrame);
$("hold").onchange = () => shown.frame && drawFrame();
$("step").oninput = () => move(0);
$("back").onclick = () => move(-1);
$("forward").onclick = () => move(1);
$("mode").onchange = drawCurves;
$("column").onchange = () => guard(showCurves);
$("frame").onmousemove = showValue;
document.addEventListener("visibilitychange", () => document.hidden || guard(refresh));
window.onerror = message => { $("problem").textContent = message; };
loop();
