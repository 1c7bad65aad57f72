import { desk, type EventName } from '../api/desk.ts';
import type { EventDetail, Place, Resume } from '../api/event-types.ts';
import { asking, eventQuery } from '../api/questions.ts';
import { calmly } from '../api/refused.ts';
import { foot } from '../composer/held.ts';
import { callbackWords } from '../detail/happened.ts';
import { Text } from '../detail/Text.tsx';
import { useAlone } from '../frame/use-alone.ts';
import { useNow } from '../live/now.ts';
import { timeAndDay } from '../words/time.ts';
import { ackWords } from './ack-words.ts';

/** Every inbox that the event is in, with its acknowledgement, what it resumed, and where it was forwarded. */
export function Became({ name, detail }: { name: EventName; detail: EventDetail }) {
  const now = useNow();
  const { alone } = useAlone();
  const again = async (job: string) => {
    try {
      await desk.sendAgain(job);
      void asking.invalidateQueries({ queryKey: eventQuery(name).queryKey });
    } catch (error) {
      foot.say(`It was not forwarded again. ${calmly(error)}`);
    }
  };
  return (
    <section className="part" aria-label="What became of it">
      <h2>What became of it</h2>
      <ul className="lines">
        {detail.places.map((place) => (
          <li key={place.offset}>
            <Text>{placeWords(place, now)}</Text>
          </li>
        ))}
        {detail.resumes.map((resume) => (
          <li key={resume.resume_id}>
            <Text>{resumeWords(resume, now)}</Text>
          </li>
        ))}
        {detail.forwards.map((job) => (
          <li key={job.job_id}>
            <Text>{callbackWords(job, now)}</Text>
            <button
              type="button"
              className="plain"
              onClick={() => void alone(() => again(job.job_id), job.job_id)}
            >
              Send again
            </button>
          </li>
        ))}
      </ul>
      {detail.resumes.length === 0 && <p className="said">It has resumed nothing.</p>}
    </section>
  );
}

function placeWords({ offset, received_at, ack }: Place, now: number): string {
  const stands = `At offset ${offset} since ${timeAndDay(received_at, now)}`;
  if (ack === null) return `${stands}, ${ackWords(ack)}.`;
  const why = ack.reason === null ? '' : ` It said: ${ack.reason}`;
  return `${stands}, ${ackWords(ack)} at ${timeAndDay(ack.processed_at, now)}.${why}`;
}

function resumeWords(resume: Resume, now: number): string {
  const what = resume.run_state_ref === null ? 'the agent' : `the run ${resume.run_state_ref}`;
  const order = resume.out_of_order ? ' It came out of order.' : '';
  return `Resumed ${what} at ${timeAndDay(resume.at, now)}. ${resume.reason}${order}`;
}
