import { escapeHtml } from './html.ts';

const STEP = /^\s*(\S+) --> ([^\s:]+)(?:: (.*))?$/;
/** Where a life begins and ends. */
const EDGE = '[*]';

/** A diagram of states as a table, which needs no program in the page: what leads from each state, and where to. */
export function renderStates(lines: readonly string[]): string {
  const rows = lines.flatMap((line) => {
    const [, from, to, when = ''] = STEP.exec(line) ?? [];
    if (from === undefined || to === undefined || to === EDGE) return [];
    const cells = [state(from), state(to), escapeHtml(when)];
    return [`<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`];
  });
  const head = '<tr><th>from</th><th>to</th><th>by</th></tr>';
  return `<div class="wide" tabindex="0"><table><thead>${head}</thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function state(name: string): string {
  return name === EDGE ? 'the beginning' : `<code>${escapeHtml(name)}</code>`;
}
