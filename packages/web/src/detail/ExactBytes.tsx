import { desk } from '../api/desk.ts';
import type { Detail } from '../api/types.ts';
import { Bytes } from './Bytes.tsx';

/** The bytes that arrived, and their hash. */
export function ExactBytes({ detail }: { detail: Detail }) {
  const path = desk.rawPath(detail.delivery_id);
  return (
    <section className="exact" aria-label="Exact bytes">
      <p className="said">
        Exactly what arrived. SHA-256 of its canonical form:{' '}
        <span className="mono">{detail.content_sha256}</span>.{' '}
        <a href={path} download>
          Save it
        </a>
      </p>
      <Bytes path={path} />
    </section>
  );
}
