import { isNumber } from '../api/exact-json.ts';
import type { Json, JsonObject } from '../api/types.ts';
import { Each } from '../frame/Each.tsx';
import { Scroller } from '../frame/Scroller.tsx';
import { More, useBeginning } from './More.tsx';
import { keyLabel } from './shape.ts';
import { Text } from './Text.tsx';

const FIRST = 50;

/** A list of similar objects. A long one shows its beginning and says how much more there is. */
export function Table({ keys, rows }: { keys: string[]; rows: JsonObject[] }) {
  const { shown, left, more } = useBeginning(rows, FIRST);
  const numbers = new Set(keys.filter((key) => isOfNumbers(shown.map((row) => row[key] ?? null))));
  return (
    <>
      <Scroller label="Table">
        <table>
          <thead>
            <tr>
              {keys.map((key) => (
                <th key={key} scope="col" title={key} className={numbers.has(key) ? 'number' : undefined}>
                  <Text>{keyLabel(key)}</Text>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Each of={shown}>
              {(row) => (
                <tr>
                  {keys.map((key) => (
                    <td key={key} className={numbers.has(key) ? 'number' : wholeness(row[key])}>
                      <Text>{cellText(row[key])}</Text>
                    </td>
                  ))}
                </tr>
              )}
            </Each>
          </tbody>
        </table>
      </Scroller>
      <More left={left} of="rows" onMore={more} />
    </>
  );
}

/** Numbers are aligned by their digits. A single word among them makes it a column of words. */
function isOfNumbers(cells: readonly Json[]): boolean {
  return cells.some(isNumber) && cells.every((cell) => cell === null || isNumber(cell));
}

const WHOLE = 24;

/** Something short with digits in it would break at its hyphens and spaces: `2026-11-03`, `-48 211.07`. */
function wholeness(cell: Json | undefined): string | undefined {
  return typeof cell === 'string' && cell.length <= WHOLE && /\d/.test(cell) ? 'whole' : undefined;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}
