// Charts and pictures as SVG, with axes. Nothing here knows of a run.
"use strict";

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// ---- words with indices ----

const SYMBOLS = {cdot: "·", nabla: "∇", times: "×", mu: "μ", Omega: "Ω", rho: "ρ", parallel: "∥", perp: "⊥",
                 ",": "\u2009"};

// The TeX of a label, as matplotlib has it, in pieces of text with a level: -1 below, 1 above, 0 on the line.
function typeset(tex) {
  const pieces = [];
  let at = 0, isMath = false;
  const add = (text, level) => {
    if (pieces.length && pieces.at(-1).level === level) pieces.at(-1).text += text;
    else pieces.push({text, level});
  };
  const item = level => {
    const c = tex[at++];
    if (c === "$") isMath = !isMath;
    else if (!isMath) add(c, level);
    else if (c === "_" || c === "^") item(c === "_" ? -1 : 1);
    else if (c === "\\") command(level);
    else if (c === "{") {
      while (at < tex.length && tex[at] !== "}") item(level);
      at++;
    } else add(c, level);
  };
  const command = level => {
    const name = /^([a-zA-Z]+|.)/.exec(tex.slice(at))[0];
    at += name.length;
    if (name === "mathrm" || name === "mathbf") item(level);
    else add(SYMBOLS[name] ?? name, level);
  };
  while (at < tex.length) item(0);
  return pieces;
}

function textOf(tex) {
  return typeset(tex).map(piece => piece.text).join("");
}

function htmlOf(tex) {
  return typeset(tex).map(({text, level}) => {
    if (level === 0) return text;
    const element = document.createElement(level < 0 ? "sub" : "sup");
    element.textContent = text;
    return element;
  });
}

function svgText(tex, attributes) {
  const text = svg("text", attributes);
  let shift = 0;
  for (const piece of typeset(tex)) {
    const want = piece.level < 0 ? 4 : piece.level > 0 ? -5 : 0;
    text.append(svg("tspan", {dy: want - shift, "font-size": piece.level ? "75%" : "100%"}, piece.text));
    shift = want;
  }
  return text;
}

// ---- axes ----

const round = value => Number(value.toPrecision(12));

// Round numbers from low to high, about `count` of them.
function ticksOf(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(round(k * step));
  return ticks;
}

function logTicks(low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const every = Math.max(1, Math.ceil((last - first) / 6)), factors = last - first > 2 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = first; power <= last; power += every) ticks.push(...factors.map(factor => factor * 10 ** power));
  return ticks.map(round).filter(tick => tick >= low * 0.999 && tick <= high * 1.001);
}

const inTen = exponent => `$10^{${String(exponent).replace("-", "−")}}$`;
const plain = value => String(round(value)).replace("-", "−");

// A number for a sentence: few digits, a power of ten where it is very large or small.
function numberText(value, digits = 4) {
  if (!Number.isFinite(value)) return "not finite";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    return `$${mantissa.replace("-", "−")}\\cdot10^{${exponent.replace("+", "").replace("-", "−")}}$`;
  }
  return plain(Number(value.toPrecision(digits)));
}

// An axis from low to high on the pixels from `from` to `to`: where a value is, ticks with labels, a factor of all.
function makeAxis(low, high, from, to, isLog, count) {
  if (isLog) {
    const place = value => from + (to - from) * Math.log(value / low) / Math.log(high / low);
    const ticks = logTicks(low, high), isDecades = ticks.every(tick => Number.isInteger(round(Math.log10(tick))));
    const label = tick => isDecades ? inTen(round(Math.log10(tick))) : numberText(tick, 2);
    return {place, factor: "", ticks: ticks.map(value => ({value, label: label(value)}))};
  }
  const place = value => from + (to - from) * (value - low) / (high - low);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const power = largest >= 1e5 || largest < 1e-2 ? Math.floor(Math.log10(largest)) : 0;
  const ticks = ticksOf(low, high, count).map(value => ({value, label: plain(value / 10 ** power)}));
  return {place, ticks, factor: power ? `×${inTen(power)}` : ""};
}

// The box of a drawing with ticks along x and y, and labels; `box`: left, right, top, bottom.
function drawAxes(drawing, box, x, y, xLabel, yLabel, hasGrid) {
  for (const {value, label} of x.ticks) {
    const at = x.place(value);
    if (hasGrid) drawing.append(svg("line", {class: "grid", x1: at, x2: at, y1: box.top, y2: box.bottom}));
    drawing.append(svg("line", {class: "axis", x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4}));
    drawing.append(svgText(label, {x: at, y: box.bottom + 18, "text-anchor": "middle"}));
  }
  for (const {value, label} of y.ticks) {
    const at = y.place(value);
    if (hasGrid) drawing.append(svg("line", {class: "grid", x1: box.left, x2: box.right, y1: at, y2: at}));
    drawing.append(svg("line", {class: "axis", x1: box.left - 4, x2: box.left, y1: at, y2: at}));
    drawing.append(svgText(label, {x: box.left - 7, y: at + 4, "text-anchor": "end"}));
  }
  const width = box.right - box.left, height = box.bottom - box.top, centred = {"text-anchor": "middle"};
  drawing.append(svg("rect", {class: "axis", x: box.left, y: box.top, width, height}));
  drawing.append(svgText(`${xLabel}  ${x.factor}`, {...centred, x: box.left + width / 2, y: box.bottom + 38}));
  drawing.append(svgText(yLabel, {...centred, transform: `translate(14 ${box.top + height / 2}) rotate(-90)`}));
  if (y.factor) drawing.append(svgText(y.factor, {x: box.left, y: box.top - 6}));
}

// ---- curves ----

function rangeOf(values, isLog, fromZero) {
  const good = values.filter(value => value !== null && (!isLog || value > 0));
  if (!good.length) return isLog ? [0.1, 1] : [0, 1];
  let [low, high] = good.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  if (isLog) return low < high ? [low / 1.2, high * 1.2] : [low / 2, high * 2];
  if (fromZero) return [0, 1.05 * high || 1];
  const room = high > low ? 0.05 * (high - low) : 0.1 * Math.abs(high) || 1;
  return [low - room, high + room];
}

// Values that are not finite, and those without a logarithm, leave a gap.
function pathOf(curve, x, y, isLog) {
  let path = "", isDown = false;
  curve.y.forEach((value, k) => {
    const isThere = value !== null && (!isLog || value > 0);
    if (isThere) path += `${isDown ? "L" : "M"}${x.place(curve.x[k]).toFixed(1)} ${y.place(value).toFixed(1)}`;
    isDown = isThere;
  });
  return path;
}

// curves: name, colour, x, y, with dashes if wanted.
function drawChart(element, curves, {xLabel, yLabel, isLog = false, fromZero = false, height}) {
  const width = 640, box = {left: 76, right: width - 12, top: 24, bottom: height - 46};
  const drawing = svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": textOf(yLabel)});
  const [low, high] = rangeOf(curves.flatMap(curve => curve.y), isLog, fromZero);
  const first = Math.min(...curves.map(curve => curve.x[0])), last = Math.max(...curves.map(curve => curve.x.at(-1)));
  const [start, end] = last > first ? [first, last] : Number.isFinite(first) ? [first, first + 1] : [0, 1];
  const x = makeAxis(start, end, box.left, box.right, false, 7), y = makeAxis(low, high, box.bottom, box.top, isLog, 5);
  drawAxes(drawing, box, x, y, xLabel, yLabel, true);
  for (const curve of curves)
    drawing.append(svg("path", {class: "curve", "data-name": curve.name, stroke: curve.colour,
                                "stroke-dasharray": curve.dashes ?? "none", d: pathOf(curve, x, y, isLog)}));
  element.replaceChildren(drawing);
}

// ---- pictures ----

// Values as a PNG of one pixel each, the first row at the bottom. What is not finite is grey.
function imageOf(values, nx, ny, low, high, colours) {
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  [canvas.width, canvas.height] = [nx, ny];
  const image = context.createImageData(nx, ny), pixels = new Uint32Array(image.data.buffer);
  const bytes = colours.map(text => parseInt(text.slice(1), 16));
  const words = bytes.map(c => (255 << 24 | (c & 255) << 16 | (c & 0xff00) | c >> 16) >>> 0); // red is the first byte
  for (let j = 0; j < ny; j++)
    for (let i = 0; i < nx; i++) {
      const share = (values[j * nx + i] - low) / (high - low);
      const k = Math.min(Math.max(Math.floor(share * 256), 0), 255);
      pixels[(ny - 1 - j) * nx + i] = Number.isFinite(share) ? words[k] : 0xffb0b0b0;
    }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function drawColourBar(drawing, box, low, high, colours, label) {
  const y = makeAxis(low, high, box.bottom, box.top, false, 6), height = (box.bottom - box.top) / colours.length;
  colours.forEach((colour, k) => drawing.append(svg("rect", {
    x: box.left, y: box.bottom - (k + 1) * height, width: box.right - box.left, height: height + 0.3, fill: colour})));
  for (const {value, label: text} of y.ticks) {
    const at = y.place(value);
    drawing.append(svg("line", {class: "axis", x1: box.right, x2: box.right + 4, y1: at, y2: at}));
    drawing.append(svgText(text, {x: box.right + 7, y: at + 4}));
  }
  if (y.factor) drawing.append(svgText(y.factor, {x: box.left, y: box.top - 6}));
  const middle = `translate(${box.right + 58} ${(box.top + box.bottom) / 2}) rotate(-90)`;
  drawing.append(svgText(label, {"text-anchor": "middle", transform: middle}));
}

// frame: values [ny][nx], nx, ny, cell [dx, dy], first [x, y] (lower left corner of the first value), x and y [low, high].
// Returns the function from a place in the drawing to x, y and the value there, or to null beyond the box.
function drawPicture(element, frame, {low, high, colours, label}) {
  const wide = frame.x[1] - frame.x[0], tall = frame.y[1] - frame.y[0], isEqual = tall / wide > 0.1 && tall / wide < 10;
  const room = 462, top = 24, height = isEqual ? Math.min(room * tall / wide, 520) : 300;
  const width = isEqual ? height * wide / tall : room;
  const box = {left: 66, right: 66 + width, top, bottom: top + height};
  const drawing = svg("svg", {viewBox: `0 0 640 ${box.bottom + 46}`, role: "img", "aria-label": textOf(label)});
  const x = makeAxis(...frame.x, box.left, box.right, false, width / 70);
  const y = makeAxis(...frame.y, box.bottom, box.top, false, Math.max(height / 60, 2));
  const begin = {x: x.place(frame.first[0]), y: y.place(frame.first[1])};
  const end = {x: x.place(frame.first[0] + frame.nx * frame.cell[0]), y: y.place(frame.first[1] + frame.ny * frame.cell[1])};
  // Values on faces and blocks of cells may reach beyond the domain.
  drawing.append(svg("clipPath", {id: "box"}, svg("rect", {x: box.left, y: top, width, height})));
  drawing.append(svg("image", {
    "clip-path": "url(#box)", x: begin.x, y: end.y, width: end.x - begin.x, height: begin.y - end.y,
    preserveAspectRatio: "none", href: imageOf(frame.values, frame.nx, frame.ny, low, high, colours)}));
  drawAxes(drawing, box, x, y, "$x$  $[d_i]$", "$y$  $[d_i]$", false);
  const bar = {left: box.right + 16, right: box.right + 32, top, bottom: box.bottom};
  drawColourBar(drawing, bar, low, high, colours, label);
  element.replaceChildren(drawing);
  return (px, py) => {
    const at = [frame.x[0] + (px - box.left) / width * wide, frame.y[0] + (box.bottom - py) / height * tall];
    const [i, j] = [0, 1].map(axis => Math.floor((at[axis] - frame.first[axis]) / frame.cell[axis]));
    const isInside = px >= box.left && px < box.right && py > top && py <= box.bottom;
    return isInside ? {x: at[0], y: at[1], value: frame.values[j * frame.nx + i]} : null;
  };
}
