import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asSent } from './outgoing.ts';

const FILL = { fillProducer: true, producer: 'prod_"x"' };

describe('the producer that is filled in', () => {
  it('[K5] stands in the source, and no other byte changes', () => {
    const json = fc.json({ maxDepth: 3 });
    const names = fc.constantFrom('"source"', '"sou\\u0072ce"', '"\\u0073ource"');
    const gap = fc.constantFrom('', ' ', '\n\t', '\r\n');
    const check = (before: string, after: string, name: string, space: string, inner: string) => {
      const head = `{${space}"a":${before},${name}${space}:${space}{`;
      const tail = `${space}"name":${inner}},"source2":{"source":${after}}${space}}`;
      const filled = asSent(head + tail, FILL);
      expect(filled).toBe(`${head}"producer_id":"prod_\\"x\\"",${tail}`);
      expect(JSON.parse(filled).source.producer_id).toBe('prod_"x"');
    };
    fc.assert(fc.property(json, json, names, gap, json, check), { numRuns: 300 });
  });

  it('[K5] is found after members that look like it', () => {
    const text =
      '{"x":{"source":{"n":1}},"y":["source",{"source":{}}],"z":"\\"source\\":{","source":{"name":"n"}}';
    const filled = asSent(text, FILL);
    expect(JSON.parse(filled)).toEqual({
      ...JSON.parse(text),
      source: { producer_id: FILL.producer, name: 'n' },
    });
  });

  it('[K9] is left alone where the event has it', () => {
    expect(asSent('{"source":{}}', { fillProducer: false, producer: 'x' })).toBe('{"source":{}}');
  });
});
