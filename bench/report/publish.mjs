import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { saveCharts } from './charts.mjs';
import { toCells } from './table.mjs';

const docs = (path) => fileURLToPath(new URL(`../../docs/${path}`, import.meta.url));
const [PAGE, FIGURES, CHARTS] = [docs('performance.md'), docs('performance.json'), docs('charts')];
const [BEGIN, END] = ['<!-- figures: npm run bench -- --publish -->', '<!-- end of figures -->'];
const HEADINGS = ['', 'scenario', 'ours', 'against', 'ratio', 'goal', ''];

/**
 * Puts the rows of a report into docs/performance.md and its charts. A row that was not measured this time keeps its
 * figures and their date, from docs/performance.json.
 */
export function publish({ date, results }, order) {
  const known = existsSync(FIGURES) ? JSON.parse(readFileSync(FIGURES, 'utf8')) : [];
  const measured = new Set(results.map(({ row }) => row));
  const fresh = results.map((result) => ({
    ...withoutRounds(result),
    measured: date.slice(0, 16).replace('T', ' '),
  }));
  const all = [...known.filter(({ row }) => !measured.has(row)), ...fresh];
  all.sort((a, b) => order.indexOf(a.row) - order.indexOf(b.row));
  writeFileSync(FIGURES, `${JSON.stringify(all, null, 2)}\n`);
  saveCharts(CHARTS, { results: all });
  const page = readFileSync(PAGE, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < before)
    throw new Error(`${PAGE} has lost its place for the figures: ${BEGIN} … ${END}`);
  writeFileSync(PAGE, `${page.slice(0, before)}${BEGIN}\n\n${markdown(all)}\n\n${page.slice(after)}`);
}

/** The single rounds stay in `results/latest.json`. */
function withoutRounds({ raw, notes, ...result }) {
  const short = (spread) =>
    spread && { median: round(spread.median), min: round(spread.min), max: round(spread.max) };
  const { ours, baseline, ratio, ...rest } = result;
  return { ...rest, ours: short(ours), baseline: short(baseline), ratio: short(ratio) };
}

const round = (value) => Number(value.toPrecision(5));

/** A table whose columns are aligned, for those who read the file itself. */
function markdown(results) {
  const lines = [HEADINGS, ...results.map((result, i) => toLine(result, results[i - 1]))];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const padded = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
  const rule = padded(widths.map((width) => '-'.repeat(width)));
  return [padded(HEADINGS), rule, ...lines.slice(1).map(padded), '', whenMeasured(results)].join('\n');
}

function toLine(result, above) {
  const [row, what, ours, against, baseline, ratio, goal, verdict] = toCells(result);
  const beside = result.baseline === undefined ? '–' : `${baseline}, ${against}`;
  const mark = verdict === 'MISSED' ? '**missed**' : verdict;
  return [row === above?.row ? '' : row, what, ours, beside, ratio, goal, mark];
}

function whenMeasured(results) {
  const times = new Map(results.map(({ row, measured }) => [row, measured]));
  return `Measured (UTC): ${[...times].map(([row, at]) => `${row} ${at}`).join(', ')}.`;
}
