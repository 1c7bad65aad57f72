import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { Child, cleanEnvironment, type Environment, node } from '../support/command.ts';
import { inRepo, temporaryFolder } from '../support/folder.ts';
import type { Server } from '../support/server.ts';

export const RESEARCH_AGENT = 'research-agent-01';

/** What a sample did: `[name, ...arguments]`, or `['ended', code]`. */
export type Step = readonly [string, ...unknown[]];

/** The settings that the samples read, pointed at our server. `root` is how the white paper has WAKE_ENDPOINT. */
export function sampleEnvironment(server: Server, key: string, endpoint: 'root' | 'v1' = 'v1'): Environment {
  return {
    WAKE_ENDPOINT: endpoint === 'root' ? server.url : `${server.url}/wake/v1`,
    WAKE_API_KEY: key,
    WAKE_AGENT_ID: RESEARCH_AGENT,
    SAMPLE_BASE: server.url,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUTF8: '1',
  };
}

/** A Python sample that runs under drive.py, step by step. */
export class SampleRun {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #steps: Step[] = [];
  #arrived = () => {};
  #complaints = '';

  constructor(sample: string, env: Environment) {
    this.#child = spawn('python3', [inRepo('test/seeds/drive.py'), sample], { env: cleanEnvironment(env) });
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#add(JSON.parse(line) as Step));
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints += text;
    });
    this.#child.stdin.on('error', () => {}); // it may end while it is being answered
    this.#child.once('error', (error) =>
      this.#add(['ended', `python3 could not be started: ${error.message}`]),
    );
    this.#child.once('close', (code) =>
      this.#add(['ended', code === 0 ? 0 : `${code}: ${this.#complaints}`]),
    );
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  /** The next thing it does. */
  async next(): Promise<Step> {
    for (;;) {
      const step = this.#steps.shift();
      if (step !== undefined) return step;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  /** Ends its sleep. */
  wake(word: 'go on' | 'stop' = 'go on'): void {
    this.#child.stdin.write(`${word}\n`);
  }

  #add(step: Step): void {
    this.#steps.push(step);
    this.#arrived();
  }
}

/** All that a sample does when it never has to wait. */
export async function stepsOf(sample: string, env: Environment): Promise<Step[]> {
  const run = new SampleRun(sample, env);
  const steps: Step[] = [];
  for (;;) {
    const step = await run.next();
    steps.push(step);
    if (step[0] === 'ended') return steps;
  }
}

/** A Node sample with definitions before it and a look at the result behind it; what it printed, as JSON. */
export async function runNodeSample(
  sample: string,
  around: { before: string; after: string },
  env: Environment,
) {
  const text = readFileSync(inRepo(`test/seeds/samples/${sample}`), 'utf8');
  const pointed = text.replaceAll('https://api.gardenroom.ai', env.SAMPLE_BASE ?? '');
  const file = join(temporaryFolder(), sample);
  writeFileSync(file, `${around.before}\n${pointed}\n${around.after}\n`);
  const { code, stdout, stderr } = await new Child(node(file), env).ended;
  if (code !== 0) throw new Error(`${sample} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as unknown;
}
