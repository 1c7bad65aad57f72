import { lazy, Suspense } from 'react';
import { Text } from './Text.tsx';

const load = () => import('./MarkdownBody.tsx');
const Body = lazy(async () => ({ default: (await load()).MarkdownBody }));

/** Fetched while the person looks at the list, so that it is there when the first delivery opens. */
export function preloadMarkdown(): void {
  void load().catch(() => {});
}

/** Until the renderer is there, the words stand as they were written. */
export function Markdown({ text, delivery }: { text: string; delivery: string }) {
  return (
    <Suspense
      fallback={
        <p className="as-written">
          <Text>{text}</Text>
        </p>
      }
    >
      <Body text={text} delivery={delivery} />
    </Suspense>
  );
}
