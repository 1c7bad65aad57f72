import { type ComponentType, lazy, Suspense, useState } from 'react';
import { More } from './More.tsx';
import { Text } from './Text.tsx';

const load = () => import('./MarkdownBody.tsx');
const Body = lazy<ComponentType<{ text: string; delivery: string }>>(() =>
  load().then(
    ({ MarkdownBody }) => ({ default: MarkdownBody }),
    // Words that cannot be formatted can still be read.
    () => ({ default: AsWritten }),
  ),
);

/** Fetched while the person looks at the list, so that it is there when the first delivery opens. */
export function preloadMarkdown(): void {
  void load().catch(() => {});
}

/** Beyond this, formatting takes seconds in which nothing moves. */
const MOST = 100_000;
const BEGINNING = 40_000;

/** An agent's markdown. Of a very long one the beginning is formatted; the rest stands as it was written, when it is asked for. */
export function Markdown({ text, delivery }: { text: string; delivery: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= MOST) return <Formatted text={text} delivery={delivery} />;
  const end = beginningOf(text);
  return (
    <>
      <Formatted text={text.slice(0, end)} delivery={delivery} />
      {isWhole ? (
        <AsWritten text={text.slice(end)} />
      ) : (
        <More left={text.length - end} of="characters" onMore={() => setWhole(true)} />
      )}
    </>
  );
}

/** At the end of a paragraph or of a line, when there is one near. */
function beginningOf(text: string): number {
  const near = (mark: string) => text.lastIndexOf(mark, BEGINNING);
  const end = Math.max(near('\n\n'), near('\n'));
  return end > BEGINNING / 2 ? end + 1 : BEGINNING;
}

/** Until the renderer is there, the words stand as they were written. */
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
