import { useState } from 'react';
import { desk } from '../api/desk.ts';
import { safeTarget } from './link.ts';
import { Text } from './Text.tsx';

/**
 * Nothing is fetched until the person asks, and then through our server: the other side learns nothing about them.
 */
export function RemoteImage({
  delivery,
  src,
  alt,
}: {
  delivery: string;
  src: string | undefined;
  alt: string;
}) {
  const [state, setState] = useState<'hidden' | 'shown' | 'failed'>('hidden');
  const target = safeTarget(src);
  const name = alt === '' ? 'without a description' : alt;
  if (target === null || src === undefined)
    return (
      <span className="image-note">
        Image without a safe address: <Text>{name}</Text>
      </span>
    );
  if (delivery === '')
    return (
      <span className="image-note">
        Image at {target.host}, not fetched from here: <Text>{name}</Text>
      </span>
    );
  if (state === 'shown') {
    return (
      <img
        className="remote-image"
        src={desk.imagePath(delivery, src)}
        alt={alt}
        onError={() => setState('failed')}
      />
    );
  }
  return (
    <span className="image-note">
      <span>
        Image from {target.host}: <Text>{name}</Text>
      </span>
      {state === 'failed' ? (
        <span>It could not be fetched.</span>
      ) : (
        <button type="button" className="plain" onClick={() => setState('shown')}>
          Show it
        </button>
      )}
    </span>
  );
}
