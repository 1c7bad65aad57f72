import { describe, onTestFinished } from 'vitest';
import type { Store, Topic } from '../core/store.ts';
import { describeCalling } from './contract/calling.ts';
import { describeCommits } from './contract/commits.ts';
import { describeDeliveries } from './contract/deliveries.ts';
import { describeEvents } from './contract/events.ts';
import { describeHeads } from './contract/heads.ts';
import { describeJobs } from './contract/jobs.ts';
import { describePeople } from './contract/people.ts';
import { describeProducers } from './contract/producers.ts';
import { describeRuns } from './contract/runs.ts';
import { describeSpaces } from './contract/spaces.ts';
import { describeTasks } from './contract/tasks.ts';
import { describeWaits } from './contract/waits.ts';

export type OpenStore = {
  store: Store & {
    readonly signals: { on(topic: Topic, wake: (about: ReadonlySet<string>) => void): () => void };
  };
  /** Transactions that changed something, as counted by the database itself. */
  commits(): Promise<number>;
  stop(): Promise<void>;
};

/** An empty store that ends with its test. */
export type Fresh = () => Promise<OpenStore>;

/** The behaviour of a store, written once and run on every database. */
export function describeStore(name: string, open: () => Promise<OpenStore>): void {
  const fresh: Fresh = async () => {
    const opened = await open();
    onTestFinished(() => opened.stop());
    return opened;
  };
  describe(name, () => {
    describe('commits', () => describeCommits(fresh));
    describe('heads', () => describeHeads(fresh));
    describe('people and agents', () => describePeople(fresh));
    describe('deliveries and decisions', () => describeDeliveries(fresh));
    describe('jobs and what is due', () => describeJobs(fresh));
    describe('events and inboxes', () => describeEvents(fresh));
    describe('pages in pieces', () => describeRuns(fresh));
    describe('producers and subscriptions', () => describeProducers(fresh));
    describe('waits, resumes and leftovers', () => describeWaits(fresh));
    describe('spaces', () => describeSpaces(fresh));
    describe('the A2A relay', () => describeTasks(fresh));
    describe('callers, cards, pushes, content and keys', () => describeCalling(fresh));
  });
}
