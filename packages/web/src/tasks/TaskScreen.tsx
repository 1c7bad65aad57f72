import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { desk } from '../api/desk.ts';
import { sessionQuery, taskQuery } from '../api/questions.ts';
import type { TaskDetail } from '../api/task-types.ts';
import { Text } from '../detail/Text.tsx';
import { Screen } from '../frame/Screen.tsx';
import { Sure } from '../frame/Sure.tsx';
import { NotHad, Trouble } from '../frame/Trouble.tsx';
import { useWork } from '../frame/use-work.ts';
import { useNow } from '../live/now.ts';
import { moment, timeAndDay } from '../words/time.ts';
import { Parts } from './Parts.tsx';
import { callerWords, isEnded, STATE_WORDS } from './state-words.ts';
import { type Line, type Made, toLines } from './task-log.ts';
import '../detail/detail.css';
import './tasks.css';

/** One task, told from its first message on; what arrives while it is open is added at the end. */
export function TaskScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, refetch } = useQuery(taskQuery(id));
  if (data === undefined)
    return (
      <Screen title="Task">
        {error === null ? (
          <p className="said">One moment…</p>
        ) : (
          <NotHad of={error} missing="There is no such task here." onAgain={refetch} />
        )}
        <p>
          <Link to="/tasks">All tasks</Link>
        </p>
      </Screen>
    );
  return (
    <Screen title="Task" lead={<Lead task={data} />}>
      <Trouble of={error} />
      <StateLine task={data} />
      <Told task={data} />
    </Screen>
  );
}

function Lead({ task }: { task: TaskDetail }) {
  const now = useNow();
  return (
    <>
      <Link to="/agents/$id" params={{ id: task.agent_id }}>
        <Text>{task.agent_id}</Text>
      </Link>
      , asked by <Text>{callerWords(task)}</Text> at {timeAndDay(task.created_at, now)}. Its id is{' '}
      <span className="mono">{task.task_id}</span>. <Link to="/tasks">All tasks</Link>
    </>
  );
}

/** The state of the task, in the system's voice, and what can be done about it. */
function StateLine({ task }: { task: TaskDetail }) {
  const { data: session } = useQuery(sessionQuery);
  const { said, run } = useWork(['tasks']);
  const now = useNow();
  const mayCancel = session?.person.role !== 'reader' && !isEnded(task.state);
  const cancel = () =>
    run(async () => {
      await desk.cancelTask(task.task_id);
      return '';
    });
  return (
    <div className="state-line task-state-line" data-state={task.state}>
      <p role="status">
        <b className="task-state">{STATE_WORDS[task.state]}</b>, since {timeAndDay(task.changed_at, now)}.{' '}
        {stateHint(task)}
        {task.delivery_id !== null && (
          <Link to="/d/$id" params={{ id: task.delivery_id }}>
            Answer it
          </Link>
        )}
      </p>
      {mayCancel && (
        <Sure
          word="Cancel the task"
          question="The caller and the agent are told at once. It cannot be taken up again."
          onSure={() => void cancel()}
        />
      )}
      <Trouble of={said} />
    </div>
  );
}

function stateHint(task: TaskDetail): string {
  if (task.direct) return 'The caller got a plain reply instead of a task. ';
  if (task.state === 'submitted') return 'It waits until the agent connects; nothing is lost meanwhile. ';
  if (task.delivery_id !== null) return 'The question is in your inbox. ';
  return '';
}

function Told({ task }: { task: TaskDetail }) {
  const lines = toLines(task.log);
  return (
    <ol className="told" aria-label="What happened">
      {lines.map((line) => (
        <li key={line.key} data-kind={line.kind} data-state={line.kind === 'turned' ? line.state : undefined}>
          <OneLine line={line} task={task} />
        </li>
      ))}
    </ol>
  );
}

function OneLine({ line, task }: { line: Line; task: TaskDetail }) {
  const now = useNow();
  // A task may take days: a time without a day would be taken for today's.
  const time = (
    <time className="said" dateTime={line.at}>
      {moment(line.at, now)}
    </time>
  );
  if (line.kind === 'turned')
    return (
      <p className="said dotted">
        {time}
        <b className="task-state">{STATE_WORDS[line.state]}</b>
      </p>
    );
  if (line.kind === 'said')
    return (
      <>
        <p className="said dotted">
          {time}
          <span>
            <Text>{line.by === 'user' ? callerWords(task) : task.agent_id}</Text>
          </span>
        </p>
        <div className="agent task-words">
          <Parts parts={line.parts} task={task.task_id} />
        </div>
      </>
    );
  return (
    <section className="artifact" aria-label={`Artifact ${line.name ?? line.id}`}>
      <p className="said dotted">
        {time}
        <span>
          artifact{' '}
          <b>
            <Text>{line.name ?? line.id}</Text>
          </b>
        </span>
        {arriving(line, task) && <span>arriving…</span>}
      </p>
      {line.description !== null && (
        <p className="said agent">
          <Text>{line.description}</Text>
        </p>
      )}
      <div className="agent task-words">
        <Parts parts={line.parts} task={task.task_id} />
      </div>
    </section>
  );
}

/** Whether more chunks may come, because the agent is still working on it. */
const arriving = (line: Made, task: TaskDetail) =>
  line.isOpen && task.state === 'working' && line.parts.length > 0;
