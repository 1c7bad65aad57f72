/** The actions that have a key, with their default key. `Mod` is ⌘ on a Mac and Ctrl elsewhere. */
export const ACTIONS = {
  next: ['j', 'Move down'],
  previous: ['k', 'Move up'],
  open: ['Enter', 'Open'],
  back: ['Escape', 'Back'],
  check: ['x', 'Check'],
  approve: ['a', 'Approve'],
  reject: ['r', 'Reject'],
  redirect: ['d', 'Redirect'],
  send: ['Mod+Enter', 'Send'],
  undo: ['z', 'Undo'],
  snooze: ['s', 'Snooze'],
  acknowledge: ['e', 'Read, acknowledge'],
  take_in: ['u', 'Show what is new'],
  search: ['/', 'Search'],
  filter: ['f', 'Filter'],
  exact: ['v', 'Rendered or exact bytes'],
  go_inbox: ['g i', 'Go to the inbox'],
  go_sit: ['g s', 'Go and sit'],
  go_history: ['g h', 'Go to the history'],
  go_agents: ['g a', 'Go to the agents'],
  go_insights: ['g n', 'Go to the insights'],
  palette: ['Mod+k', 'Find anything'],
  help: ['?', 'All keys'],
} as const satisfies Record<string, readonly [string, string]>;

export type Action = keyof typeof ACTIONS;
export type KeyMap = Readonly<Record<Action, string>>;
export const ACTION_NAMES = Object.keys(ACTIONS) as Action[];

/** These always work: inside fields too, and when single keys are switched off. */
const ALWAYS: ReadonlySet<Action> = new Set(['send', 'palette', 'back']);

export function keyMap(own: Readonly<Record<string, string>>): KeyMap {
  return Object.fromEntries(
    ACTION_NAMES.map((action) => [action, own[action] ?? ACTIONS[action][0]]),
  ) as KeyMap;
}

export type Press = { key: string; mod: boolean; alt: boolean };

/** The name of a key press, as in the map. Shift is already part of the character. */
export function pressName({ key, mod }: Press): string {
  const name = key.length === 1 ? key : key === 'Esc' ? 'Escape' : key;
  return mod ? `Mod+${name.length === 1 ? name.toLowerCase() : name}` : name;
}

export type Resolved = { action: Action | null; pending: string | null };

/** Which action a key press means, given what was pressed just before (`g`, then `i`). */
export function resolve(
  map: KeyMap,
  press: Press,
  at: { pending: string | null; inField: boolean; off: boolean },
): Resolved {
  if (press.alt) return { action: null, pending: null };
  const name = pressName(press);
  const wanted = at.pending === null ? name : `${at.pending} ${name}`;
  const allowed = ACTION_NAMES.filter((a) => ALWAYS.has(a) || (!at.inField && !at.off));
  const action = allowed.find((a) => map[a] === wanted);
  if (action !== undefined) return { action, pending: null };
  if (at.pending !== null) return resolve(map, press, { ...at, pending: null });
  const begins = allowed.some((a) => map[a].startsWith(`${name} `));
  return { action: null, pending: begins ? name : null };
}

/** Pairs of actions that share a key, so that the person can be told which. */
export function clashes(map: KeyMap): [Action, Action][] {
  const found: [Action, Action][] = [];
  for (const [index, one] of ACTION_NAMES.entries()) {
    for (const other of ACTION_NAMES.slice(index + 1)) {
      if (
        map[one] === map[other] ||
        map[other].startsWith(`${map[one]} `) ||
        map[one].startsWith(`${map[other]} `)
      )
        found.push([one, other]);
    }
  }
  return found;
}

export function keyWords(binding: string, isMac: boolean): string {
  return binding
    .replace('Mod+', isMac ? '⌘' : 'Ctrl+')
    .replace('Escape', 'Esc')
    .replace(/^Mod/, isMac ? '⌘' : 'Ctrl');
}
