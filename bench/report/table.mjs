import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('../results/latest.json', import.meta.url));
const HEADINGS = ['row', 'scenario', 'ours', 'against', 'baseline', 'ratio', 'goal', ''];

/**
 * A goal is about the ratio if there is a baseline, and about the figure itself if not. Without a goal, the figure is
 * only shown.
 */
export function judge(result) {
  const value = (result.ratio ?? result.ours).median;
  const { least = -Infinity, most = Infinity } = result.goal ?? {};
  return { ...result, pass: value >= least && value <= most };
}

export function table(results) {
  const lines = [HEADINGS, ...results.map(toCells)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const toLine = (cells) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd();
  return [toLine(HEADINGS), toLine(widths.map((width) => '-'.repeat(width)))]
    .concat(lines.slice(1).map(toLine))
    .join('\n');
}

/** A result as words, in the order of the headings. */
export function toCells({ row, what, unit, ours, against, baseline, ratio, goal, pass }) {
  return [
    row,
    what,
    `${range(ours)} ${unit}`,
    against ?? '–',
    baseline === undefined ? '–' : `${range(baseline)} ${unit}`,
    ratio === undefined ? '–' : range(ratio),
    goal === undefined ? '–' : goal.least === undefined ? `≤ ${goal.most}` : `≥ ${goal.least}`,
    goal === undefined ? '' : pass ? 'ok' : 'MISSED',
  ];
}

/** The median, followed by the least and the most of all rounds. */
function range({ median, min, max }) {
  if (min === max) return figure(median);
  return `${figure(median)} (${figure(min)}–${figure(max)})`;
}

function figure(value) {
  if (value >= 1000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

export function save(report) {
  writeFileSync(FILE, `${JSON.stringify(report, null, 2)}\n`);
  return FILE;
}
