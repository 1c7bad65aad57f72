import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import { desk } from './desk.ts';
import { calmly, isRefused } from './refused.ts';

export type MakeOptions = PublicKeyCredentialCreationOptionsJSON;
export type ProveOptions = PublicKeyCredentialRequestOptionsJSON;

/** Loaded only when somebody uses a passkey, because most visits do not. */
const library = () => import('@simplewebauthn/browser');

/** Browsers bind passkeys to a host name; a bare IP address has none. */
export function canUsePasskeys(): boolean {
  const isBare = location.hostname.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(location.hostname);
  return !isBare && typeof PublicKeyCredential === 'function' && isSecureContext;
}

export async function makePasskey(name: string): Promise<void> {
  const optionsJSON = await desk.askForPasskey();
  const { startRegistration } = await library();
  await desk.addPasskey({ name, response: await startRegistration({ optionsJSON }) });
}

export async function loginByPasskey(): Promise<void> {
  const optionsJSON = await desk.askForLogin();
  const { startAuthentication } = await library();
  await desk.loginByPasskey(await startAuthentication({ optionsJSON }));
}

export async function proveByPasskey(): Promise<void> {
  const optionsJSON = await desk.askForProof();
  const { startAuthentication } = await library();
  await desk.prove({ response: await startAuthentication({ optionsJSON }) });
}

/** One calm sentence, also for what the browser or the device refuses. */
export function calmlyOfPasskey(error: unknown): string {
  if (isRefused(error)) return error.code === 'login_failed' ? error.message : calmly(error);
  const name = error instanceof Error ? error.name : '';
  if (name === 'InvalidStateError') return 'This device already has a passkey for this desk.';
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'No passkey was given. Nothing has changed.';
  return 'This browser or device cannot use a passkey here. Your password still works.';
}
