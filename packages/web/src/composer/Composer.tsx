import { useRef } from 'react';
import type { Detail, Verdict } from '../api/types.ts';
import { isIrreversible } from '../inbox/bulk.ts';
import { Key } from '../keys/Key.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { grouped } from '../words/numbers.ts';
import { EditItself } from './EditItself.tsx';
import { MODES, Modes } from './Modes.tsx';
import { Receives } from './Receives.tsx';
import { useQuotable } from './selection.ts';
import { sendAnswer } from './send.ts';
import { markSent, useLookedAt } from './use-looked-at.ts';
import { useKeeping, useWords } from './use-words.ts';
import { type Keeping, type Words, words } from './words.ts';
import './composer.css';

/** The server refuses longer feedback. */
const MOST_FEEDBACK = 20_000;

type Props = { detail: Detail; onSent: (id: string) => void };

/** One composer with three modes, none of them chosen at first. */
export function Composer({ detail, onSent }: Props) {
  const id = detail.delivery_id;
  const said = useWords(detail);
  const field = useRef<HTMLTextAreaElement>(null);
  const section = useRef<HTMLElement>(null);
  const hasLooked = useLookedAt(id);
  const choose = (mode: Verdict | null) => {
    words.write(id, { mode });
    if (mode !== null) requestAnimationFrame(() => field.current?.focus());
  };
  const mode = MODES.find(({ verdict }) => verdict === said.mode);
  const send = () => {
    if (said.mode === null || missing(said) !== null || !hasLooked()) return;
    void sendAnswer(detail, answer(detail, said.mode, said));
    markSent();
    onSent(id);
  };
  useKeys({
    approve: () => choose('approved'),
    redirect: () => choose('redirected'),
    reject: () => choose('rejected'),
    send,
    // A getter, evaluated when the key is pressed: moving the focus does not render this again.
    get back() {
      return isWriting(section.current) ? () => document.getElementById('detail')?.focus() : undefined;
    },
  });
  return (
    <section ref={section} className="composer" aria-label="Your answer" data-mode={said.mode ?? undefined}>
      <Modes mode={said.mode} onChoose={choose} onWalk={(next) => words.write(id, { mode: next })} />
      {mode !== undefined && (
        <div className="composer-body appears">
          <Feedback id={id} said={said} ask={mode.ask} field={field} />
          {said.mode === 'redirected' && <Edit detail={detail} said={said} />}
          <Receives
            id={id}
            status={mode.verdict}
            feedback={said.feedback}
            edited={said.mode === 'redirected' ? said.edited : undefined}
          />
          <SendLine detail={detail} said={said} word={mode.word} onSend={send} />
        </div>
      )}
    </section>
  );
}

/**
 * Whether the focus is in a field of the composer (the editor's included): Esc then leaves the field first, and the
 * delivery next.
 */
function isWriting(section: HTMLElement | null): boolean {
  const active = document.activeElement;
  return section?.contains(active) === true && !(active instanceof HTMLButtonElement);
}

function answer(detail: Detail, status: Verdict, said: Words) {
  return {
    status,
    content_sha256: detail.content_sha256,
    ...(said.feedback === '' ? {} : { feedback: said.feedback }),
    ...(status === 'redirected' && said.edited !== undefined ? { edited_content: said.edited } : {}),
  };
}

/** What is still missing before this can be sent: an agent whose work is rejected must learn why. */
function missing(said: Words): string | null {
  // Counted as the server counts, and told to the person: a field with a `maxLength` would silently cut off what is
  // pasted.
  if (said.feedback.length > MOST_FEEDBACK)
    return `At most ${grouped(MOST_FEEDBACK)} characters can be sent; these are ${grouped(said.feedback.length)}.`;
  if (said.mode === 'rejected' && said.feedback.trim() === '')
    return 'Say why not, so that the agent can learn from it.';
  if (said.mode === 'redirected' && said.feedback.trim() === '' && said.edited === undefined)
    return 'Say what should be different, or edit it yourself.';
  return null;
}

function Feedback({
  id,
  said,
  ask,
  field,
}: {
  id: string;
  said: Words;
  ask: string;
  field: React.RefObject<HTMLTextAreaElement | null>;
}) {
  const quote = useQuotable();
  const add = () => {
    if (quote === null) return;
    const lines = quote
      .split('\n')
      .map((line) => `> ${line}`)
      .join('\n');
    words.write(id, {
      feedback: `${said.feedback === '' ? '' : `${said.feedback.trimEnd()}\n\n`}${lines}\n`,
    });
    field.current?.focus();
  };
  return (
    <div className="field">
      <div className="ask-line">
        <label htmlFor="feedback">{ask}</label>
        {quote !== null && (
          <button
            type="button"
            className="plain quote"
            onMouseDown={(event) => event.preventDefault()}
            onClick={add}
          >
            Note on “{quote.slice(0, 32)}
            {quote.length > 32 ? '…' : ''}”
          </button>
        )}
      </div>
      <textarea
        id="feedback"
        ref={field}
        className="input"
        value={said.feedback}
        onChange={(event) => words.write(id, { feedback: event.target.value })}
      />
    </div>
  );
}

function Edit({ detail, said }: { detail: Detail; said: Words }) {
  const id = detail.delivery_id;
  if (said.edited === undefined) {
    return (
      <p>
        <button
          type="button"
          className="plain"
          onClick={() => words.write(id, { edited: detail.details ?? '' })}
        >
          Edit it myself
        </button>
      </p>
    );
  }
  return (
    <EditItself
      // The editor keeps its own text, so it begins anew with what was written in another browser.
      key={words.timesTaken(id)}
      before={detail.details}
      after={said.edited}
      onChange={(edited) => words.write(id, { edited })}
      onStop={() => words.write(id, { edited: undefined })}
    />
  );
}

const KEEPING_WORDS: Record<Keeping, string> = {
  kept: 'Kept as a draft while you write.',
  soon: 'Kept as a draft while you write.',
  failed: 'Not kept as a draft yet: the server cannot be reached. Trying again; your words are here.',
  logged_out: 'Not kept as a draft yet: you are logged out. Your words are here.',
  refused: 'The server does not take this as a draft. Your words are only here.',
  over: 'The server does not take this as a draft. Your words are only here.',
};

function SendLine({
  detail,
  said,
  word,
  onSend,
}: {
  detail: Detail;
  said: Words;
  word: string;
  onSend: () => void;
}) {
  const lacks = missing(said);
  const keeping = useKeeping(detail.delivery_id);
  return (
    <div className="send-line">
      <p className="said" id="lacks">
        {lacks ?? KEEPING_WORDS[keeping]}
        {lacks !== null && keeping !== 'kept' && keeping !== 'soon' && ` ${KEEPING_WORDS[keeping]}`}
      </p>
      <button
        type="button"
        className="button strong send"
        disabled={lacks !== null}
        aria-describedby="lacks"
        onClick={onSend}
      >
        {isIrreversible(detail) && said.mode === 'approved' ? `${word}: cannot be undone` : word}{' '}
        <Key of="send" />
      </button>
    </div>
  );
}
