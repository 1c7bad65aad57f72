import { words } from '../composer/words.ts';

/** Shown when the whole page has failed, frame included. Never a blank page, never a stack trace. */
export function Broken() {
  return (
    <main>
      <Stumbled />
    </main>
  );
}

/** Shown when a single screen has failed. */
export function Stumbled() {
  const load = async () => {
    await words.flush();
    location.reload();
  };
  return (
    <div className="broken" role="alert">
      <h1>This page stumbled.</h1>
      <p>
        {words.hasUnkept()
          ? 'What you wrote last is only here. Wait until the server can be reached before you load it again.'
          : 'Nothing is lost: what you wrote is kept on the server. Loading it again usually helps.'}
      </p>
      <p>
        <button type="button" className="button strong" onClick={() => void load()}>
          Load it again
        </button>{' '}
        <a href="/">To the inbox</a>
      </p>
    </div>
  );
}

/** Shown while a part of the page, or the session, is still loading. */
export function OnItsWay() {
  return (
    <p className="on-its-way said" role="status">
      One moment…
    </p>
  );
}

export function NoSuchPlace() {
  return (
    <main className="broken">
      <h1>There is nothing at this address.</h1>
      <p>
        <a href="/">To the inbox</a>
      </p>
    </main>
  );
}
