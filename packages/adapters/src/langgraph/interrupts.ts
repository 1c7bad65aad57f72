import type { RunnableConfig } from '@langchain/core/runnables';
import type { Interrupt } from '@langchain/langgraph';
import { LanternError } from '@lanternroom/sdk/wake';

/** What we need of a compiled graph; for an agent of `createAgent` it is `agent.graph`. */
export interface PausedGraph {
  getState(config: RunnableConfig, options?: { subgraphs?: boolean }): Promise<Snapshot>;
  /** Subgraphs have true or false here. */
  readonly checkpointer?: unknown;
}

interface Snapshot {
  readonly config: RunnableConfig;
  readonly tasks: readonly Task[];
}

interface Task {
  readonly id: string;
  readonly name: string;
  readonly interrupts: readonly Interrupt[];
  /** For a subgraph: its own snapshot, or only the configuration to load it with. */
  readonly state?: RunnableConfig | Snapshot | undefined;
}

/** A waiting interrupt. */
export interface Held {
  /** The id under which the answer is passed in. */
  readonly id: string;
  readonly value: unknown;
  /**
   * How many answers its node has already used. LangGraph gives all interrupts of a node the same id, even when the
   * node asks again because it did not like the answer. Read from the checkpoint, so that it survives a crash.
   */
  readonly earlier: number;
}

type Write = readonly [task: string, channel: string, value: unknown];
interface Saver {
  getTuple(config: RunnableConfig): Promise<{ readonly pendingWrites?: readonly Write[] } | undefined>;
}

export async function interruptsOf(graph: PausedGraph, config: RunnableConfig): Promise<Held[]> {
  const root = await graph.getState(config, { subgraphs: true });
  const held: Held[] = [];
  for (const task of root.tasks) {
    for (const { id, value } of task.interrupts) {
      if (id === undefined)
        throw new LanternError('wrong_usage', 'This interrupt has no id: LangGraph 1.0 or newer is needed.');
      const earlier = isSaver(graph.checkpointer) ? await answersBefore(graph.checkpointer, root, id) : 0;
      held.push({ id, value, earlier });
    }
  }
  return held;
}

async function answersBefore(saver: Saver, root: Snapshot, id: string): Promise<number> {
  const holds = ({ interrupts }: Task) => interrupts.some((one) => one.id === id);
  let level = root;
  let task = root.tasks.find(holds);
  while (task?.state !== undefined && 'tasks' in task.state) {
    level = task.state;
    task = level.tasks.find(holds);
  }
  if (task === undefined) return 0;
  const own = await writesAt(saver, level.config);
  // A subgraph that the node calls itself is in no snapshot, but has a namespace of its own.
  const inside = await writesAt(saver, placeInside(level.config, task));
  const asked = inside.find(([, channel, value]) => channel === '__interrupt__' && isOf(value, id));
  return answersOf(own, task.id) + (asked === undefined ? 0 : answersOf(inside, asked[0]));
}

function answersOf(writes: readonly Write[], task: string): number {
  const used = writes.filter(([of, channel]) => of === task && channel === '__resume__');
  return Math.max(0, ...used.map(([, , value]) => (Array.isArray(value) ? value.length : 1)));
}

async function writesAt(saver: Saver, config: RunnableConfig): Promise<readonly Write[]> {
  return (await saver.getTuple(config))?.pendingWrites ?? [];
}

function placeInside({ configurable }: RunnableConfig, task: Task): RunnableConfig {
  const above: unknown = configurable?.checkpoint_ns;
  const own = `${task.name}:${task.id}`;
  const checkpoint_ns = typeof above === 'string' && above !== '' ? `${above}|${own}` : own;
  return { configurable: { thread_id: configurable?.thread_id, checkpoint_ns } };
}

function isOf(value: unknown, id: string): boolean {
  const interrupts: unknown[] = Array.isArray(value) ? value : [value];
  return interrupts.some((one) => typeof one === 'object' && one !== null && 'id' in one && one.id === id);
}

function isSaver(value: unknown): value is Saver {
  return typeof value === 'object' && value !== null && 'getTuple' in value;
}
