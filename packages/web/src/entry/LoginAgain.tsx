import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { desk } from '../api/desk.ts';
import { asking, sessionQuery } from '../api/questions.ts';
import { onSessionLost } from '../api/request.ts';
import { Dialog } from '../frame/Dialog.tsx';
import { lookAgain } from '../live/stream.ts';
import { enter } from './enter.ts';
import { LoginForm } from './LoginForm.tsx';

/** The session ended in the middle of something. The page behind stays as it is, words and all. */
export function LoginAgain() {
  const [lost, setLost] = useState(false);
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  const before = data?.person.person_id;
  useEffect(() => onSessionLost(() => setLost(true)), []);
  const goOn = async () => {
    const { person } = await desk.session();
    // Somebody else: what stands here, and what was begun, is not theirs.
    if (before !== undefined && person.person_id !== before) return startAnew();
    setLost(false);
    void lookAgain();
  };
  // They may have logged in beside this, in another tab.
  useEffect(() => {
    if (!lost) return;
    const turned = () => void goOn().catch(() => {});
    addEventListener('focus', turned);
    return () => removeEventListener('focus', turned);
  });
  if (!lost) return null;
  return (
    <Dialog title="Log in again" onClose={() => {}} isFixed>
      <p className="said">Your session has ended. Everything you wrote is still here.</p>
      <LoginForm email={data?.person.email} onDone={() => void goOn().catch(() => {})} />
    </Dialog>
  );
}

function startAnew(): void {
  enter();
  asking.clear();
  location.assign('/');
}
