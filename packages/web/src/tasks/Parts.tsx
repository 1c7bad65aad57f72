import { useState } from 'react';
import { desk } from '../api/desk.ts';
import type { Part } from '../api/task-types.ts';
import { Markdown } from '../detail/Markdown.tsx';
import { SafeLink } from '../detail/SafeLink.tsx';
import { Text } from '../detail/Text.tsx';
import { Value } from '../detail/Value.tsx';
import { Each } from '../frame/Each.tsx';
import { bytesWords } from '../words/numbers.ts';

/** What was said or made, in its author's voice. Nothing in it runs, and nothing is fetched from elsewhere. */
export function Parts({ parts, task }: { parts: readonly Part[]; task: string }) {
  return <Each of={parts}>{(part) => <OnePart part={part} task={task} />}</Each>;
}

function OnePart({ part, task }: { part: Part; task: string }) {
  if (part.text !== undefined) return <Words part={part} />;
  if (part.stored !== undefined) return <Stored part={part} stored={part.stored} task={task} />;
  if (part.raw !== undefined) return <Inside part={part} raw={part.raw} />;
  if (part.url !== undefined)
    return (
      <p>
        <SafeLink href={part.url}>
          <Text>{part.filename ?? part.url}</Text>
        </SafeLink>
      </p>
    );
  return <Value value={part.data ?? null} delivery="" />;
}

const PLAIN = /^(text\/(plain|csv|x-)|application\/(x-|json))/;

function Words({ part: { text = '', mediaType = '' } }: { part: Part }) {
  if (PLAIN.test(mediaType))
    return (
      <p className="as-written">
        <Text>{text}</Text>
      </p>
    );
  return <Markdown text={text} delivery="" />;
}

const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/;

/**
 * Content that is kept on this server. What is called an image is shown if its bytes are one; everything can be
 * saved.
 */
function Stored({ part, stored, task }: { part: Part; stored: { id: string; size: number }; task: string }) {
  const [failed, setFailed] = useState(false);
  const name = part.filename ?? 'content';
  const isPicture = PICTURE.test(part.mediaType ?? '') && !failed;
  return (
    <figure className="task-file">
      {isPicture && (
        <img
          className="remote-image"
          src={desk.taskContentPath(task, stored.id, 'image')}
          alt={name}
          loading="lazy"
          onError={() => setFailed(true)}
        />
      )}
      <figcaption className="said">
        <Text>{name}</Text>, {bytesWords(stored.size)}
        {failed ? ', not an image that can be shown' : ''}.{' '}
        <a href={desk.taskContentPath(task, stored.id)} download>
          Save it
        </a>
      </figcaption>
    </figure>
  );
}

/** Bytes that came inside the message itself. */
function Inside({ part, raw }: { part: Part; raw: string }) {
  const name = part.filename ?? 'content';
  const save = () => {
    const bytes = Uint8Array.from(atob(raw), (letter) => letter.charCodeAt(0));
    const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <figure className="task-file">
      {PICTURE.test(part.mediaType ?? '') && (
        <img className="remote-image" src={`data:${part.mediaType};base64,${raw}`} alt={name} />
      )}
      <figcaption className="said">
        <Text>{name}</Text>, {bytesWords(Math.floor((raw.length * 3) / 4))}.{' '}
        <button type="button" className="plain" onClick={save}>
          Save it
        </button>
      </figcaption>
    </figure>
  );
}
