import { useNavigate, useSearch } from '@tanstack/react-router';
import { asking } from '../api/questions.ts';
import { EntryPage } from './EntryPage.tsx';
import { enter } from './enter.ts';
import { LoginForm } from './LoginForm.tsx';

export function LoginPage() {
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false }) as { next?: string };
  const done = async () => {
    enter();
    asking.clear();
    // Only ever to a page of this desk.
    const to = next?.startsWith('/') && !next.startsWith('//') ? next : '/';
    await navigate({ href: to, replace: true } as never);
  };
  return (
    <EntryPage title="Good to see you.">
      <LoginForm onDone={done} />
      <p className="said">
        The first time here? The setup link is in the terminal where the server was started. Forgotten the
        password? An owner can make you a link for a new one; the only owner runs{' '}
        <code>lanternroom person reset</code> on the server.
      </p>
    </EntryPage>
  );
}
