import { type ComponentType, lazy, Suspense, useMemo, useState } from 'react';
import { endOfFormatted } from './beginning.ts';
import { More } from './More.tsx';
import { Text } from './Text.tsx';

const load = () => import('./MarkdownBody.tsx');
const Body = lazy<ComponentType<{ text: string; delivery: string }>>(() =>
  load().then(
    ({ MarkdownBody }) => ({ default: MarkdownBody }),
    // If the renderer cannot be loaded, the unformatted text can still be read.
    () => ({ default: AsWritten }),
  ),
);

/** Loads the renderer while the person looks at the list, so that it is ready when the first delivery opens. */
export function preloadMarkdown(): void {
  void load().catch(() => {});
}

/**
 * An agent's markdown. Of a very long or tangled text only the beginning is formatted (D90); the rest is shown as
 * written, on request.
 */
export function Markdown({ text, delivery }: { text: string; delivery: string }) {
  const [isWhole, setWhole] = useState(false);
  const end = useMemo(() => endOfFormatted(text), [text]);
  if (end === text.length) return <Formatted text={text} delivery={delivery} />;
  return (
    <>
      {end > 0 && <Formatted text={text.slice(0, end)} delivery={delivery} />}
      {isWhole ? (
        <AsWritten text={text.slice(end)} />
      ) : (
        <More left={text.length - end} of="characters" onMore={() => setWhole(true)} />
      )}
    </>
  );
}

/** Until the renderer is loaded, the text is shown as written. */
function Formatted({ text, delivery }: { text: string; delivery: string }) {
  return (
    <Suspense fallback={<AsWritten text={text} />}>
      <Body text={text} delivery={delivery} />
    </Suspense>
  );
}

function AsWritten({ text }: { text: string }) {
  return (
    <p className="as-written" dir="auto">
      <Text>{text}</Text>
    </p>
  );
}
