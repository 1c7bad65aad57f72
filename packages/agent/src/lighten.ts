import type { AgentTask, Part } from '@lanternroom/sdk/a2a';

/** What goes in one frame is 1 MB; the rest is for what stands around the parts. */
const INLINE_MOST = 900_000;

/** Whether these parts are too much to be sent as they are. */
export function isHeavy(parts: readonly Part[]): boolean {
  return Buffer.byteLength(JSON.stringify(parts)) > INLINE_MOST;
}

/** The same parts, uploaded where they are too much to be sent as they are (A20). */
export async function lightened(task: AgentTask, parts: readonly Part[]): Promise<Part[]> {
  if (!isHeavy(parts)) return [...parts];
  const light: Part[] = [];
  for (const part of parts) light.push(await uploaded(task, part));
  return light;
}

async function uploaded(task: AgentTask, part: Part): Promise<Part> {
  const { text, data, raw, ...facts } = part;
  if (raw !== undefined) return { ...facts, ...(await task.upload(() => Buffer.from(raw, 'base64'))) };
  if (text !== undefined) return { mediaType: 'text/plain', ...facts, ...(await task.upload(() => text)) };
  if (data === undefined) return part;
  const json = JSON.stringify(data);
  return { mediaType: 'application/json', ...facts, ...(await task.upload(() => json)) };
}
