import { usePreferences } from './use-preferences.ts';

const CHOICES = {
  theme: { label: 'Theme', options: { system: 'As the system', light: 'Light', dark: 'Dark' } },
  density: { label: 'Density', options: { comfortable: 'Comfortable', compact: 'Compact' } },
  size: { label: 'Size', options: { small: 'Small', normal: 'Normal', large: 'Large' } },
} as const;

export function Reading() {
  const { preferences, change, said } = usePreferences();
  return (
    <>
      {Object.entries(CHOICES).map(([name, { label, options }]) => (
        <fieldset key={name} className="choice-set" disabled={preferences === undefined}>
          <legend>{label}</legend>
          {Object.entries(options).map(([value, word]) => (
            <label key={value}>
              <input
                type="radio"
                name={name}
                checked={preferences?.[name as 'theme'] === value}
                onChange={() => void change({ [name]: value })}
              />{' '}
              <span>{word}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <p className="voices">
        <span>Three voices: the system speaks like this,</span>{' '}
        <span className="agent">an agent speaks like this,</span>{' '}
        <span className="mono">and exact bytes look like this.</span>
      </p>
      <p className="said" role="status">
        {said}
      </p>
    </>
  );
}
