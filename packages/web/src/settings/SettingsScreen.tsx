import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Screen } from '../frame/Screen.tsx';
import { KeySettings } from './KeySettings.tsx';
import { People } from './People.tsx';
import { Reading } from './Reading.tsx';
import { Security } from './Security.tsx';
import { Sittings } from './Sittings.tsx';
import { System } from './System.tsx';
import './settings.css';

const PARTS: Record<string, [word: string, part: () => ReactNode]> = {
  sittings: ['Sittings', Sittings],
  reading: ['Reading', Reading],
  keys: ['Keys', KeySettings],
  people: ['People', People],
  security: ['Security', Security],
  system: ['System', System],
};

export function SettingsScreen() {
  const { part = 'sittings' } = useParams({ strict: false }) as { part?: string };
  const [word, Part] = PARTS[part] ?? ['Sittings', Sittings];
  return (
    <Screen title="Settings">
      <nav className="tabs" aria-label="Settings">
        {Object.entries(PARTS).map(([name, [label]]) => (
          <Link
            key={name}
            to="/settings/$part"
            params={{ part: name }}
            aria-current={label === word ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <section className="settings-part" aria-label={word}>
        <Part />
      </section>
    </Screen>
  );
}
