import type { Credential, Party, Passkeys } from '../../core/people/passkeys/passkey.ts';

const ROOM = 'Lanternroom';
const TIMEOUT_MS = 300_000;

/** The library brings certificates and ASN.1 along, so it is loaded with the first use of a passkey. */
const library = () => import('@simplewebauthn/server');
type Library = Awaited<ReturnType<typeof library>>;

export function webAuthnPasskeys(): Passkeys {
  return {
    askToMake: async ({ party, user, known, challenge }) =>
      (await library()).generateRegistrationOptions({
        rpName: ROOM,
        rpID: party.id,
        userName: user.email,
        userDisplayName: user.name,
        userID: new Uint8Array(Buffer.from(user.id)),
        challenge,
        timeout: TIMEOUT_MS,
        attestationType: 'none',
        excludeCredentials: known.map(listed),
        // A passkey is the whole login, so the device must verify the person and find the credential by itself.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      }),

    made: async (party, response, isOurs) => {
      let challenge = '';
      const { registrationInfo: info } = await quietly(async ({ verifyRegistrationResponse }) =>
        verifyRegistrationResponse({
          response: response as never,
          ...expected(party, isOurs, (text) => {
            challenge = text;
          }),
        }),
      );
      if (info === undefined) return null;
      return {
        id: info.credential.id,
        publicKey: Buffer.from(info.credential.publicKey).toString('base64url'),
        transports: [...(info.credential.transports ?? [])],
        counter: info.credential.counter,
        isBackedUp: info.credentialBackedUp,
        challenge,
      };
    },

    askToProve: async (party, challenge, known) =>
      (await library()).generateAuthenticationOptions({
        rpID: party.id,
        challenge,
        timeout: TIMEOUT_MS,
        userVerification: 'required',
        allowCredentials: known.map(listed),
      }),

    proved: async (party, response, { credential, counter, isOurs }) => {
      let challenge = '';
      const { verified, authenticationInfo: info } = await quietly(async ({ verifyAuthenticationResponse }) =>
        verifyAuthenticationResponse({
          response: response as never,
          credential: {
            id: credential.id,
            publicKey: Buffer.from(credential.publicKey, 'base64url'),
            counter,
          },
          ...expected(party, isOurs, (text) => {
            challenge = text;
          }),
        }),
      );
      return verified === true && info !== undefined ? { counter: info.newCounter, challenge } : null;
    },
  };
}

function listed({ id, transports }: Credential) {
  return { id, transports };
}

function expected(party: Party, isOurs: (challenge: string) => boolean, seen: (challenge: string) => void) {
  return {
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    expectedChallenge: (encoded: string) => {
      const challenge = Buffer.from(encoded, 'base64url').toString();
      seen(challenge);
      return isOurs(challenge);
    },
  };
}

/** The library throws whenever anything is wrong; to us all of that is one refusal. */
async function quietly<T extends object>(verify: (library: Library) => Promise<T>): Promise<Partial<T>> {
  const loaded = await library();
  try {
    return await verify(loaded);
  } catch {
    return {};
  }
}
