import { isNumber } from '../api/exact-json.ts';
import type { JsonObject } from '../api/types.ts';
import { Each } from '../frame/Each.tsx';
import { Scroller } from '../frame/Scroller.tsx';
import { More, useBeginning } from './More.tsx';
import { keyLabel } from './shape.ts';
import { Text } from './Text.tsx';

const FIRST = 50;

/** A list of like objects. A long one shows its beginning and says how much more there is. */
export function Table({ keys, rows }: { keys: string[]; rows: JsonObject[] }) {
  const { shown, left, more } = useBeginning(rows, FIRST);
  return (
    <>
      <Scroller label="Table">
        <table>
          <thead>
            <tr>
              {keys.map((key) => (
                <th key={key} scope="col" title={key}>
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
                    <td key={key} className={isNumber(row[key]) ? 'number' : undefined}>
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

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}
