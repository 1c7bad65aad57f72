import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { desk } from '../api/desk.ts';
import { TASK_STATES, type TaskRow } from '../api/task-types.ts';
import { Text } from '../detail/Text.tsx';
import { AgentOptions } from '../frame/AgentOptions.tsx';
import { PageList, usePages } from '../frame/Pages.tsx';
import { Screen } from '../frame/Screen.tsx';
import { StillNew } from '../frame/StillNew.tsx';
import { useNow } from '../live/now.ts';
import { age, timeAndDay } from '../words/time.ts';
import { callerWords, STATE_WORDS } from './state-words.ts';
import { stillRows } from './still-rows.ts';
import './tasks.css';

type Filter = { agent?: string; state?: string };

/** What agents were asked to do over A2A, most recently changed first. */
export function TasksScreen() {
  const { agent, state } = useSearch({ strict: false }) as Filter;
  return (
    <Screen
      title="Tasks"
      lead="What your agents were asked to do over A2A, by each other, by you, or from outside."
    >
      <Filters agent={agent} state={state} />
      <TaskList key={`${agent} ${state}`} agent={agent} state={state} />
    </Screen>
  );
}

type Asked = { agent: string | undefined; state: string | undefined };

function TaskList({ agent, state }: Asked) {
  const [order, setOrder] = useState<readonly string[]>([]);
  const tasks = usePages({
    key: ['tasks', 'list', { agent, state }],
    ask: (cursor) => desk.tasks({ agent, state, cursor }),
    items: (page) => page.tasks,
  });
  const { shown, changed } = stillRows(order, tasks.all, (task) => task.task_id);
  const ids = shown.map((task) => task.task_id).join(' ');
  useEffect(() => setOrder(ids === '' ? [] : ids.split(' ')), [ids]);
  const takeIn = () => setOrder(tasks.all.map((task) => task.task_id));
  const isFiltered = agent !== undefined || state !== undefined;
  return (
    <>
      <StillNew count={changed} what="new or changed" onTakeIn={takeIn} />
      <PageList
        pages={tasks}
        empty={
          isFiltered ? (
            <>
              No task matches. <Link to="/tasks">Show all</Link>
            </>
          ) : (
            <>
              No task yet. Every agent has an address of its own: <Link to="/agents">choose one</Link>, and
              its page says how it is called and how its laptop connects.
            </>
          )
        }
        more="Earlier tasks"
      >
        <ol className="tasks">
          {shown.map((task) => (
            <TaskLine key={task.task_id} task={task} />
          ))}
        </ol>
      </PageList>
    </>
  );
}

function Filters({ agent, state }: Asked) {
  const navigate = useNavigate();
  const go = (change: Filter) => {
    const search = Object.fromEntries(
      Object.entries({ agent, state, ...change }).filter(([, value]) => value !== undefined && value !== ''),
    );
    void navigate({ to: '/tasks', search: search as never });
  };
  return (
    <div className="task-filters">
      <label className="history-filter">
        <span className="said">Of</span>
        <select className="input" value={agent ?? ''} onChange={(event) => go({ agent: event.target.value })}>
          <option value="">every agent</option>
          <AgentOptions chosen={agent} />
        </select>
      </label>
      <label className="history-filter">
        <span className="said">that are</span>
        <select className="input" value={state ?? ''} onChange={(event) => go({ state: event.target.value })}>
          <option value="">in any state</option>
          {TASK_STATES.map((name) => (
            <option key={name} value={name}>
              {STATE_WORDS[name].toLowerCase()}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function TaskLine({ task }: { task: TaskRow }) {
  const now = useNow();
  return (
    <li data-state={task.state}>
      <Link to="/tasks/$id" params={{ id: task.task_id }} className="task-name reach">
        <span className="task-asked agent">
          <Text>{task.asked === '' ? 'A message without words' : task.asked}</Text>
        </span>
      </Link>
      <span className="said dotted">
        <b className="task-state">{STATE_WORDS[task.state]}</b>
        <span>
          <Text>{task.agent_id}</Text>
        </span>
        <span>
          asked by <Text>{callerWords(task)}</Text>
        </span>
        <time dateTime={task.changed_at} title={timeAndDay(task.changed_at, now)}>
          {age(task.changed_at, now)}
        </time>
      </span>
    </li>
  );
}
