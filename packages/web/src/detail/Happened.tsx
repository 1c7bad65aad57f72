import { desk } from '../api/desk.ts';
import { asking } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import type { Detail } from '../api/types.ts';
import { foot } from '../composer/held.ts';
import { Each } from '../frame/Each.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { useNow } from '../live/now.ts';
import { callbackWords, happened } from './happened.ts';
import { Text } from './Text.tsx';

export function Happened({ detail }: { detail: Detail }) {
  const now = useNow();
  const { alone } = useAlone();
  const again = async (job: string) => {
    try {
      await desk.sendAgain(job);
      void asking.invalidateQueries({ queryKey: ['delivery', detail.delivery_id] });
    } catch (error) {
      foot.say(`The callback was not sent again. ${calmly(error)}`);
    }
  };
  return (
    <section className="happened" aria-label="What happened">
      <h2>What happened</h2>
      <ol>
        {/* Two attempts within a minute may say the same. */}
        <Each of={happened(detail, now)}>
          {(line) => (
            <li>
              <time>{line.at}</time> <Text>{line.text}</Text>
            </li>
          )}
        </Each>
      </ol>
      {detail.callbacks.map((callback) => (
        <p key={callback.job_id}>
          <Text>{callbackWords(callback, now)}</Text>{' '}
          <button
            type="button"
            className="plain"
            onClick={() => void alone(() => again(callback.job_id), callback.job_id)}
          >
            Send again
          </button>
        </p>
      ))}
    </section>
  );
}
