import { type ComponentType, lazy, Suspense, useState } from 'react';
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

/** Formatting a longer text would block the page for seconds. */
const MOST = 100_000;
const BEGINNING = 40_000;

/**
 * An agent's markdown. Of a very long text only the beginning is formatted; the rest is shown as written, on request.
 */
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

/** Where to cut: at the end of a paragraph or of a line, if there is one nearby. */
function beginningOf(text: string): number {
  const near = (mark: string) => text.lastIndexOf(mark, BEGINNING);
  const end = Math.max(near('\n\n'), near('\n'));
  return end > BEGINNING / 2 ? end + 1 : BEGINNING;
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
