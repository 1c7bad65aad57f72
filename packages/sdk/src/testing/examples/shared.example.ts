import { systemClock } from '../../clock.ts';
import { faultOf, LanternError } from '../../faults.ts';
import { certificateTrouble } from '../../http/certificate.ts';
import { readEndpoint, readProducerEndpoint } from '../../http/endpoint.ts';
import { isExactNumber } from '../../json.ts';
import { fileLog } from '../../log/file-log.ts';
import { memoryLog } from '../../log/log.ts';
import { createWake } from '../../wake/client.ts';
import type { Examples } from './stage.ts';

/** The same for what both protocols share. */
export const sharedExamples: Examples = {
  async LanternError({ wake, draft, note: stopTheAgent }) {
    try {
      await wake.deliver(draft);
    } catch (error) {
      if (faultOf(error) === 'unauthorized') stopTheAgent();
      else throw error;
    }
  },

  async certificateTrouble({ url }) {
    await fetch(url).catch((cause: unknown) => {
      throw new Error(certificateTrouble(url, cause) ?? `Nothing answers at ${url}.`, { cause });
    });
  },

  async faultOf({ note: pauseTheLoop }) {
    const error = new LanternError('rate_limited', 'Slow down.');
    if (faultOf(error) === 'rate_limited') pauseTheLoop();
  },

  async isExactNumber() {
    isExactNumber('9007199254740993'); // false: it would become 9007199254740992
  },

  async systemClock({ url, apiKey }) {
    const wake = createWake({ url, apiKey, clock: systemClock });
    return wake;
  },

  async memoryLog({ url, apiKey }) {
    const wake = createWake({ url, apiKey, log: memoryLog() });
    return wake;
  },

  async fileLog({ url, apiKey }) {
    const wake = createWake({ url, apiKey, log: fileLog('./agent-log.jsonl') });
    return wake;
  },

  async readEndpoint() {
    readEndpoint('http://127.0.0.1:8787', 'wk_test_abc'); // { base: 'http://127.0.0.1:8787' }
  },

  async readProducerEndpoint() {
    readProducerEndpoint('https://desk.example.com/akep/events'); // { base: 'https://desk.example.com' }
  },
};
