import { useState } from 'react';
import { ACTION_NAMES, ACTIONS, type Action, clashes, keyMap, keyWords, pressName } from '../keys/key-map.ts';
import { isMac } from '../keys/keyboard.ts';
import { usePreferences } from './use-preferences.ts';

export function KeySettings() {
  const { preferences, change, said } = usePreferences();
  if (preferences === undefined) return <p className="said">{said === '' ? 'One moment…' : said}</p>;
  const map = keyMap(preferences.keys);
  const fights = clashes(map);
  const set = (action: Action, binding: string) => {
    const { [action]: _, ...others } = preferences.keys;
    void change({ keys: binding === ACTIONS[action][0] ? others : { ...others, [action]: binding } });
  };
  return (
    <>
      <label className="check">
        <input
          type="checkbox"
          checked={!preferences.keys_off}
          onChange={(event) => void change({ keys_off: !event.target.checked })}
        />
        Single keys do things. Without them, everything still works by Tab and Enter.
      </label>
      <ul className="key-list">
        {ACTION_NAMES.map((action) => (
          <KeyField
            key={action}
            action={action}
            binding={map[action]}
            onSet={(binding) => set(action, binding)}
          />
        ))}
      </ul>
      {fights.map(([one, other]) => (
        <p key={one + other} className="said bad">
          “{ACTIONS[one][1]}” and “{ACTIONS[other][1]}” are on the same key.
        </p>
      ))}
      <p>
        <button type="button" className="button" onClick={() => void change({ keys: {} })}>
          Set them all back
        </button>
      </p>
      <p className="said" role="status">
        {said}
      </p>
    </>
  );
}

/** Waits for the next key press (two for a chord, after a moment). Tab and Escape keep their meaning. */
function KeyField({
  action,
  binding,
  onSet,
}: {
  action: Action;
  binding: string;
  onSet: (binding: string) => void;
}) {
  const [listening, setListening] = useState(false);
  const [first, setFirst] = useState<string | null>(null);
  const stop = () => {
    setListening(false);
    setFirst(null);
  };
  const press = (event: React.KeyboardEvent) => {
    if (!listening || ['Shift', 'Control', 'Meta', 'Alt'].includes(event.key)) return;
    if (event.key === 'Tab') return stop();
    event.preventDefault();
    event.stopPropagation();
    event.nativeEvent.stopImmediatePropagation();
    if (event.key === 'Escape') return stop();
    const name = pressName({ key: event.key, mod: isMac ? event.metaKey : event.ctrlKey, alt: false });
    if (first === null && name === 'g') return setFirst(name);
    onSet(first === null ? name : `${first} ${name}`);
    stop();
  };
  return (
    <li>
      <span>{ACTIONS[action][1]}</span>
      <button
        type="button"
        className="key-field"
        aria-label={`${ACTIONS[action][1]}: ${keyWords(binding, isMac)}. Press to change.`}
        onClick={() => setListening(true)}
        onBlur={stop}
        onKeyDown={press}
      >
        {listening ? (first === null ? 'Press a key…' : `${first} and…`) : keyWords(binding, isMac)}
      </button>
    </li>
  );
}
