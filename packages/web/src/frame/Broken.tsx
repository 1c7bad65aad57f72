/** Something in the page itself gave way. Never blank, never a stack. */
export function Broken() {
  return (
    <main className="broken" role="alert">
      <h1>This page stumbled.</h1>
      <p>Nothing is lost: what you wrote is kept on the server. Loading it again usually helps.</p>
      <p>
        <button type="button" className="button strong" onClick={() => location.reload()}>
          Load it again
        </button>{' '}
        <a href="/">To the inbox</a>
      </p>
    </main>
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
