import { useState } from 'react';
import { stringifyExact } from '../api/exact-json.ts';
import type { Json, Verdict } from '../api/types.ts';
import { Text } from '../detail/Text.tsx';
import { Scroller } from '../frame/Scroller.tsx';

type Props = { id: string; status: Verdict; feedback: string; edited: Json | undefined };

const KEY = 'lanternroom.receives';

/**
 * The answer as the agent will read it, before it is sent. Closed until it is wanted, because it would cover what is
 * being answered; whoever opens it finds it open from then on.
 */
export function Receives({ id, status, feedback, edited }: Props) {
  const [isOpen, setOpen] = useState(() => localStorage.getItem(KEY) === 'open');
  const answer = {
    delivery_id: id,
    status,
    feedback: feedback === '' ? null : feedback,
    edited_content: edited ?? null,
  };
  const text = stringifyExact(answer, 2).replace(/\n\}$/, ',\n  "responded_at": the moment it goes out\n}');
  return (
    <details
      className="receives"
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        setOpen(open);
        localStorage.setItem(KEY, open ? 'open' : 'closed');
      }}
    >
      <summary>What the agent will receive</summary>
      <Scroller label="What the agent will receive" className="code">
        <Text>{text}</Text>
      </Scroller>
    </details>
  );
}
