import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Charts of a report as plain SVG: one of how far each goal is, one of what grows with the store. */
const WIDTH = 960;
const LINE = 26;
const LEFT = 440;
const RIGHT = 120;
const LABEL = 16;
const INK = '#3c4048';
const MET = '#2f7d6b';
const MISSED = '#b4532a';
const FAINT = '#c9c4b8';
const STYLE = `text{font:13px ui-sans-serif,system-ui,sans-serif;fill:${INK}}`;

export function saveCharts(folder, { results }) {
  mkdirSync(folder, { recursive: true });
  const others = results.filter((result) => !isStep(result) && result.goal !== undefined);
  if (others.length > 0) writeFileSync(join(folder, 'goals.svg'), goals(others));
  for (const row of GROWING) {
    const curves = results.filter((result) => result.row === row && result.curve !== undefined);
    if (curves.length > 0) writeFileSync(join(folder, `${row.toLowerCase()}.svg`), growth(curves));
  }
}

const GROWING = ['GROWTH', 'GROWTH-PG'];

/** Has a line in the chart of what grows instead of a bar. */
const isStep = ({ row, unit }) => GROWING.includes(row) && unit === 'µs';

/** A bar for each row, as a share of its goal: what reaches the line has met it. */
function goals(results) {
  const scale = (share) => Math.min(1.5, share) * ((WIDTH - LEFT - RIGHT) / 1.5);
  const bars = results.map((result, i) => {
    const y = 40 + i * LINE;
    const share = shareOfGoal(result);
    return [
      `<text x="${LEFT - 10}" y="${y + 13}" text-anchor="end">${escaped(nameOf(result, results))}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${scale(share).toFixed(1)}" height="17" fill="${result.pass ? MET : MISSED}"/>`,
      `<text x="${LEFT + scale(share) + 8}" y="${y + 13}">${share.toFixed(2)}</text>`,
    ].join('');
  });
  const line = `<path d="M${LEFT + scale(1)} 24V${44 + results.length * LINE}" stroke="${INK}" stroke-dasharray="3 3"/>`;
  const title = `<text x="${LEFT}" y="18">share of the goal, the broken line is the goal; more is better</text>`;
  return svg('How far each goal of the bench is', 60 + results.length * LINE, [title, ...bars, line]);
}

/** What is measured against several things says against which. */
function nameOf({ row, what, against }, results) {
  const isAlone = results.filter((other) => other.row === row && other.what === what).length === 1;
  return isAlone ? `${row} ${what}` : `${row} ${what}: ${against}`;
}

function shareOfGoal({ ratio, ours, goal }) {
  const value = (ratio ?? ours).median;
  return goal.least === undefined ? goal.most / value : value / goal.least;
}

/** Cost against rows, both in powers of ten: a flat line is what we want. */
function growth(curves) {
  const height = 420;
  const sizes = curves[0].curve.map(({ size }) => size);
  const micros = curves.flatMap(({ curve }) => curve.map((point) => point.micros));
  const x = between(sizes, 70, WIDTH - 210);
  const y = between(micros, height - 50, 30);
  const heights = apart(curves.map(({ curve }) => y(curve.at(-1).micros)));
  const lines = curves.map(({ curve, step }, i) => {
    const color = `hsl(${(i * 360) / curves.length} 45% 42%)`;
    const points = curve.map((point) => `${x(point.size).toFixed(1)},${y(point.micros).toFixed(1)}`);
    const last = curve.at(-1);
    const label = `${step}, ${Math.round(last.micros)} µs`;
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/><text x="${x(last.size) + 8}" y="${heights[i] + 4}" style="fill:${color}">${escaped(label)}</text>`;
  });
  const ticks = sizes.map(
    (size) =>
      `<text x="${x(size)}" y="${height - 20}" text-anchor="middle">${size.toLocaleString('en')} rows</text><path d="M${x(size)} 24V${height - 40}" stroke="${FAINT}"/>`,
  );
  return svg('What each step costs as the store grows', height, [...ticks, ...lines]);
}

/** The same heights in the same order, moved down where two labels would lie on each other. */
function apart(heights) {
  const order = heights.map((_, i) => i).sort((a, b) => heights[a] - heights[b]);
  const moved = [...heights];
  for (const [n, i] of order.entries()) {
    if (n > 0) moved[i] = Math.max(moved[i], moved[order[n - 1]] + LABEL);
  }
  return moved;
}

function between(values, from, to) {
  const [least, most] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  return (value) => from + ((Math.log10(value) - least) / (most - least || 1)) * (to - from);
}

function svg(name, height, parts) {
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}">`;
  return `${open}<title>${name}</title><style>${STYLE}</style><rect width="100%" height="100%" fill="#fbfaf7"/>${parts.join('')}</svg>\n`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
