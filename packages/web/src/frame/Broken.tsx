import { words } from '../composer/words.ts';

/** The page itself gave way, frame and all. Never blank, never a stack. */
export function Broken() {
  return (
    <main>
      <Stumbled />
    </main>
  );
}

/** One screen of it did. */
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

/** A part of the page, or who is here, has still to come. */
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
