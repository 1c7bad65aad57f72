import { createReadStream } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { AgentTask } from '@lanternroom/sdk/a2a';
import { fittingParts, fittingWords } from './fitting.ts';
import { mediaTypeOf } from './media.ts';
import { type Answered, readOutput, readProgress } from './output.ts';
import { OUTPUT_MOST, outputOf, type RunEnd, runOnce } from './run.ts';
import { tailOf } from './stderr.ts';

export interface CommandSettings {
  readonly exec: string;
  /** The folder that holds one folder per run. */
  readonly runs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number | null;
  readonly graceMs: number;
  readonly readsProgress: boolean;
}

/** For the connector's own messages. */
export interface HandedOver {
  readonly state: Answered['state'] | 'canceled';
  readonly why: string;
  readonly stderr: string;
}

/** Gives one turn of a task to the command, and the command's answer to the hub (A15). */
export async function handToCommand(task: AgentTask, settings: CommandSettings): Promise<HandedOver> {
  const folder = join(settings.runs, encodeURIComponent(task.turn));
  const kept: string[] = [];
  const opened = new Set<string>();
  const end = await runOnce({
    folder,
    command: settings.exec,
    input: `${JSON.stringify(inputOf(task))}\n`,
    env: { ...settings.env, ...environmentOf(task) },
    timeoutMs: settings.timeoutMs,
    graceMs: settings.graceMs,
    signal: task.signal,
    onLine: settings.readsProgress
      ? async (line, number) => void ((await tellProgress(task, { line, number, opened })) || kept.push(line))
      : undefined,
  });
  const stderr = await tailOf(folder);
  if (end.kind === 'cancelled') {
    await remove(folder);
    return { state: 'canceled', why: 'the command was stopped', stderr };
  }
  const output = settings.readsProgress ? await withoutProgress(folder, kept) : await outputOf(folder);
  const answer =
    end.kind === 'exited' && end.code === 0 ? readOutput(output) : failure(end, settings, stderr);
  await sendFiles(task, join(folder, 'artifacts'));
  await sendAnswer(task, answer);
  await remove(folder);
  return { state: answer.state, why: answer.state === 'failed' ? String(answer.said ?? '') : '', stderr };
}

const remove = (folder: string) => rm(folder, { recursive: true, force: true });

function inputOf(task: AgentTask): Record<string, unknown> {
  return {
    taskId: task.id,
    contextId: task.contextId,
    message: task.message,
    ...(task.history.length === 0 ? {} : { history: task.history }),
    ...(task.decision === null ? {} : { deliveryId: task.deliveryId, decision: task.decision }),
  };
}

function environmentOf(task: AgentTask): Record<string, string> {
  return {
    WAKEUP_TASK_ID: task.id,
    WAKEUP_CONTEXT_ID: task.contextId,
    LANTERN_TASK_ID: task.id,
    LANTERN_CONTEXT_ID: task.contextId,
    LANTERN_TURN: task.kind,
    ...(task.decision === null ? {} : { LANTERN_DECISION: task.decision.status }),
  };
}

interface OutputLine {
  readonly line: string;
  readonly number: number;
  /** Artifacts that were begun in this run: the first piece of one cannot be appended to anything. */
  readonly opened: Set<string>;
}

/** False if the line is no progress report. Because of the key, a line that was sent before a crash is sent once. */
async function tellProgress(task: AgentTask, { line, number, opened }: OutputLine): Promise<boolean> {
  const progress = readProgress(line);
  if (progress === null) return false;
  const key = `line${number}`;
  if (progress.kind === 'status') {
    await task.status(progress.said, { key });
    return true;
  }
  const { artifact, lastChunk } = progress;
  // Where the command gives no id, pieces are matched by name.
  const artifactId = shortId(artifact.artifactId ?? artifact.name, 'output');
  const append = progress.append === true && opened.has(artifactId);
  opened.add(artifactId);
  const parts = await fittingParts(task, artifact.parts);
  await task.artifact({ ...artifact, artifactId, parts }, { key, append, lastChunk });
  return true;
}

/** An id that the hub accepts. */
function shortId(wanted: string | undefined, otherwise: string): string {
  return wanted !== undefined && wanted !== '' && wanted.length <= 128 ? wanted : otherwise;
}

/** The last line may lack a line break, and was then not seen by the reader of lines. */
async function withoutProgress(folder: string, kept: readonly string[]): Promise<string> {
  const rest = (await outputOf(folder)).split('\n').at(-1) ?? '';
  return [...kept, rest].join('\n');
}

function failure(end: RunEnd, settings: CommandSettings, stderr: string): Answered {
  const said = end.kind === 'exited' && stderr !== '' ? stderr : sentence(end, settings, stderr);
  return { state: 'failed', said, artifacts: [] };
}

function sentence(end: RunEnd, { timeoutMs }: CommandSettings, stderr: string): string {
  const tail = stderr === '' ? '' : `\n${stderr}`;
  switch (end.kind) {
    case 'exited':
      return end.code > 128
        ? `The command was ended by signal ${end.code - 128}.`
        : `The command ended with code ${end.code} and said nothing.`;
    case 'timed_out':
      return `The command did not finish within ${(timeoutMs ?? 0) / 1_000} s and was stopped.${tail}`;
    case 'too_much':
      return `The command wrote more than ${OUTPUT_MOST / 1024 / 1024} MiB and was stopped: large results belong in files in $LANTERN_ARTIFACTS.`;
    default:
      return `The command was killed before it could answer. It is not run a second time.${tail}`;
  }
}

async function sendAnswer(task: AgentTask, answer: Answered): Promise<void> {
  for (const [index, artifact] of answer.artifacts.entries()) {
    const artifactId = shortId(artifact.artifactId ?? artifact.name, `artifact-${index + 1}`);
    const parts = await fittingParts(task, artifact.parts);
    await task.artifact({ ...artifact, artifactId, parts }, { key: `answer${index}`, lastChunk: true });
  }
  const said = await fittingWords(task, answer.said);
  const verbs = {
    completed: task.complete,
    failed: task.fail,
    rejected: task.reject,
    input_required: task.askForInput,
    auth_required: task.askForAuth,
  };
  await verbs[answer.state](said);
}

/** Every file that the command has put into $LANTERN_ARTIFACTS, streamed, under its name. */
async function sendFiles(task: AgentTask, folder: string): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).sort();
  for (const [index, name] of names.entries()) {
    const path = join(folder, name);
    // A link could point at anything on this machine.
    if (!(await lstat(path)).isFile()) continue;
    const content = () => Readable.toWeb(createReadStream(path)) as ReadableStream;
    const part = await task.upload(content, { mediaType: mediaTypeOf(name), filename: name });
    const artifactId = shortId(name, `file-${index + 1}`);
    await task.artifact({ artifactId, name, parts: [part] }, { key: `file${index}`, lastChunk: true });
  }
}
