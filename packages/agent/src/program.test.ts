import { expect, it } from 'vitest';
import { startWorld } from './testing/room.ts';

it.each([
  [['delivr'], 'lantern: There is no command "delivr". Did you mean deliver? (lantern --help)\n'],
  [['frobnicate', 'it'], 'lantern: There is no command "frobnicate" (lantern --help)\n'],
  [['wait', 'x', '--jsn'], "lantern: unknown option '--jsn'. Did you mean --json? (lantern wait --help)\n"],
  [['wait'], "lantern: missing required argument 'delivery-id' (lantern wait --help)\n"],
])('[D31] %j is wrong usage, and one line leads to the nearest command and its help', async (argv, err) => {
  const world = await startWorld(() => ({ status: 500, body: {} }));
  expect(await world.run(argv)).toEqual({ code: 2, out: '', err });
});
