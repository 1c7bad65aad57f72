import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { desk } from '../api/desk.ts';
import { sessionQuery } from '../api/questions.ts';
import { onSessionLost } from '../api/request.ts';
import { words } from '../composer/words.ts';
import { Dialog } from '../frame/Dialog.tsx';
import { Depth } from '../keys/use-keys.ts';
import { lookAgain } from '../live/news.ts';
import { listenAgain } from '../live/stream.ts';
import { leaveTo } from './enter.ts';
import { LoginForm } from './LoginForm.tsx';

const ABOVE_ALL = 100;

/**
 * Shown when the session ended in the middle of something. The page behind stays as it is, with all that was written.
 */
export function LoginAgain() {
  const [lost, setLost] = useState(false);
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  const before = data?.person.person_id;
  useEffect(() => onSessionLost(() => setLost(true)), []);
  useNobodyElse(before);
  const goOn = async () => {
    const { person } = await desk.session();
    // Somebody else has logged in: what is shown here, and what was begun, is not theirs.
    if (before !== undefined && person.person_id !== before) return leaveTo('/');
    setLost(false);
    words.loggedIn();
    void lookAgain();
    listenAgain();
  };
  // They may have logged in in another tab.
  useEffect(() => {
    if (!lost) return;
    const turned = () => void goOn().catch(() => {});
    addEventListener('focus', turned);
    return () => removeEventListener('focus', turned);
  });
  if (!lost) return null;
  return (
    // Above any open dialog, whose keys must not act while nobody is logged in.
    <Depth value={ABOVE_ALL}>
      <Dialog title="Log in again" onClose={() => {}} isFixed>
        <p className="said">Your session has ended. Everything you wrote is still here.</p>
        <LoginForm email={data?.person.email} onDone={goOn} />
      </Dialog>
    </Depth>
  );
}

/** Leaves the page when somebody else has logged in, in another tab of the same browser. */
function useNobodyElse(person: string | undefined): void {
  const first = useRef(person);
  useEffect(() => {
    if (first.current !== undefined && person !== undefined && first.current !== person) leaveTo('/');
    else first.current ??= person;
  }, [person]);
}
