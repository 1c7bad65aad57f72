import { type Caller, createCaller, systemClock, type Task } from '@lanternroom/sdk/a2a';
import { Child, type Environment, LANTERN, node } from './command.ts';
import { temporaryFolder } from './folder.ts';
import { AGENT, type Server } from './server.ts';
import { until } from './until.ts';

/** A caller of the first agent. It uses the agent's own key, which belongs to the same space. */
export function callerOf(server: Server, agent: string = AGENT.id, token: string = AGENT.key): Caller {
  return createCaller({ agent: `${server.url}/@home/${agent}`, token });
}

/** One whose pauses between tries last until the server is back: how long its start takes is up to the machine. */
export function patientCallerOf(server: Server): Caller {
  const isBack = () =>
    fetch(`${server.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const sleep = async () => void (await until('the server is back', isBack));
  const agent = `${server.url}/@home/${AGENT.id}`;
  return createCaller({ agent, token: AGENT.key, clock: { ...systemClock, sleep } });
}

/** A machine with `lantern connect` on it, and a state folder that outlives the program. */
export class Laptop {
  readonly state: string;
  readonly #exec: string;
  readonly #args: readonly string[];
  #child: Child | null = null;

  constructor(exec: string, args: readonly string[] = []) {
    this.state = temporaryFolder();
    this.#exec = exec;
    this.#args = args;
  }

  /** Resolves when it is connected. */
  async start(url: string, env: Environment = {}): Promise<Child> {
    const child = this.launch(url, env);
    await until('the laptop is connected', () => {
      if (child.hasEnded) throw new Error(`lantern connect ended: ${child.stderr}`);
      return child.stdout.includes('Connected to');
    });
    return child;
  }

  launch(url: string, env: Environment = {}): Child {
    const args = ['connect', '--exec', this.#exec, '--state', this.state, ...this.#args];
    this.#child = new Child(node(LANTERN, args), { LANTERN_URL: url, WAKE_API_KEY: AGENT.key, ...env });
    return this.#child;
  }

  get child(): Child {
    if (this.#child === null) throw new Error('the laptop was not started');
    return this.#child;
  }

  /** kill -9 of the connector; its commands are not told. */
  async kill(): Promise<void> {
    this.child.process.kill('SIGKILL');
    await this.child.ended;
  }
}

/** The task in one of these states. */
export function untilState(caller: Caller, id: string, state: string): Promise<Task> {
  return until(`task ${id} is ${state}`, async () => {
    const task = await caller.get(id);
    return task.status.state === `TASK_STATE_${state}` ? task : undefined;
  });
}

/** Sends without waiting for the agent, and gives the task's id. */
export async function sent(
  caller: Caller,
  text: string,
  options: { contextId?: string } = {},
): Promise<Task> {
  const answer = await caller.send(text, { returnImmediately: true, ...options });
  if ('task' in answer) return answer.task;
  throw new Error('the agent has answered with a message');
}
