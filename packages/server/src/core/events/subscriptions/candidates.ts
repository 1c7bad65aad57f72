import type { Json } from '../../canonical.ts';
import { entry } from '../../maps.ts';
import { type Arrival, type Subscription, valueAt, type Want, wantsOf } from './subscription.ts';

/**
 * The subscriptions of a space, indexed by what they ask for. A platform has thousands, most of them about one agent
 * or one task; an event is compared only with those whose most selective condition it meets, and with those that have
 * no condition.
 */
export class Candidates {
  readonly #all: readonly Subscription[];
  /** Their places in the list, by the path and the value of one condition. */
  readonly #telling = new Map<string, Map<Json, number[]>>();
  readonly #unconditional: number[] = [];

  constructor(all: readonly Subscription[]) {
    this.#all = all;
    const wants = all.map(({ body }) => wantsOf(body));
    const variety = varietyOf(wants.flat());
    wants.forEach((own, place) => {
      this.#file(place, mostTelling(own, variety));
    });
  }

  /** Every subscription that could take the event, in the order of the whole list. */
  of(arrival: Arrival): readonly Subscription[] {
    if (this.#telling.size === 0) return this.#all;
    const found = [this.#unconditional];
    for (const [path, byValue] of this.#telling) found.push(byValue.get(valueAt(arrival, path)) ?? []);
    const places = found.flat().sort((a, b) => a - b);
    return places.flatMap((place) => this.#all[place] ?? []);
  }

  #file(place: number, want: Want | undefined): void {
    if (want === undefined) {
      this.#unconditional.push(place);
      return;
    }
    const byValue = entry(this.#telling, want.path, () => new Map<Json, number[]>());
    for (const value of new Set(want.values)) entry(byValue, value, () => []).push(place);
  }
}

/** How many different values are asked for at each path: the more there are, the more selective the path is. */
function varietyOf(wants: readonly Want[]): Map<string, number> {
  const asked = new Map<string, Set<Json>>();
  for (const { path, values } of wants) {
    const known = entry(asked, path, () => new Set());
    for (const value of values) known.add(value);
  }
  return new Map([...asked].map(([path, values]) => [path, values.size]));
}

function mostTelling(wants: readonly Want[], variety: ReadonlyMap<string, number>): Want | undefined {
  const telling = ({ path }: Want) => variety.get(path) ?? 0;
  return wants.reduce<Want | undefined>(
    (best, want) => (best === undefined || telling(want) > telling(best) ? want : best),
    undefined,
  );
}
