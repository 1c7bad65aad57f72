import type { JsonObject } from '../../canonical.ts';
import { Fault, isFault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { payGuess, settleGuess } from '../login/guesses.ts';
import { type Doorkeeper, type OpenedSession, openSessionIn, sessionEnded } from '../login/login.ts';
import { hasChanged, type Person } from '../person.ts';
import { type ChallengeFor, isOurChallenge, makeChallenge, useChallenge } from './challenge.ts';
import { openCredential, type Party, type PasskeyRecord, sealCredential } from './passkey.ts';

const MOST = 20;

/** What a browser needs in order to make one for this person. */
export async function askForPasskey(room: Doorkeeper, person: Person, party: Party): Promise<object | Fault> {
  const known = await room.store.read(person.space, (tx) => tx.passkeys.of(person.id));
  if (known.length >= MOST) return tooMany();
  return room.passkeys.askToMake({
    party,
    // Not the e-mail address: authenticators show and sync this handle.
    user: { id: userHandle(person), email: person.email, name: person.name },
    known: known.map((k) => openCredential(room, k)),
    challenge: makeChallenge(room, `make:${person.id}`),
  });
}

function userHandle(person: Pick<Person, 'space' | 'id'>): string {
  return `${person.space}:${person.id}`;
}

function tooMany(): Fault {
  return new Fault('invalid_field', `You have ${MOST} passkeys. Remove one that you no longer use.`, {
    field: 'response',
  });
}

export async function addPasskey(
  room: Doorkeeper,
  person: Person,
  made: { name: string; response: JsonObject; party: Party },
): Promise<PasskeyRecord | Fault> {
  const isOurs = (challenge: string) => isOurChallenge(room, `make:${person.id}`, challenge);
  const credential = await room.passkeys.made(made.party, made.response, isOurs);
  if (credential === null) return notTaken();
  const place = { space: person.space, id: `pk_${room.ids.letters(12)}`, person: person.id };
  const passkey: PasskeyRecord = {
    ...place,
    name: made.name.trim(),
    digest: room.vault.sha256(credential.id),
    credential: sealCredential(room, place, credential),
    counter: credential.counter,
    isBackedUp: credential.isBackedUp,
    createdAt: room.clock.now(),
    lastUsedAt: null,
  };
  // Authenticators choose these ids, so somebody could claim another person's.
  if ((await room.store.directory.passkeyByDigest(passkey.digest)) !== null) return notTaken();
  return room.store.write(person.space, ['ledger'], async (tx) => {
    if (await hasChanged(tx, person)) return sessionEnded();
    if ((await tx.passkeys.of(person.id)).length >= MOST) return tooMany();
    if (!(await useChallenge(room, tx, credential.challenge))) return notTaken();
    await tx.passkeys.insert(passkey);
    await note(room, tx, person, {
      action: 'passkey.added',
      data: { passkey: passkey.id, name: passkey.name },
    });
    return passkey;
  });
}

function notTaken(): Fault {
  const message = 'This passkey could not be accepted. Start again, and answer within five minutes.';
  return new Fault('invalid_field', message, { field: 'response' });
}

type OnOne = { id: string; action: string; data?: JsonObject; change: (tx: Tx) => Promise<void> };

/** Runs on one of the person's own passkeys; somebody else's is answered like one that does not exist. */
function onPasskey(room: Room, person: Person, one: OnOne): Promise<Fault | null> {
  return room.store.write(person.space, ['ledger'], async (tx) => {
    if (!(await tx.passkeys.of(person.id)).some((k) => k.id === one.id))
      return new Fault('not_found', 'You have no passkey with this id.');
    await one.change(tx);
    await note(room, tx, person, { action: one.action, data: { passkey: one.id, ...one.data } });
    return null;
  });
}

export function renamePasskey(room: Room, person: Person, id: string, name: string): Promise<Fault | null> {
  return onPasskey(room, person, {
    id,
    action: 'passkey.renamed',
    data: { name: name.trim() },
    change: (tx) => tx.passkeys.rename(id, name.trim()),
  });
}

export function removePasskey(room: Room, person: Person, id: string): Promise<Fault | null> {
  return onPasskey(room, person, { id, action: 'passkey.removed', change: (tx) => tx.passkeys.remove(id) });
}

/** Anybody may ask; the answer does not reveal who has an account here. */
export function askForLogin(room: Doorkeeper, party: Party): Promise<object> {
  return room.passkeys.askToProve(party, makeChallenge(room, 'login'), []);
}

export async function askForProof(room: Doorkeeper, person: Person, party: Party): Promise<object> {
  const mine = await room.store.read(person.space, (tx) => tx.passkeys.of(person.id));
  const challenge = makeChallenge(room, `prove:${person.id}`);
  return room.passkeys.askToProve(
    party,
    challenge,
    mine.map((k) => openCredential(room, k)),
  );
}

export type Assertion = { response: JsonObject; party: Party; address: string };

/** The passkey says who the person is; an unknown passkey and a wrong signature answer alike. */
export async function loginByPasskey(
  room: Doorkeeper,
  given: Assertion & { device: string | null },
): Promise<OpenedSession | Fault> {
  return checked(room, given, async () => {
    const passkey = await findPasskey(room, given.response);
    const person = passkey && (await room.store.read(passkey.space, (tx) => tx.people.get(passkey.person)));
    if (passkey === null || person === null) return refused();
    const proof = await proofOf(room, { ...given, passkey, purpose: 'login' });
    if (proof === null || !namesHandle(given.response, person)) return refused();
    return room.store.write(person.space, ['ledger'], async (tx) => {
      if (!(await takeProof(room, tx, passkey, proof))) return refused();
      const data = { by: 'passkey', passkey: passkey.id };
      return openSessionIn(room, tx, person, { device: given.device, data });
    });
  });
}

/** The person shows once more that it is them, in a session that they have. */
export function proveByPasskey(
  room: Doorkeeper,
  person: Person,
  given: Assertion & { session: string },
): Promise<Fault | null> {
  return checked(room, given, async () => {
    const passkey = await findPasskey(room, given.response);
    if (passkey === null || passkey.person !== person.id || passkey.space !== person.space) return refused();
    const proof = await proofOf(room, { ...given, passkey, purpose: `prove:${person.id}` });
    if (proof === null) return refused();
    return room.store.write(person.space, ['ledger'], async (tx) => {
      if (!(await takeProof(room, tx, passkey, proof))) return refused();
      await tx.people.setProved(room.vault.sha256(given.session), room.clock.now());
      await note(room, tx, person, { action: 'session.proved', data: { passkey: passkey.id } });
      return null;
    });
  });
}

/** Limited like guesses at a password, but by network address alone, so that nobody can be locked out by others. */
async function checked<T>(
  room: Doorkeeper,
  { address }: { address: string },
  work: () => Promise<T | Fault>,
): Promise<T | Fault> {
  const guess = await payGuess(room, { email: null, address });
  if (isFault(guess)) return guess;
  const outcome = await work();
  await settleGuess(room, guess, !isFault(outcome));
  return outcome;
}

function findPasskey(room: Room, response: JsonObject): Promise<PasskeyRecord | null> {
  const { id } = response;
  if (typeof id !== 'string') return Promise.resolve(null);
  return room.store.directory.passkeyByDigest(room.vault.sha256(id));
}

/** The handle inside a discoverable credential must be the one we gave it. */
function namesHandle(response: JsonObject, person: Person): boolean {
  const inner = response.response as JsonObject | undefined;
  const handle = inner?.userHandle;
  if (typeof handle !== 'string') return false;
  const bytes = Uint8Array.from(atob(handle.replaceAll('-', '+').replaceAll('_', '/')), (c) =>
    c.charCodeAt(0),
  );
  return new TextDecoder().decode(bytes) === userHandle(person);
}

type Proof = { counter: number; challenge: string };

function proofOf(
  room: Doorkeeper,
  { party, response, passkey, purpose }: Assertion & { passkey: PasskeyRecord; purpose: ChallengeFor },
): Promise<Proof | null> {
  return room.passkeys.proved(party, response, {
    credential: openCredential(room, passkey),
    counter: passkey.counter,
    isOurs: (challenge) => isOurChallenge(room, purpose, challenge),
  });
}

async function takeProof(room: Room, tx: Tx, passkey: PasskeyRecord, proof: Proof): Promise<boolean> {
  // It may have been removed or used elsewhere while its signature was checked.
  const now = (await tx.passkeys.of(passkey.person)).find((k) => k.id === passkey.id);
  if (now === undefined || now.counter !== passkey.counter) return false;
  if (!(await useChallenge(room, tx, proof.challenge))) return false;
  await tx.passkeys.used(passkey.id, proof.counter, room.clock.now());
  return true;
}

function refused(): Fault {
  return new Fault('login_failed', 'This passkey is not known here, or its answer came too late. Try again.');
}

async function note(
  room: Room,
  tx: Tx,
  person: Person,
  { action, data }: { action: string; data: JsonObject },
): Promise<void> {
  await record(room, tx, room.clock.now(), {
    actor: `person:${person.id}`,
    action,
    subject: person.id,
    data,
  });
  tx.announce(`desk:${tx.space}`, 'me');
}
