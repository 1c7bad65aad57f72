import type { Row } from '../api/types.ts';
import { Text } from './Text.tsx';

export function Headline({ row }: { row: Row }) {
  return (
    <header className="headline" data-quotable="">
      <h1 className="agent">
        <Text>{row.headline}</Text>
      </h1>
      {row.summary !== row.headline && (
        <p className="agent summary">
          <Text>{row.summary}</Text>
        </p>
      )}
    </header>
  );
}
