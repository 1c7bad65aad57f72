import { BaseSequencer } from 'vitest/node';

// The files that take longer than half a minute, the longest first. On a fresh clone nobody has measured anything yet,
// and one of these begun last would run alone at the end.
const LONG = [
  'test/replicas/faults.test.ts',
  'test/crash/faults.test.ts',
  'test/replicas/replicas.test.ts',
  'test/crash/kill.test.ts',
  'test/crash/a2a.test.ts',
  'test/browser/look.test.ts',
  'test/browser/fit.test.ts',
  'test/hooks/closed.test.ts',
  'test/doors/smuggling.test.ts',
  'test/doors/callbacks.test.ts',
  'test/browser/triage.test.ts',
  'test/browser/trouble.test.ts',
  'test/crash/refusals.test.ts',
];

/** Vitest's own order, in which the files known to be long come first within their project. */
export class LongestFirst extends BaseSequencer {
  async sort(files) {
    const sorted = await super.sort(files);
    const long = sorted.filter((file) => place(file) !== -1).sort((a, b) => place(a) - place(b));
    const rest = sorted.filter((file) => place(file) === -1);
    const isBefore = (file) => file.project.name === long[0]?.project.name;
    const at = rest.findIndex(isBefore);
    return at === -1 ? [...rest, ...long] : rest.toSpliced(at, 0, ...long);
  }
}

const place = ({ moduleId }) => LONG.findIndex((path) => moduleId.endsWith(path));
