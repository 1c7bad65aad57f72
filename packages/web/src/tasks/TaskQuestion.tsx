import { Link } from '@tanstack/react-router';
import type { Part } from '../api/task-types.ts';
import type { Detail, Json, JsonObject } from '../api/types.ts';
import { isObject } from '../detail/shape.ts';
import { Text } from '../detail/Text.tsx';
import { Each } from '../frame/Each.tsx';
import { Parts } from './Parts.tsx';
import { STATE_WORDS } from './state-words.ts';
import './tasks.css';

const asParts = (value: Json | undefined) => (Array.isArray(value) ? value.filter(isObject) : []) as Part[];

/** A question that a task asks: the agent's words and what it had made so far, as they were when it asked. */
export function TaskQuestion({ detail, details }: { detail: Detail; details: JsonObject }) {
  const task = detail.a2a_task;
  if (task === null || task === undefined) return null;
  const artifacts = (Array.isArray(details.artifacts) ? details.artifacts : []).filter(isObject);
  return (
    <div className="task-question">
      <p className="said task-link">
        A task asks this. Its state is “{STATE_WORDS[task.state].toLowerCase()}”.{' '}
        <Link to="/tasks/$id" params={{ id: task.task_id }}>
          The whole task
        </Link>
      </p>
      <div className="task-words">
        <Parts parts={beyond(detail.headline, asParts(details.parts))} task={task.task_id} />
      </div>
      {details.artifacts_left_out === true && (
        <p className="said">What it has made so far is too long for this page. The task has all of it.</p>
      )}
      <Each of={artifacts}>
        {(artifact) => (
          <section className="artifact" aria-label="Artifact">
            <p className="said">
              artifact{' '}
              <b>
                <Text>{String(artifact.name ?? artifact.artifactId)}</Text>
              </b>
            </p>
            <div className="task-words">
              <Parts parts={asParts(artifact.parts)} task={task.task_id} />
            </div>
          </section>
        )}
      </Each>
    </div>
  );
}

/** The parts that the headline does not already say. */
const beyond = (headline: string, parts: readonly Part[]) =>
  parts.filter(({ text }) => text?.trim() !== headline);
