import type { Json } from '../../../core/canonical.ts';
import { exactText } from '../../../core/exact-json.ts';
import { isFault } from '../../../core/faults.ts';
import { accessTopics } from '../../../core/tasks/callers/callers.ts';
import { isTerminal, type TaskRecord } from '../../../core/tasks/task.ts';
import type { SseStream } from '../../../http/waiting/sse.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { admit } from '../door.ts';
import { TaskFollower } from './follow.ts';
import { type Call, openStream, openSubscription, outletOf, type StreamedCall } from './operations.ts';

/** How a transport wraps each streamed result. */
export type Wrap = (result: string) => string;

type Begun = {
  dialect: Dialect;
  task: TaskRecord;
  first: { id: number; data: Json } | null;
  after: number | null;
};

/** Everything that may be refused is refused before the first byte, in the transport's own way. */
export async function begin(call: Call, operation: 'stream' | 'subscribe'): Promise<Begun> {
  if (operation === 'subscribe') {
    const { dialect, task, first, after } = await openSubscription(call);
    return { dialect, task, first: first && { id: first.pos, data: first.task }, after };
  }
  const { dialect, task, answer, after } = await openStream(call);
  return { dialect, task, first: { id: after ?? task.length, data: dialect.fromStreamed(answer) }, after };
}

/** The official Python client gives up after five silent seconds, and an agent may think for longer. */
const BEAT_SECONDS = 3;

/** Streams a task to its caller; the task goes on whether or not anybody listens. */
export async function pour(call: StreamedCall, begun: Begun, wrap: Wrap): Promise<void> {
  const { shell } = call;
  let follower: TaskFollower | null = null;
  const manner = { farewell: '', beatSeconds: BEAT_SECONDS };
  const stream = shell.streams.open(call.reply, () => follower?.nudge(), manner);
  const { first, after, dialect, task } = begun;
  if (first !== null) await write(stream, wrap, first.id, first.data);
  shell.largeAnswers.taken(call.response);
  if (after !== null && !(first === null && isTerminal(task.state) && after >= task.length)) {
    const { address, place } = call.entered;
    const sink = {
      access: accessTopics(place),
      stillValid: () => admit(shell, call.request, address),
      update: (pos: number, update: Parameters<Dialect['fromUpdate']>[0]) =>
        write(stream, wrap, pos, dialect.fromUpdate(update)),
      get closed() {
        return stream.closed;
      },
    };
    follower = new TaskFollower(shell, { task, after, outlet: outletOf(call), sink });
    await follower.run().catch((problem: unknown) => {
      const { id, log } = call.request;
      if (!isFault(problem)) log.error({ reqId: id, err: problem }, 'a stream broke off');
    });
  }
  stream.close();
}

function write(stream: SseStream, wrap: Wrap, id: number, data: Json): Promise<void> {
  return stream.sendWhenReady({ id: String(id), data: wrap(exactText(data)) });
}
