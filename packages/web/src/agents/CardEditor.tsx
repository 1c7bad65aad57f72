import { useId } from 'react';
import { type CardFields, type Skill, VISIBILITIES } from '../api/task-types.ts';
import { Field } from '../entry/Field.tsx';
import { Each } from '../frame/Each.tsx';

type Props = {
  fields: CardFields;
  onChange: (fields: CardFields) => void;
  onKeep: () => void;
  onLeave: () => void;
};

const VISIBLE: Record<CardFields['visibility'], string> = {
  space: 'this space: agents and people here',
  listed: 'listed: also callers with a token',
  public: 'public: everybody',
};

const listOf = (text: string) =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

export function CardEditor({ fields, onChange, onKeep, onLeave }: Props) {
  const set = (change: Partial<CardFields>) => onChange({ ...fields, ...change });
  const orNull = (text: string) => (text.trim() === '' ? null : text);
  return (
    <form
      className="form card-form"
      onSubmit={(event) => {
        event.preventDefault();
        onKeep();
      }}
    >
      <Area
        label="What it does, in a sentence or two"
        value={fields.description}
        onText={(description) => set({ description })}
      />
      <Choices fields={fields} set={set} />
      <Skills skills={fields.skills} onChange={(skills) => set({ skills })} />
      <div className="card-pair">
        <Field label="Version" value={fields.version} onText={(version) => set({ version })} required />
        <Field
          label="A call waits, in seconds"
          type="number"
          min={0}
          max={30}
          value={String(fields.wait_seconds)}
          onText={(text) => set({ wait_seconds: Number(text) })}
        />
        <Field
          label="Takes, as media types"
          defaultValue={fields.input_modes.join(', ')}
          onText={(text) => set({ input_modes: listOf(text) })}
        />
        <Field
          label="Gives, as media types"
          defaultValue={fields.output_modes.join(', ')}
          onText={(text) => set({ output_modes: listOf(text) })}
        />
        <Field
          label="Documentation"
          type="url"
          placeholder="https://"
          value={fields.documentation_url ?? ''}
          onText={(text) => set({ documentation_url: orNull(text) })}
        />
        <Field
          label="Icon"
          type="url"
          placeholder="https://"
          value={fields.icon_url ?? ''}
          onText={(text) => set({ icon_url: orNull(text) })}
        />
      </div>
      <Provider fields={fields} set={set} />
      <div className="form-line">
        <button type="submit" className="button strong">
          Keep it
        </button>
        <button type="button" className="plain" onClick={onLeave}>
          Leave it as it was
        </button>
      </div>
    </form>
  );
}

type Part = { fields: CardFields; set: (change: Partial<CardFields>) => void };

function Choices({ fields, set }: Part) {
  const id = useId();
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Who may call</label>
        <select
          id={id}
          className="input"
          value={fields.visibility}
          onChange={(event) => set({ visibility: event.target.value as CardFields['visibility'] })}
        >
          {VISIBILITIES.map((name) => (
            <option key={name} value={name}>
              {VISIBLE[name]}
            </option>
          ))}
        </select>
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={fields.private}
          onChange={(event) => set({ private: event.target.checked })}
        />{' '}
        Show the card only to who may call
      </label>
    </>
  );
}

function Provider({ fields, set }: Part) {
  const { organization = '', url = '' } = fields.provider ?? {};
  const change = (next: { organization: string; url: string }) =>
    set({ provider: next.organization === '' && next.url === '' ? null : next });
  return (
    <div className="card-pair">
      <Field
        label="Who provides it"
        value={organization}
        onText={(text) => change({ organization: text, url })}
      />
      <Field
        label="Their site"
        type="url"
        placeholder="https://"
        value={url}
        onText={(text) => change({ organization, url: text })}
      />
    </div>
  );
}

const NEW_SKILL: Skill = { id: '', name: '', description: '', tags: [] };

function Skills({ skills, onChange }: { skills: Skill[]; onChange: (skills: Skill[]) => void }) {
  const put = (at: number, skill: Skill) => onChange(skills.map((old, i) => (i === at ? skill : old)));
  return (
    <fieldset className="card-skills">
      <legend>Skills</legend>
      {skills.length === 0 && <p className="said">None named: the card then makes one from what it does.</p>}
      <Each of={skills}>
        {(skill, at) => (
          <div className="card-one-skill">
            <div className="card-pair">
              <Field
                label="Name"
                value={skill.name}
                required
                onText={(name) =>
                  put(at, { ...skill, name, id: skill.id === slug(skill.name) ? slug(name) : skill.id })
                }
              />
              <Field label="ID" value={skill.id} required onText={(id) => put(at, { ...skill, id })} />
            </div>
            <Area
              label="What it is good for"
              value={skill.description}
              onText={(description) => put(at, { ...skill, description })}
            />
            <div className="form-line">
              <Field
                label="Tags, with commas between"
                defaultValue={skill.tags.join(', ')}
                onText={(text) => put(at, { ...skill, tags: listOf(text) })}
              />
              <button
                type="button"
                className="plain"
                onClick={() => onChange(skills.filter((_, other) => other !== at))}
              >
                Remove this skill
              </button>
            </div>
          </div>
        )}
      </Each>
      <button type="button" className="button" onClick={() => onChange([...skills, NEW_SKILL])}>
        Another skill
      </button>
    </fieldset>
  );
}

const slug = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

function Area({ label, value, onText }: { label: string; value: string; onText: (text: string) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input agent"
        value={value}
        required
        onChange={(event) => onText(event.target.value)}
      />
    </div>
  );
}
