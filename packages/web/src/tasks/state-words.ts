import type { TaskRow, TaskState } from '../api/task-types.ts';

export const STATE_WORDS: Record<TaskState, string> = {
  submitted: 'Waiting for the agent',
  working: 'Being worked on',
  input_required: 'Needs an answer',
  auth_required: 'Needs a login',
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
  rejected: 'Declined by the agent',
};

const ENDED: ReadonlySet<TaskState> = new Set(['completed', 'failed', 'canceled', 'rejected']);
export const isEnded = (state: TaskState) => ENDED.has(state);

/** Who asked, in our words; the name is their own. */
export function callerWords({ caller }: Pick<TaskRow, 'caller'>): string {
  switch (caller.kind) {
    case 'agent':
      return `the agent ${caller.name ?? caller.id}`;
    case 'person':
      return caller.name ?? 'a person who has left';
    case 'token':
      return caller.name === null ? 'a caller from outside' : `${caller.name}, from outside`;
    case 'public':
      return 'somebody without a key';
  }
}
