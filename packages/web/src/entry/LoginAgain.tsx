import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sessionQuery } from '../api/questions.ts';
import { onSessionLost } from '../api/request.ts';
import { Dialog } from '../frame/Dialog.tsx';
import { lookAgain } from '../live/stream.ts';
import { LoginForm } from './LoginForm.tsx';

/** The session ended in the middle of something. The page behind stays as it is, words and all. */
export function LoginAgain() {
  const [lost, setLost] = useState(false);
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  useEffect(() => onSessionLost(() => setLost(true)), []);
  if (!lost) return null;
  return (
    <Dialog title="Log in again" onClose={() => {}} isFixed>
      <p className="said">Your session has ended. Everything you wrote is still here.</p>
      <LoginForm
        email={data?.person.email}
        onDone={() => {
          setLost(false);
          void lookAgain();
        }}
      />
    </Dialog>
  );
}
