import type { Part, TaskEntry, TaskState } from '../api/task-types.ts';

/** A task as it is told: words, states and artifacts, each where it first appeared. */
export type Said = { kind: 'said'; key: number; at: string; by: 'user' | 'agent'; parts: Part[] };
export type Turned = { kind: 'turned'; key: number; at: string; state: TaskState };
export type Made = {
  kind: 'made';
  key: number;
  at: string;
  id: string;
  name: string | null;
  description: string | null;
  parts: Part[];
  /** Whether more chunks may come. */
  isOpen: boolean;
};
export type Line = Said | Turned | Made;

/** Joins the chunks of an artifact; splits a state that comes with a message into the state and its words. */
export function toLines(log: readonly TaskEntry[]): Line[] {
  const lines: Line[] = [];
  const made = new Map<string, Made>();
  for (const entry of log) {
    if (entry.artifact !== null) takeArtifact(lines, made, entry);
    else takeWords(lines, entry);
  }
  return lines;
}

function takeWords(lines: Line[], entry: TaskEntry): void {
  const { pos, at, state, parts } = entry;
  const before = lines.findLast((line) => line.kind === 'turned')?.state ?? 'submitted';
  if (state !== null && state !== before) lines.push({ kind: 'turned', key: -pos, at, state });
  if (parts.length > 0) lines.push({ kind: 'said', key: pos, at, by: entry.role ?? 'agent', parts });
}

function takeArtifact(lines: Line[], made: Map<string, Made>, { artifact, pos, at, parts }: TaskEntry): void {
  if (artifact === null) return;
  const before = made.get(artifact.artifact_id);
  if (before !== undefined && artifact.append) {
    before.parts = joined(before.parts, parts);
    before.isOpen = !artifact.last;
    return;
  }
  const line: Made = {
    kind: 'made',
    key: pos,
    at,
    id: artifact.artifact_id,
    name: artifact.name,
    description: artifact.description,
    parts: [...parts],
    isOpen: !artifact.last,
  };
  made.set(artifact.artifact_id, line);
  const place = before === undefined ? -1 : lines.indexOf(before);
  if (place < 0) lines.push(line);
  else lines[place] = line;
}

/** Joins text that continues the text before it. */
function joined(before: readonly Part[], more: readonly Part[]): Part[] {
  const all = [...before];
  for (const part of more) {
    const last = all.at(-1);
    if (last?.text !== undefined && part.text !== undefined)
      all[all.length - 1] = { ...last, text: last.text + part.text };
    else all.push(part);
  }
  return all;
}
