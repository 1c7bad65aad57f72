import { BaseSequencer } from 'vitest/node';

// The files that take longer than twenty seconds, about the longest first. On a fresh clone nobody has measured anything
// yet, and one of these begun last would run alone at the end. Those that mostly wait (for a time limit, for a lease)
// stand between those that compute, so that they run beside them and not beside each other.
const LONG = [
  'test/replicas/faults.test.ts', // waits
  'test/browser/triage.test.ts',
  'test/hooks/closed.test.ts', // waits
  'test/browser/upgrade.test.ts',
  'test/crash/faults.test.ts', // waits
  'test/browser/trouble.test.ts',
  'test/crash/a2a.test.ts', // waits
  'test/browser/look.test.ts',
  'test/replicas/replicas.test.ts',
  'test/doors/callbacks.test.ts', // waits
  'test/browser/fit.test.ts',
  'test/crash/kill.test.ts',
  'test/browser/acts.test.ts',
  'test/doors/smuggling.test.ts', // waits
  'test/crash/refusals.test.ts',
  'test/browser/screens.test.ts',
  'test/doors/connect.test.ts',
  'test/browser/live.test.ts',
  'test/browser/undo.test.ts',
  'test/doors/cli.test.ts',
  'test/browser/safety.test.ts',
  'test/crash/akep.test.ts',
  'test/browser/words.test.ts',
  'test/browser/staying.test.ts',
  'test/browser/tasks.test.ts',
  'test/cookbook/cookbook.test.ts',
  'test/browser/pictures.test.ts',
  'test/browser/events.test.ts',
  'test/conformance/seeds.test.ts',
  'test/doors/lantern.test.ts',
  'test/conformance/akep.test.ts',
  'test/browser/entry.test.ts',
  'test/doors/mcp.test.ts',
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
