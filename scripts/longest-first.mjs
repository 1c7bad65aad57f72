import { BaseSequencer } from 'vitest/node';

// Black-box files that take long and mostly wait: for a time limit, for a lease. Two of them start with each of the
// projects that compute, so that both cores are busy while they wait.
const WAITING = [
  'test/replicas/faults.test.ts',
  'test/hooks/closed.test.ts',
  'test/crash/a2a.test.ts',
  'test/doors/callbacks.test.ts',
];

// The other black-box files that take about twenty seconds or more, the longest first. On a fresh clone there are no
// measurements yet, and one of these started last would run alone at the end. Those that wait are placed between
// those that compute.
const LONG = [
  'test/browser/triage.test.ts',
  'test/doors/cli.test.ts',
  'test/crash/faults.test.ts', // waits
  'test/browser/trouble.test.ts',
  'test/crash/kill.test.ts',
  'test/crash/refusals.test.ts',
  'test/browser/upgrade.test.ts',
  'test/replicas/replicas.test.ts',
  'test/browser/look.test.ts',
  'test/doors/smuggling.test.ts', // waits
  'test/browser/fit.test.ts',
  'test/browser/tasks.test.ts',
  'test/doors/connect.test.ts',
  'test/browser/acts.test.ts',
  'test/browser/screens.test.ts',
  'test/browser/undo.test.ts',
  'test/cookbook/cookbook.test.ts',
  'test/browser/live.test.ts',
  'test/conformance/seeds.test.ts',
  'test/browser/safety.test.ts',
  'test/crash/akep.test.ts',
  'test/browser/words.test.ts',
  'test/browser/staying.test.ts',
  'test/doors/mcp.test.ts',
  'test/browser/pictures.test.ts',
  'test/browser/events.test.ts',
  'test/doors/lantern.test.ts',
  'test/crash/rotation.test.ts',
  'test/conformance/akep.test.ts',
  'test/browser/entry.test.ts',
  'test/crash/sigterm.test.ts',
  'test/doors/first-start.test.ts',
];

/**
 * Vitest's own order within a project. Only consecutive files share a process, so the projects come one after the
 * other; a free process continues with the next, and none waits for the last file of the one before.
 */
export class LongestFirst extends BaseSequencer {
  async sort(files) {
    const left = new Set(await super.sort(files));
    const take = (some) => some.filter((file) => left.delete(file));
    const named = (paths) =>
      paths.flatMap((path) => [...left].filter(({ moduleId }) => moduleId.endsWith(path)));
    const of = (project) => [...left].filter((file) => file.project.name === project);
    return [
      ...take(named(WAITING.slice(0, 2))),
      ...take(of('postgres')),
      ...take(named(WAITING.slice(2))),
      ...take(of('unit')),
      ...take(named(LONG)),
      ...left,
    ];
  }
}
