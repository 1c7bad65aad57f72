import { stringifyExact } from '../api/exact-json.ts';
import type { Json, Verdict } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { Scroller } from '../frame/Scroller.tsx';

type Props = { id: string; status: Verdict; feedback: string; edited: Json | undefined };

/** The answer as the agent will read it, before it is sent. */
export function Receives({ id, status, feedback, edited }: Props) {
  const answer = {
    delivery_id: id,
    status,
    feedback: feedback === '' ? null : feedback,
    edited_content: edited ?? null,
  };
  const text = stringifyExact(answer, 2).replace(/\n\}$/, ',\n  "responded_at": the moment it goes out\n}');
  return (
    <details className="receives" open>
      <summary>What the agent will receive</summary>
      <Scroller label="What the agent will receive" className="code">
        <Text>{text}</Text>
      </Scroller>
    </details>
  );
}
